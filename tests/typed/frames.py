"""What an editor knows of a release: its frame is of the type that went in (see `make types`)."""

from typing import Any, assert_type

import polars as pl

import ontomask as om


def released(frame: pl.DataFrame, lazy: pl.LazyFrame, schema: om.Schema) -> om.Release[Any]:
    """Checked by mypy, never run."""
    method = om.Microaggregation(k=3)
    assert_type(om.protect(frame, schema, method), om.Release[pl.DataFrame])
    assert_type(om.protect(frame, schema, method).frame, pl.DataFrame)
    assert_type(om.protect(lazy, schema, [method], seed=1).frame, pl.LazyFrame)
    assert_type(om.protect("people.csv", schema, method), om.Release[Any])
    assert_type(om.protect(om.discharges(), schema, method), om.Release[Any])
    return om.protect(om.protect(frame, schema, method), schema, method)
