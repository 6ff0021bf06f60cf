"""What is probably odd in a table as a file has it: rows that are no records, odd numbers.

Every function takes what was read and answers with a guess that a person can correct; none changes
anything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.data.files.numbers import pointed
from ontomask.data.intervals import read_interval

__all__ = [
    "MISSING_WORDS",
    "MOSTLY",
    "OddValues",
    "is_missing_word",
    "likely_codes",
    "likely_header",
    "odd_rows",
    "odd_values",
    "thousands_mark",
]

FEWEST = 5
"""In tables of fewer records nothing is called odd."""

MOSTLY = 0.8
"""A column is one of numbers if so many of its values are."""

MOST_ODD = 20
MOST_ROWS = 5
FAR = 1.5
"""A code for missing values is at least so many times as large as every other number."""

HEADER_AGAIN = "repeats the header"
CODES = re.compile(r"-[1-9]|-?(?:7{2,}|8{2,}|9{2,})")
NEGATIVE_CODES = frozenset([-1.0, -7.0, -8.0, -9.0])
BRACKETED = re.compile(r"[(\[].*[)\]]")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


UNITS = _words(
    """
    y yr yrs year years jahre jahr ans años month months monate mois day days tage jours h hour
    hours min s sec kg g mg µg ug mcg lb lbs cm m mm km in ft l ml dl mmhg bpm % percent eur usd gbp
    chf euro € $ £ mmol/l mg/dl kg/m2 kg/m² °c c f n count
    """
)
SUMS = _words(
    """
    total totals sum sums subtotal summe gesamt gesamtsumme insgesamt somme suma totale overall all
    mean average avg mittelwert durchschnitt moyenne media promedio
    """
)
MISSING_WORDS = _words(
    """
    ? - -- . na n/a n.a. #n/a nan null none nil unk unkn unknown missing refused dk
    k.a. ka unbekannt fehlt inconnu desconocido
    """
)


def is_missing_word(text: str) -> bool:
    """Whether a text says that a value is not known."""
    return text.strip().casefold() in MISSING_WORDS


# Rows -------------------------------------------------------------------------------------------


def likely_header(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows names the columns: the first that is filled with different words."""
    widest = max((_filled(row) for row in rows), default=0)
    if widest < 2:
        return 0
    for place, row in enumerate(rows):
        cells = [cell.strip() for cell in row if cell.strip()]
        if len(cells) == widest:
            words = len(set(cells)) == len(cells) and not any(map(_is_number, cells))
            return place if words else 0
    return 0


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


@dataclass(frozen=True, eq=False)
class _Cells:
    """A table as texts and, where they are such, as numbers."""

    texts: Mapping[str, pl.Series]
    numbers: Mapping[str, pl.Series]
    height: int

    def numeric(self, first: int, last: int) -> list[str]:
        """The columns that hold numbers from one row to another."""
        found = []
        for name, texts in self.texts.items():
            known = texts.slice(first, last - first).drop_nulls()
            read = self.numbers[name].slice(first, last - first).drop_nulls()
            if len(known) >= FEWEST - 2 and len(read) >= MOSTLY * len(known):
                found.append(name)
        return found


def _cells(frame: pl.DataFrame, how: FileFormat) -> _Cells:
    texts = {
        one.name: one.cast(pl.String).str.strip_chars().replace({"": None})
        for one in frame.get_columns()
        if not one.dtype.is_nested()
    }
    return _Cells(texts, {name: _numbers(one, how) for name, one in texts.items()}, frame.height)


def _numbers(texts: pl.Series, how: FileFormat) -> pl.Series:
    numbers = pointed(texts, how).cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite().fill_null(True), None)


def odd_rows(frame: pl.DataFrame, how: FileFormat) -> list[tuple[int, str]]:
    """The rows that are no records, with what each does instead.

    They stand at both ends of a table, or are its header again, where files were joined.
    """
    if frame.height < FEWEST:
        return []
    cells = _cells(frame, how)
    again = [(place, HEADER_AGAIN) for place in _repeated_headers(cells)]
    first = 1 if _gives_units(cells) else 0
    last = cells.height
    below: list[tuple[int, str]] = []
    while last - first >= FEWEST and len(below) < MOST_ROWS:
        why = _ends(cells, first, last - 1)
        if not why:
            break
        last -= 1
        below.append((last, why))
    above = [(0, "gives units")] if first else []
    return [
        *above,
        *again,
        *reversed([row for row in below if (row[0], HEADER_AGAIN) not in again]),
    ]


def _repeated_headers(cells: _Cells) -> list[int]:
    same = pl.DataFrame([texts.eq_missing(name) for name, texts in cells.texts.items()])
    return same.select(pl.all_horizontal(pl.all())).to_series().arg_true().to_list()


def _gives_units(cells: _Cells) -> bool:
    """Whether the first row holds words in all columns of numbers, and nobody's values."""
    numeric = cells.numeric(1, cells.height)
    there = [name for name in numeric if cells.texts[name][0] is not None]
    if not there or any(cells.numbers[name][0] is not None for name in there):
        return False
    others = [name for name in cells.texts if name not in numeric]
    repeated = any(_occurs_below(cells.texts[name]) for name in others)
    units = all(_is_unit(str(cells.texts[name][0])) for name in there)
    return units or (len(there) > 1 and not repeated)


def _occurs_below(texts: pl.Series) -> bool:
    return texts[0] is not None and bool((texts.slice(1) == texts[0]).any())


def _is_unit(text: str) -> bool:
    return BRACKETED.fullmatch(text) is not None or text.casefold() in UNITS


def _ends(cells: _Cells, first: int, last: int) -> str:
    """What the last row does if it is no record."""
    there = [name for name, texts in cells.texts.items() if texts[last] is not None]
    if len(there) <= 1 < len(cells.texts) - 1:
        is_note = not there or cells.numbers[there[0]][last] is None
        return "is a note" if is_note and not _is_sum(cells, first, last) else "sums up"
    return "sums up" if _is_sum(cells, first, last) else ""


def _is_sum(cells: _Cells, first: int, last: int) -> bool:
    """Whether a row adds up the rows above it, or says so and holds more than each of them."""
    numeric = [name for name in cells.numeric(first, last) if cells.numbers[name][last] is not None]
    above = {name: cells.numbers[name].slice(first, last - first).drop_nulls() for name in numeric}
    values = {name: float(cells.numbers[name][last]) for name in numeric}
    sums = [name for name in numeric if _equal(values[name], float(above[name].sum()))]
    clear = [name for name in sums if values[name] >= 3 * _largest(above[name]) > 0]
    others = [name for name in cells.texts if name not in numeric]
    said = [name for name in others if _says_sum(cells.texts[name], last)]
    alone = all(cells.texts[name][last] is None for name in others if name not in said)
    if said:
        return bool(sums) or (alone and any(_is_total(values[one], above[one]) for one in numeric))
    return bool(clear) and len(sums) * 2 >= len(numeric) and alone


def _is_total(value: float, above: pl.Series) -> bool:
    mean = float(above.mean() or 0.0)  # type: ignore[arg-type]
    return value > _largest(above) or abs(value - mean) <= 0.01 * abs(mean)


def _largest(above: pl.Series) -> float:
    return float(above.abs().max() or 0.0)  # type: ignore[arg-type]


def _equal(value: float, total: float) -> bool:
    return abs(value - total) <= 1e-6 * max(1.0, abs(total))


def _says_sum(texts: pl.Series, last: int) -> bool:
    said = str(texts[last] or "").strip(" :.").casefold()
    return said in SUMS and not bool((texts.slice(0, last) == texts[last]).any())


# Values -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OddValues:
    """Texts of a column of numbers that stand for a number, and what stands for missing values."""

    numbers: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def odd_values(column: pl.Series, how: FileFormat) -> OddValues:
    """What is odd in a column of numbers; nothing unless everything in it can be explained."""
    # in the order in which they first occur, each with how many cells have it
    values, counts = column.unique(maintain_order=True), column.unique_counts()
    texts = values.cast(pl.String).str.strip_chars().replace({"": None})
    counts, texts = counts.filter(texts.is_not_null()), texts.drop_nulls()
    numbers = _numbers(texts, how)
    wrong = texts.filter(numbers.is_null()).unique(maintain_order=True).to_list()
    known, cells = numbers.drop_nulls(), int(counts.filter(numbers.is_not_null()).sum())
    if cells < max(FEWEST, MOSTLY * int(counts.sum())) or len(wrong) > MOST_ODD:
        return OddValues()
    whole = bool((known == known.round()).all())
    read = {text: _reading(text, whole) for text in wrong if not is_missing_word(text)}
    if None in read.values():
        return OddValues()
    missing = [text for text in wrong if is_missing_word(text)]
    bounds = {
        text: int(number) if number.is_integer() else number
        for text, number in read.items()
        if number is not None
    }
    return OddValues(bounds, [*missing, *likely_codes(known.unique().sort().to_list())])


def _reading(text: str, whole: bool) -> float | None:
    """The number that an open interval stands for: its end, or among whole ones the one before."""
    span = read_interval(text)
    if span is None or math.isinf(span.low) == math.isinf(span.high):
        return None
    if math.isinf(span.high):
        return span.low
    return span.high - 1 if whole and span.open_high else span.high


def likely_codes(found: Sequence[float]) -> list[str]:
    """Of distinct numbers, ascending, those like codes for missing values, far from all others."""
    candidates = [one for one in found if CODES.fullmatch(f"{one:g}")]
    rest = [one for one in found if one not in candidates]
    if len(rest) < FEWEST:
        return []
    low, high = rest[0], rest[-1]
    far = [one for one in candidates if one > FAR * high > 0 or (one < 0 <= low)]
    negative = [one for one in far if one < 0]
    if negative and not all(one in NEGATIVE_CODES or one <= -11 for one in negative):
        far = [one for one in far if one > 0]
    return [f"{one:g}" for one in far]


MARKS: tuple[tuple[str, str], ...] = (
    *((",", "."), (".", ","), ("'", "."), ("’", "."), (" ", "."), (" ", ",")),
    *(("\u00a0", ","), ("\u202f", ",")),
)
"""Marks of thousands, each with a decimal mark that goes with it."""


def thousands_mark(
    columns: Sequence[pl.Series], how: FileFormat
) -> tuple[str, str, list[str]] | None:
    """The marks with which columns of texts are numbers beyond doubt, and those columns."""
    for mark, decimal in MARKS:
        tried = replace(how, thousands=mark, decimal=decimal)
        names = [one.name for one in columns if _is_grouped(one, tried)]
        if names:
            return mark, decimal, names
    return None


def _is_grouped(column: pl.Series, how: FileFormat) -> bool:
    """Whether all texts are numbers and one has two groups of thousands, or one and decimals."""
    texts = column.str.strip_chars().replace(dict.fromkeys([*how.missing, ""])).drop_nulls()
    mark, decimal = re.escape(how.thousands or ""), re.escape(how.decimal)
    proof = rf"^[+-]?\d{{1,3}}(?:{mark}\d{{3}}(?:{mark}\d{{3}}|{decimal}\d)|[^.,\d]\d{{3}}$)"
    if not len(texts) or not texts.str.contains(proof).any():
        return False
    return _numbers(texts, how).null_count() == 0
