"""A schema and its steps as the text of a plan: what was tried in Python becomes a file."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ontomask.data.schema import Schema
from ontomask.errors import PlanError
from ontomask.methods.base import Method
from ontomask.plan.parts import Kind
from ontomask.plan.starting import KEY
from ontomask.plan.vocabulary import COLUMNS, PRIVACY, QUALITY, STEPS
from ontomask.taxonomy.bundled import NAMES
from ontomask.taxonomy.hierarchies import Hierarchy
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.toml_text import toml_key, toml_value

__all__ = ["spelled"]

Files = Mapping[str, str | os.PathLike[str]]


def spelled(
    schema: Schema, steps: Sequence[Method], path: str, seed: int, taxonomies: Files
) -> str:
    """The text of a plan; what a file cannot say is refused.

    Parameters
    ----------
    path
        The table.
    taxonomies
        For nominal columns whose taxonomy does not come with the package, its file.
    """
    parts = [f"seed = {seed}", f"[input]\npath = {toml_value(path)}"]
    for name, column in schema.items():
        said = dict(_parameters(COLUMNS[column.kind], column, f"column {name!r}"))
        if "taxonomy" in said:
            said["taxonomy"] = _taxonomy(name, said["taxonomy"], taxonomies)
        parts.append(_table(f"[columns.{toml_key(name)}]", {"kind": column.kind, **said}))
    for rule in schema.rules:
        said = {part: _plain(getattr(rule, part), part) for part in ("when", "never")}
        parts.append(_table("[[rules]]", said))
    for step in steps:
        said = dict(_parameters(STEPS[step.name], step, step.name))
        parts.append(_table("[[steps]]", {"method": step.name, **said}))
    return "\n\n".join(parts) + "\n"


def _table(head: str, said: Mapping[str, object]) -> str:
    lines = [f"{toml_key(name)} = {toml_value(value)}" for name, value in said.items()]
    return "\n".join([head, *lines])


def _parameters(kind: Kind, made: Any, whose: str) -> Iterator[tuple[str, object]]:
    """What differs from what it would be anyway, in the words of a plan; the role always."""
    for one in dataclasses.fields(made):
        value = getattr(made, one.name)
        if one.name != "role" and (value is None or _is_default(one, value)):
            continue
        special = kind.written.get(one.name)
        key = one.name if special is None else special.name
        yield key, KEY if key == "key_variable" else _plain(value, f"{key} of {whose}")


def _is_default(field: dataclasses.Field[Any], value: object) -> bool:
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    known = field.default is not dataclasses.MISSING and field.default is not None
    return known and bool(value == field.default)


def _plain(value: Any, what: str) -> object:
    """A value as TOML can say it."""
    for kinds in (PRIVACY, QUALITY):
        for name, kind in kinds.items():
            if type(value) is kind.made:
                return {"model": name, **dict(_parameters(kind, value, name))}
    if isinstance(value, Hierarchy):
        value = value.cells()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one, f"{name!r} in {what}") for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, what) for one in value]
    if isinstance(value, (str, int, float, bool, datetime.date, Taxonomy)):
        return value
    raise PlanError(
        f"A plan cannot hold the {what}, a {type(value).__name__}; write it to a file and give the "
        "path of the file, as the plan will find it, instead."
    )


def _taxonomy(column: str, taxonomy: object, files: Files) -> str:
    """The name of a bundled taxonomy, or the file that a taxonomy was read from."""
    if column in files:
        return os.fspath(files[column])
    if isinstance(taxonomy, Taxonomy) and taxonomy.name in NAMES:
        return taxonomy.name
    raise PlanError(
        f"The taxonomy of column {column!r} does not come with the package; say in which file it "
        f"is: taxonomies={{{column!r}: '…'}}."
    )
