"""Columns of a run: their domains, and what generalized values stand for."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.domains import Concepts, Groups, LabelGroups, Labels, Numbers, Ranks
from ontomask.data.encoding import encode
from ontomask.data.masked import State
from ontomask.data.microdata import Attribute
from ontomask.data.tables import open_table
from ontomask.errors import MethodError
from ontomask.methods.base import Context, Method
from tables import DISEASES

SCHEMA = om.Schema(
    diagnosis=om.Nominal(DISEASES),
    age=om.Numeric(),
    stage=om.Ordinal(["low", "middle", "high"]),
    born=om.Date(),
    town=om.Flat(),
)
FRAME = pl.DataFrame(
    {
        "diagnosis": ["flu", "cold", "skin cancer", "flu", "cold", None],
        "age": [21, 25, 34, 38, 52, 21],
        "stage": ["low", "high", "low", "high", "middle", "low"],
        "born": [datetime.date(2001, 1, day) for day in (1, 2, 3, 4, 5, 1)],
        "town": ["a", "b", "c", "b", "a", None],
    }
)
TENS = om.Hierarchy.from_rows([(age, f"{age // 10 * 10}s", "*") for age in (21, 25, 34, 38, 52)])
TWENTIES = om.Hierarchy.from_rows(
    [(f"{ten}s", "20-39" if ten < 40 else "40-59", "*") for ten in (20, 30, 50)]
)


def masked(method: Method, state: State) -> State:
    """The table after one more step."""
    return state.after(method.run(state.microdata, Context(np.random.default_rng(0))))


def start(frame: pl.DataFrame = FRAME, schema: om.Schema = SCHEMA) -> State:
    table = open_table(frame)
    return State.start(table, encode(table, schema))


def members(attribute: Attribute) -> dict[object, set[object]]:
    """What each released value stands for."""
    groups = attribute.domain.stands_for()
    return {
        value: {groups.below.values[one] for one in groups.members[first:last].tolist()}
        for value, first, last in zip(
            attribute.values, groups.starts[:-1], groups.starts[1:], strict=True
        )
    }


def test_each_kind_of_column_has_its_kind_of_domain():
    kinds = {name: type(one.domain) for name, one in start().microdata.attributes.items()}
    assert kinds == {
        "diagnosis": Concepts,
        "age": Numbers,
        "stage": Ranks,
        "born": Numbers,
        "town": Labels,
    }


def test_a_value_that_was_not_generalized_stands_for_itself():
    for one in start().microdata.attributes.values():
        assert members(one) == {value: {value} for value in one.values}


def generalized(levels: list[int], hierarchy: om.Hierarchy = TENS) -> Attribute:
    """The age of each record at a level of its own, -1 for a star."""
    from ontomask.methods.generalization.encoding import encode_columns

    microdata = encode(open_table(FRAME.select("age")), om.Schema(age=om.Numeric()))
    column = encode_columns(microdata, {"age": hierarchy}, levels_by="steps")["age"]
    chosen = np.array(levels, np.int32)
    return column.recode(microdata["age"], np.maximum(chosen, 0), chosen < 0)


def test_a_generalized_value_stands_for_the_values_below_it():
    assert members(generalized([1] * 6)) == {"20s": {21, 25}, "30s": {34, 38}, "50s": {52}}


def test_a_value_stands_for_what_its_own_level_says_and_a_star_for_everything():
    found = members(generalized([0, 1, 1, 0, -1, 1]))
    assert found == {
        "21": {21},
        "20s": {21, 25},
        "30s": {34, 38},
        "38": {38},
        "*": {21, 25, 34, 38, 52},
    }


def test_one_text_at_two_levels_stands_for_both():
    rows = [(21, 21, "young"), (25, 21, "young"), (34, 34, "old"), (38, 34, "old"), (52, 52, "old")]
    hierarchy = om.Hierarchy.from_rows(rows)
    assert members(generalized([0, 1, 0, 0, 0, 0], hierarchy))["21"] == {21, 25}


def test_a_column_that_stays_at_level_0_keeps_its_meaning():
    column = generalized([0] * 6)
    assert isinstance(column.domain, Numbers)
    assert column.numbers.tolist() == [21, 25, 34, 38, 52]


def test_two_generalizations_stand_for_the_values_before_the_first():
    frame = FRAME.select("age")
    first = om.Generalization(
        [om.privacy.KAnonymity(2)], hierarchies={"age": TENS}, suppression_limit=0.2
    )
    second = om.Generalization([om.privacy.KAnonymity(3)], hierarchies={"age": TWENTIES})
    state = masked(first, start(frame, om.Schema(age=om.Numeric())))
    assert members(state.microdata["age"]) == {"20s": {21, 25}, "30s": {34, 38}}
    state = masked(second, state)
    assert members(state.microdata["age"]) == {"20-39": {21, 25, 34, 38}}


def test_generalized_concepts_stand_for_the_column_s_own_concepts_below_them():
    schema = om.Schema(diagnosis=om.Nominal(DISEASES))
    frame = pl.DataFrame({"diagnosis": ["flu", "cold", "flu", "cold"]})
    state = masked(om.Generalization([om.privacy.KAnonymity(4)]), start(frame, schema))
    column = state.microdata["diagnosis"]
    assert isinstance(column.domain, Concepts)
    assert list(members(column).values()) == [{"flu", "cold"}]


def test_a_settled_column_has_the_values_it_uses_each_once_in_order():
    labels = Labels(("c", "a", "b", "a"))
    column = Attribute("x", om.Flat(), np.array([1, 3, 0, 4], np.int32), labels, True).settled()
    assert (column.values, column.codes.tolist(), column.has_missing) == (
        ("a", "c"),
        [0, 0, 1, 2],
        True,
    )
    groups = Groups.over(labels, np.array([[0, 1, 2, 3], [0, 1, 2, 3]]), 4)
    grouped = Attribute(
        "x", om.Flat(), np.array([2, 0], np.int32), LabelGroups(labels.values, groups)
    )
    assert members(grouped.settled()) == {"b": {"b"}, "c": {"c"}}


def test_numbers_that_floats_do_not_hold_are_told_apart_by_their_values():
    exact = (Decimal("0.10000000000000000001"), Decimal("0.1"))
    domain = Numbers(exact, np.array([0.1, 0.1]))
    column = Attribute("x", om.Numeric(), np.array([0, 1], np.int32), domain).settled()
    assert column.values == (exact[1], exact[0])


@pytest.mark.parametrize("asked", ["numbers", "concepts"])
def test_a_generalized_column_is_refused_where_its_values_are_to_be_compared(asked):
    column = generalized([1] * 6)
    with pytest.raises(MethodError, match="'age' was generalized by an earlier step"):
        getattr(column, asked)
    with pytest.raises(MethodError, match="put the step that compares its values before"):
        column.distances()


def test_strata_that_share_a_domain_or_have_their_own_are_put_together():
    frame = FRAME.select("age", "town").with_columns(town=pl.Series([*"ababab"]))
    schema = om.Schema(age=om.Numeric(), town=om.Flat(role="other"))
    release = om.protect(frame, schema, om.Noise(["age"], strata=("town",)), seed=3)
    assert release.frame["town"].to_list() == [*"ababab"]
    swapped = om.protect(frame, schema, om.RankSwapping(k=2, strata=("town",)), seed=3)
    for town in "ab":
        kept = frame.filter(pl.col("town") == town)["age"].sort()
        assert (
            swapped.frame.filter(pl.col("town") == town)["age"].sort().to_list() == kept.to_list()
        )
