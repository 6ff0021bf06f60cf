"""The scheme of clustering methods: a record not seen goes to the nearest centroid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Nominal
from ontomask.kernels import records as kernel
from ontomask.kernels.windows import nearest_references
from ontomask.methods.points import Layout, Scaled
from ontomask.semantics.operators import MISSING_DISTANCE, Coded, concept_distances

__all__ = ["NearestCentroid"]


@dataclass(frozen=True, eq=False)
class NearestCentroid:
    """Centroids of a masked table, for records that come later.

    `rows` and `numbers` hold one centroid per line, in the order of the layout's attributes.
    """

    layout: Layout
    rows: Ints
    numbers: Floats
    names: tuple[str, ...]

    def apply(self, microdata: Microdata) -> Masked:
        """Give each record the values of the nearest centroid; new values are welcome."""
        tuples = microdata.tuples(self.names)
        order = {name: place for place, name in enumerate(tuples.names)}
        coded = [
            _crossed(old, microdata[old.name], operator) for old, operator in self.layout.coded
        ]
        codes = [tuples.codes[order[old.name]] for old, _ in self.layout.coded]
        numbers = [
            _rescaled(one, microdata[one.attribute.name], tuples.codes[order[one.attribute.name]])
            for one in self.layout.numeric
        ]
        points = kernel.pack_points(
            coded,
            np.array(codes, np.int32).reshape(len(codes), len(tuples)),
            np.array(numbers, np.float64).reshape(len(numbers), len(tuples)),
            tuples.weights,
            np.ones(len(tuples)),
            np.array([one.gap for one in self.layout.numeric]),
            self.layout.power,
        )
        found: Longs = nearest_references(points, self.rows, self.numbers)
        places = found[tuples.places]
        return Masked(self.layout.columns(self.rows, self.numbers, places), clusters=places)


def _rescaled(one: Scaled, new: Attribute, codes: Ints) -> Floats:
    assert new.numbers is not None
    result: Floats = np.append(new.numbers * one.factor, np.nan)[codes]
    return result


def _crossed(old: Attribute, new: Attribute, operator: Coded) -> kernel.Attribute:
    """Comparison table from the rows of the masked table to the values of the new one."""
    known = operator.rows[operator.rows >= 0]
    if old.concepts is not None and new.concepts is not None:
        table = operator.table_to(_between(old, new, known, operator))
    else:
        table = _same_domain(old, new, operator)[: known.size]
    gap = MISSING_DISTANCE / operator.spread * operator.weight
    table = np.pad(table, ((0, 1), (0, 1)), constant_values=gap)
    table[-1, -1] = 0.0
    count = table.shape[0]
    every = np.arange(count, dtype=np.int32)
    return kernel.Attribute(
        np.ascontiguousarray(table),
        np.zeros_like(table),
        np.zeros(table.shape[1], np.int32),
        np.ones(count, np.int32),
        np.arange(count + 1, dtype=np.int64),
        every,
        kernel.PRESENT,
        -1,
    )


def _between(old: Attribute, new: Attribute, known: Longs, operator: Coded) -> Floats:
    column = old.column
    assert isinstance(column, Nominal)
    assert column.taxonomy is not None
    assert old.concepts is not None
    assert new.concepts is not None
    everything = np.concatenate([old.concepts, new.concepts])
    space = column.taxonomy.space(everything, column.measure, column.root, **column.options)
    return concept_distances(space, known.astype(np.int32), new.concepts, operator.operators)


def _same_domain(old: Attribute, new: Attribute, operator: Coded) -> Floats:
    """Flat and ordinal columns: look the values up; one that was never seen differs from all."""
    places = {value: place for place, value in enumerate(old.values)}
    known = operator.arrays.table[: old.size, : old.size]
    table = np.full((old.size, new.size), float(known.max(initial=operator.weight)))
    for column, value in enumerate(new.values):
        if value in places:
            table[:, column] = known[:, places[value]]
    return table
