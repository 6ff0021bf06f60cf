"""One builder of distances: bounded, missing at 1, the same wherever values are compared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.evaluation.pairing import pair_tables
from ontomask.methods.generalization.encoding import _distances
from ontomask.methods.points import layout_of
from ontomask.semantics.distances import ValueDistances, column_space
from ontomask.semantics.operators import descending_links
from reference.knowledge import SlowTaxonomy
from strategies import random_attribute, random_parents
from tables import DISEASES, LEAVES

EVERY_MEASURE = pytest.mark.parametrize("measure", [one.name for one in om.knowledge.measures()])


@EVERY_MEASURE
@given(attribute=random_attribute())
@settings(max_examples=25)
def test_distances_of_a_column_are_bounded_and_a_missing_value_is_at_one(measure, attribute):
    parents, values = attribute
    taxonomy = om.Taxonomy.from_parents(parents)
    concepts = np.unique(taxonomy.indices_of(values))
    space = column_space(taxonomy, concepts, measure, "attribute", {})
    table = ValueDistances(space).between(np.append(concepts, -1), np.append(concepts, -1))
    assert table.min() >= 0
    assert table.max() <= 1 + 1e-12
    assert table[-1].tolist() == table[:, -1].tolist() == [1.0] * concepts.size + [0.0]
    plain = taxonomy.distances([taxonomy.ids[one] for one in concepts], measure)
    scale = plain.max() if measure in ("path", "weighted-path") else 1.0
    np.testing.assert_allclose(table[:-1, :-1], plain / (scale or 1.0), atol=1e-12)


def test_ranks_and_words():
    values = np.array([0, 2, 4, -1])
    ranks = ValueDistances(highest=4).between(values, values)
    assert ranks.tolist() == [[0, 0.5, 1, 1], [0.5, 0, 0.5, 1], [1, 0.5, 0, 1], [1, 1, 1, 0]]
    assert ValueDistances().between(values, values).tolist() == (1 - np.eye(4)).tolist()


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 1, 2], [3, 4]])
def test_values_are_as_far_wherever_the_missing_one_stands(order):
    values, table = np.array([0, 2, 4, -1, -2])[order], 1.0 - np.eye(5)
    table[:3, :3] = np.abs(np.subtract.outer([0, 2, 4], [0, 2, 4])) / 4
    found = ValueDistances(highest=4).between(values, values)
    assert found.tolist() == table[np.ix_(order, order)].tolist()


@EVERY_MEASURE
def test_a_concept_outside_the_column_is_as_far_as_a_missing_value(measure):
    numbers = DISEASES.indices_of(["flu", "cold", "asthma"])
    distances = ValueDistances(column_space(DISEASES, numbers[:2], measure, "attribute", {}))
    table = distances.between(numbers, numbers)
    assert table[0, 1] == table[1, 0] <= 1
    if distances.space.root:  # the measure counts depth from the LCS, infection
        assert table[2].tolist() == table[:, 2].tolist() == [1, 1, 0]


@EVERY_MEASURE
def test_everybody_compares_by_the_same_distances(measure):
    generator = np.random.default_rng(2)
    words = generator.choice([*LEAVES, None], 40).tolist()
    frame = pl.DataFrame({"d": words})
    schema = om.Schema(d=om.Nominal(DISEASES, measure=measure))
    microdata = encode(open_table(frame), schema)
    attribute = microdata["d"]
    expected = attribute.distances().between(attribute.numbered, attribute.numbered)
    settings_ = {"operators": "marginality", "metric": "mean", "measure": None}
    (_, operator), *_ = layout_of(microdata, ["d"], **settings_).coded
    np.testing.assert_array_equal(operator.arrays.table, expected)
    np.testing.assert_array_equal(_distances(attribute).matrix, expected)
    paired = pair_tables(frame, frame, schema).columns["d"]
    found = paired.sides.table[np.ix_(paired.old, paired.new)]
    np.testing.assert_array_equal(found, expected[np.ix_(attribute.codes, attribute.codes)])
    other = encode(open_table(frame), om.Schema(d=om.Nominal(DISEASES)))["d"].distances(measure)
    np.testing.assert_array_equal(other.between(attribute.numbered, attribute.numbered), expected)


@given(random_parents(10))
@settings(max_examples=60)
def test_confusion_counts_the_links_down_from_the_subsumer(parents):
    slow, taxonomy = SlowTaxonomy(parents), om.Taxonomy.from_parents(parents)
    names = sorted(parents)
    numbers = taxonomy.indices_of(names)
    expected = [[slow.up(other, slow.lcs([one, other])) for other in names] for one in names]
    assert descending_links(taxonomy, numbers, numbers).tolist() == expected


@given(random_attribute(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_consensus_is_the_value_of_least_confusion(attribute, random):
    parents, values = attribute
    slow, taxonomy = SlowTaxonomy(parents), om.Taxonomy.from_parents(parents)
    values = [*values, *values[:1]]
    random.shuffle(values)
    schema = om.Schema(d=om.Nominal(taxonomy))
    method = om.Microaggregation(len(values), operators="consensus")
    (found,) = set(om.protect(pl.DataFrame({"d": values}), schema, method, seed=1).frame["d"])

    def confusion(one):
        return sum(slow.up(other, slow.lcs([one, other])) for other in values)

    assert found == min(set(values), key=lambda one: (confusion(one), slow.depth(one), one))


# Distances that are sums of logarithms: the order of adding them decides about the last bits.
TIED = om.Taxonomy.from_parents(
    {
        "r": [],
        **{
            f"{side}{level}": [f"{side}{level - 1}" if level else "r"]
            for side in "xyz"
            for level in range(5)
        },
        **{f"{side}leaf{place}": [f"{side}{place}"] for side in "xyz" for place in range(5)},
    }
)


@pytest.mark.compiled
@given(st.lists(st.integers(0, 14), min_size=1, max_size=6), st.integers(1, 9))
@settings(max_examples=200)
def test_ties_of_means_are_not_decided_by_rounding(places, repeats):
    """Each value once below x, y and z: three branches of the same shape, so all means tie."""
    names = [
        name
        for place in places
        for side in "xyz"
        for name in [f"{side}leaf{place % 5}" if place < 10 else f"{side}{place % 5}"] * repeats
    ]
    sample = om.statistics.Sample.of(names, TIED)
    assert om.statistics.nominal_mean(sample)[0] == "x"
    assert om.statistics.semantic_mean(sample)[0] in "rx"
    schema, frame = om.Schema(d=om.Nominal(TIED)), pl.DataFrame({"d": names})
    for operators, mean in (
        ("marginality", om.statistics.nominal_mean),
        ("semantic", om.statistics.semantic_mean),
    ):
        method = om.Microaggregation(len(names), operators=operators)
        (found,) = set(om.protect(frame, schema, method, seed=1).frame["d"])
        assert found == mean(sample)
