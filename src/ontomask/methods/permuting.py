"""What the permutation methods share: which columns, which order of values, and the new columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ontomask.arrays import Ints
from ontomask.checks import did_you_mean
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Column
from ontomask.errors import MethodError, ParameterError, PromiseError

__all__ = [
    "check_no_counts",
    "check_published",
    "chosen_columns",
    "permuted_column",
]


def check_published(names: Sequence[str], microdata: Microdata, parameter: str) -> None:
    """Refuse columns that are named twice, do not exist, or are not published."""
    for place, name in enumerate(names):
        declared = microdata.schema.get(name)
        if declared is not None and not isinstance(declared, Column):
            raise ParameterError(
                f"{parameter} names {name!r}, which the schema declares as {declared.kind}: it is "
                "not published and cannot be masked; leave it out of the list."
            )
        if name not in microdata.attributes:
            raise ParameterError(
                f"{parameter} names {name!r}, which is not a published column."
                f"{did_you_mean(name, microdata.attributes)}"
            )
        if name in names[:place]:
            raise ParameterError(f"{parameter} names {name!r} twice; name every column once.")


def chosen_columns(columns: Sequence[str] | None, microdata: Microdata) -> tuple[str, ...]:
    """The columns asked for, by default the quasi-identifiers."""
    if columns is not None:
        check_published(columns, microdata, "columns")
        return tuple(columns)
    if not microdata.quasi:
        raise MethodError(
            "No column has the role 'quasi'; say which columns an intruder may know, or name the "
            "columns to be masked."
        )
    return microdata.quasi


def check_no_counts(microdata: Microdata, method: str) -> None:
    """Refuse rows that stand for several records: exchanging values would change the counts."""
    if (microdata.counts != 1.0).any():
        raise MethodError(
            f"{method} exchanges the values of single records, but the schema has a count column "
            "and some rows stand for several records; repeat each row as often as its count says, "
            "and leave the count column out of the schema."
        )


def permuted_column(attribute: Attribute, codes: Ints) -> Attribute:
    """The column with its codes in another order, and no others."""
    size = attribute.cardinality
    before, after = (np.bincount(one, minlength=size) for one in (attribute.codes, codes))
    if not np.array_equal(before, after):
        raise PromiseError(
            f"The values of column {attribute.name!r} are not those it had before; the release is "
            "withheld. This is a defect of the method: please report it."
        )
    return replace(attribute, codes=codes)
