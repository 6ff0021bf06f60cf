"""Sums and draws along the chains of a tree are those of a table of all distances."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.kernels import chains
from ontomask.kernels.chains import (
    amounts_around,
    chained_sums,
    drawn_near,
    farthest_along,
    widths_along,
)
from ontomask.kernels.windows import draw_near, window_widths
from ontomask.semantics.distances import ValueDistances, column_space
from ontomask.semantics.sample import Sample
from ontomask.taxonomy import measures
from ontomask.taxonomy.measures import Space

MEASURES = ("logsc", "path", "leacock-chodorow", "wu-palmer", "tversky", "equality")
MANY = 1100


def random_tree(rng, size, children=2):
    """A tree with about so many children each."""
    parents = {
        f"c{one}": [f"c{rng.integers((one - 1) // (2 * children), 1 + (one - 1) // children)}"]
        for one in range(1, size)
    }
    return om.Taxonomy.from_parents({"c0": []} | parents)


@pytest.fixture
def any_size(monkeypatch):
    """Columns of any size are looked at along chains, a few values at a time."""
    monkeypatch.setattr(measures, "SMALL_TABLE", 0)
    monkeypatch.setattr("ontomask.semantics.distances.SMALL_TABLE", 0)
    monkeypatch.setattr(chains, "RARE", 0)
    monkeypatch.setattr(chains, "AT_ONCE", 500)


def laid_out(seed, measure):
    """A column with a missing value, its chains and the table of its distances."""
    rng = np.random.default_rng(seed)
    taxonomy = random_tree(rng, 60)
    concepts = np.sort(rng.choice(60, 45, replace=False)).astype(np.int32)
    space = column_space(taxonomy, concepts, measure, "attribute", {})
    distances, values = ValueDistances(space), np.append(concepts.astype(np.int64), -1)
    # kinds by depth and size may be too many for so few values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Space, "stepped", _whatever_it_takes)
        return rng, distances.chains(values), distances.between(values, values)


def _whatever_it_takes(space, concepts):
    sets = measures.AncestorSets.of(space.taxonomy, space.depths, concepts, concepts[:0])
    return space._shared(sets, np.inf)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_sums_and_draws_are_those_of_a_table(any_size, measure, seed):
    rng, laid, table = laid_out(seed, measure)
    if measure == "equality":  # which no chain needs to tell
        assert laid is None
        return
    weights = rng.random(len(table))
    for power in (1, 2):
        np.testing.assert_allclose(chained_sums(laid, weights, power), table**power @ weights)
    assert farthest_along(laid) == table[:-1, :-1].max() or farthest_along(laid) == table.max()
    codes, members = rng.integers(0, len(table), 90).astype(np.int32), rng.permutation(90)
    offsets = np.arange(0, 91, 6)
    widths = widths_along(laid, codes, offsets, members)
    np.testing.assert_array_equal(widths, window_widths(codes, offsets, members, table, 0))
    uniforms = rng.random(90)
    amounts = np.concatenate([some for _, some in amounts_around(laid, np.ones(len(table)))])
    np.testing.assert_array_equal(
        drawn_near(laid, codes, 0, widths, amounts, uniforms),
        draw_near(codes, widths, table, uniforms),
    )


def without_chains(patch):
    patch.setattr(Space, "stepped", lambda *_: None)


def many_codes(rng):
    """A column of more different concepts than are compared with each other, with gaps."""
    taxonomy = random_tree(rng, 2 * MANY, 20)
    codes = rng.choice(taxonomy.ids, MANY, replace=False).tolist()
    table = {"code": [*codes, None, *rng.choice(codes, 200).tolist()]}
    return taxonomy, pl.DataFrame(table)


@pytest.mark.compiled
@pytest.mark.parametrize("measure", ["logsc", "path", "wu-palmer"])
@pytest.mark.parametrize(
    "method", [om.Pram(), om.Pram(retain=0.0, reach=0.02), om.Pram(retain=1.0), om.Hybrid(k=3)]
)
def test_many_concepts_get_the_same_draws_without_being_compared(monkeypatch, measure, method):
    monkeypatch.setattr("ontomask.methods.pram.DRAW", 1)
    taxonomy, frame = many_codes(np.random.default_rng(4))
    schema = om.Schema(code=om.Nominal(taxonomy, measure=measure, missing="own-category"))
    with pytest.MonkeyPatch.context() as patch:
        without_chains(patch)
        expected = om.protect(frame, schema, method, seed=1).frame
    if isinstance(method, om.Pram):
        monkeypatch.setattr(ValueDistances, "between", None)
    assert om.protect(frame, schema, method, seed=1).frame.equals(expected)


@pytest.mark.compiled
def test_draws_that_rounding_may_decide_are_looked_up(monkeypatch):
    taxonomy, frame = many_codes(np.random.default_rng(5))
    monkeypatch.setattr("ontomask.methods.pram.DRAW", 1)
    schema = om.Schema(code=om.Nominal(taxonomy, missing="own-category"))
    plain = om.protect(frame, schema, om.Pram(), seed=1).frame
    monkeypatch.setattr("ontomask.methods.pram.ROUNDED", 1e-6)
    asked, kernel = [], ValueDistances.between
    monkeypatch.setattr(
        ValueDistances,
        "between",
        lambda self, rows, *others: asked.append(rows.size) or kernel(self, rows, *others),
    )
    assert om.protect(frame, schema, om.Pram(), seed=1).frame.equals(plain)
    assert 0 < sum(asked) < MANY


@pytest.mark.compiled
@pytest.mark.parametrize("measure", ["logsc", "path", "wu-palmer"])
def test_statistics_of_many_concepts_compare_hardly_any_pairs(monkeypatch, measure):
    taxonomy, frame = many_codes(np.random.default_rng(6))
    schema = om.Schema(code=om.Nominal(taxonomy, measure=measure, missing="own-category"))
    release = om.protect(frame, schema, om.RankSwapping(k=20), seed=1)
    with pytest.MonkeyPatch.context() as patch:
        without_chains(patch)
        expected = release.evaluate()
    pairs, kernel = [], Space.between
    monkeypatch.setattr(
        Space,
        "between",
        lambda self, rows, columns, *room: (
            pairs.append(len(rows) * len(columns)) or kernel(self, rows, columns, *room)
        ),
    )
    found = om.protect(frame, schema, om.RankSwapping(k=20), seed=1).evaluate()
    # records are linked by a table, which is held as long as it is no larger than may be held
    assert sum(one > 4 * MANY for one in pairs) <= 1
    assert found.loss.loss == pytest.approx(expected.loss.loss, rel=1e-12)
    for one, other in zip(found.statistics, expected.statistics, strict=True):
        assert (one.name, one.columns) == (other.name, other.columns)
        for side in ("original", "masked"):
            either = getattr(other, side)
            wanted = either if isinstance(either, str) else pytest.approx(either, rel=1e-9)
            assert getattr(one, side) == wanted


def test_a_link_that_leaves_somebody_out_is_a_shorter_way(any_size):
    """Ancestors that are a chain by depth need not be one by links."""
    parents = {"top": [], "middle": ["top"], "low": ["middle", "top"], "beside": ["top"]}
    taxonomy = om.Taxonomy.from_parents(parents)
    sample = Sample.of([*parents], taxonomy, measure="path")
    assert sample.told_sums(1) is None
    assert sample.sums[sample.concepts == taxonomy.index_of("low")] == 1 + 1 + 2
