"""Own releases are paired as they were encoded: the figures are those that a reader would find."""

from __future__ import annotations

import dataclasses
import gc
import math
import pickle

import polars as pl
import pytest

import ontomask as om
from every_method.test_contract import CASES
from ontomask.data.tables import Table
from ontomask.errors import DataError
from ontomask.evaluation.evaluation import Settings, evaluate_paired
from ontomask.evaluation.pairing import pair_tables
from ontomask.taxonomy.taxonomy import Taxonomy
from tables import mixed_columns, mixed_schema


def close(one: object, other: object) -> bool:
    """Whether two figures, or structures of them, are the same up to rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    return one == other


def figures(paired: object) -> dict[str, object]:
    """The figures of an evaluation; what could not be read of a text, only a reader notes."""
    found = dataclasses.asdict(evaluate_paired(paired, Settings()))
    return {name: one for name, one in found.items() if name != "notes"}


@pytest.mark.parametrize(
    "method", [one for one in CASES if one.repeatable], ids=lambda method: method.name
)
def test_pairing_from_codes_finds_what_reading_the_release_finds(method):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), method, 1)
    domains = {
        name: one.domain
        for name, one in release._columns.items()
        if one.domain.stands_for().below is not one.domain
    }
    read = pair_tables(frame, release.frame, release.schema, rows=release.rows, hierarchies=domains)
    assert close(figures(release.paired()), figures(read))


def test_no_released_text_is_read_and_nothing_is_mapped_again(monkeypatch, tmp_path):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), 1)
    looked, distinct = [], Table._distinct
    monkeypatch.setattr(Taxonomy, "map", lambda *_given, **_more: pytest.fail("mapped again"))
    monkeypatch.setattr(
        Table, "_distinct", lambda self, name: looked.append(self.given) or distinct(self, name)
    )
    release.evaluate()
    assert looked
    assert all(given is frame for given in looked)


def test_a_release_forgets_the_encoded_original_with_its_frame():
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), 1)
    assert set(release._original.columns) == set(release._columns)
    del frame
    gc.collect()
    assert release._original.columns == {}
    with pytest.raises(DataError, match="original table is gone"):
        release.evaluate()


@pytest.mark.parametrize("place", [0, 5], ids=["first", "sixth"])
def test_a_pickled_release_is_evaluated_with_the_original_as_before(place):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), CASES[place], 1)
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own bytes
    assert again._original is None
    assert close(again.evaluate(frame).as_dict(), release.evaluate().as_dict())
