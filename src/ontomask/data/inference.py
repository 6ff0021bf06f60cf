"""Proposing a schema for a table: kinds and roles, each with its reason."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ontomask.data.schema import AnyColumn, Date, Flat, Identifier, Nominal, Numeric, Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import DependencyError
from ontomask.taxonomy.bundled import load
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Proposal", "infer_schema"]

CODED = ("icd9cm", "icd9cm-procedures", "nace", "naics", "icd10cm")
"""Bundled taxonomies whose codes are looked for; words are left to the user."""

SAMPLED = 500
COVERED = 0.9
MOSTLY_DISTINCT = 0.9
FEW_LEVELS = 20
NAMES_OF_IDENTIFIERS = ("id", "ssn", "name", "patient", "email", "phone", "mrn", "address", "nr")


@dataclass(frozen=True)
class Proposal:
    """A proposed schema and why each column is proposed as it is."""

    schema: Schema
    reasons: Mapping[str, str]

    def __str__(self) -> str:
        lines = [
            f"{name}: {column.kind}, {column.role} ({self.reasons[name]})"
            for name, column in self.schema.items()
        ]
        return "\n".join(lines)


def infer_schema(frame: object) -> Proposal:
    """Propose kinds and roles for the columns of a table; a person should look at them."""
    table = open_table(frame)
    columns: dict[str, AnyColumn] = {}
    reasons: dict[str, str] = {}
    for name in table.names:
        columns[name], reasons[name] = _proposed(table, name)
    return Proposal(Schema.of(columns), reasons)


def _proposed(table: Table, name: str) -> tuple[AnyColumn, str]:
    codes, values = table.distinct(name)
    known = int(np.count_nonzero(codes >= 0))
    if not known:
        return Flat(role="other"), "it holds missing values only"
    share = len(values) / known
    words = set(name.lower().replace("-", "_").split("_"))
    if words & set(NAMES_OF_IDENTIFIERS) and share > 0.5:
        return Identifier(), "its name and its many distinct values point to single people"
    if table.is_date(name) or _look_like_dates(values):
        return Date(), "its values are dates"
    if table.is_number(name):
        return _number(table, name, values, share)
    if share > MOSTLY_DISTINCT and len(values) > FEW_LEVELS:
        return Identifier(), f"{share:.0%} of its values are distinct"
    return _words(values)


def _number(table: Table, name: str, values: list[object], share: float) -> tuple[AnyColumn, str]:
    if table.is_integer(name) and share > MOSTLY_DISTINCT and len(values) > FEW_LEVELS:
        return Identifier(), f"whole numbers of which {share:.0%} are distinct"
    if len(values) <= 2:
        return Flat(), "it has two values or fewer"
    return Numeric(), f"its {len(values)} distinct values are numbers"


def _words(values: list[object]) -> tuple[AnyColumn, str]:
    sample = [str(value) for value in values[:SAMPLED]]
    for taxonomy in _coded_taxonomies():
        coverage = _code_share(taxonomy, sample)
        if coverage >= COVERED:
            return Nominal(taxonomy), f"{coverage:.0%} of its values are codes of {taxonomy.name}"
    return Flat(), f"its {len(values)} distinct values are words; give a taxonomy if there is one"


def _coded_taxonomies() -> Iterator[Taxonomy]:
    for name in CODED:
        with contextlib.suppress(DependencyError):
            yield load(name)


def _code_share(taxonomy: Taxonomy, sample: list[str]) -> float:
    """Share of values that are codes; mere words and short numbers prove nothing."""
    if not any(any(letter.isdigit() for letter in value) for value in sample):
        return 0.0
    how = taxonomy.map(sample).how
    return sum(rule in ("id", "code") for rule in how) / len(sample)


def _look_like_dates(values: list[object]) -> bool:
    texts = [value for value in values[:SAMPLED] if isinstance(value, str)]
    if not texts or len(texts) < min(len(values), SAMPLED):
        return False
    return all(_is_iso_date(text) for text in texts)


def _is_iso_date(text: str) -> bool:
    parts = text[:10].split("-")
    return len(parts) == 3 and [len(part) for part in parts] == [4, 2, 2] and text[:4].isdigit()
