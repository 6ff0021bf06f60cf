"""The only room that knows data frames: columns out, the same kind of frame back.

pandas, Polars and PyArrow tables are spoken to through Narwhals; lazy frames are collected, unless
`engines` asks them where they are. What leaves is built anew from the published columns, so no
index, attribute or unused category travels along.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from ontomask.arrays import (
    Codes,
    Floats,
    FloatValues,
    Ints,
    Longs,
    Narrow,
    narrowed,
    stretches,
    taken,
    widened,
)
from ontomask.checks import composed
from ontomask.data.distinct import (
    counted_whole,
    distinct_floats,
    floats_as_expected,
    is_plain,
    plain_numbers,
    seen_floats,
    texts_as_expected,
    texts_of,
)
from ontomask.data.libraries import Framed, Library, library_of
from ontomask.data.seen import FEW, Seen, with_gap
from ontomask.errors import DataError, OntomaskError

__all__ = [
    "LARGEST_EXACT",
    "Table",
    "first_records",
    "framed",
    "open_table",
]

SAMPLED = 512
NUMBERS = (int, float, Decimal)
LARGEST_NUMBER = 1e150
"""The squares of larger ones are infinite."""

MANY = 10_000
"""More different floats than this are digested by their bits, fewer by their texts."""

LARGEST_EXACT = 2**53
"""Floats hold every whole number up to this one."""


@dataclass(frozen=True, eq=False)
class Table:
    """A frame of any known kind, read-only.

    Attributes
    ----------
    frame
        The frame that is worked with; its names are in Unicode's composed form (NFC).
    given
        The frame as it was given.
    own_names
        The names as they were given, where that is not in composed form.
    keep_index
        Whether a frame made from this one gets the index of its records.
    wrapped
        Columns as they were given, where `frame` has what their values are (categories of numbers).
    """

    frame: nw.DataFrame[Any]
    given: Any = None
    own_names: Mapping[str, str] = field(default_factory=dict)
    keep_index: bool = False
    wrapped: Mapping[str, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Go to another process as the frame itself: what speaks to its library stays behind."""
        return open_table, (self.native,)

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order; a library takes long to list thousands of them."""
        return tuple(self.frame.columns)

    @property
    def native(self) -> Any:
        """The frame itself."""
        return self.frame.to_native()

    @cached_property
    def _types(self) -> Mapping[str, Any]:
        return self.frame.schema

    def _column(self, name: str) -> nw.Series[Any]:
        if name not in self._columns:
            self._columns[name] = self.frame.get_column(name)
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, nw.Series[Any]]:
        """The columns that were asked for: a library takes longer to hand one out than to list."""
        return {}

    @cached_property
    def _library(self) -> Library:
        return library_of(self.frame)

    @contextlib.contextmanager
    def _understood(self, name: str) -> Iterator[None]:
        """Say in a sentence that a library has no answer for a column's type."""
        try:
            yield
        except (MemoryError, OntomaskError):
            raise
        except (Exception, PanicException):  # noqa: BLE001 - libraries refuse odd types in many ways
            raise _not_understood(name, self._column(name)) from None

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return bool(self._types[name].is_numeric())

    def is_integer(self, name: str) -> bool:
        """Whether a column holds whole numbers by its type."""
        return bool(self._types[name].is_integer())

    def is_date(self, name: str) -> bool:
        """Whether a column holds dates or times by its type."""
        return isinstance(self._types[name], (nw.Date, nw.Datetime))

    def is_text(self, name: str) -> bool:
        """Whether a column holds texts by its type."""
        return bool(self._types[name] == nw.String)

    def fits_floats(self, name: str) -> bool:
        """Whether floats hold the numbers of a column as they are."""
        if not self._types[name].is_integer():
            return bool(self._types[name].is_float())
        known: list[Any] = self.distinct(name)[1]
        return not known or (max(known) <= LARGEST_EXACT and min(known) >= -LARGEST_EXACT)

    def distinct(self, name: str) -> tuple[Ints, list[object]]:
        """For each record the position of its value among the distinct ones, -1 where missing.

        Distinct values come in order of first appearance, floats in that of their size.
        """
        codes, known = self.values(name)
        return codes, known if isinstance(known, list) else list(known)

    def values(self, name: str) -> tuple[Ints, Sequence[object]]:
        """The same as `distinct`, where it need not be a list."""
        codes, values = self.narrow_values(name)
        return widened(codes), values

    def narrow_values(self, name: str) -> tuple[Narrow, Sequence[object]]:
        """The same, the positions in as few bytes as they need; a column is looked at once."""
        if name not in self._known:
            codes, values = self._distinct(name)
            self._known[name] = narrowed(codes), values
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, tuple[Narrow, Sequence[object]]]:
        """The columns that were looked at."""
        return {}

    def forget(self, names: Iterable[str]) -> None:
        """Free the memory of columns that were looked at; who asks again waits again."""
        for name in names:
            self._known.pop(name, None)

    def expect(self, columns: Mapping[str, Seen]) -> None:
        """Tell what columns are thought to hold: to compare them with it is quicker than to sort.

        Nothing of it is believed; a column that holds anything else is looked at as ever.
        """
        self._expected.update(columns)

    @cached_property
    def _expected(self) -> dict[str, Seen]:
        return {}

    def _distinct(self, name: str) -> tuple[Codes, Sequence[object]]:
        series, kind = self._column(name), self._types[name]
        if kind.is_float():
            floats = series.to_numpy()
            found = floats_as_expected(floats, self._expected.get(name)) or distinct_floats(floats)
            return found[0], FloatValues(found[1])
        texts = texts_as_expected(series.to_native(), self._expected.get(name))
        if texts is not None:
            return texts
        with self._understood(name):
            if kind.is_nested():
                raise TypeError("lists and records have no distinct values")
            counted = self._counted(series)
            if counted is not None:
                return counted
            codes, known, kinds = self._library.distinct(series.to_native())
        _refuse_mixed(name, kinds)
        return codes, known

    def _counted(self, series: nw.Series[Any]) -> tuple[Ints, list[object]] | None:
        """The distinct values of many records, if these are or are kept as whole numbers."""
        whole = self._library.whole(series.to_native()) if len(self) > MANY else None
        if whole is None or (whole[1] is not None and whole[1].all()):
            return None
        found = counted_whole(*whole)
        if found is None:
            return None
        codes, firsts = found
        return codes, self._library.listed(series[firsts].to_native())

    def seen(self, name: str) -> Seen:
        """A column as a reader sees it."""
        if self._types[name].is_float() and not is_plain(self._column(name)):
            return seen_floats(self._column(name))
        codes, known = self.narrow_values(name)
        gaps = codes < 0
        if gaps.any():
            codes = np.where(gaps, np.int32(len(known)), codes)
        return Seen(codes, with_gap(known))

    def numbers(self, name: str) -> Floats:
        """A numeric column as floats, NaN where missing; infinities are an error."""
        codes, _, known = self.distinct_numbers(name)
        return np.append(known, np.nan).take(codes)

    def distinct_numbers(self, name: str) -> tuple[Ints, Sequence[object], Floats]:
        """The distinct values of a numeric column, and the nearest floats to compute with."""
        if not self._holds_numbers(name):
            raise DataError(
                f"Column {name!r} is said to be numeric but holds {self._kind(name)}; declare it "
                "as nominal, or read it as numbers."
            )
        codes, known = self.values(name)
        plain: Any = known.numbers if isinstance(known, FloatValues) else known
        if not self.fits_floats(name):
            plain = [float(str(value)) for value in known]
        numbers = np.array(plain, np.float64)
        far = np.flatnonzero(np.abs(numbers) > LARGEST_NUMBER)
        if far.size:
            raise DataError(
                f"Column {name!r} holds numbers that are infinite or beyond {LARGEST_NUMBER:g} "
                f"(records: {np.isin(codes, far).sum()}); replace them by a number or by a missing "
                "value."
            )
        return codes, known, numbers

    def _holds_numbers(self, name: str) -> bool:
        """Whether a column holds numbers, by its type or as objects of Python."""
        if self._types[name] not in (nw.Object, nw.Unknown):
            return self.is_number(name)
        with contextlib.suppress(DataError):
            known = self.distinct(name)[1]
            return not any(isinstance(one, bool) or not isinstance(one, NUMBERS) for one in known)
        return False

    def _kind(self, name: str) -> str:
        series = self._column(name).drop_nulls()[:1]
        with contextlib.suppress(Exception):
            known = self._library.listed(series.to_native())
            return f"values of type {type(known[0]).__name__}" if known else "nothing"
        return f"values of type {series.dtype}"

    def part(self, rows: Longs) -> Table:
        """Some of the records."""
        return Table(self.frame[rows], wrapped=self.wrapped)

    def with_numbers(self, names: Sequence[str]) -> Table:
        """The table with the texts of some columns read as numbers."""
        columns = []
        for name in names:
            try:
                columns.append(self._column(name).cast(nw.Float64))
            except Exception:  # noqa: BLE001 - libraries refuse texts in many ways
                raise DataError(
                    f"Column {name!r} is said to be numeric but holds texts that are no numbers; "
                    "correct them, or read it as numbers."
                ) from None
        return replace(self, frame=self.frame.with_columns(*columns)) if columns else self

    def fingerprint(self) -> str:
        """A digest of the shape and of some rows, to notice a frame that was changed meanwhile."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((len(self), self.frame.columns)).encode())
        with contextlib.suppress(Exception, PanicException):  # perhaps nobody uses such a column
            digest.update(self._library.sampled(self.native, max(1, len(self) // SAMPLED)))
        return digest.hexdigest()

    def digest(self, names: Sequence[str] | None = None) -> str:
        """A digest of names, order and all values, the same for every kind of frame."""
        digest = hashlib.blake2b(digest_size=16)
        for name in self.names if names is None else names:
            codes, known = self.narrow_values(name)
            # the bits of many floats are there already, and their texts would take long
            if len(known) > MANY and isinstance(known, FloatValues):
                digest.update(repr((name, len(known))).encode())
                digest.update(np.ascontiguousarray(known.numbers, "<f8").data)
            else:
                digest.update(repr((name, texts_of(known))).encode())
            for part in stretches(codes.size):
                digest.update(np.ascontiguousarray(codes[part], np.int32).data)
        return digest.hexdigest()

    def column(self, name: str) -> list[object]:
        """A column as Python values."""
        with self._understood(name):
            return self._library.listed(self._column(name).to_native())

    def released(
        self, published: Sequence[str], replaced: Mapping[str, Seen], rows: Longs | None
    ) -> Any:
        """Build the outgoing frame: published columns in the order given, of the chosen rows.

        Columns that are replaced are given for those rows.
        """
        columns = {
            self.own_names.get(name, name): self._outgoing(name, replaced.get(name), rows)
            for name in published
        }
        native = self._library.together(columns)
        if self.frame.implementation.is_pandas_like():
            native.attrs = {}
            if self.keep_index:
                index = self.native.index
                native.index = index if rows is None else index.take(rows)
        return native

    def _outgoing(self, name: str, new: Seen | None, rows: Longs | None) -> Any:
        if new is not None:
            series = self._rebuilt(name, new)
        else:
            series = self._column(name) if rows is None else self._column(name)[rows]
        plain = plain_numbers(series).to_native()
        like = self.wrapped.get(name)
        with self._understood(name):
            own = self._column(name).to_native() if like is None else like
            return self._library.published(plain, own, rows is None)

    def _rebuilt(self, name: str, new: Seen) -> nw.Series[Any]:
        """A column of the values that are used, and no others."""
        codes, values = new.codes, new.values
        if codes.size <= FEW:
            return self._made(name, taken(values, codes))
        used = new.used
        if used[-1] < used.size:  # the first ones: their places stay
            return self._made(name, values[: used.size])[codes]
        places = np.zeros(len(values), np.int64)
        places[used] = np.arange(used.size)
        rebuilt: nw.Series[Any] = self._made(name, taken(values, used))[places.take(codes)]
        return rebuilt

    def _made(self, name: str, values: Sequence[object]) -> nw.Series[Any]:
        """A column of new values, of the type of an own one where they fit."""
        plain: Any
        if isinstance(values, FloatValues) and not values.gap and self._types[name] == nw.Float64:
            plain = values.numbers  # which every library takes as they are
        elif any(issubclass(kind, np.generic) for kind in set(map(type, values))):
            plain = [value.item() if isinstance(value, np.generic) else value for value in values]
        else:
            plain = list(values)
        with self._understood(name):
            made = self._library.made(plain, self._column(name).to_native())
        series: nw.Series[Any] = nw.from_native(made, series_only=True)
        return series


def open_table(frame: object, *, keep_index: bool = False, may_be_empty: bool = False) -> Table:
    """Take any data frame that Narwhals knows; refuse what cannot be worked with.

    Parameters
    ----------
    frame
        The frame, columns as a dictionary of lists, or something that holds a frame; a table that
        was opened already is given back.
    keep_index
        Whether a frame made from it gets the index of its records (pandas only).
    may_be_empty
        Whether a table without records will do.
    """
    if isinstance(frame, Table):
        return frame
    frame = framed(frame)
    _refuse_names(frame)
    _refuse_duplicates(frame)
    try:
        known = nw.from_native(frame)  # type: ignore[call-overload]
    except TypeError:
        raise DataError(
            f"A table must be a pandas, Polars or PyArrow data frame, not {type(frame).__name__}."
        ) from None
    eager = known.collect() if isinstance(known, nw.LazyFrame) else known
    names = eager.columns
    if not names:
        raise DataError("The table has no columns.")
    if len(eager) == 0 and not may_be_empty:
        raise DataError("The table has no records; give it at least k of them.")
    if keep_index and not eager.implementation.is_pandas_like():
        raise DataError(
            f"keep_index is for pandas frames: a {type(frame).__name__} of "
            f"{eager.implementation.value} has no index; leave keep_index out."
        )
    own_names = _decomposed(names)
    renamed = eager.rename({own: name for name, own in own_names.items()}) if own_names else eager
    plain = _plain_columns(renamed)
    wrapped = {name: renamed.get_column(name).to_native() for name in plain}
    eager = renamed.with_columns(*plain.values()) if plain else renamed
    return Table(eager, frame, own_names, keep_index, wrapped)


def first_records(frame: object, most: Callable[[int], int]) -> tuple[Table, int]:
    """A table, and how many records there are; of a query no more than the first are asked for.

    Parameters
    ----------
    most
        How many records are enough of a table with so many columns.
    """
    query = nw.from_native(framed(frame), pass_through=True)
    if not isinstance(query, nw.LazyFrame):
        table = open_table(frame)
        return table, len(table)
    count = int(query.select(nw.len()).collect().item())
    some = query.head(most(len(query.collect_schema().names()))).collect()
    return open_table(some.to_native()), count


def framed(given: object) -> object:
    """The frame itself, where something was given that holds one or can be made one."""
    if isinstance(given, Framed):
        return given.frame
    if not isinstance(given, Mapping):
        return given
    try:
        return pl.DataFrame(dict(given))
    except (PolarsError, TypeError, ValueError):
        raise DataError(
            "A dictionary must hold columns as lists of equal length, with values of one type each "
            "and texts as names; make it a data frame."
        ) from None


def _decomposed(names: Sequence[str]) -> dict[str, str]:
    """The names that are not in Unicode's composed form, by what they are in it."""
    new = [composed(name) for name in names]
    for name, times in Counter(new).items():
        if times > 1:
            raise DataError(
                f"Two columns are called {name!r}, once with composed and once with separate "
                "accents; rename one of them."
            )
    return {name: own for name, own in zip(new, names, strict=True) if name != own}


def _plain_columns(frame: nw.DataFrame[Any]) -> dict[str, nw.Series[Any]]:
    """Columns as what their values are: Narwhals would make categories of numbers texts."""
    library, native, changed = library_of(frame), frame.to_native(), {}
    for name in frame.columns:
        own = native[name]
        with contextlib.suppress(Exception):  # who uses the column will be told
            plain = library.plain(own)
            if plain is not own:
                changed[name] = nw.from_native(plain, series_only=True).alias(name)
    return changed


def _refuse_names(frame: object) -> None:
    """Names must be texts, or they cannot be said in a schema."""
    if _is_arrow(frame) or _is_lazy(frame):
        return
    strange = [name for name in getattr(frame, "columns", ()) if not isinstance(name, str)]
    if strange and isinstance(strange[0], tuple):
        raise DataError(
            "The table has several rows of column names (a MultiIndex); join them to one name each."
        )
    if strange:
        raise DataError(
            f"The column name {strange[0]!r} is no text; make all names texts, for instance by "
            "frame.rename(columns=str)."
        )


def _refuse_duplicates(frame: object) -> None:
    if _is_lazy(frame):  # it checks its names itself
        return
    names = [str(name) for name in getattr(frame, "columns", ())] if not _is_arrow(frame) else []
    names = names or [str(name) for name in getattr(frame, "column_names", ())]
    for name, times in sorted(Counter(names).items()):
        if times > 1:
            raise DataError(
                f"The column name {name!r} occurs {times} times; give every column a name of its "
                "own."
            )


def _is_lazy(frame: object) -> bool:
    # asked of the type: pandas would look through its columns first
    return hasattr(type(frame), "collect")


def _is_arrow(frame: object) -> bool:
    return type(frame).__module__.startswith("pyarrow")


def _refuse_mixed(name: str, kinds: set[type]) -> None:
    if len(kinds) > 1:
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(
            f"Column {name!r} mixes values of the types {named}; make them one type, for codes and "
            "words usually text."
        )


def _not_understood(name: str, series: nw.Series[Any]) -> DataError:
    native = series.to_native()
    kind = native.dtype if hasattr(native, "dtype") else native.type
    what = f"values of a type that cannot be worked with ({kind})"
    if series.dtype.is_temporal():
        what = "dates outside of the years 1 to 9999, or times finer than microseconds"
    return DataError(
        f"Column {name!r} holds {what}; make them texts, numbers or plain dates, or leave the "
        "column out."
    )
