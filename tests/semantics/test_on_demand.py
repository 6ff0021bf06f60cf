"""Distances that are computed as they are asked for are those of the tables, to the last bit."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import ontomask as om
from ontomask import memory
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.errors import ShortMemoryError
from ontomask.evaluation import sides
from ontomask.kernels import formulas, reaching
from ontomask.kernels.formulas import COMPARED, REPLACED, formed
from ontomask.kernels.reaching import add_to_points, add_to_rows, fill_leaves
from ontomask.kernels.records import pack_points
from ontomask.methods import hybrid, pram
from ontomask.methods.points import layout_of
from ontomask.semantics import distances, operators
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.operators import Comparison
from ontomask.taxonomy import measures
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.taxonomy import Taxonomy
from reference.points import coded_operator
from strategies import random_attribute

OPTIONS = {
    "wu-palmer": [{}, {"depth": "links"}],
    "path": [{}, {"scaled": True}],
    "weighted-path": [{}, {"scaled": True}],
    **{name: [{"ic": "seco"}, {"ic": "column"}] for name in ("resnik", "lin", "jiang-conrath")},
}
KINDS = [(name, options) for name in MEASURES for options in OPTIONS.get(name, [{}])]


def entries(coded):
    """Contributions and costs of all rows and values, each computed for itself."""
    nothing = np.empty((0, 1))
    points = pack_points(
        [coded.arrays], np.zeros((1, 1), np.int32), nothing, *[np.ones(1)] * 3, np.empty(0), 1
    )
    pairs = [
        (row, value)
        for row in range(coded.arrays.row_depths.size)
        for value in range(coded.arrays.own_rows.size)
    ]
    shape = coded.arrays.row_depths.size, coded.arrays.own_rows.size
    arguments = points.heads, points.lineages, points.tables, 0
    found = [
        np.array([formed(*arguments, row, value, one) for row, value in pairs]).reshape(shape)
        for one in (COMPARED, REPLACED)
    ]
    check_loops(points, *found)
    return found


def check_same(comparison, values, codes, monkeypatch_context):
    ones = np.ones(codes.size)
    with monkeypatch_context as patch:
        tables = coded_operator(comparison, values, codes, ones, ones).arrays
        patch.setattr(operators, "LARGEST_TABLE", 0)
        demanded = coded_operator(comparison, values, codes, ones, ones)
    assert demanded.arrays.table.size == 0
    contributions, costs = entries(demanded)
    np.testing.assert_array_equal(contributions, tables.table)
    np.testing.assert_array_equal(costs, tables.costs.T)


def check_loops(points, contributions, costs):
    """Whole loops find, for all values or rows, what was computed for each of them."""
    arguments = points.heads, points.lineages, points.tables, 0
    values = np.arange(contributions.shape[1], dtype=np.int32)
    for row, expected in enumerate(contributions):
        added, filled = np.zeros(values.size), np.empty(values.size)
        add_to_points(*arguments, row, values[None, :], added)
        fill_leaves(*arguments, row, np.stack([values, values], axis=1), -1.0, filled)
        np.testing.assert_array_equal(added, expected)
        np.testing.assert_array_equal(filled, -expected)
    for few in (1, costs.shape[0]):
        rows = np.arange(few, dtype=np.int32)
        for value, expected in enumerate(costs.T):
            sums = np.zeros(costs.shape[0])
            add_to_rows(*arguments, value, 0.5, rows, sums)
            np.testing.assert_array_equal(sums[:few], 0.5 * expected[:few])
            assert not sums[few:].any()


@pytest.mark.parametrize(("measure", "options"), KINDS)
@pytest.mark.parametrize("root", ["attribute", "taxonomy"])
@given(attribute=random_attribute())
@settings(deadline=None, max_examples=10)
def test_every_measure(measure, options, root, attribute):
    parents, words = attribute
    taxonomy = Taxonomy.from_parents(parents)
    concepts, codes = np.unique(taxonomy.indices_of(words), return_inverse=True)
    space = taxonomy.space(np.asarray(concepts, np.int32), measure, root, **options)
    values = np.append(concepts.astype(np.int64), -1)
    codes = np.append(codes, concepts.size).astype(np.int32)
    comparison = Comparison(ValueDistances(space))
    check_same(comparison, values, codes, pytest.MonkeyPatch.context())


@pytest.mark.parametrize("measure", ["logsc", "tversky", "path"])
def test_a_few_rows_of_many_are_looked_at_alone(measure, monkeypatch):
    draw = np.random.default_rng(4)
    parents = {"c0": [], "c1": ["c0"], "c2": ["c0"]} | {
        f"c{one}": [f"c{above}" for above in draw.choice(one, 2, replace=False)]
        for one in range(3, 60)
    }
    taxonomy = Taxonomy.from_parents(parents)
    concepts = np.arange(60)
    comparison = Comparison(ValueDistances(taxonomy.space(concepts, measure, "taxonomy")))
    values, codes = np.append(concepts, -1), np.arange(61, dtype=np.int32)
    assert values.size > reaching.LOOKED_AT
    check_same(comparison, values, codes, monkeypatch.context())


@pytest.mark.parametrize("operator", operators.OPERATORS)
@pytest.mark.parametrize("metric", operators.METRICS)
@pytest.mark.parametrize("kind", ["taxonomy", "order", "words"])
def test_every_operator_and_metric(operator, metric, kind, monkeypatch):
    icd9 = om.load_taxonomy("icd9cm")
    concepts = np.sort(icd9.indices_of(["250.00", "250.13", "250", "428.0", "428", "V27.0"]))
    apart = {
        "taxonomy": ValueDistances(icd9.space(concepts, "lin")),
        "order": ValueDistances(highest=9),
        "words": ValueDistances(),
    }[kind]
    values = np.append(concepts if kind == "taxonomy" else np.arange(6), -1).astype(np.int64)
    codes = np.array([0, 1, 2, 3, 4, 5, 6, 6, 2, 2], np.int32)
    comparison = Comparison(apart, operator, metric, importance=0.7)
    check_same(comparison, values, codes, monkeypatch.context())


METHODS = [
    om.Microaggregation(3),
    om.Microaggregation(3, refine=True),
    om.Microaggregation(3, algorithm="mdav", operators="marginality"),
    om.Microaggregation(3, algorithm="v-mdav", metric="s-distance"),
    om.Recoding(3),
    om.Resampling(3),
    om.Hybrid(3),
    om.RankSwapping(k=3, algorithm="multivariate"),
    om.RankSwapping(k=3, algorithm="fixed"),
    om.Pram(),
    om.Shuffling(["diagnosis"]),
]


@pytest.fixture
def without_tables(monkeypatch):
    """Call it: from then on no table of distances is held."""

    def forbid():
        for module in (operators, memory, sides):
            monkeypatch.setattr(module, "LARGEST_TABLE", 6)
        monkeypatch.setattr(sides, "SMALL_TABLE", 6)
        for module in (pram, hybrid):
            monkeypatch.setattr(module, "MODERATE_TABLE", 20)
        monkeypatch.setattr(pram, "NEAR_TABLE", 6)

    return forbid


def claims():
    generator = np.random.default_rng(3)
    codes = ["250.00", "250.13", "250.02", "428.0", "428.1", "V27.0", "401.9", "414.01"]
    return pl.DataFrame(
        {
            "diagnosis": generator.choice([*codes, None], 60).tolist(),
            "county": generator.choice(["north", "south", "west"], 60).tolist(),
            "age": generator.integers(20, 90, 60),
        }
    )


SCHEMA = om.Schema(
    diagnosis=om.Nominal(om.load_taxonomy("icd9cm")), county=om.Flat(), age=om.Numeric()
)
COUNTIES = om.Schema(
    diagnosis=om.Nominal(om.load_taxonomy("icd9cm")), county=om.Flat(), age=om.Numeric(role="other")
)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}")
def test_every_method_gives_the_same_release(method, without_tables):
    schema = COUNTIES if isinstance(method, om.Pram) else SCHEMA
    held = om.protect(claims(), schema, method, seed=5).frame
    without_tables()
    assert om.protect(claims(), schema, method, seed=5).frame.equals(held)


def test_dynamic_swapping_stays_within_its_interval(without_tables):
    without_tables()
    release = om.protect(claims(), COUNTIES, om.RankSwapping(k=4), seed=5)
    (details,) = release.details
    assert sorted(release.frame["county"]) == sorted(claims()["county"])
    assert set(details["farthest_rank"].values()) <= set(range(5))


def figures(found):
    """All figures that an evaluation has found, rounded."""
    if isinstance(found, dict):
        return {name: figures(one) for name, one in found.items()}
    if isinstance(found, (list, tuple)):
        return [figures(one) for one in found]
    return round(found, 9) if isinstance(found, float) else found


def test_evaluation_finds_the_same(without_tables):
    release = om.protect(claims(), SCHEMA, om.Microaggregation(3), seed=5).frame
    held = om.evaluate(claims(), release, SCHEMA).as_dict()
    without_tables()
    assert figures(om.evaluate(claims(), release, SCHEMA).as_dict()) == figures(held)


def test_what_does_not_fit_is_refused_before_it_is_begun(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    monkeypatch.setattr(distances, "LARGEST_TABLE", 100)
    with pytest.raises(ShortMemoryError) as caught:
        ValueDistances(highest=9).between(np.arange(3000), np.arange(3000))
    assert isinstance(caught.value, MemoryError)
    assert str(caught.value) == (
        "The distances of 3,000 from 3,000 values would take 0.2 GB of memory, and 0.0 GB are "
        "left; map rare values to broader concepts first, mask fewer records at a time (strata), "
        "or use a machine with more."
    )


def test_kinds_of_concepts_that_do_not_fit_are_refused_too(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 100)
    monkeypatch.setattr(measures, "LARGEST_TABLE", 2)
    icd9 = om.load_taxonomy("icd9cm")
    concepts = np.sort(icd9.indices_of(["250.00", "428.0", "V27.0", "428"]))
    with pytest.raises(ShortMemoryError, match="What 3 kinds of concepts can have in common would"):
        icd9.space(concepts, "tversky").formula(concepts)


def test_tables_of_several_columns_share_what_may_be_held(monkeypatch):
    icd9 = om.load_taxonomy("icd9cm")
    codes = ["250.00", "250.13", "428.0", "428.1", "V27.0", "401.9"]
    frame = pl.DataFrame({name: [*codes, *codes[::-1]] for name in "abc"})
    schema = om.Schema(**{name: om.Nominal(icd9) for name in "abc"})
    microdata = encode(open_table(frame), schema)
    names = {"operators": "semantic", "metric": "mean", "measure": None}
    every = layout_of(microdata, "abc", **names)
    sizes = [one.arrays.table.size for _, one in every.coded]
    monkeypatch.setattr(operators, "LARGEST_TABLE", sum(sizes) - 1)
    some = layout_of(microdata, "abc", **names)
    assert [one.looked_up for _, one in some.coded] == [True, True, False]
    monkeypatch.setattr(operators, "LARGEST_TABLE", sum(sizes))
    assert all(one.looked_up for _, one in layout_of(microdata, "abc", **names).coded)


def test_tables_of_several_columns_are_written_where_the_kernels_want_them():
    icd9 = om.load_taxonomy("icd9cm")
    columns = {"a": ["250.00", "428.0", None], "b": ["x", "y", "x"], "c": ["428.1", "401.9", "428"]}
    schema = om.Schema(a=om.Nominal(icd9), b=om.Flat(), c=om.Nominal(icd9))
    microdata = encode(open_table(pl.DataFrame(columns)), schema)
    names = {"operators": "semantic", "metric": "euclidean", "measure": None}
    layout = layout_of(microdata, "abc", **names)
    parts = [one.arrays for _, one in layout.coded]
    points = pack_points(parts, *unused_points(len(parts)))
    for kind, joined in (("table", points.tables), ("costs", points.costs)):
        tables = [getattr(part, kind) for part in parts]
        assert joined.tolist() == np.concatenate([one.ravel() for one in tables]).tolist()
        assert all(np.shares_memory(joined, one) for one in tables)


@pytest.mark.parametrize(
    "method",
    [
        om.RankSwapping(k=2),
        om.RankSwapping(k=2, algorithm="fixed"),
        om.RankSwapping(k=2, algorithm="multivariate"),
        om.Shuffling(["a"], given=["b"]),
    ],
)
def test_who_makes_no_centroids_has_no_tables_of_what_they_cost(method, monkeypatch):
    icd9 = om.load_taxonomy("icd9cm")
    frame = pl.DataFrame({name: ["250.00", "428.0", "428.1", "401.9"] * 5 for name in "ab"})
    schema = om.Schema(a=om.Nominal(icd9), b=om.Nominal(icd9))
    monkeypatch.setattr(Comparison, "costs", lambda *_: pytest.fail("nobody needs it"))
    assert om.protect(frame, schema, method, seed=1).frame.shape == frame.shape


def unused_points(coded):
    nothing = np.empty(0)
    shapes = np.empty((coded, 0), np.int32), np.empty((0, 0))
    return *shapes, nothing, nothing, nothing, nothing, 1


def test_words_have_no_large_table(monkeypatch):
    """Whether they are equal is told at once; ranks and concepts may have one still."""
    monkeypatch.setattr(operators, "SMALL_TABLE", 9)
    words, ranks = Comparison(ValueDistances()), Comparison(ValueDistances(highest=9))
    assert [words.is_formed(size, size) for size in (3, 4)] == [False, True]
    assert not ranks.is_formed(4, 4)
    monkeypatch.setattr(operators, "LARGEST_TABLE", 12)
    assert [words.is_formed(3, 3, held) for held in (3, 4)] == [False, True]


@pytest.mark.parametrize("importance", [1.0, 2.0])
def test_one_curve_is_held_where_contributions_are_costs(importance, monkeypatch):
    monkeypatch.setattr(operators, "LARGEST_TABLE", 0)
    icd9 = om.load_taxonomy("icd9cm")
    concepts = np.sort(icd9.indices_of(["250.00", "428.0", "V27.0"])).astype(np.int64)
    codes, ones = np.arange(3, dtype=np.int32), np.ones(3)
    comparison = Comparison(ValueDistances(icd9.space(concepts, "logsc")), importance=importance)
    formula = coded_operator(comparison, concepts, codes, ones, ones).arrays.formula
    head = np.zeros(formulas.COLUMNS, np.int64)
    curve = formulas.laid_out(formula, 0, 0, head)[1][2]
    entries = curve.size // (1 if importance == 1.0 else 2)
    assert entries == head[formulas.KINDS] ** 2 * head[formulas.WIDTH]
    floats = np.concatenate(formulas.laid_out(formula, 0, 0, head)[1])
    assert formulas.greatest_cost(head, floats) == 1.0


def test_what_is_left_is_the_least_of_all_limits(monkeypatch, tmp_path):
    for name, text in {"now": "3000\n", "most": "5000\n", "none": "max\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "system").write_text("MemTotal: 99 kB\nMemAvailable: 7 kB\n")
    monkeypatch.setattr(memory, "SYSTEM", tmp_path / "system")
    for most, expected in {"most": 2000, "none": 7 * 1024, "missing": 7 * 1024}.items():
        monkeypatch.setattr(memory, "GROUPS", ((tmp_path / most, tmp_path / "now"),))
        assert memory.free_memory() == expected


def test_a_measure_without_a_summary_keeps_its_table(monkeypatch):
    monkeypatch.setattr(operators, "LARGEST_TABLE", 0)
    icd9 = om.load_taxonomy("icd9cm")
    concepts = np.sort(icd9.indices_of(["250.00", "428.0", "V27.0"])).astype(np.int64)
    space = icd9.space(concepts, "lin")
    bare = replace(space, measure=replace(space.measure, summary=None))
    codes, ones = np.arange(3, dtype=np.int32), np.ones(3)
    found = [
        coded_operator(Comparison(ValueDistances(one)), concepts, codes, ones, ones).looked_up
        for one in (space, bare)
    ]
    assert found == [False, True]
