"""The scheme of clustering methods: a record not seen goes to the nearest centroid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.data.domains import Labels
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.kernels import records as kernel
from ontomask.methods.points import Layout
from ontomask.semantics.operators import Comparison

__all__ = ["NearestCentroid"]


@dataclass(frozen=True, eq=False)
class NearestCentroid:
    """The centroids of a masked table, for records that come later.

    It holds what the release shows and how values are compared there, but nothing of the records
    that were masked, and of their values none that is not released.

    Attributes
    ----------
    released
        The centroids, as columns with a record for each.
    coded
        How the values of each coded column are compared.
    scaled
        What numbers are multiplied by in each numeric column, and what a missing one contributes.
    power
        The exponent of a number's difference.
    """

    released: Mapping[str, Attribute]
    coded: Mapping[str, Comparison]
    scaled: Mapping[str, tuple[float, float]]
    power: int

    @classmethod
    def of(cls, layout: Layout, centroids: Mapping[str, Attribute]) -> NearestCentroid:
        """The scheme of some centroids, compared as laid out."""
        return cls(
            {name: one.settled() for name, one in centroids.items()},
            {one.name: operator.comparison.without_values() for one, operator in layout.coded},
            {one.attribute.name: (one.factor, one.gap) for one in layout.numeric},
            layout.power,
        )

    def apply(self, microdata: Microdata) -> Masked:
        """Give each record the values of the nearest centroid; new values are welcome."""
        tuples = microdata.tuples((*self.coded, *self.scaled))
        crossed = [
            _crossed(comparison, self.released[name], microdata[name])
            for name, comparison in self.coded.items()
        ]
        points = self._points(microdata, tuples, [arrays for arrays, _ in crossed])
        count = next(iter(self.released.values())).codes.size
        rows = np.array([rows for _, rows in crossed], np.int32).reshape(len(crossed), count)
        numbers = [
            self.released[name].record_numbers() * factor
            for name, (factor, _) in self.scaled.items()
        ]
        every = np.arange(len(tuples))
        found = kernel.nearest_references(points, every, *_by_centroid(rows, numbers))
        places = found[tuples.places]
        masked = {name: one.of(places) for name, one in self.released.items()}
        return Masked(masked, clusters=places)

    def _points(
        self, microdata: Microdata, tuples: Tuples, arrays: list[kernel.Attribute]
    ) -> kernel.Points:
        """The tuples of new records; coded columns come first."""
        numbers = [
            np.append(microdata[name].numbers * factor, np.nan)[codes]
            for (name, (factor, _)), codes in zip(
                self.scaled.items(), tuples.codes[len(arrays) :], strict=True
            )
        ]
        return kernel.pack_points(
            arrays,
            tuples.codes[: len(arrays)],
            np.array(numbers, np.float64).reshape(len(numbers), len(tuples)),
            tuples.counts,
            tuples.weights,
            np.ones(len(tuples)),
            np.array([gap for _, gap in self.scaled.values()], np.float64),
            self.power,
        )


def _by_centroid(rows: Ints, numbers: list[Floats]) -> tuple[Ints, Floats]:
    """Rows and numbers with one line per centroid."""
    columns = np.array(numbers, np.float64).reshape(len(numbers), rows.shape[1])
    return np.ascontiguousarray(rows.T), np.ascontiguousarray(columns.T)


def _crossed(
    comparison: Comparison, old: Attribute, new: Attribute
) -> tuple[kernel.Attribute, Longs]:
    """The comparison from the released values to those of a new column; each centroid's row."""
    released, values = _numbered(old, new)
    rows, places = np.unique(released, return_inverse=True)
    table = comparison.contributions(comparison.plain(rows, values), rows, values)
    return kernel.compared(table), places


def _numbered(old: Attribute, new: Attribute) -> tuple[Longs, Longs]:
    """The values of both sides as numbers that can be compared; -1 is missing."""
    if not isinstance(old.domain, Labels):
        return np.append(old.domain.numbered, -1)[old.codes], new.numbered
    places = {value: place for place, value in enumerate(new.values)}
    # a word that the new records do not have equals none of theirs
    rows = np.array([*(places.get(value, new.size) for value in old.values), -1], np.int64)
    return rows[old.codes], new.numbered
