"""A user's own mapping of values to concepts: a dictionary, a CSV `value,concept`, a crosswalk.

The file's separator may be a comma, semicolon, tab or bar; other columns are ignored; an empty
concept leaves the value to the rules. The concept is an id or any name that the rules understand.
A file that is called `.json` is a FHIR ConceptMap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ontomask.checks import AnyOf, Null, Typed, check
from ontomask.errors import FormatError, UnknownConceptError
from ontomask.taxonomy.crosswalks import Crosswalk, load_crosswalk
from ontomask.taxonomy.draft import place
from ontomask.taxonomy.readers.separated import plain_suffix, read_table
from ontomask.taxonomy.suggestions import Suggester
from ontomask.taxonomy.term_index import Match, TermIndex

__all__ = ["Overrides", "read_overrides"]

Overrides = Mapping[str, str] | Crosswalk | str | Path | None

ALLOWED = AnyOf(
    Null(), Typed(Mapping, "a dictionary"), Typed((str, Path), "the path of a mapping file")
)
COLUMNS = {name: (name,) for name in ("value", "concept", "label")}
SHOWN = 5


@dataclass(frozen=True)
class Row:
    """One statement: this value is that concept; `label` is what the file calls the concept."""

    value: str
    concept: str
    label: str = ""
    line: int | None = None


def read_overrides(index: TermIndex, overrides: Overrides) -> dict[str, Match]:
    """Return the matches that a user states, by value; every mistake in them is an error."""
    check("overrides", overrides, ALLOWED)
    if overrides is None:
        return {}
    if isinstance(overrides, str | Path) and plain_suffix(Path(overrides)) == ".json":
        overrides = load_crosswalk(overrides)
    if isinstance(overrides, str | Path):
        source, rows = str(overrides), list(_file_rows(Path(overrides)))
    elif isinstance(overrides, Crosswalk):
        source, rows = "overrides", _dictionary_rows(overrides.into(index.taxonomy))
    else:
        source, rows = "overrides", _dictionary_rows(overrides)
    _check_unique(rows, source)
    return _matches(index, rows, source)


def _dictionary_rows(overrides: Mapping[str, str]) -> list[Row]:
    pairs = ((str(value).strip(), concept) for value, concept in overrides.items())
    return [Row(value, str(concept).strip()) for value, concept in pairs if concept]


def _file_rows(path: Path) -> Iterator[Row]:
    table = read_table(path, COLUMNS, needed=("value", "concept"), short_rows=True)
    for line, cells in table:
        if cells["concept"] and not cells["value"]:
            raise FormatError(
                f"{place(str(path), line)}: the concept {cells['concept']!r} has no value; fill in "
                "the value or remove the line."
            )
        if cells["concept"]:
            yield Row(**cells, line=line)


def _check_unique(rows: list[Row], source: str) -> None:
    first: dict[str, Row] = {}
    for row in rows:
        known = first.setdefault(row.value, row)
        if known.concept != row.concept:
            since = f" (line {known.line})" if known.line else ""
            raise FormatError(
                f"{place(source, row.line)}: the value {row.value!r} is mapped to {row.concept!r} "
                f"here but to {known.concept!r} before{since}; keep one of the two."
            )


def _matches(index: TermIndex, rows: list[Row], source: str) -> dict[str, Match]:
    suggester = Suggester(index)
    matches: dict[str, Match] = {}
    unknown: list[Row] = []
    for row in rows:
        match = index.find(row.concept)
        if match is None:
            unknown.append(row)
        else:
            _check_label(suggester, match, row, source)
            matches[row.value] = match._replace(how="override")
    if unknown:
        raise _unknown_concepts(suggester, unknown, source)
    return matches


def _check_label(suggester: Suggester, match: Match, row: Row, source: str) -> None:
    """Refuse a code whose own label, beside it, shows that a spreadsheet has dropped zeros."""
    labels = suggester.index.taxonomy.labels
    if not row.label or row.label == labels[match.concept]:
        return
    for meant in suggester.lost_zeros(row.concept):
        if meant.label == row.label:
            raise FormatError(
                f"{place(source, row.line)}: the concept {row.concept!r} is "
                f"{labels[match.concept]!r}, but the label beside it is that of {meant.id!r} "
                f"({meant.reason}); write {meant.id!r}, or empty the label."
            )


def _unknown_concepts(suggester: Suggester, rows: list[Row], source: str) -> UnknownConceptError:
    shown = "; ".join(_described(suggester, row) for row in rows[:SHOWN])
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    count = "1 concept is" if len(rows) == 1 else f"{len(rows)} concepts are"
    return UnknownConceptError(
        f"{source}: {count} not in the taxonomy: {shown}{more}. "
        "Give the id or a name of a concept, or leave the concept empty."
    )


def _described(suggester: Suggester, row: Row) -> str:
    where = f"line {row.line}, " if row.line else ""
    closest = suggester.suggest(row.concept, limit=1)
    hint = f", perhaps {closest[0]}" if closest else ""
    return f"{where}{row.concept!r} for the value {row.value!r}{hint}"
