"""SPSS and Stata files, through pyreadstat: values, their labels and their missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.data.files.kinds import whole_if_possible
from ontomask.data.files.loaded import Loaded, check_columns, with_missing
from ontomask.errors import DataError
from ontomask.extras import optional
from ontomask.wording import option, quoted

__all__ = ["library", "read_survey"]


def library() -> Any:
    """Return the package pyreadstat, or say how to get it."""
    return optional("pyreadstat")


def read_survey(
    path: Path,
    how: FileFormat,
    columns: Sequence[str] | None,
    shown: str,
) -> Loaded:
    """Read an SPSS or Stata file; what its author declared to be missing is missing."""
    package = library()
    reader = package.read_sav if how.format == "spss" else package.read_dta
    options = {"output_format": "polars", "encoding": how.encoding}
    try:
        _, about = reader(str(path), metadataonly=True, user_missing=True, **options)
        check_columns(columns or (), about.column_names, shown)
        frame, _ = reader(str(path), usecols=_listed(columns), **options)
    except (package.ReadstatError, package.PyreadstatError, UnicodeDecodeError) as error:
        raise DataError(
            f"{shown} cannot be read as {'an SPSS' if how.format == 'spss' else 'a Stata'} "
            f"file ({str(error).rstrip('.')}); fetch it again, or say its encoding if texts are "
            f"the trouble ({option('encoding', 'cp1252')})."
        ) from None
    labels = about.variable_value_labels if how.labels else {}
    named, partly = _labeled(frame.select(columns or frame.columns), labels)
    known = with_missing(named, how.missing)
    whole = known.with_columns([whole_if_possible(column) for column in known.get_columns()])
    declared = [*about.missing_ranges, *about.missing_user_values]
    notes = _notes([name for name in declared if name in whole.columns], partly)
    return Loaded(whole, how, notes)


def _listed(columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else list(columns)


def _labeled(
    frame: pl.DataFrame, labels: Mapping[str, Mapping[Any, str]]
) -> tuple[pl.DataFrame, list[str]]:
    """Replace codes by labels where every code has one of its own; tell where that is not so."""
    replaced, partly = [], []
    for name in frame.columns:
        names = labels.get(name, {})
        used = frame[name].drop_nulls().unique().to_list()
        if not names or not used:
            continue
        known = [names[value] for value in used if value in names]
        if len(set(known)) == len(used):
            replaced.append(_renamed(frame[name], names))
        elif known:
            partly.append(name)
    return frame.with_columns(replaced), partly


def _renamed(column: pl.Series, names: Mapping[Any, str]) -> pl.Series:
    return column.replace_strict(
        list(names), list(names.values()), default=None, return_dtype=pl.String
    )


def _notes(declared: list[str], partly: list[str]) -> tuple[str, ...]:
    notes = []
    if declared:
        notes.append(f"Values declared as missing in the file are missing: {quoted(declared)}.")
    if partly:
        notes.append(
            f"Codes were kept in {quoted(partly)}, where not every code has a label of its own."
        )
    return tuple(notes)
