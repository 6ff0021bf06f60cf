"""Pseudonyms and dropped columns."""

from __future__ import annotations

import hashlib
import hmac

import polars as pl

import ontomask as om
from ontomask.methods.columns import DropColumns, Pseudonyms
from ontomask.methods.perturbation import Sampling
from tables import mixed_columns, mixed_schema

KEY = "correct horse battery staple"
SCHEMA = om.Schema(person=om.Flat(role="other"), age=om.Numeric(role="other"))


def people() -> pl.DataFrame:
    return pl.DataFrame({"person": ["ann", "bob", None, "ann"], "age": [1, 2, 3, 4]})


def protected(method, seed=1):
    return om.protect(people(), SCHEMA, method, seed).frame


def test_pseudonyms_are_keyed_hashes():
    found = protected(Pseudonyms(["person"], key=KEY, length=32))["person"].to_list()
    expected = hmac.new(KEY.encode(), b"ann", hashlib.sha256).hexdigest()[:32]
    assert found[0] == found[3] == expected
    assert found[2] is None
    assert found[1] != found[0]


def test_another_key_gives_other_pseudonyms_and_the_seed_does_not_matter():
    first = protected(Pseudonyms(["person"], key=KEY))
    assert first.equals(protected(Pseudonyms(["person"], key=KEY), seed=2))
    other = protected(Pseudonyms(["person"], key=KEY[::-1]))
    assert first["person"][0] != other["person"][0]
    assert len(first["person"][0]) == 20


def test_the_key_is_not_shown():
    method = Pseudonyms(["person"], key=KEY)
    assert KEY not in repr(method)
    assert KEY not in repr(om.protect(people(), SCHEMA, method, 1))


def test_identifiers_come_out_as_pseudonyms_only():
    schema = om.Schema(person=om.Identifier(), age=om.Numeric(role="other"))
    named = om.protect(people(), schema, Pseudonyms(["person"], key=KEY), 1).frame
    assert named.equals(protected(Pseudonyms(["person"], key=KEY)))
    steps = [Sampling(size=2), Pseudonyms(["person"], key=KEY)]
    sample = om.protect(people(), schema, steps, 1).frame
    assert sample.columns == ["person", "age"]
    assert not set(sample.rows()) - set(named.rows())


def test_dropped_columns_do_not_come_out():
    assert protected(DropColumns(["person"])).columns == ["age"]


def test_steps_before_can_use_a_dropped_column():
    frame = pl.DataFrame(mixed_columns())
    steps = [om.Microaggregation(3), DropColumns(["age", "charge"])]
    release = om.protect(frame, mixed_schema(), steps, 1).frame
    assert set(release.columns) == {"diagnosis", "admitted", "severity", "sex"}
