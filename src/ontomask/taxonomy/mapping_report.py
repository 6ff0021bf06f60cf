"""What a `Mapping` says to people: its summary, its error, its warnings, the rows of its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ontomask.taxonomy.suggestions import Suggestion
from ontomask.taxonomy.term_index import is_number
from ontomask.wording import plural

if TYPE_CHECKING:
    from ontomask.taxonomy.mapping import Mapping

__all__ = ["doubtful", "file_rows", "summary", "unmapped_sentence", "zero_warnings"]

FILE_COLUMNS = ("value", "concept", "label", "how", "records", "suggestion")
SHOWN = 5


def _values(mapping: Mapping, positions: list[int]) -> str:
    records = plural(int(mapping.counts[positions].sum()), "record")
    return f"{len(positions):,} value{'' if len(positions) == 1 else 's'} ({records})"


def _section(title: str, items: Iterable[str], count: int) -> list[str]:
    """Return a title, the first items below it and how many more there are; nothing for none."""
    if not count:
        return []
    more = [f"  and {count - SHOWN:,} more"] if count > SHOWN else []
    return [f"{title}:", *(f"  {item}" for item in islice(items, SHOWN)), *more]


def _with_suggestions(mapping: Mapping) -> Iterator[str]:
    """Say the unmapped values, the most frequent first, each with the closest concept."""
    for position in mapping.unmapped_positions:
        value = mapping.values[position]
        closest = mapping.suggestions(value, limit=1)
        hint = f"perhaps {closest[0]}" if closest else "nothing similar"
        yield f"{str(value)!r}, {plural(int(mapping.counts[position]), 'record')}: {hint}"


def summary(mapping: Mapping) -> str:
    """Return an account of a mapping for the person who is responsible for the data."""
    rules = Counter(how for how in mapping.how if how is not None)
    found = ", ".join(f"{rule} {count:,}" for rule, count in rules.most_common())
    lines = [f"{mapping.coverage}."]
    lines += [f"Values found by: {found}."] if found else []
    lines += _section("Ambiguous", map(str, mapping.ambiguous), len(mapping.ambiguous))
    lines += _section("Unmapped", _with_suggestions(mapping), len(mapping.unmapped))
    lines += [f"Warning: {warning}" for warning in mapping.warnings]
    return "\n".join(lines)


def unmapped_sentence(mapping: Mapping) -> str:
    """Say which values have no concept, what is closest to them, and the ways out."""
    positions = mapping.unmapped_positions
    verb = "has" if len(positions) == 1 else "have"
    title = (
        f"{_values(mapping, positions)} of {len(mapping):,} {verb} no concept in {_called(mapping)}"
    )
    way_out = (
        "Correct the values, give a mapping file (mapping.to_csv writes one to fill in), or say "
        'unmapped="root" or unmapped="suppress".'
    )
    return "\n".join([*_section(title, _with_suggestions(mapping), len(positions)), way_out])


def _called(mapping: Mapping) -> str:
    name = mapping.index.taxonomy.name
    return f"the taxonomy {name!r}" if name else "the taxonomy"


def zero_warnings(mapping: Mapping) -> Iterator[str]:
    """Look for zeros dropped by a spreadsheet, in unmapped and then in mapped codes.

    Numbers are always suspect, since a number has no leading zeros; texts only when at least
    two unmapped values are codes but for their zeros.
    """
    lost = [p for p in mapping.unmapped_positions if _alternatives(mapping, p)]
    damaged = len(lost) > 1
    if damaged:
        yield _lost_sentence(mapping, lost)
    if positions := doubtful(mapping, damaged=damaged):
        yield _doubtful_sentence(mapping, positions)


def doubtful(mapping: Mapping, *, damaged: bool = False) -> list[int]:
    """The places of mapped codes that may have been others before they were read as numbers."""
    return [
        position
        for position, how in enumerate(mapping.how)
        if how in ("id", "code")
        and (damaged or is_number(mapping.values[position]))
        and _alternatives(mapping, position)
    ]


def _alternatives(mapping: Mapping, position: int) -> list[Suggestion]:
    """Return the other codes that a value may have been before it was read as a number."""
    value, concept = mapping.values[position], mapping.concepts[position]
    suggester, text = mapping.suggester, str(value).strip()
    found = suggester.same_number(text) if is_number(value) else suggester.lost_zeros(text)
    return [suggestion for suggestion in found if suggestion.concept != concept]


def _lost_sentence(mapping: Mapping, positions: list[int]) -> str:
    example = positions[0]
    code = _alternatives(mapping, example)[0].id
    return (
        f"{_values(mapping, positions)} would be codes if zeros were added (e.g. {code} for "
        f"{str(mapping.values[example])!r}): it seems that a spreadsheet has read the codes of "
        "this column as numbers; read it again, as text, from its source, or give a mapping file."
    )


def _doubtful_sentence(mapping: Mapping, positions: list[int]) -> str:
    example = max(positions, key=lambda position: int(mapping.counts[position]))
    others = [code.id for code in _alternatives(mapping, example)][:3]
    verb = "is" if len(positions) == 1 else "are"
    return (
        f"{_values(mapping, positions)} {verb} mapped as written but would, read as numbers, be "
        f"the same as other codes (e.g. {str(mapping.values[example])!r} is taken for "
        f"{mapping.ids[example]} and may have been {' or '.join(others)}); make sure that this "
        "column was never read as numbers, or read it again, as text, from its source."
    )


def file_rows(mapping: Mapping, suggestions: int | None) -> Iterator[tuple[object, ...]]:
    """Make the rows of a mapping file: the unmapped values first, then the mapped ones."""
    counts, ids, labels = mapping.counts, mapping.ids, mapping.index.taxonomy.labels
    for rank, position in enumerate(mapping.unmapped_positions):
        value = mapping.values[position]
        looked_up = suggestions is None or rank < suggestions
        closest = mapping.suggestions(value, 1) if looked_up else ()
        yield value, "", "", "", counts[position], str(closest[0]) if closest else ""
    for position, match in enumerate(mapping.matches):
        if match is not None:
            found = ids[position], labels[match.concept], match.how
            yield mapping.values[position], *found, counts[position], ""
