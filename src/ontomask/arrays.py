"""Names for the array types that travel between rooms, and what NumPy has no word for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PIECE",
    "Bools",
    "Codes",
    "FloatValues",
    "Floats",
    "Ints",
    "Longs",
    "Narrow",
    "Shorts",
    "different",
    "keeping_codes_narrow",
    "narrow_codes",
    "narrowed",
    "numbered",
    "numbered_whole",
    "occurring",
    "offsets_of",
    "places_in",
    "ranges",
    "recoded",
    "stretches",
    "taken",
    "widened",
]

PIECE = 8192
"""So many numbers are added up, or looked up, at a time, however many threads there are."""

STRETCH = 2**16
"""So many numbers are worked on at a time: what is made of them stays near the processor."""

NARROW = [np.iinfo(kind) for kind in (np.uint8, np.int8, np.uint16, np.int16)]
MANY_CODES = 2**16
"""So many codes are worth the time that it takes to narrow and to widen them."""

COUNTED = range(4096, 2**19)
"""So many numbers are sorted by counting; of fewer, or more than caches hold, it takes longer."""
CELLS = 4e9
"""Fewer than 32 bits can tell apart, by more than rounding."""

Bools = NDArray[np.bool_]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]
Narrow = Any
"""Codes in as few bytes as they need, which an object that keeps its `codes` narrow takes, too."""
Kind = TypeVar("Kind")
Whole = TypeVar("Whole", bound=np.integer[Any])


def narrowed(codes: Codes) -> Codes:
    """Codes in as few bytes as they need, where there are many of them."""
    return _fitting(codes) if codes.size >= MANY_CODES and codes.dtype == np.int32 else codes


def _fitting(codes: Codes) -> Codes:
    low, high = int(codes.min()), int(codes.max())
    fitting = [one for one in NARROW if one.min <= low and high <= one.max]
    return codes.astype(fitting[0].dtype) if fitting else codes


def widened(codes: Codes) -> Ints:
    """The codes that were narrowed."""
    return codes.astype(np.int32, copy=False)


def recoded(codes: Codes, table: Ints) -> Narrow:
    """What a table has for each code (-1: its last entry), in as few bytes as it needs."""
    entries = _fitting(table) if codes.size >= MANY_CODES else table
    found = np.empty(codes.size, entries.dtype)
    for part in stretches(codes.size):
        found[part] = entries.take(codes[part])
    return found


def occurring(codes: Codes, size: int) -> Longs:
    """Which of so many codes there are, ascending."""
    occurs = np.zeros(size, bool)
    for part in stretches(codes.size):
        occurs[codes[part]] = True
    return np.flatnonzero(occurs)


def places_in(codes: Codes, wanted: Bools) -> Longs:
    """Where the codes are that are wanted, a truth for each code."""
    parts = stretches(codes.size)
    found = [part.start + np.flatnonzero(wanted.take(codes[part])) for part in parts]
    return np.concatenate([np.empty(0, np.int64), *found])


class _NarrowCodes:
    """The field `codes` of an object: kept in few bytes, and int32 for whoever asks for it."""

    def __get__(self, instance: object, owner: type) -> Ints:
        return widened(narrow_codes(instance))

    def __set__(self, instance: object, codes: Codes) -> None:
        vars(instance)["_codes"] = narrowed(codes)


def narrow_codes(instance: object) -> Narrow:
    """The codes of such an object as it keeps them, for who works on a stretch at a time."""
    return vars(instance)["_codes"]


def keeping_codes_narrow(kind: type[Kind]) -> type[Kind]:
    """A class whose objects keep their `codes` in as few bytes as these need."""
    kind.codes = _NarrowCodes()  # type: ignore[attr-defined]
    return kind


def different(numbers: NDArray[Whole]) -> NDArray[Whole]:
    """The different ones of whole numbers, ascending.

    `np.unique` looks them up in a hash table: where a million are different, that takes a second
    instead of a fiftieth.
    """
    ordered: NDArray[Whole] = np.sort(numbers)
    is_new = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def numbered(numbers: Floats) -> tuple[Ints, Floats]:
    """For each number its place among the different ones, and these, ascending.

    NaN is none of them, and has the place behind the last.
    """
    present = numbers == numbers  # only NaN differs from itself
    if not present.all():
        places, known = numbered(numbers[present])
        codes = np.full(numbers.size, known.size, np.int32)
        codes[present] = places
        return codes, known
    order = _ascending(numbers)
    known, places = numbers.take(order), np.arange(numbers.size, dtype=np.int32)
    is_new = np.ones(numbers.size, bool)
    np.not_equal(known[1:], known[:-1], out=is_new[1:])
    if not is_new.all():
        known = known[is_new]
        np.cumsum(is_new, dtype=np.int32, out=places)
        places -= 1
    codes = np.empty(numbers.size, np.int32)
    codes[order] = places
    return codes, known


def numbered_whole(numbers: Floats) -> tuple[Narrow, Floats]:
    """The same for the whole numbers that are nearest, of which many are equal.

    Where they lie near each other they are counted, so that nothing is sorted.
    """
    if numbers.size < MANY_CODES:
        return numbered(np.rint(numbers))
    low, high = (float(np.rint(most.reduce(numbers))) for most in (np.fmin, np.fmax))
    if not high - low < numbers.size:  # too far apart, or not even numbers
        return numbered(np.rint(numbers))
    size = int(high - low) + 1
    occurs = np.zeros(size + 1, bool)
    for part in stretches(numbers.size):
        occurs[_steps_from(low, numbers[part], size)] = True
    known = np.flatnonzero(occurs[:size])
    places = np.full(size + 1, known.size, np.int32)
    places[known] = np.arange(known.size)
    entries = _fitting(places)
    codes = np.empty(numbers.size, entries.dtype)
    for part in stretches(numbers.size):
        codes[part] = entries.take(_steps_from(low, numbers[part], size))
    return codes, known.astype(np.float64) + low


def _steps_from(low: float, numbers: Floats, behind: int) -> Longs:
    """How far numbers, rounded, are above the least one; NaN is behind all others."""
    steps = np.rint(numbers) - low
    steps[np.isnan(steps)] = behind
    return steps.astype(np.int64)


def _ascending(numbers: Floats) -> Longs:
    """The places of numbers in the order of their size.

    Moderately many are put into four billion cells of equal width, and these in order by their
    lower and then their upper 16 bits, which NumPy counts instead of comparing. Only where a cell
    holds numbers in the wrong order, those that share one are sorted.
    """
    low, width = _cells_of(numbers) if numbers.size in COUNTED else (0.0, 0.0)
    if not width:
        return np.argsort(numbers)
    cells = ((numbers.astype(np.float64) - low) / width).astype(np.uint32)
    order = np.argsort(cells.astype(np.uint16), kind="stable")
    order = order.take(np.argsort((cells >> 16).astype(np.uint16).take(order), kind="stable"))
    ordered = numbers.take(order)
    if (ordered[1:] < ordered[:-1]).any():
        cells = cells.take(order)
        is_shared = np.zeros(numbers.size, bool)
        np.equal(cells[1:], cells[:-1], out=is_shared[1:])
        is_shared[:-1] |= is_shared[1:]
        shared = np.flatnonzero(is_shared)
        order[shared] = order.take(shared).take(np.argsort(ordered.take(shared)))
    return order


def _cells_of(numbers: Floats) -> tuple[float, float]:
    """Where cells of equal width begin, and their width; it is 0 where floats have no such one."""
    low, high = float(numbers.min()), float(numbers.max())
    width = (high - low) / CELLS
    return low, width if np.finfo(np.float64).tiny < width < np.inf else 0.0


class FloatValues(Sequence[object]):
    """Floats as a list of Python's numbers, which are made when somebody asks for them.

    Parameters
    ----------
    numbers
        The floats.
    gap
        Whether None, a missing value, comes after them.
    """

    def __init__(self, numbers: Floats, *, gap: bool = False) -> None:
        self.numbers = numbers
        self.gap = gap

    def __len__(self) -> int:
        return self.numbers.size + self.gap

    @overload
    def __getitem__(self, place: int) -> object: ...
    @overload
    def __getitem__(self, place: slice) -> FloatValues: ...
    def __getitem__(self, place: int | slice) -> object:
        places = range(len(self))[place]
        if isinstance(places, int):
            return self.numbers[places].item() if places < self.numbers.size else None
        if places.step != 1:
            raise IndexError("Values are taken one by one, or as they stand side by side.")
        ends = places.stop > self.numbers.size
        return FloatValues(self.numbers[places.start : places.stop], gap=ends)

    def __iter__(self) -> Iterator[object]:
        yield from self.numbers.tolist()
        if self.gap:
            yield None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FloatValues):
            return self.gap == other.gap and np.array_equal(self.numbers, other.numbers)
        return isinstance(other, (list, tuple)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def taken(values: Sequence[object], places: Longs | Ints) -> Sequence[object]:
    """Some of the values, in the order of their places."""
    if not isinstance(values, FloatValues):
        return tuple(values[place] for place in places.tolist())
    if values.gap and places.size and int(places.max()) == values.numbers.size:
        return taken(list(values), places)
    return FloatValues(values.numbers[places])


def offsets_of(owners: Longs | Ints, count: int) -> Longs:
    """Where the entries of each of so many owners start, if they stand in order; and the end."""
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return offsets


def ranges(firsts: Longs, sizes: Longs) -> Longs:
    """The numbers from each of some firsts on, so many of each, one after the other."""
    stops = np.cumsum(sizes)
    numbers: Longs = np.repeat(firsts - stops + sizes, sizes)
    numbers += np.arange(numbers.size)
    return numbers


def stretches(count: int) -> list[slice]:
    """So many numbers as slices that are worked on one after the other, to hold little besides."""
    return [slice(at, min(at + STRETCH, count)) for at in range(0, count, STRETCH)]
