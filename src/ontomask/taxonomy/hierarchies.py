"""Generalization hierarchies: for every value, what it becomes at each level."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ontomask.arithmetic import log2
from ontomask.arrays import Floats, Ints, Longs
from ontomask.brevity import Brief
from ontomask.checks import Choice, check, did_you_mean
from ontomask.errors import DataError, ParameterError, StructureError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft, Line, place, spot
from ontomask.taxonomy.levels import Row, add_rows, check_even
from ontomask.taxonomy.readers.hierarchy import read_rows
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.wording import plural

__all__ = ["ROOT", "Generalized", "Hierarchy", "real_steps"]

ROOT = "*"
"""What a suppressed value becomes, and the usual top of a hierarchy."""

Generalized = tuple[Ints | Longs, Sequence[str]]
"""A level: for each value the place of what it becomes among the generalized values."""


@dataclass(frozen=True, eq=False)
class Hierarchy(Brief):
    """A table of values and their generalizations.

    Make one with `from_rows`, `from_csv`, `from_taxonomy`, or one of the builders in
    `ontomask.knowledge`.

    Attributes
    ----------
    levels
        For each level (level 0 is the value itself) and row, the code of the generalized value.
        The values need not all occur in a table.
    labels
        For each level the generalized values, by code.
    distances
        For each level and row, the semantic distance of the value to its generalization.
    named
        What the levels above the values are in words, the top excepted, if anybody said it.

    Examples
    --------
    >>> ages = om.Hierarchy.from_rows([["34", "30s", "*"], ["36", "30s", "*"], ["71", "70s", "*"]])
    >>> ages.height, ages.labels[1]
    (2, ('30s', '70s'))
    >>> frame = pl.DataFrame({"age": ["34", "36", "36", "71", "71"]})
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], hierarchies={"age": ages})
    >>> om.protect(frame, om.Schema(age=om.Flat()), method, seed=1).frame["age"].to_list()
    ['30s', '30s', '30s', '70s', '70s']
    """

    levels: Ints
    labels: tuple[tuple[str, ...], ...]
    distances: Floats = field(repr=False)
    named: tuple[str, ...] = ()

    # Making -----------------------------------------------------------------------------------

    @staticmethod
    def from_rows(
        rows: Iterable[Sequence[object]],
        source: str = "the hierarchy",
        named: Iterable[str] = (),
    ) -> Hierarchy:
        """Make a hierarchy of rows: the value first, then its generalizations, the root last.

        `source` is what mistakes are told of; `named` says what the levels in between are.
        """
        cells = ([str(cell).strip() for cell in row] for row in rows)
        listed = [Row(f"row {n}", row) for n, row in enumerate(cells, start=1)]
        return replace(_of_rows(listed, source), named=tuple(named))

    @staticmethod
    def from_columns(
        values: Sequence[str],
        above: Iterable[Generalized],
        source: str = "the hierarchy",
        named: Iterable[str] = (),
    ) -> Hierarchy:
        """Make a hierarchy of different values and, level by level, of what they become.

        It is the one that `from_rows` makes of the same cells, without a row for each value.
        """
        if not all(values):
            place = list(values).index("")
            check_even([Row(f"row {place + 1}", [""])], source)
        if not values:
            raise _no_rows(source)
        columns = [_in_order(*one) for one in above]
        codes = np.array([np.arange(len(values)), *(one for one, _ in columns)], np.int32)
        labels = (tuple(values), *(one for _, one in columns))
        _check_levels(codes, labels, lambda row: f"row {row + 1}", source)
        return Hierarchy(codes, labels, _steps_distance(real_steps(codes)), tuple(named))

    @staticmethod
    def of(given: object, column: str) -> Hierarchy:
        """The hierarchy of a column as it may be given: itself, a file, or rows."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, (str, os.PathLike)):
            return Hierarchy.from_csv(given)
        if not isinstance(given, Sequence):
            raise ParameterError(
                f"hierarchies[{column!r}] must be a path, rows of values, or a Hierarchy, "
                f"not {type(given).__name__}."
            )
        return Hierarchy.from_rows(given, f"the hierarchy of {column!r}")

    @staticmethod
    def from_csv(path: str | os.PathLike[str], separator: str | None = None) -> Hierarchy:
        """Read a file without header: a row per value, columns from the value to the root."""
        return _of_rows(read_rows(Path(path), separator), str(path))

    @staticmethod
    def from_taxonomy(
        taxonomy: Taxonomy,
        values: Sequence[str],
        *,
        by: str = "steps",
        measure: str = "logsc",
        **options: Any,
    ) -> Hierarchy:
        """Make a taxonomy level-wise for some of its concepts, given by their ids.

        A concept's *canonical path* leads to the root through its deepest parent, ties by id, so
        that depth falls by one with each step; it is cut at the first concept that lies on the
        paths of all values. Two ways to make levels of paths of unequal length:

        * `by="steps"`: level l is the ancestor l steps up, and the top once the path has ended;
        * `by="depth"`: level l is the ancestor at depth D - l, D being the largest depth of a
          value, and the value itself as long as it is not deeper than that.

        Both determine the next level, since it depends on the concept alone. Distances to the
        generalized value are the taxonomy's, by `measure`.
        """
        check("by", by, Choice("steps", "depth"))
        distinct = tuple(dict.fromkeys(values))
        numbers = taxonomy.indices_of(distinct)
        concepts = _canonical_paths(taxonomy, numbers, by)
        ids = [taxonomy.ids_of(level.tolist()) for level in concepts]
        plain = Hierarchy.from_rows(zip(*ids, strict=True), "the taxonomy")
        space = taxonomy.space(concepts.ravel(), measure, **options)
        below = np.broadcast_to(concepts[0], concepts.shape)
        distances = space.paired(concepts.ravel(), below.ravel()).reshape(concepts.shape)
        named = [f"{plural(level, 'step')} up" for level in range(1, plain.height)]
        return replace(plain, distances=distances, named=tuple(named) if by == "steps" else ())

    # Asking -----------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.levels) - 1

    @property
    def words(self) -> tuple[str, ...]:
        """What each level is, in words: as it is, intervals of 10 (level 2 of 4), and so on."""
        return tuple(self.level_in_words(level) for level in range(self.height + 1))

    def level_in_words(self, level: int, *, height: bool = True) -> str:
        """What a level is, in words; the height may depend on values that no release shows."""
        if level == 0:
            return "as it is"
        place = f"level {level} of {self.height}" if height else f"level {level}"
        if len(self.named) != self.height - 1:
            return place
        return f"{[*self.named, 'any value'][level - 1]} ({place})"

    @property
    def values(self) -> tuple[str, ...]:
        """The values, one per row."""
        return self.labels[0]

    @property
    def rows(self) -> int:
        """The number of values."""
        return len(self.values)

    @functools.cached_property
    def widths(self) -> Longs:
        """The number of generalized values at each level."""
        return np.array([len(labels) for labels in self.labels], np.int64)

    @functools.cached_property
    def shares(self) -> Floats:
        """For each level and row, the share of the rows that have the same generalized value."""
        counted = [np.bincount(codes)[codes] for codes in self.levels]
        return np.array(counted, np.float64) / self.rows

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {value: row for row, value in enumerate(self.values)}

    def encode(self, values: Iterable[object], column: str = "") -> Ints:
        """The row of each value; a value without row is an error that names it."""
        texts = [str(value).strip() for value in values]
        if tuple(texts) == self.values:  # it was made of them
            return np.arange(len(texts), dtype=np.int32)
        found = np.array([self._positions.get(text, -1) for text in texts], np.int32)
        if (found < 0).any():
            missing = dict.fromkeys(texts[place] for place in np.flatnonzero(found < 0))
            raise self._missing(list(missing), column)
        return found

    def _missing(self, missing: list[str], column: str) -> DataError:
        where = f"Column {column!r}" if column else "The table"
        more = f" and {plural(len(missing) - 1, 'more value')}" if len(missing) > 1 else ""
        hint = did_you_mean(missing[0], self.values if self.rows <= 10_000 else ())
        return DataError(
            f"{where} holds {missing[0]!r}{more}, which the hierarchy has no row for; "
            f"add a row for every value.{hint}"
        )

    def with_missing_value(self, label: str) -> Hierarchy:
        """The same with a last row for missing values, which stay apart until the top level."""
        if label in self.values:
            missing = [label] * max(1, self.height) + [self.labels[-1][0]] * bool(self.height)
            grown = Hierarchy.from_rows([*self.cells(), missing], named=self.named)
        else:
            above = [
                (np.append(codes, labels.index(written)), labels)
                for written, codes, labels in self._grown(label)
            ]
            grown = Hierarchy.from_columns((*self.values, label), above, named=self.named)
        return replace(grown, distances=np.append(self.distances, grown.distances[:, -1:], axis=1))

    def _grown(self, label: str) -> Iterator[tuple[str, Ints, tuple[str, ...]]]:
        """For each level above the values what is written for a missing one, codes and labels."""
        for level in range(1, self.height + 1):
            labels = self.labels[level]
            written = label if level < self.height else labels[0]
            yield written, self.levels[level], tuple(dict.fromkeys((*labels, written)))

    def to_taxonomy(self, name: str = "") -> Taxonomy:
        """The same as a taxonomy, in which a value is one concept at whatever level it stands."""
        draft = Draft("The hierarchy")
        add_rows(draft, (Row(f"row {n}", row) for n, row in enumerate(self.cells(), start=1)))
        return assemble(draft, name=name)

    def cells(self) -> list[list[str]]:
        """The rows: every value, then its generalizations."""
        return [
            [labels[code] for labels, code in zip(self.labels, codes, strict=True)]
            for codes in self.levels.T.tolist()
        ]


def _no_rows(source: str) -> StructureError:
    return StructureError(f"{source} has no rows; a hierarchy needs one for every value.")


def _in_order(places: Ints | Longs, labels: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Codes and labels of a level, numbered in the order in which rows first have them."""
    firsts = np.full(len(labels), places.size)
    # backwards, so that the first one is written last
    firsts[places[::-1]] = np.arange(places.size - 1, -1, -1)
    order = np.argsort(firsts, kind="stable")[: np.count_nonzero(firsts < places.size)]
    ranks = np.zeros(len(labels), np.int32)
    ranks[order] = np.arange(order.size)
    return ranks.take(places), tuple(labels[place] for place in order.tolist())


def _of_rows(given: Sequence[Row], source: str) -> Hierarchy:
    if not given:
        raise _no_rows(source)
    check_even(given, source)
    rows = _distinct(given, source)
    levels, labels = [], []
    for cells in zip(*(row.cells for row in rows), strict=True):
        known: dict[str, int] = {}
        levels.append([known.setdefault(cell, len(known)) for cell in cells])
        labels.append(tuple(known))
    codes = np.array(levels, np.int32)
    _check_levels(codes, labels, lambda row: rows[row].line, source)
    return Hierarchy(codes, tuple(labels), _steps_distance(real_steps(codes)))


def _distinct(rows: Sequence[Row], source: str) -> list[Row]:
    """The rows, each value once; contradictory ones are errors."""
    known: dict[str, Row] = {}
    for row in rows:
        first = known.setdefault(row.cells[0], row)
        if list(first.cells) != list(row.cells):
            raise StructureError(
                f"{place(source, row.line)}: {row.cells[0]!r} has a row already "
                f"({spot(first.line)}) with other generalizations; keep one row for each value."
            )
    return list(known.values())


def _check_levels(
    codes: Ints, labels: Sequence[tuple[str, ...]], line: Callable[[int], Line], source: str
) -> None:
    """Refuse a level that does not determine the next."""
    for level in range(len(codes) - 1):
        # any row of a label will do, but it is the first that is told
        expected = np.empty(len(labels[level]), np.int32)
        expected[codes[level][::-1]] = codes[level + 1][::-1]
        expected = expected.take(codes[level])
        wrong = np.flatnonzero(expected != codes[level + 1])
        if wrong.size:
            row = int(wrong[0])
            label = labels[level][codes[level, row]]
            here, there = (
                labels[level + 1][code] for code in (codes[level + 1, row], expected[row])
            )
            first = labels[0][codes[0, np.flatnonzero(codes[level] == codes[level, row])[0]]]
            raise StructureError(
                f"{place(source, line(row))}: {label!r} at level {level} becomes {here!r} at "
                f"level {level + 1} but {there!r} in the row of {first!r}, so level {level} does "
                f"not determine level {level + 1}; correct the row or rename one."
            )


def real_steps(codes: Ints) -> Ints:
    """For each level and row, how many times the value has become another one.

    A generalized value that stands for the same rows as the one before was only repeated.
    """
    sizes = [np.bincount(level)[level] for level in codes]
    steps = np.zeros(codes.shape, np.int32)
    for level in range(1, len(codes)):
        steps[level] = steps[level - 1] + (sizes[level] != sizes[level - 1])
    return steps


def _steps_distance(steps: Ints) -> Floats:
    """The distance log2(2 - shared / union) of a value to its ancestors on a path.

    With s steps to the top, the value has s + 1 ancestors, itself included, and its
    generalization l steps up s + 1 - l, all of them shared.
    """
    nodes = steps[-1] + 1.0
    return log2(2.0 - (nodes - steps) / nodes)


def _canonical_paths(taxonomy: Taxonomy, numbers: Ints, by: str) -> Ints:
    """For each level (level 0 the concept itself) the ancestor of each concept on its path."""
    depths, offsets = taxonomy.depths.tolist(), taxonomy.parent_offsets.tolist()

    @functools.cache
    def parent(number: int) -> int | None:
        above = taxonomy.parent_numbers[offsets[number] : offsets[number + 1]].tolist()
        return min(above, key=lambda one: (-depths[one], one), default=None)

    paths = [_climb(number, parent) for number in numbers.tolist()]
    # paths that have met stay together: what all share is their end
    shared = min(map(len, paths))
    while len({one[-shared] for one in paths}) > 1:
        shared -= 1
    paths = [one[: len(one) - shared + 1] for one in paths]
    longest = max(map(len, paths))
    waits = [longest - len(one) if by == "depth" else 0 for one in paths]
    levels = [
        [one[min(max(level - wait, 0), len(one) - 1)] for level in range(longest)]
        for one, wait in zip(paths, waits, strict=True)
    ]
    return np.array(levels, np.int32).T.copy()


def _climb(number: int, parent: Callable[[int], int | None]) -> list[int]:
    path = [number]
    while (above := parent(path[-1])) is not None:
        path.append(above)
    return path
