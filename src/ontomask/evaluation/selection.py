"""Which columns a question about a table is asked of."""

from __future__ import annotations

from collections.abc import Sequence

from ontomask.checks import ListOf, Text, check, did_you_mean
from ontomask.data.microdata import Microdata
from ontomask.errors import ParameterError, SchemaError

__all__ = ["chosen_columns"]


def chosen_columns(microdata: Microdata, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns asked for, in the order given; the quasi-identifiers if None."""
    if columns is None:
        return _quasi(microdata)
    check("columns", columns, ListOf(Text(), empty=False))
    unknown = [name for name in columns if name not in microdata.attributes]
    if unknown:
        raise ParameterError(
            f"columns names {unknown[0]!r}, which is not a published column of the table; there "
            f"are: {', '.join(microdata.attributes)}."
            f"{did_you_mean(unknown[0], microdata.attributes)}"
        )
    if len(set(columns)) < len(columns):
        raise ParameterError("columns names a column twice; name each of them once.")
    return tuple(columns)


def _quasi(microdata: Microdata) -> tuple[str, ...]:
    if not microdata.quasi:
        raise SchemaError(
            "No column is a quasi-identifier, so there are no classes; give a column "
            "role='quasi', or name the columns that an intruder may know."
        )
    return microdata.quasi
