"""Schemas are changed by `replace` and `|`; rules go with the columns that they are about."""

import pytest

import ontomask as om
from ontomask.errors import SchemaError

RULE = om.Rule(when={"age": {"to": 10}}, never={"status": ["married"]})
SCHEMA = om.Schema(
    name=om.Identifier(), age=om.Numeric(), status=om.Flat(role="sensitive")
).with_rules(RULE)


def test_a_column_is_declared_otherwise():
    changed = SCHEMA.replace(age=om.Numeric(role="sensitive"))
    assert (changed["age"].role, SCHEMA["age"].role) == ("sensitive", "quasi")
    assert list(changed) == list(SCHEMA)
    assert changed.rules == (RULE,)


def test_a_column_is_left_out_with_its_rules():
    changed = SCHEMA.replace(status=None)
    assert list(changed) == ["name", "age"]
    assert changed.rules == ()


def test_an_unknown_column_is_not_added_silently():
    with pytest.raises(SchemaError, match=r"no column 'aeg' to replace.*Did you mean 'age'"):
        SCHEMA.replace(aeg=om.Numeric())


def test_columns_are_added_and_the_right_side_counts():
    changed = SCHEMA | {"length of stay": om.Numeric(), "age": om.Numeric(role="other")}
    assert list(changed) == ["name", "age", "status", "length of stay"]
    assert changed["age"].role == "other"
    assert changed.rules == (RULE,)
    with pytest.raises(TypeError):
        SCHEMA | 3


def test_rules_of_both_sides_are_kept():
    other = om.Schema(sex=om.Flat(), ward=om.Flat()).with_rules(
        om.Rule(when={"sex": ["m"]}, never={"ward": ["maternity"]})
    )
    assert (SCHEMA | other).rules == (RULE, *other.rules)


def test_what_a_schema_cannot_be_stays_refused():
    with pytest.raises(SchemaError, match="Only one column can be the count"):
        om.Schema(n=om.Count()) | {"m": om.Count()}
    with pytest.raises(SchemaError, match="must be declared as"):
        SCHEMA.replace(age="numeric")
