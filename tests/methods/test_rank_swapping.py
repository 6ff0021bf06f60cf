"""Rank swapping on tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.kernels import swapping
from ontomask.methods.base import Context
from ontomask.methods.rank_swapping import VARIANTS, RankSwapping
from reference import swapping as slow
from tables import DISEASES, mixed_columns, mixed_schema

EXAMPLES = json.loads((Path(__file__).parents[1] / "golden/worked_examples.json").read_text())
QUASI = ["diagnosis", "age", "admitted", "severity", "sex"]
LIMITED = [variant for variant in VARIANTS if variant != "random"]


def method(variant: str, **changes) -> RankSwapping:
    return RankSwapping(
        **{"k": None if variant == "random" else 4, "algorithm": variant, **changes}
    )


def protected(chosen, seed=3, frame=None, schema=None):
    frame = pl.DataFrame(mixed_columns()) if frame is None else frame
    return om.protect(frame, schema or mixed_schema(), chosen, seed)


def microdata(columns=None, schema=None):
    return encode(open_table(pl.DataFrame(columns or mixed_columns())), schema or mixed_schema())


# The literature's rankings ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "ranking"),
    [
        (
            "Coma",
            [
                ({"Coma"}, 0.0),
                ({"Hepatic coma", "Hypoglycemic coma"}, 0.20),
                ({"Disorder of nervous system"}, 0.33),
                ({"Neuropathy"}, 0.50),
            ],
        ),
        (
            "Neuropathy",
            [
                ({"Neuropathy"}, 0.0),
                ({"Disorder of nervous system"}, 0.33),
                ({"Coma"}, 0.50),
                ({"Hepatic coma", "Hypoglycemic coma"}, 0.60),
            ],
        ),
    ],
)
def test_published_rankings(reference, ranking):
    """Figures 2 and 3 of the paper: five disorders ranked by Wu and Palmer's distance."""
    example = EXAMPLES["nervous_system_wu_palmer"]
    names = sorted(example["parents"])
    matrix = om.Taxonomy.from_parents(example["parents"]).distances(names, "wu-palmer")
    near = swapping.neighbors(matrix)
    row = names.index(reference)
    stops = np.flatnonzero(near.ends[row]) + 1
    groups = np.split(near.order[row], stops[:-1])
    found = [({names[one] for one in group}, matrix[row, group[0]]) for group in groups]
    assert [group for group, _ in found] == [group for group, _ in ranking]
    np.testing.assert_allclose([one for _, one in found], [one for _, one in ranking], atol=0.0051)


# Against the slow reference, draw by draw --------------------------------------------------------


@pytest.mark.parametrize("pool", ["unswapped", "all"])
@pytest.mark.parametrize("seed", range(5))
def test_dynamic_column_as_published(seed, pool):
    table = microdata(mixed_columns(40, seed))
    column = table["diagnosis"]
    size, matrix = column.cardinality, np.ones((column.cardinality, column.cardinality))
    matrix[:-1, :-1] = DISEASES.distances([str(one) for one in column.values], "wu-palmer")
    matrix[-1, -1] = 0.0
    assert column.has_missing
    generator = np.random.default_rng(seed)
    priority, uniforms = generator.permutation(40), generator.random((40, 4))
    marginality = [sum(matrix[value, other] for other in column.codes) for value in range(size)]
    oracle = slow.Univariate(
        column.codes.tolist(), lambda a, b: matrix[a, b], priority, uniforms, by_value=False
    )
    partners, _ = oracle.run(int(np.argmax(marginality)), 5, pool == "all")
    chosen = RankSwapping(k=5, pool=pool, columns=["diagnosis"], measure="wu-palmer")
    masked = chosen.mask(table, Context(np.random.default_rng(seed)))
    assert masked.columns["diagnosis"].codes.tolist() == column.codes[partners].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_fixed_column_as_published(seed):
    table = microdata(mixed_columns(40, seed, gaps=False))
    column = table["diagnosis"]
    matrix = DISEASES.distances([str(one) for one in column.values], "logsc")
    reference = int(np.argmax(matrix @ np.bincount(column.codes, minlength=column.size)))
    generator = np.random.default_rng(seed)
    turn = np.argsort(generator.permutation(40))
    ranking = sorted(
        range(40),
        key=lambda one: (matrix[reference, column.codes[one]], column.codes[one], turn[one]),
    )
    partners = slow.fixed(ranking, 3, True, generator.random(40).tolist())
    chosen = RankSwapping(k=3, algorithm="fixed", pool="all", columns=["diagnosis"])
    masked = chosen.mask(table, Context(np.random.default_rng(seed)))
    assert masked.columns["diagnosis"].codes.tolist() == column.codes[partners].tolist()


@pytest.mark.parametrize("pool", ["unswapped", "all"])
@pytest.mark.parametrize("seed", range(5))
def test_records_as_published(seed, pool):
    """A numeric column between two coded ones: each gets the partners drawn for it."""
    names = ["age", "diagnosis", "severity"]
    table = microdata(mixed_columns(30, seed))
    tuples = table.tuples(names)
    diagnosis, severity, age = (table[name] for name in ("diagnosis", "severity", "age"))
    words = DISEASES.distances([str(one) for one in diagnosis.values], "logsc")
    factor = 1.0 / np.sqrt(age.record_numbers().var(ddof=1))

    def part(matrix, size, a, b):
        return matrix(a, b) if max(a, b) < size else float(a != b)

    def distance(a, b):
        ages, words_of, ranks = tuples.codes[:, [a, b]].tolist()
        total = part(lambda x, y: words[x, y], diagnosis.size, *words_of)
        total += part(lambda x, y: abs(x / 2 - y / 2), severity.size, *ranks)
        return total + abs(age.numbers[ages[0]] * factor - age.numbers[ages[1]] * factor)

    generator = np.random.default_rng(seed)
    priorities = [generator.permutation(30).tolist() for _ in range(4)]
    oracle = slow.Multivariate(
        tuples.places.tolist(), distance, priorities, generator.random((30, 8))
    )
    sums = [sum(distance(one, other) for other in tuples.places) for one in range(len(tuples))]
    partners, _ = oracle.run(int(np.argmax(sums)), 4, pool == "all")
    chosen = RankSwapping(k=4, algorithm="multivariate", pool=pool, columns=names)
    masked = chosen.mask(table, Context(np.random.default_rng(seed)))
    for name, row in zip(["diagnosis", "severity", "age"], partners, strict=True):
        assert masked.columns[name].codes.tolist() == table[name].codes[row].tolist()


# Promises ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", ["unswapped", "all"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_columns_keep_their_values_and_the_others_stay(variant, pool):
    frame = pl.DataFrame(mixed_columns())
    release = protected(method(variant, pool=pool), frame=frame)
    for name in QUASI:
        assert Counter(release.frame[name]) == Counter(frame[name])
        assert release.frame[name].dtype == frame[name].dtype
    assert release.frame["charge"].equals(frame["charge"])
    assert not release.frame["age"].equals(frame["age"])
    assert "same values" in str(release.verification)


@pytest.mark.parametrize("variant", LIMITED)
@pytest.mark.parametrize("pool", ["unswapped", "all"])
def test_no_value_moves_farther_than_its_interval(variant, pool):
    for k in (2, 7):
        ranks = protected(method(variant, k=k, pool=pool)).details[0]["farthest_rank"]
        assert set(ranks) == set(QUASI)
        assert max(ranks.values()) <= k
    assert max(ranks.values()) > 2


def test_a_swap_beyond_the_interval_is_withheld(monkeypatch):
    def far(order, k, everyone, uniforms):
        partners = np.arange(order.size)
        partners[order[0]], partners[order[-1]] = order[-1], order[0]
        return partners

    monkeypatch.setattr(swapping, "swap_ranked", far)
    with pytest.raises(om.errors.PromiseError, match="ranks apart where k is 4"):
        protected(method("fixed"))


def test_values_that_were_not_there_are_withheld(monkeypatch):
    def doubled(order, k, everyone, uniforms):
        partners = np.arange(order.size)
        partners[order] = np.append(order[1:], order[-1])
        return partners

    monkeypatch.setattr(swapping, "swap_ranked", doubled)
    with pytest.raises(om.errors.PromiseError, match="are not those it had before"):
        protected(method("fixed"))


def test_swapped_numbers_are_neighbors_in_rank():
    """With distinct numbers and one ranking, ranks differ by at most k: checked on the release."""
    frame = pl.DataFrame({"income": np.random.default_rng(1).normal(size=300)})
    schema = om.Schema(income=om.Numeric())
    for variant in ("fixed", "dynamic"):
        chosen = RankSwapping(k=9, algorithm=variant, pool="all")
        release = protected(chosen, frame=frame, schema=schema)
        before, after = (one["income"].rank().to_numpy() for one in (frame, release.frame))
        moved = np.abs(before - after)
        assert moved.max() <= 9
        assert moved.mean() > 2


def test_every_value_gets_a_partner_from_the_unswapped():
    for variant in ("dynamic", "multivariate"):
        stayed = protected(method(variant, pool="unswapped")).details[0]["stayed"]
        assert set(stayed.values()) == {0}
    odd = pl.DataFrame(mixed_columns(61))
    assert set(protected(method("dynamic"), frame=odd).details[0]["stayed"].values()) == {1}


# Parameters matter -------------------------------------------------------------------------------


def test_percent_of_the_records():
    assert protected(RankSwapping(share=0.1), 1).frame.equals(protected(RankSwapping(k=6), 1).frame)
    assert protected(RankSwapping(share=1)).details[0]["k"] == 59


def test_a_larger_interval_moves_values_farther():
    table = mixed_columns(400, gaps=False)
    moved = []
    for k in (2, 20, 200):
        release = protected(RankSwapping(k=k, columns=["age"]), frame=pl.DataFrame(table))
        moved.append(np.abs(release.frame["age"].to_numpy() - np.array(table["age"])).mean())
    assert moved == sorted(moved)
    assert moved[2] > 5 * moved[0]


def test_variants_pools_measures_and_seeds_differ():
    plain = protected(RankSwapping(k=4)).frame
    for other in (
        protected(RankSwapping(k=4, pool="all")),
        protected(RankSwapping(k=4, measure="wu-palmer")),
        protected(RankSwapping(k=4), seed=4),
        *(protected(method(variant)) for variant in VARIANTS if variant != "dynamic"),
    ):
        assert not plain.equals(other.frame)
    assert plain.equals(protected(RankSwapping(k=4)).frame)


def test_only_the_columns_named():
    release = protected(RankSwapping(k=4, columns=["charge"]))
    frame = pl.DataFrame(mixed_columns())
    assert release.frame.drop("charge").equals(frame.select(QUASI))
    assert not release.frame["charge"].equals(frame["charge"])


def test_strata_are_kept_apart():
    table = mixed_columns(80, gaps=False)
    chosen = RankSwapping(k=4, columns=["age", "diagnosis"], strata=("sex",))
    release = protected(chosen, frame=pl.DataFrame(table)).frame
    before = Counter(zip(table["sex"], table["age"], strict=True))
    assert Counter(zip(release["sex"], release["age"], strict=True)) == before
    apart = protected(RankSwapping(k=4, columns=["age", "diagnosis"]), frame=pl.DataFrame(table))
    assert Counter(zip(apart.frame["sex"], apart.frame["age"], strict=True)) != before


def test_distributional_swaps_like_frequencies():
    """Three rare values and two frequent ones: with a small interval they do not mix."""
    values = ["flu"] * 40 + ["cold"] * 40 + ["asthma", "covid", "lung cancer"] * 2
    frame = pl.DataFrame({"diagnosis": values})
    schema = om.Schema(diagnosis=om.Nominal(DISEASES))
    release = protected(RankSwapping(k=2, algorithm="distributional"), frame=frame, schema=schema)
    rare = frame.with_row_index().filter(~pl.col("diagnosis").is_in(["flu", "cold"]))["index"]
    moved = release.frame["diagnosis"].gather(rare)
    assert (~moved.is_in(["flu", "cold"])).sum() >= 4


def test_missing_numbers_are_swapped_like_values():
    generator = np.random.default_rng(2)
    numbers = [None if generator.random() < 0.2 else float(one) for one in range(100)]
    frame = pl.DataFrame({"income": numbers})
    for variant in VARIANTS:
        chosen = method(variant, **({} if variant == "random" else {"k": 10}))
        release = protected(chosen, frame=frame, schema=om.Schema(income=om.Numeric()))
        assert release.frame["income"].null_count() == frame["income"].null_count()
        assert Counter(release.frame["income"]) == Counter(frame["income"])


def test_two_records_and_one_value():
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 1, 1]})
    schema = om.Schema(a=om.Flat(), b=om.Numeric())
    for variant in VARIANTS:
        chosen = method(variant, **({} if variant == "random" else {"k": 2}))
        release = protected(chosen, frame=frame, schema=schema).frame
        assert sorted(release["a"]) == ["x", "x", "y"]
        assert release["b"].to_list() == [1, 1, 1]


def test_order_of_rows_does_not_favor_anyone():
    """The first and the last of equal records are drawn as often."""
    frame = pl.DataFrame({"a": ["x", "y", "y", "y"]})
    schema = om.Schema(a=om.Flat())
    partners = Counter()
    for seed in range(600):
        released = protected(RankSwapping(k=3), seed, frame, schema).frame["a"].to_list()
        partners[released.index("x")] += 1
    assert set(partners) == {1, 2, 3}
    assert max(partners.values()) - min(partners.values()) < 90


def test_columns_that_are_swapped_at_the_same_time_are_drawn_one_after_the_other(monkeypatch):
    generator = np.random.default_rng(4)
    columns = {name: generator.normal(size=60).round(2) for name in "abc"}
    frame = pl.DataFrame({**columns, "d": generator.choice(list("xyz"), 60)})
    schema = om.Schema(**{name: om.Numeric() for name in "abc"}, d=om.Flat())
    found, told = [], []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        release = om.protect(
            frame, schema, om.RankSwapping(k=5), seed=1, progress=lambda *said: told.append(said)
        )
        found.append((release.frame, release.details))
    assert found[0][0].equals(found[1][0])
    assert found[0][0].equals(found[2][0])
    assert found[0][1] == found[1][1] == found[2][1]
    assert {"swapping a", "swapping a, b", "swapping a, b, c, d"} <= {said for _, said in told}
