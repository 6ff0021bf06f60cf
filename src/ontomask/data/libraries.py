"""How each frame library keeps a column: its values out, new values in, nothing else along.

Narwhals speaks to all of them, but not of what is told apart here: categories and their order,
types with and without room for missing values, texts that stay in memory though no record has them.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from ontomask.arrays import Bools, Floats, Ints, Longs, stretches

__all__ = ["Framed", "Library", "Whole", "is_missing", "library_of"]

UNFIT = (TypeError, ValueError, ArithmeticError, NotImplementedError, PolarsError)
"""What libraries raise when values do not fit a type."""


FEW = 500
"""So many values are counted by hand faster than by a query."""

MODERATE = 10_000
"""So many whole numbers are sorted faster than they are looked up."""

OFTEN = 10
"""Texts that occur so often on the average are found faster as categories than by a join."""

SEVERAL, AHEAD = 100, 1000
"""Up to so many texts among so many first records are looked for by their hashes."""

UNKNOWN = -2
"""The place of a text that is not among those looked for."""

TIMES = "mM"
"""Kinds of pandas' types that hold times."""

Distinct = tuple[Ints, list[object], set[type]]
"""For each record the position of its value, -1 where missing; the values; all their types."""


Whole = tuple[NDArray[np.integer[Any]], Bools | None]
"""A whole number for each record, and which records have no value, if any."""


class Framed:
    """What holds a table as its `frame` (a file that was read, a release), and stands for it."""

    frame: Any


class Library(Protocol):
    """What is asked of a frame library, about its own columns."""

    def plain(self, column: Any) -> Any:
        """The column without a wrapping that hides what its values are."""
        ...

    def distinct(self, column: Any) -> Distinct:
        """The distinct values in order of appearance, and each record's."""
        ...

    def whole(self, column: Any) -> Whole | None:
        """The values as whole numbers that are different where these are, if it keeps such."""
        ...

    def listed(self, column: Any) -> list[object]:
        """The values as Python's own."""
        ...

    def sampled(self, frame: Any, step: int) -> bytes:
        """What changes if one of every so many records does."""
        ...

    def made(self, values: list[object] | Floats, like: Any) -> Any:
        """A new column of some values, of another column's type where they fit."""
        ...

    def published(self, column: Any, like: Any, whole: bool, /) -> Any:
        """The column as `like` was given: as categories, say, but no others than records have.

        `whole` says that no record is left out.
        """
        ...

    def together(self, columns: dict[str, Any]) -> Any:
        """A frame of columns of the same length."""
        ...


def library_of(frame: nw.DataFrame[Any]) -> Library:
    """The library of a frame."""
    own = nw.get_native_namespace(frame)
    if frame.implementation.is_polars():
        return _Polars(own)
    return _Arrow(own) if frame.implementation.is_pyarrow() else _Pandas(own)


def is_missing(value: object) -> bool:
    """Whether a value is one of the libraries' missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _same(one: object, other: object) -> bool:
    """Whether a value came back as it was; True is no 1 here."""
    if type(one) is type(other) and one == other:
        return True
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    for kind in (bool, str):
        if isinstance(one, kind) != isinstance(other, kind):
            return False
    return bool(one == other)


def _equal(values: list[object], back: list[object]) -> bool:
    """Whether values came back as they were, seen at a glance: no missing ones, no other types."""
    return values == back and list(map(type, values)) == list(map(type, back))


def _first_fitting(
    values: list[object] | Floats,
    kinds: Iterable[Any],
    make: Callable[[Any], Any],
    listed: Callable[[Any], list[object]],
) -> Any:
    """The column of the first type in which all values come back as they are."""
    for kind in kinds:
        try:
            column = make(kind)
            if isinstance(values, np.ndarray):  # floats for a column of floats
                return column
            back = listed(column)
            if _equal(values, back) or all(map(_same, values, back)):
                return column
        except UNFIT:
            continue
    raise TypeError("no type holds all the values")


def _counted(values: list[object]) -> Distinct:
    """The distinct values of a short column, for which a query would take longer."""
    places: dict[object, int] = {}
    codes = [-1 if one is None else places.setdefault(one, len(places)) for one in values]
    return np.array(codes, np.int32), list(places), set(map(type, places))


def _first_places(values: list[object]) -> Longs:
    """Where each value appears first, in their order; that of a gap is not told."""
    # backwards, so that the first one is written last
    places = dict(zip(reversed(values), range(len(values) - 1, -1, -1), strict=True))
    places.pop(None, None)
    return np.array(sorted(places.values()), np.int64)


def _bytes_of(parts: Iterable[Any]) -> bytes:
    """The bits of numbers, where that is what a library keeps, and other values as they print."""
    found = []
    for part in parts:
        with contextlib.suppress(Exception):  # perhaps nobody uses the column
            values = np.asarray(part)
            plain = values.dtype != object
            found.append(values.tobytes() if plain else repr(values.tolist()).encode())
    return b"".join(found)


def _sorted_apart(numbers: Longs) -> Distinct:
    """The distinct ones of whole numbers, by sorting."""
    places, firsts = np.unique(numbers, return_index=True, return_inverse=True)[2:0:-1]
    order = np.argsort(firsts)
    ranks = np.empty(order.size, np.int32)
    ranks[order] = np.arange(order.size, dtype=np.int32)
    return ranks.take(places), numbers[firsts[order]].tolist(), {int}


@dataclass(frozen=True, eq=False)
class _Slots:
    """Places by some bits of hashes: those of different values that are known are different."""

    places: Any
    shift: int

    @classmethod
    def apart(cls, hashes: Any) -> _Slots | None:
        """Slots that keep some hashes apart, if that is found."""
        bits, numbers = 4 + 2 * len(hashes).bit_length(), np.arange(len(hashes), dtype=np.uint32)
        for shift in range(0, 64 - bits, bits):
            found = cls(np.zeros(1 << bits, np.uint32), shift)
            found.places[found._bits(hashes)] = numbers
            if (found.of(hashes) == numbers).all():
                return found
        return None

    def of(self, hashes: Any) -> Any:
        """The place for each hash, that of any known value where it is not known."""
        return self.places.take(self._bits(hashes))

    def _bits(self, hashes: Any) -> Longs:
        some = (hashes >> np.uint64(self.shift)) & np.uint64(self.places.size - 1)
        numbers: Longs = some.view(np.int64)
        return numbers


def _hashes(column: Any) -> Any:
    """The hash of each value of a column of Polars."""
    return column.to_frame().hash_rows().to_numpy()


def _is_long(kind: Any) -> bool:
    """Whether NumPy has no whole numbers that are so long."""
    return str(kind).endswith("128")


class _Pandas:
    """Columns of pandas and of what looks like it."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def plain(self, column: Any) -> Any:
        kind = column.dtype
        if isinstance(kind, self.library.SparseDtype):
            return column.sparse.to_dense()
        coded: Any = getattr(kind, "pyarrow_dtype", None)
        if hasattr(coded, "value_type") and hasattr(coded, "index_type"):
            return column.astype(self.library.ArrowDtype(coded.value_type))
        if not isinstance(kind, self.library.CategoricalDtype):
            return column
        if all(isinstance(one, str) for one in kind.categories):
            return column
        return column.astype(object).infer_objects()

    def distinct(self, column: Any) -> Distinct:
        if len(column) <= FEW and column.dtype != object:
            return _counted(self.listed(column))
        codes, known = column.factorize()
        # 1 and True are one value to a dictionary, so a mixture shows in all values only
        shown = column.dropna() if column.dtype == object else known
        return codes.astype(np.int32), known.tolist(), set(map(type, shown.tolist()))

    def whole(self, column: Any) -> Whole | None:
        kind = column.dtype
        if not isinstance(kind, np.dtype) or kind.kind not in "biu":
            return None
        values = column.to_numpy()
        return (values.view(np.uint8) if kind.kind == "b" else values), None

    def listed(self, column: Any) -> list[object]:
        kind = column.dtype
        full = isinstance(kind, np.dtype) and kind.kind in "biu"  # there is no room for gaps
        if not full and len(column) <= FEW:
            return [None if is_missing(value) else value for value in column.tolist()]
        if not full and column.hasnans:  # NA, NaT and NaN are pandas' own
            column = column.astype(object).where(column.notna(), None)
        return list(column.tolist())

    def sampled(self, frame: Any, step: int) -> bytes:
        return _bytes_of([frame.iloc[::step]])

    def made(self, values: list[object] | Floats, like: Any) -> Any:
        own = None if isinstance(like.dtype, self.library.CategoricalDtype) else like.dtype
        if getattr(own, "kind", "") in TIMES and any(isinstance(one, str) for one in values):
            own = None  # texts would be read as times
        return _first_fitting(
            values,
            (own, self._roomy(own), None, "Int64", "UInt64", object),
            lambda kind: self.library.Series(values, dtype=kind),
            self.listed,
        )

    def _roomy(self, kind: Any) -> Any:
        """A type of the same family that has room for missing values, or for longer fractions."""
        sort, size = getattr(kind, "kind", ""), 8 * getattr(kind, "itemsize", 0)
        wide = "double[pyarrow]" if hasattr(kind, "pyarrow_dtype") else "Float64"
        float_kind = None if isinstance(kind, np.dtype) else wide
        return {"b": "boolean", "i": f"Int{size}", "u": f"UInt{size}", "f": float_kind}.get(sort)

    def together(self, columns: dict[str, Any]) -> Any:
        return self.library.DataFrame(columns)

    def published(self, column: Any, like: Any, _whole: bool, /) -> Any:
        kind = like.dtype
        if isinstance(kind, self.library.CategoricalDtype):
            column = self._categorized(column, kind)
        elif column.dtype != kind and column.dtype == self.plain(like.iloc[:0]).dtype:
            column = column.astype(kind)
        return column.reset_index(drop=True)

    def _categorized(self, column: Any, kind: Any) -> Any:
        """A column as categories: the used ones in their order, then new ones."""
        used = self.library.Index(column.dropna().unique())
        known = kind.categories[kind.categories.isin(used)]
        new = sorted(used[~used.isin(known)], key=str)
        kept = known.append(self.library.Index(new)) if new else known
        return column.astype(
            self.library.CategoricalDtype(kept, ordered=bool(kind.ordered) and not new)
        )


class _Polars:
    """Columns of Polars."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def plain(self, column: Any) -> Any:
        return column

    def distinct(self, column: Any) -> Distinct:
        if column.dtype in (self.library.Categorical, self.library.Enum):
            column = column.cast(self.library.String)
        if len(column) <= FEW and column.dtype != self.library.Object:
            return _counted(self.listed(column))
        kind = column.dtype
        whole = kind.is_integer() and not _is_long(kind)
        if whole and len(column) <= MODERATE and not column.null_count():
            return _sorted_apart(column.to_numpy())
        if kind == self.library.String:
            firsts = _first_places(column.head(AHEAD).to_list())
            if 0 < firsts.size <= SEVERAL:
                return self._guessed(column, firsts)
            head = column.head(FEW + len(column) // OFTEN)
            found = self._found(head)
            if len(found) * OFTEN < len(head):
                return self._looked_up(column, found)
        found = self._found(column).alias("value")
        places = found.to_frame().with_row_index("place")
        values = column.alias("value").to_frame()
        joined = values.join(places, on="value", how="left", maintain_order="left")
        known = self.listed(found)
        return self._numbered(joined["place"]), known, set(map(type, known))

    def whole(self, column: Any) -> Whole | None:
        kind, own = column.dtype, self.library
        if not (kind in (own.Boolean, own.Date) or (kind.is_integer() and not _is_long(kind))):
            return None
        missing = column.is_null().to_numpy() if column.null_count() else None
        values = column.cast(own.UInt8) if kind == own.Boolean else column.to_physical()
        full = values if missing is None else values.fill_null(strategy="min")
        return full.to_numpy(), missing

    def _found(self, column: Any) -> Any:
        found = column.unique(maintain_order=True)
        return found.drop_nulls() if found.null_count() else found

    def _numbered(self, places: Any) -> Ints:
        codes = places.cast(self.library.Int32)
        numbered: Ints = (codes.fill_null(-1) if codes.null_count() else codes).to_numpy()
        return numbered

    def _looked_up(self, column: Any, first: Any) -> Distinct:
        """Texts among those of the first records; what else there is appears after them."""
        codes = column.cast(self.library.Enum(first), strict=False).to_physical()
        found, known = self._numbered(codes), self.listed(first)
        if codes.null_count() > column.null_count():
            later = codes.is_null() & column.is_not_null()
            others, new, _ = self.distinct(column.filter(later))
            found = found.copy()
            found[later.to_numpy()] = others + np.int32(len(known))
            known += new
        return found, known, set(map(type, known))

    def _guessed(self, column: Any, firsts: Longs) -> Distinct:
        """The same, guessed by hashes and then compared: half as long as looking every text up."""
        texts = column[firsts]
        slots = _Slots.apart(_hashes(texts))
        if slots is None:
            return self._looked_up(column, texts)
        found, known = np.empty(len(column), np.int32), self.listed(texts)
        for part in stretches(len(column)):
            piece = column[part]
            found[part] = self._compared(piece, texts, slots.of(_hashes(piece)))
        later = found == UNKNOWN
        if later.any():
            others, new, _ = self.distinct(column.filter(self.library.Series(later)))
            found[later] = others + np.int32(len(known))
            known += new
        return found, known, set(map(type, known))

    def _compared(self, column: Any, texts: Any, places: Any) -> Ints:
        """The place of each text among a few, given where it is if it is there."""
        found: Ints = places.view(np.int32)
        has_gaps, unlike = bool(column.null_count()), texts[places] != column
        if unlike.any():
            # to fill what has no gaps takes four times as long as to write it down
            there = unlike.fill_null(value=False) if has_gaps else unlike
            found[there.to_numpy()] = UNKNOWN
        if has_gaps:
            found[column.is_null().to_numpy()] = -1
        return found

    def listed(self, column: Any) -> list[object]:
        """The values; Polars would panic at dates that Python has none for."""
        kind = column.dtype
        has_years = kind in (self.library.Date, self.library.Datetime)
        if has_years and getattr(kind, "time_unit", "") != "ns":  # those end in 2262
            years = self.library.Series([datetime.date.min, datetime.date.max]).cast(kind)
            if not column.to_physical().is_between(*years.to_physical().to_list()).all():
                raise ValueError("there are dates before the year 1 or after the year 9999")
        return list(column.to_list())

    def sampled(self, frame: Any, step: int) -> bytes:
        if len(frame) <= FEW:
            return repr(frame.rows()).encode()
        # a slice with a step is a query, places are not
        sample = frame[np.arange(0, len(frame), step)] if step > 1 else frame
        numbers: Longs = sample.hash_rows().to_numpy()
        return numbers.tobytes()

    def made(self, values: list[object] | Floats, like: Any) -> Any:
        coded = like.dtype in (self.library.Categorical, self.library.Enum)
        return _first_fitting(
            values,
            (self.library.String if coded else like.dtype, self.library.Float64, None),
            lambda kind: self.library.Series(values, dtype=kind),
            self.listed,
        )

    def together(self, columns: dict[str, Any]) -> Any:
        return self.library.DataFrame(columns)

    def published(self, column: Any, like: Any, whole: bool, /) -> Any:
        kind = column.dtype
        if like.dtype == self.library.Enum:
            used = set(column.drop_nulls().unique().to_list())
            known = [one for one in like.dtype.categories if one in used]
            if len(known) == len(used):
                return column.cast(self.library.Enum(known))
        if like.dtype in (self.library.Categorical, self.library.Enum):
            return column.cast(self.library.String).cast(self.library.Categorical)
        # texts of records that are left out would stay in the memory that is written to files
        if kind == self.library.String and not whole:
            return column + ""
        if kind == self.library.Binary and not whole:
            return self.library.Series(column.name, column.to_list(), dtype=kind)
        return column


class _Arrow:
    """Columns of PyArrow."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def plain(self, column: Any) -> Any:
        kind, types = column.type, self.library.types
        if types.is_run_end_encoded(kind):
            return self.library.compute.run_end_decode(column)
        if types.is_string_view(kind):
            return column.cast(self.library.string())
        if types.is_float16(kind):
            return column.cast(self.library.float32())
        if not self._is_coded(kind) or self._is_text(kind.value_type):
            return column
        return column.cast(kind.value_type)

    def distinct(self, column: Any) -> Distinct:
        if self._is_coded(column.type):
            column = column.cast(column.type.value_type)
        coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        known = coded.dictionary.to_pylist()
        return codes, known, set(map(type, known))

    def whole(self, column: Any) -> Whole | None:
        kind, types, compute = column.type, self.library.types, self.library.compute
        if not (types.is_integer(kind) or types.is_boolean(kind) or types.is_date32(kind)):
            return None
        missing = compute.is_null(column).to_numpy() if column.null_count else None
        if types.is_boolean(kind):
            column = column.cast(self.library.uint8())
        elif types.is_date32(kind):
            column = column.cast(self.library.int32())
        full = column if missing is None else compute.fill_null(column, compute.min(column))
        return full.to_numpy(), missing

    def listed(self, column: Any) -> list[object]:
        return list(column.to_pylist())

    def sampled(self, frame: Any, step: int) -> bytes:
        return _bytes_of(column[::step] for column in frame.columns)

    def made(self, values: list[object] | Floats, like: Any) -> Any:
        own = like.type.value_type if self._is_coded(like.type) else like.type
        return _first_fitting(
            values,
            (own, self.library.float64(), None),
            lambda kind: self.library.chunked_array([self.library.array(values, type=kind)]),
            self.listed,
        )

    def together(self, columns: dict[str, Any]) -> Any:
        return self.library.table(columns)

    def published(self, column: Any, like: Any, _whole: bool, /) -> Any:
        kind = like.type
        if self._is_coded(kind):
            return self._coded(column, like)
        if column.type == kind or column.type != self.plain(like[:0]).type:
            return column
        if self.library.types.is_run_end_encoded(kind):
            return self.library.compute.run_end_encode(column, run_end_type=kind.run_end_type)
        return column.cast(kind)

    def _coded(self, column: Any, like: Any) -> Any:
        """A column as a dictionary: the used values in their order, then new ones."""
        kind, compute = like.type, self.library.compute
        own = column.type.value_type if self._is_coded(column.type) else column.type
        order = like.unify_dictionaries().combine_chunks().dictionary.cast(own)
        values = column.cast(own).combine_chunks()
        used = values.unique().drop_null()
        known = order.filter(compute.is_in(order, value_set=used))
        new = used.filter(compute.invert(compute.is_in(used, value_set=known))).sort()
        every = self.library.concat_arrays([known, new])
        codes = compute.index_in(values, value_set=every)
        with contextlib.suppress(self.library.ArrowInvalid):  # more values than its numbers reach
            codes = codes.cast(kind.index_type)
        ordered = kind.ordered and not len(new)
        coded = self.library.DictionaryArray.from_arrays(codes, every, ordered=ordered)
        return self.library.chunked_array([coded])

    def _is_coded(self, kind: Any) -> bool:
        return bool(self.library.types.is_dictionary(kind))

    def _is_text(self, kind: Any) -> bool:
        types = self.library.types
        return bool(types.is_string(kind) or types.is_large_string(kind))
