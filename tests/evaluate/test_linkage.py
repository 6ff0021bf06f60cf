import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask import errors
from reference.evaluation import linkage_risk, matching_risk
from strategies import random_parents


@st.composite
def two_tables(draw):
    parents = draw(random_parents(9))
    count = draw(st.integers(2, 12))
    rows = st.lists(
        st.tuples(st.sampled_from(sorted(parents)), st.sampled_from(["f", "m"])),
        min_size=count,
        max_size=count,
    )
    return om.Taxonomy.from_parents(parents), draw(rows), draw(rows)


def frame(rows):
    return pl.DataFrame(rows, schema=["d", "s"], orient="row")


@given(two_tables())
@settings(max_examples=60)
def test_semantic_and_matching_linkage_agree_with_the_definition(case):
    taxonomy, original, masked = case
    schema = om.Schema(d=om.Nominal(taxonomy), s=om.Flat())
    values = sorted({row[0] for row in (*original, *masked)})
    matrix = taxonomy.distances(values)

    def semantic(a, b):
        return matrix[values.index(a), values.index(b)]

    found = om.measuring.record_linkage(frame(original), frame(masked), schema)
    slow = linkage_risk(original, masked, [semantic, lambda a, b: float(a != b)])
    assert found.risk == pytest.approx(slow)
    found = om.measuring.record_linkage(frame(original), frame(masked), schema, distance="matching")
    assert found.risk == pytest.approx(matching_risk(original, masked))


def test_ties_and_duplicates_by_hand():
    original = pl.DataFrame({"n": [1.0, 1.0, 5.0, 9.0]})
    masked = pl.DataFrame({"n": [1.0, 1.0, 1.0, 9.0]})
    schema = om.Schema(n=om.Numeric())
    # The first two are linked to three records each, the third too (1 and 9 are equally far: all
    # four), the last to itself: (1/3 + 1/3 + 1/4 + 1) / 4.
    expected = (1 / 3 + 1 / 3 + 1 / 4 + 1) / 4
    for distance in ("semantic", "euclidean", "s-distance"):
        found = om.measuring.record_linkage(original, masked, schema, distance=distance)
        assert found.risk == pytest.approx(expected)
    assert om.measuring.record_linkage(
        original, masked, schema, distance="matching"
    ).risk == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)


def test_an_unmasked_table_of_unique_records_is_linked_completely():
    table = pl.DataFrame({"n": [1.0, 2.0, 3.0], "s": ["a", "b", "a"]})
    schema = om.Schema(n=om.Numeric(), s=om.Flat())
    found = om.measuring.record_linkage(table, table, schema)
    assert found.risk == 1
    assert found.linked == found.records == 3
    assert found.chance == pytest.approx(1 / 3)


def test_an_intruder_who_knows_less_links_less():
    table = pl.DataFrame({"n": [1.0, 2.0, 3.0, 4.0], "s": ["a", "b", "a", "b"]})
    schema = om.Schema(n=om.Numeric(), s=om.Flat())
    assert om.measuring.record_linkage(table, table, schema, known=["s"]).risk == 0.5
    with pytest.raises(errors.SchemaError, match="There is no column 'm' to evaluate"):
        om.measuring.record_linkage(table, table, schema, known=["m"])


def test_an_intruder_with_another_ontology_or_measure():
    flat = om.Taxonomy.from_parents({"top": [], "a": ["top"], "b": ["top"], "c": ["top"]})
    deep = om.Taxonomy.from_parents({"top": [], "x": ["top"], "a": ["x"], "b": ["x"], "c": ["top"]})
    original = pl.DataFrame({"d": ["a", "c"]})
    masked = pl.DataFrame({"d": ["b", "c"]})
    schema = om.Schema(d=om.Nominal(flat))
    # Without x, a is as far from b as from c; with it, b is nearer and the link is certain.
    assert om.measuring.record_linkage(original, masked, schema).risk == 0.75
    assert om.measuring.record_linkage(original, masked, schema, taxonomies={"d": deep}).risk == 1
    assert (
        om.measuring.record_linkage(
            original, masked, schema, taxonomies={"d": deep}, measure="equality"
        ).risk
        == 0.75
    )
    with pytest.raises(errors.ParameterError, match="taxonomies names 'e'"):
        om.measuring.record_linkage(original, masked, schema, taxonomies={"e": deep})


def test_an_external_table_with_other_people_in_it():
    masked = pl.DataFrame({"n": [1.0, 5.0, 9.0]})
    external = pl.DataFrame({"n": [9.2, 40.0, 1.1]})
    schema = om.Schema(n=om.Numeric())
    found = om.measuring.record_linkage(external, masked, schema, truth=[2, -1, 0])
    assert found.records == 2
    assert found.risk == 1
    assert om.measuring.record_linkage(external, masked, schema, truth=[0, -1, 0]).risk == 0.5
    for wrong in ([0, 1], [0, 1, 3], [0, 1, -2]):
        with pytest.raises(errors.ParameterError, match="truth must give"):
            om.measuring.record_linkage(external, masked, schema, truth=wrong)


def test_missing_values_are_at_distance_one():
    table = pl.DataFrame({"n": [1.0, None, 3.0]})
    found = om.measuring.record_linkage(table, table, om.Schema(n=om.Numeric()))
    assert found.risk == 1


def test_order_of_records_does_not_matter():
    generator = np.random.default_rng(1)
    original = pl.DataFrame({"a": generator.integers(0, 5, 50), "b": generator.normal(size=50)})
    masked = original.with_columns(b=pl.col("b").round(0))
    schema = om.Schema(a=om.Numeric(), b=om.Numeric())
    order = generator.permutation(50)
    shuffled = om.measuring.record_linkage(original[order], masked[order], schema)
    assert shuffled.risk == pytest.approx(
        om.measuring.record_linkage(original, masked, schema).risk
    )


@given(st.data())
@settings(max_examples=60)
def test_s_distance_is_the_definition_with_ordinals_by_rank(data):
    parents = data.draw(random_parents(8))
    taxonomy = om.Taxonomy.from_parents(parents)
    order = ["none", "mild", "severe", "deadly"]
    kinds = st.tuples(st.sampled_from(sorted(parents)), st.sampled_from(order), st.integers(0, 5))
    count = data.draw(st.integers(2, 9))
    original, masked = (data.draw(st.lists(kinds, min_size=count, max_size=count)) for _ in "ab")
    schema = om.Schema(d=om.Nominal(taxonomy), o=om.Ordinal(order=order), n=om.Numeric())
    tables = [pl.DataFrame(one, schema=["d", "o", "n"], orient="row") for one in (original, masked)]
    values = sorted({row[0] for row in (*original, *masked)})
    matrix = taxonomy.distances(values)
    nominal = om.statistics.nominal_variance(
        om.statistics.Sample.of([row[0] for row in original], taxonomy)
    )
    ranks, numbers = ([order.index(row[1]) for row in original], [row[2] for row in original])

    def squared(one, other, known):
        spread = np.var(known, ddof=1)
        return (one - other) ** 2 / 2 / spread if spread else 0.0

    def contributions(one, other):
        place = matrix[values.index(one[0]), values.index(other[0])]
        yield place / nominal if nominal else 0.0
        yield squared(order.index(one[1]), order.index(other[1]), ranks)
        yield squared(one[2], other[2], numbers)

    total = 0.0
    for place, record in enumerate(original):
        found = [sum(contributions(record, other)) for other in masked]
        nearest = [spot for spot, one in enumerate(found) if one <= min(found) + 1e-9]
        total += 1 / len(nearest) if place in nearest else 0.0
    linked = om.measuring.record_linkage(*tables, schema, distance="s-distance")
    assert linked.risk == pytest.approx(total / count)
