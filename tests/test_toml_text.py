"""What is written as TOML is read again as it was."""

import datetime
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontomask.toml_text import toml_comment, toml_key, toml_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = TEXTS | st.integers(-(2**60), 2**60) | st.booleans() | st.floats(allow_nan=False)


@given(TEXTS, PLAIN | st.lists(PLAIN))
def test_keys_and_values_come_back(key, value):
    assert tomllib.loads(f"{toml_key(key)} = {toml_value(value)}") == {key: value}


@pytest.mark.parametrize("value", [datetime.date(2024, 2, 29), datetime.time(9, 30)])
def test_dates_and_times_come_back(value):
    assert tomllib.loads(f"a = {toml_value(value)}") == {"a": value}


@given(TEXTS)
def test_a_comment_stays_a_comment(text):
    assert tomllib.loads(f"# {toml_comment(text)}\na = 1") == {"a": 1}
