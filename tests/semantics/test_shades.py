"""Tables that say which of a few distances it is hold what tables of distances hold."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.kernels import records
from ontomask.kernels.compiling import compiled
from ontomask.kernels.records import LOOKED_UP, SHADED, WAY, fill_distances, pack_points
from ontomask.kernels.value_trees import fill_extremes, value_trees
from ontomask.methods.points import layout_of
from ontomask.semantics import operators
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.operators import Comparison
from ontomask.taxonomy import shades
from ontomask.taxonomy.taxonomy import Taxonomy
from reference.points import coded_operator
from strategies import random_attribute

MEASURES = ("logsc", "tversky", "path", "leacock-chodorow", "wu-palmer", "resnik")
OPERATORS = ("semantic", "marginality", "lcs", "mode", "random")


@compiled
def cost(points, row, value):
    return records.cost(points, 0, row, value)


@compiled
def fill(points, roots, links, turns, reference, direction, extremes):
    fill_extremes(points, roots, links, turns, reference, direction, extremes)


def extremes_of(points, trees, row, direction):
    found = np.full(trees.links.shape[0] + 1, -1.0)
    reference = np.full(1, float(row))
    fill(points, trees.roots, trees.links, trees.turns, reference, direction, found)
    return found[:-1]


def packed(coded, codes):
    ones, nothing = np.ones(codes.size), np.empty((0, codes.size))
    return pack_points(
        [coded.arrays], codes[None].astype(np.int32), nothing, ones, ones, ones, np.empty(0), 1
    )


def with_shades(patch, *, always):
    """Tables of any size have shades, or none."""
    patch.setattr(operators, "NEAR_TABLE", 1 if always else np.inf)
    patch.setattr(shades, "RARE", 1e-9)


def both_ways(comparison, values, codes, counts):
    """The operator by shades and by tables, and points of every value over each."""
    made = []
    for always in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            with_shades(patch, always=always)
            made.append(coded_operator(comparison, values, codes, counts, counts))
    assert (made[0].arrays.shades is None, made[1].arrays.shades) == (False, None)
    return [(one, packed(one, np.arange(values.size))) for one in made]


def check_same(comparison, values, codes, counts):
    (shaded, points), (plain, tables) = both_ways(comparison, values, codes, counts)
    assert points.heads[0, WAY] == SHADED
    assert tables.heads[0, WAY] == LOOKED_UP
    np.testing.assert_array_equal(shaded.contributed(), plain.arrays.table)
    np.testing.assert_array_equal(shaded.summed(counts[: values.size]), plain.summed(counts))
    filled, trees = np.empty(values.size), value_trees(tables, np.arange(values.size))
    for row in range(shaded.rows.size):
        expected = plain.arrays.table[row]
        fill_distances(points, np.full(1, float(row)), filled)
        np.testing.assert_array_equal(filled, expected)
        for direction in (1.0, -1.0):
            found = [extremes_of(one, trees, row, direction) for one in (points, tables)]
            np.testing.assert_array_equal(*found)
        for value in range(values.size):
            assert records.entry(points, 0, row, value) == expected[value]
            assert cost(points, row, value) == plain.arrays.costs[value, row]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("metric", ["mean", "euclidean", "s-distance"])
@given(attribute=random_attribute())
@settings(deadline=None, max_examples=5)
def test_every_distance_is_that_of_a_table(measure, operator, metric, attribute):
    parents, words = attribute
    taxonomy = Taxonomy.from_parents(parents)
    concepts = np.unique(taxonomy.indices_of(words))
    space = taxonomy.space(np.asarray(concepts, np.int32), measure, "taxonomy")
    for values in (concepts.astype(np.int64), np.append(concepts.astype(np.int64), -1)):
        comparison = Comparison(ValueDistances(space), operator, metric, importance=0.3)
        counts = 1.0 + np.arange(values.size) % 3
        check_same(comparison, values, np.arange(values.size, dtype=np.int32), counts)


def claims(records_=900):
    draw, icd9 = np.random.default_rng(7), om.load_taxonomy("icd9cm")
    leaves = np.array([one for one in icd9.ids if len(one) == 6 and one[3] == "."])[:700]
    often = draw.zipf(1.2, records_) % leaves.size
    frame = pl.DataFrame(
        {
            "one": leaves[often],
            "two": [*leaves[draw.integers(0, 90, records_ - 9)], *[None] * 9],
            "age": draw.integers(18, 90, records_),
        }
    )
    kept = om.Nominal(icd9, missing="own-category")
    return frame, om.Schema(one=om.Nominal(icd9, measure="lin"), two=kept, age=om.Numeric())


METHODS = [
    *(om.Microaggregation(4, operators=one) for one in ("semantic", "marginality", "mode")),
    om.Microaggregation(4, algorithm="mdav", metric="s-distance", refine=True),
    om.Recoding(3),
    om.Resampling(3),
    om.RankSwapping(k=5),
    om.RankSwapping(k=5, algorithm="multivariate"),
    om.Shuffling(["two"], given=["one"]),
]


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS, ids=lambda one: type(one).__name__)
def test_releases_are_the_same(method, monkeypatch):
    """Beside a column whose table holds distances, and one whose table holds neither."""
    frame, schema = claims()
    releases = []
    for always in (True, False):
        with_shades(monkeypatch, always=always)
        releases.append(om.protect(frame, schema, method, seed=1).frame)
    assert releases[0].equals(releases[1])


@pytest.mark.compiled
def test_persons_as_wholes_are_the_same(monkeypatch):
    """They have each attribute several times, over the same tables."""
    frame, schema = claims()
    frame = frame.with_columns(person=pl.Series([f"p{row // 3}" for row in range(len(frame))]))
    schema = om.Schema(
        **{name: schema[name] for name in schema},
        person=om.Identifier(unit=True, sequences=True),
    )
    releases = []
    for always in (True, False):
        with_shades(monkeypatch, always=always)
        releases.append(om.protect(frame, schema, om.Microaggregation(4), seed=1).frame)
    assert releases[0].drop("person", strict=False).equals(releases[1].drop("person", strict=False))


def layout(aggregates=True):
    frame, schema = claims()
    microdata = encode(open_table(frame), schema)
    names = {"operators": "semantic", "metric": "mean", "measure": None}
    return layout_of(microdata, ["one", "two"], aggregates=aggregates, **names)


@pytest.mark.parametrize("aggregates", [True, False])
def test_shades_lie_where_the_kernels_want_them(aggregates, monkeypatch):
    with_shades(monkeypatch, always=True)
    made = layout(aggregates)
    (_, plain), (_, shaded) = made.coded
    points, size = made._nobody, shaded.rows.size * shaded.values.size
    assert plain.arrays.shades is None
    assert points.shades.size == size * (1 + aggregates)
    assert points.tables.size == plain.arrays.table.size + shaded.arrays.shades.palette.size
    for own, joined in (
        (plain.arrays.table, points.tables),
        (shaded.arrays.shades.palette, points.tables),
        (shaded.arrays.shades.codes, points.shades),
    ):
        assert np.shares_memory(own, joined)


def test_pairs_with_many_distances_or_few_pairs_have_a_table(monkeypatch):
    assert [one.arrays.shades is None for _, one in layout().coded] == [True, True]
    with_shades(monkeypatch, always=True)
    assert [one.arrays.shades is None for _, one in layout().coded] == [True, False]
    for name, few in (("MOST", 3), ("RARE", 10**9)):
        with monkeypatch.context() as patch:
            patch.setattr(shades, name, few)
            assert [one.arrays.shades is None for _, one in layout().coded] == [True, True]
