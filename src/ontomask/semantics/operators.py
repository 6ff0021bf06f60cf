"""The operator sets: how values are compared and how a set of values is summed up by one.

For each coded attribute (nominal, ordinal, flat) an operator set gives the arrays that the
clustering kernels work with: comparison and aggregation tables from candidate rows to values, and
the rule by which a centroid is chosen. Numeric attributes need no tables.

======================  =============================  =====================================
set                     comparison                     aggregation
======================  =============================  =====================================
semantic (default)      any distance                   concept of the minimum hierarchy with the
                                                       least sum of distances
marginality             any distance, S-distance       least marginal value of the sample
lcs                     any distance                   least common subsumer
mode                    any distance                   mode
equality                0 or 1                         mode
consensus               confusion                      value with the least total confusion
random                  any distance                   value of a random record
======================  =============================  =====================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ontomask.arithmetic import summed_products, summed_rows
from ontomask.arrays import Floats, Ints, Longs, Shorts, offsets_of
from ontomask.kernels import formulas
from ontomask.kernels import records as kernel
from ontomask.kernels.blocks import in_blocks
from ontomask.memory import LARGEST_TABLE, NEAR_TABLE, SMALL_TABLE, row_blocks
from ontomask.semantics.distances import (
    MISSING_DISTANCE,
    ValueDistances,
    require_table,
    spread_out,
    summed_from,
    summed_to,
    table_between,
)
from ontomask.semantics.moments import variance
from ontomask.taxonomy.pairs import AncestorSets
from ontomask.taxonomy.shades import Shading
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "METRICS",
    "OPERATORS",
    "Coded",
    "Comparison",
    "Operator",
    "Outline",
    "coded_operators",
    "descending_links",
    "outlined",
]

Operator = Literal["semantic", "marginality", "lcs", "mode", "equality", "consensus", "random"]
OPERATORS = get_args(Operator)
METRICS = ("mean", "euclidean", "s-distance")

STEP = 64
"""So many rows of a table are computed at a time, …"""
SMALLEST_SHARE = 500_000
"""… and so many entries are enough work for one more thread."""
PIECE = 1 << 18
"""So many entries are multiplied by one thread; libraries share among cores what has some more."""

OWN_DISTANCES = ("equality", "consensus")
"""Operator sets that do not ask for the distances of a measure."""

RULES = {
    "semantic": kernel.MINIMUM_HIERARCHY,
    "marginality": kernel.PRESENT,
    "lcs": kernel.LCS,
    "mode": kernel.PRESENT,
    "equality": kernel.PRESENT,
    "consensus": kernel.PRESENT,
    "random": kernel.RANDOM,
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """How the values of a coded attribute are compared under an operator set and a metric.

    Attributes
    ----------
    distances
        The plain distances.
    operators, metric
        The names of the operator set and of the metric.
    spread
        What S-distance divides by: the marginality variance, of ranks the sample variance; for a
        constant attribute it is infinite, so that it contributes nothing.
    height
        The levels below the attribute's root, which confusion is divided by.
    importance
        How much the attribute counts.
    """

    distances: ValueDistances
    operators: str = "semantic"
    metric: str = "mean"
    spread: float = 1.0
    height: float = 1.0
    importance: float = 1.0

    @property
    def rule(self) -> int:
        """How a centroid is chosen; without a taxonomy it is always a value of the set."""
        rule = RULES[self.operators]
        without = self.distances.space is None and rule != kernel.RANDOM
        return kernel.PRESENT if without else rule

    @property
    def of_words(self) -> bool:
        """Whether values are equal or not, and nothing else is asked."""
        return self.operators == "equality" or self.distances.of_words

    @property
    def ordered(self) -> bool:
        """Whether values are compared by rank."""
        return self.distances.highest is not None and self.operators != "equality"

    def with_height(self, values: Longs) -> Comparison:
        """The same, made ready for these values (-1: missing)."""
        if self.operators != "consensus" or self.distances.space is None:
            return self
        return replace(self, height=_height(self.distances.space.taxonomy, values[values >= 0]))

    def with_spread(
        self, values: Longs, codes: Ints, counts: Floats, weights: Floats
    ) -> Comparison:
        """The same, made ready for a column; parameters as in `outlined`."""
        known = values[codes] >= 0
        if self.metric != "s-distance" or not known.any():
            return self
        codes, counts, weights = codes[known], counts[known], weights[known]
        if self.ordered:
            ranks = self.plain(values[:1], values)[0]
            return replace(self, spread=variance(ranks[codes], counts, weights) or np.inf)
        # survey weights are relative: together they are as many as the records
        shares = weights * (counts.sum() / weights.sum())
        frequencies: Floats = np.bincount(codes, weights=shares, minlength=values.size).astype(
            np.float64
        )
        sums = summed_to(self.plain, values, values, frequencies)
        spread = summed_products(sums, frequencies) / float(counts.sum())
        return replace(self, spread=spread or np.inf)

    def without_values(self) -> Comparison:
        """The same, without the values that it was made ready for."""
        return replace(self, distances=self.distances.without_values())

    def plain(
        self, rows: Longs | Ints, columns: Longs | Ints, room: Floats | None = None
    ) -> Floats:
        """The distances as the operator set sees them; a missing value is at distance 1.

        They are written to `room` where that is given.
        """
        if self.operators == "equality":
            return ValueDistances().between(rows, columns, room)
        if self.operators == "consensus" and self.distances.space is not None:
            return self._confusion(rows, columns, room)
        return self.distances.between(rows, columns, room)

    def shading(self, rows: Longs, values: Longs) -> Shading | None:
        """Which of a few distances pairs have, where they have few and many pairs are there."""
        told = self.distances.space is not None and self.operators not in OWN_DISTANCES
        if rows.size * values.size < NEAR_TABLE or not told:
            return None
        return self.distances.shading(rows, values)

    def palette(self, distances: Floats) -> Floats:
        """What values at these distances contribute, and behind that what they cost."""
        known = np.zeros(distances.size, np.int64)
        compared = self.contributions(distances[None], known[:1], known)[0]
        return np.concatenate([compared, self.costs(distances)])

    def _confusion(self, rows: Longs | Ints, columns: Longs | Ints, room: Floats | None) -> Floats:
        """Links that descend from the LCS to the replaced value, scaled by the height.

        Going up costs nothing: an ancestor stands for what is below it without being wrong.
        """
        assert self.distances.space is not None
        taxonomy, height = self.distances.space.taxonomy, self.height

        def write(one: Longs | Ints, other: Longs | Ints, part: Floats) -> None:
            np.divide(descending_links(taxonomy, one, other), height, out=part)

        return table_between(rows, columns, write, room=room)

    def is_formed(self, rows: int, values: int, held: int = 0) -> bool:
        """Whether distances are computed as they are asked for: they are many, and can be.

        Many are more than may be held beside those that other tables hold. Whether two words are
        equal is told faster than a large table is written, and read from far away.
        """
        space = self.distances.space
        formed = space is None or space.measure.summary is not None
        most = SMALL_TABLE if self.distances.of_words else LARGEST_TABLE
        many = rows * values > min(most, LARGEST_TABLE - held)
        return many and formed and self.distances.table is None

    def attribute(self, rows: Longs, values: Longs) -> kernel.Attribute:
        """An attribute whose rows and values are compared only, without a table of them."""
        own = np.minimum(np.searchsorted(rows, values, sorter=np.argsort(rows)), rows.size - 1)
        return kernel.on_demand(self.formula(rows, values), rows.size, np.argsort(rows)[own])

    def contributions(self, plain: Floats, rows: Longs | Ints, columns: Longs | Ints) -> Floats:
        """What pairs of values at these distances contribute to the distance of two records.

        Where they contribute what they are apart, that is the very table which was given.
        """
        if self.metric == "euclidean":
            return plain**2 * self.importance
        if self.metric == "s-distance" and self.ordered:
            gaps = np.not_equal.outer(rows < 0, columns < 0)
            raised = np.where(gaps, MISSING_DISTANCE, plain**2 / 2.0 / self.spread)
            return raised * self.importance
        if self.spread == self.importance == 1.0:
            return plain
        return plain / self.spread * self.importance

    def formula(self, rows: Longs, values: Longs) -> formulas.Formula:
        """How what `contributions` and `costs` hold is computed for single pairs."""
        others = np.setdiff1d(values, rows)
        nodes = np.concatenate([rows, others])
        order = np.argsort(nodes, kind="stable")
        places = order[np.searchsorted(nodes[order], values)]
        plain = self._plain_formula(nodes)
        if plain.way == formulas.EQUAL:
            plain = plain._replace(
                offsets=offsets_of(places, nodes.size),
                members=np.argsort(places, kind="stable"),
            )
        return self.entered(plain, places)

    def entered(self, plain: formulas.Formula, places: Longs) -> formulas.Formula:
        """What enters of plain distances, where the values are the nodes at these places."""
        squared = self.metric == "euclidean" or (self.metric == "s-distance" and self.ordered)
        halved = self.metric == "s-distance" and self.ordered
        return plain._replace(
            nodes=places,
            compared=formulas.SQUARED if squared else formulas.PLAIN,
            spread=self.spread * (2.0 if halved else 1.0) if self.metric != "euclidean" else 1.0,
            importance=self.importance,
            gap=float(self.contributions(np.ones((1, 1)), np.array([0]), np.array([-1])).item()),
            replaced=self._replaced,
        )

    def _plain_formula(self, nodes: Longs) -> formulas.Formula:
        """The distances as the operator set sees them."""
        space = self.distances.space
        if self.operators == "equality":
            return ValueDistances().formula(nodes)
        if self.operators != "consensus" or space is None:
            return self.distances.formula(nodes)
        known = np.flatnonzero(nodes >= 0)
        taxonomy = space.taxonomy
        concepts = nodes[known].astype(np.int32)
        sets = AncestorSets.of(taxonomy, taxonomy.depths, concepts, concepts[:0])
        formula = sets.formula()._replace(way=formulas.DESCENT, divisor=self.height)
        return spread_out(formula, known, nodes.size)

    @property
    def _replaced(self) -> int:
        """What enters the cost of replacing a value."""
        if self.distances.space is not None and self.operators == "mode":
            return formulas.ANY
        squared = self.metric == "euclidean" and self.operators == "semantic"
        if squared and self.distances.space is not None:
            return formulas.SQUARED
        return formulas.PLAIN

    def costs(self, plain: Floats) -> Floats:
        """What it costs to replace a value by one at this distance.

        The centroid minimizes the sum of distances, of squared distances (euclidean, with a
        taxonomy), or the number of other values (mode).
        """
        if self._replaced == formulas.ANY:
            return (plain > 0).astype(np.float64)
        return plain**2 if self._replaced == formulas.SQUARED else plain


@dataclass(frozen=True, eq=False)
class Coded:
    """A coded attribute ready for the kernels.

    `rows` holds, for each candidate row, the concept (with a taxonomy) or the value's code; the row
    behind the last is the missing value where there is one, with the entry -1.
    """

    arrays: kernel.Attribute
    rows: Longs
    comparison: Comparison

    @property
    def values(self) -> Longs:
        """The values by code, as `rows` has them."""
        return self.rows[self.arrays.own_rows]

    @property
    def looked_up(self) -> bool:
        """Whether tables hold all distances."""
        return self.arrays.formula is None

    def between(self, rows: Longs | Ints, columns: Longs | Ints) -> Floats:
        """What each of some rows and each of some values contribute."""
        return self.comparison.contributions(self.comparison.plain(rows, columns), rows, columns)

    def contributed(self, some: slice = slice(None)) -> Floats:
        """What some rows and all values contribute, by the table."""
        shades = self.arrays.shades
        if shades is None:
            return self.arrays.table[some]
        return shades.palette.take(shades.codes[some])

    def summed(self, weights: Floats) -> Floats:
        """The weighted sum of what each row and all values contribute."""
        formula = self.arrays.formula
        if formula is None:
            blocks = row_blocks(self.rows.size, self.values.size, SMALL_TABLE)
            return np.concatenate([summed_rows(self.contributed(one), weights) for one in blocks])
        if formula.way == formulas.EQUAL:
            equal = np.bincount(formula.nodes, weights, minlength=self.rows.size)
            return np.asarray((weights.sum() - equal[: self.rows.size]) * formula.gap, np.float64)
        return summed_from(self.between, self.rows, self.values, weights)


@dataclass(frozen=True, eq=False)
class Outline:
    """All that is known of a coded attribute before its distances are computed.

    Attributes
    ----------
    operator
        The operator, whose tables are empty.
    values
        The values by code.
    """

    operator: Coded
    values: Longs

    def shading(self) -> Shading | None:
        """Which of a few distances pairs have, if a table is to say that."""
        operator = self.operator
        if not operator.looked_up:
            return None
        return operator.comparison.shading(operator.rows, self.values)

    @property
    def size(self) -> int:
        """How many distances its tables hold."""
        return self.operator.rows.size * self.values.size if self.operator.looked_up else 0


def outlined(
    comparison: Comparison,
    values: Longs,
    codes: Ints,
    counts: Floats,
    weights: Floats,
    held: int = 0,
) -> Outline:
    """The operator of a column, without its distances.

    Parameters
    ----------
    comparison
        How values are compared; it is made ready for the column here.
    values
        The values by code, ascending; the missing one, -1, comes last where there is one.
    codes, counts, weights
        For each record its code, how many equal records it is and how many people it stands for.
    held
        How many distances are held in tables of other columns.
    """
    comparison = comparison.with_height(values)
    known = values[values >= 0]
    rows, offsets, above, depths = _candidates(comparison, known)
    missing, own_rows = -1, np.searchsorted(rows, known)
    if known.size < values.size:
        missing = known.size
        own_rows = np.append(own_rows, rows.size)
        depths = np.append(depths, 1)
        offsets = np.append(offsets, offsets[-1] + 1)
        above = np.append(above, rows.size)
        rows = np.append(rows, -1)
    comparison = comparison.with_spread(values, codes, counts, weights)
    formed = comparison.is_formed(rows.size, values.size, held)
    arrays = kernel.Attribute(
        *(np.empty((0, 0)), np.empty((0, 0))),
        np.asarray(own_rows, np.int32),
        np.asarray(depths, np.int32),
        np.asarray(offsets, np.int64),
        np.asarray(above, np.int32),
        comparison.rule,
        missing,
        comparison.formula(rows, values) if formed else None,
        comparison.of_words and not formed,
    )
    return Outline(Coded(arrays, rows, comparison), values)


def coded_operators(outlines: Sequence[Outline], *, aggregates: bool = True) -> list[Coded]:
    """The operators of some columns; without aggregation tables where there are no centroids.

    Their tables lie one after the other, as the kernels want them, so that nobody copies them.
    """
    for outline in outlines:
        if outline.size:
            require_table(outline.operator.rows.size, outline.values.size)
    shadings = [outline.shading() for outline in outlines]
    rooms = _rooms([outline.size for outline in outlines], shadings, aggregates)
    return [
        replace(outline.operator, arrays=_filled(outline, shading, room))
        for outline, shading, room in zip(outlines, shadings, rooms, strict=True)
    ]


class _Room(NamedTuple):
    """Where the tables of a column are written; what is not needed is empty."""

    table: Floats
    costs: Floats
    codes: Shorts
    turned: Shorts
    palette: Floats


def _rooms(
    sizes: Sequence[int], shadings: Sequence[Shading | None], aggregates: bool
) -> list[_Room]:
    """Room for the tables of columns, which lie in a few arrays."""
    shaded = [size * (one is not None) for size, one in zip(sizes, shadings, strict=True)]
    plain = [size * (one is None) for size, one in zip(sizes, shadings, strict=True)]
    palettes = [0 if one is None else 2 * one.distances.size for one in shadings]
    tables = _together([*plain, *palettes], np.float64)
    costs = _together([size * aggregates for size in plain], np.float64)
    shades = _together([*shaded, *(size * aggregates for size in shaded)], np.int16)
    count = len(sizes)
    return [*map(_Room, tables[:count], costs, shades[:count], shades[count:], tables[count:])]


def _together(sizes: Sequence[int], kind: type) -> list[Any]:
    """Arrays of these sizes, one after the other in memory."""
    stops = np.cumsum(sizes, dtype=np.int64).tolist()
    every = np.empty(stops[-1] if stops else 0, kind)
    return [every[stop - size : stop] for size, stop in zip(sizes, stops, strict=True)]


def _filled(outline: Outline, shading: Shading | None, room: _Room) -> kernel.Attribute:
    """The arrays of a column with its distances."""
    operator, values = outline.operator, outline.values
    shape = operator.rows.size, values.size
    if shading is not None:
        turned = shape[::-1] if room.turned.size else (0, 0)
        shades = kernel.Shades(room.codes.reshape(shape), room.turned.reshape(turned), room.palette)
        _write_shades(shading, shades.codes, shades.turned)
        shades.palette[:] = operator.comparison.palette(shading.distances)
        return operator.arrays._replace(shades=shades)
    if not operator.looked_up:
        return operator.arrays
    turned = shape[::-1] if room.costs.size else (0, 0)
    both = room.table.reshape(shape), room.costs.reshape(turned)
    _write_tables(operator.comparison, operator.rows, values, *both)
    return operator.arrays._replace(table=both[0], costs=both[1])


def _write_tables(
    comparison: Comparison, rows: Longs, values: Longs, table: Floats, costs: Floats
) -> None:
    """Write a comparison table and, where there is room for it, an aggregation table."""
    comparison.plain(rows, values, table)

    def work(first: int, last: int) -> None:
        # some rows at a time, so that what is computed on the way stays in the cache
        for start in range(first, last, STEP):
            some = slice(start, min(start + STEP, last))
            if costs.size:
                costs[:, some] = comparison.costs(table[some]).T
            table[some] = comparison.contributions(table[some], rows[some], values)

    in_blocks(work, rows.size, 1 + SMALLEST_SHARE // max(1, values.size))


def _write_shades(shading: Shading, codes: Shorts, turned: Shorts) -> None:
    """Write which distance each pair has, row by row and, where there is room, value by value."""
    shading.write(codes)

    def work(first: int, last: int) -> None:
        for start in range(first, last, STEP):
            some = slice(start, min(start + STEP, last))
            turned[:, some] = codes[some].T

    if turned.size:
        in_blocks(work, len(codes), 1 + SMALLEST_SHARE // max(1, codes.shape[1]))


def _candidates(comparison: Comparison, known: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """What can become a centroid, ascending, with its ancestors among them and its depth."""
    space = comparison.distances.space
    if space is None:
        every = np.arange(known.size)
        return known, np.arange(known.size + 1), every, np.ones(known.size, np.int64)
    rows = known
    if comparison.rule in (kernel.MINIMUM_HIERARCHY, kernel.LCS):
        rows = space.taxonomy.minimum_hierarchy_numbers(known.astype(np.int32)).astype(np.int64)
    offsets, above = _ancestors_among(space.taxonomy, rows)
    return rows, offsets, above, space.taxonomy.depths[rows].astype(np.int64)


def _ancestors_among(taxonomy: Taxonomy, rows: Longs) -> tuple[Longs, Longs]:
    """For each row, the rows that are its ancestors or itself."""
    offsets, members, _ = taxonomy.ancestor_arrays(rows.astype(np.int32))
    places = np.full(len(taxonomy), -1, np.int64)
    places[rows] = np.arange(rows.size)
    found = places[members]
    owners = np.repeat(np.arange(rows.size), np.diff(offsets))
    kept = found >= 0
    return offsets_of(owners[kept], rows.size), found[kept]


def _height(taxonomy: Taxonomy, concepts: Longs) -> float:
    """The levels from the LCS of some concepts down to the deepest of them, at least 1."""
    top = taxonomy.lcs_number(concepts.astype(np.int32))
    return max(1.0, float(taxonomy.depths[concepts].max() - taxonomy.depths[top]))


def descending_links(taxonomy: Taxonomy, rows: Longs | Ints, columns: Longs | Ints) -> Floats:
    """The links from the LCS of a row and a column down to the column, by the shortest way."""
    first, row_places = np.unique(rows.astype(np.int32), return_inverse=True)
    second, column_places = np.unique(columns.astype(np.int32), return_inverse=True)
    sets = AncestorSets.of(taxonomy, taxonomy.depths, first, second)
    subsumers = sets.rectangle(slice(0, first.size)).subsumers()[0].astype(np.int64)
    offsets, members, ups = taxonomy.ancestor_arrays(second)
    owners = np.repeat(np.arange(second.size), np.diff(offsets))
    keys = owners * len(taxonomy) + members
    wanted = np.arange(second.size) * len(taxonomy) + subsumers
    links: Floats = ups[np.searchsorted(keys, wanted)].astype(np.float64)
    return links[np.ix_(row_places, column_places)]
