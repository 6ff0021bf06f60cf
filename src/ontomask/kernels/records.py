"""Weighted points and the distance of a reference to all of them.

A *point* is a distinct tuple, or a single record. Its *size* is the number of records that it
stands for, which k counts; its *weight* the number of people, by which centroids and losses are
weighted; the two are never mixed. Its attributes are coded (nominal, ordinal) or numeric. A *row*
of a coded attribute is a centroid candidate: a concept of the minimum hierarchy or a value. A
*reference* is a row per coded attribute and a number per numeric one, a point or a centroid;
kernels take it as one array of floats, rows first. Its contribution to point i is

    sum_j table_j[row_j, code_ji]  +  sum_a |number_a - x_ai| ** power

where a number missing on one side counts `gaps[a]` and on both sides nothing. For power 2 this is
the squared euclidean distance, which orders points as the distance itself does. The *distance*
to point i is that sum times `factors[i]`, the comparison operator wsd(b, <v, w>) = w * sd(b, v) of
the literature (Martinez, Sanchez and Valls 2012). Ties: the smallest point number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs, Shorts
from ontomask.kernels.blocks import in_blocks, side_by_side
from ontomask.kernels.compiling import compiled, part, unsigned, whole
from ontomask.kernels.formulas import (
    COLUMNS,
    COMPARED,
    LOOKED_UP,
    PALETTE,
    REPLACED,
    SHADED,
    SHADES,
    TURNED,
    WAY,
    WORDS,
    Formula,
    formed,
    laid_out,
)
from ontomask.kernels.reaching import add_to_points

__all__ = [
    "LCS",
    "LOOKED_UP",
    "MINIMUM_HIERARCHY",
    "MISSING",
    "MISSING_ROW",
    "PRESENT",
    "RANDOM",
    "ROWS",
    "ROW_START",
    "RULE",
    "SHADED",
    "START",
    "VALUES",
    "VALUE_START",
    "WAY",
    "WORDS",
    "Attribute",
    "Points",
    "Shades",
    "coded_cost",
    "compared",
    "contribution",
    "cost",
    "distances",
    "entry",
    "farthest",
    "fill_distances",
    "flat_owners",
    "nearest",
    "nearest_references",
    "number_difference",
    "on_demand",
    "pack_points",
    "point_reference",
    "repeated_attributes",
    "replacement_cost",
    "select_points",
    "table_in",
    "with_points",
]

MINIMUM_HIERARCHY = 0
PRESENT = 1
LCS = 2
RANDOM = 3


class Shades(NamedTuple):
    """Tables of an attribute whose pairs have but a few distances: which one each of them has."""

    codes: Shorts
    """Comparison, r x v."""
    turned: Shorts
    """Aggregation, v x r."""
    palette: Floats
    """[2 x n] what each distance contributes, and behind that what it costs."""


class Attribute(NamedTuple):
    """One coded attribute with v values and r rows, sorted by (depth, id).

    A row's ancestors, itself included, are `row_above[row_above_offsets[row]:...[row + 1]]`;
    in an attribute without taxonomy, and for the missing value, that is the row alone.
    """

    table: Floats
    """Comparison, r x v: distance of a row to a value, already weighted and raised to the power."""
    costs: Floats
    """Aggregation, *v x r*: cost of replacing a value by a row."""
    own_rows: Ints
    """[v] row of each value."""
    row_depths: Ints
    """[r] depth of each row."""
    row_above_offsets: Longs
    row_above: Ints
    rule: int
    """How a centroid is chosen: MINIMUM_HIERARCHY, PRESENT, LCS or RANDOM."""
    missing: int
    """The code that means "missing", or -1."""
    formula: Formula | None = None
    """How the entries of both tables are computed where these are not there (empty)."""
    words: bool = False
    """Whether costs are 1 but for the row of a value itself, which has its number."""
    shades: Shades | None = None
    """What both tables hold where they are not there (empty), and no formula either."""


class Points(NamedTuple):
    """p points. Few arrays, because the compiler's time grows with the number that is passed."""

    codes: Ints
    """[coded, p] value of each point, contiguous per attribute."""
    numbers: Floats
    """[numeric, p] scaled numbers; NaN means missing."""
    gaps: Floats
    """[numeric] contribution when exactly one of two numbers is missing."""
    sizes: Floats
    """[p] records, whole numbers of at least 1: what k counts."""
    weights: Floats
    """[p] people, greater than 0: what centroids and losses are weighted by."""
    factors: Floats
    """[p] factor of the distance to each point."""
    tables: Floats
    """Comparison tables, one after the other, each rows x values in C order."""
    costs: Floats
    """Aggregation tables at the same starts, values x rows: a value's costs lie together."""
    shades: Shorts
    """Tables that say which distance it is: comparison of all such attributes, then aggregation."""
    heads: Longs
    """[coded, COLUMNS] what the columns START to MISSING_ROW say of each coded attribute, and those
    from WAY on of one whose tables are not there."""
    lineages: Longs
    """By place of a value, its row within the attribute; by place r of a row, where its record
    lineages[lineages[r]:lineages[r + 1]] starts: its depth, then its ancestors-or-self as rows
    within the attribute. Places count all values, then all rows."""
    owners: Longs
    """Whose records the points hold, see `units`; empty where every record is somebody else's."""
    power: int
    """1: absolute differences of numbers; 2: squared ones."""


START = 0
"""Column of `heads`: where the attribute's tables start."""
ROWS = 1
"""Column of `heads`: number of rows."""
VALUES = 2
"""Column of `heads`: number of values."""
ROW_START = 3
"""Column of `heads`: place of the attribute's first row in arrays over all values and rows."""
VALUE_START = 4
"""Column of `heads`: place of the attribute's first value in arrays over all values and rows."""
RULE = 5
"""Column of `heads`: rule of the centroid."""
MISSING = 6
"""Column of `heads`: the code that means "missing", or -1."""
MISSING_ROW = 7
"""Column of `heads`: the row of that code, or -1."""


LARGE = 1_000_000
"""So many numbers are copied by several threads."""

ROWS_TOGETHER = 64
"""So many rows of a table are looked at before the next ones."""

LAYOUT: Any = ["C_CONTIGUOUS", "WRITEABLE"]
"""Read-only or strided arrays are other types to the compiler: every kernel twice."""


def compared(table: Floats) -> Attribute:
    """A coded attribute that is compared only (rows x values) and never gets a centroid."""
    rows = table.shape[0]
    every = np.arange(rows, dtype=np.int32)
    return Attribute(
        table=np.ascontiguousarray(table),
        costs=np.empty((0, 0)),
        # what stands for a value in the trees of the index: the nearest row bounds best
        own_rows=_nearest_rows(table),
        row_depths=np.ones(rows, np.int32),
        row_above_offsets=np.arange(rows + 1, dtype=np.int64),
        row_above=every,
        rule=PRESENT,
        missing=-1,
    )


def _nearest_rows(table: Floats) -> Ints:
    """The first row with the least entry of each column, in a third of the time of `argmin`."""
    nearest, least = np.zeros(table.shape[1], np.int32), np.full(table.shape[1], np.inf)
    for start in range(0, table.shape[0], ROWS_TOGETHER):
        some = table[start : start + ROWS_TOGETHER]
        below = some.min(axis=0)
        nearer = np.flatnonzero(below < least)
        nearest[nearer] = start + some[:, nearer].argmin(axis=0)
        least[nearer] = below[nearer]
    return nearest


def on_demand(formula: Formula, rows: int, own_rows: Longs) -> Attribute:
    """The same without a table; `own_rows` names a row for each value, best one near it."""
    like = compared(np.zeros((rows, 1)))
    nothing = np.empty((0, 0))
    return like._replace(table=nothing, own_rows=own_rows.astype(np.int32), formula=formula)


def _starts(sizes: Sequence[int]) -> Longs:
    """Where consecutive blocks of these sizes start; one entry more than blocks."""
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, np.int64)))).astype(np.int64)


def _lying_together(parts: Sequence[Any]) -> Any:
    """One array that is all of these, where they lie one after the other in memory, else None."""
    if len(parts) == 1:
        return parts[0] if parts[0].flags.writeable else None
    owner = parts[0].base if parts else None
    if not isinstance(owner, np.ndarray) or any(part.base is not owner for part in parts):
        return None
    starts = [(part.ctypes.data - owner.ctypes.data) // owner.itemsize for part in parts]
    stops = [start + part.size for start, part in zip(starts, parts, strict=True)]
    if owner.ndim > 1 or not owner.flags.carray or starts[1:] != stops[:-1]:
        return None
    return owner[starts[0] : stops[-1]]


def _joined(parts: Sequence[Any], kind: type) -> Any:
    """One flat array of all parts."""
    flat: list[Any] = [np.ascontiguousarray(part, dtype=kind).ravel() for part in parts]
    together = _lying_together([one for one in flat if one.size])
    if together is not None:
        return together
    starts = _starts([one.size for one in flat])
    joined = np.empty(starts[-1], kind)

    def work(start: int, one: Any) -> None:
        np.copyto(joined[start : start + one.size], one)

    side_by_side(work, starts[:-1].tolist(), flat, shares=joined.size >= LARGE)
    return joined


def _heads(attributes: Sequence[Attribute]) -> Longs:
    """What the columns START to MISSING_ROW say of each attribute."""
    shapes = [(attribute.row_depths.size, attribute.own_rows.size) for attribute in attributes]
    heads = np.full((len(attributes), COLUMNS), LOOKED_UP, np.int64)
    heads[:, START] = _starts([attribute.table.size for attribute in attributes])[:-1]
    heads[:, ROWS] = [rows for rows, _ in shapes]
    heads[:, VALUES] = [values for _, values in shapes]
    value_starts = _starts([values for _, values in shapes])
    heads[:, VALUE_START] = value_starts[:-1]
    heads[:, ROW_START] = value_starts[-1] + _starts([rows for rows, _ in shapes])[:-1]
    heads[:, RULE] = [attribute.rule for attribute in attributes]
    heads[:, MISSING] = [attribute.missing for attribute in attributes]
    heads[:, WORDS] = [attribute.words for attribute in attributes]
    heads[:, MISSING_ROW] = [
        attribute.own_rows[attribute.missing] if attribute.missing >= 0 else -1
        for attribute in attributes
    ]
    return heads


def _lineages(attributes: Sequence[Attribute]) -> Longs:
    """Rows of all values, starts of the records of all rows, and the records."""
    own_rows = _joined([attribute.own_rows for attribute in attributes], np.int64)
    depths = _joined([attribute.row_depths for attribute in attributes], np.int64)
    above = _joined([attribute.row_above for attribute in attributes], np.int64)
    sizes = _joined([np.diff(attribute.row_above_offsets) for attribute in attributes], np.int64)
    starts = _starts(sizes)
    records: Longs = np.insert(above, starts[:-1], depths)
    firsts = starts + np.arange(starts.size) + starts.size + own_rows.size
    return np.concatenate([own_rows, firsts, records])


def repeated_attributes(attributes: Sequence[Attribute], times: int) -> tuple[Longs, Longs]:
    """Heads and lineages of points that have each attribute several times, over the same tables."""
    heads, lineages, _ = _laid_out(attributes, times)
    return heads, lineages


def _laid_out(attributes: Sequence[Attribute], times: int = 1) -> tuple[Longs, Longs, Floats]:
    """Heads, lineages and tables; formulas come behind."""
    repeated, count = [*attributes] * times, len(attributes)
    heads, lineages = _heads(repeated), [_lineages(repeated)]
    heads[:, START] = np.tile(_heads(attributes)[:, START], times)
    tables = [attribute.table for attribute in attributes]
    tables += _palettes(attributes, heads, sum(table.size for table in tables))
    for place, attribute in enumerate(attributes):
        if attribute.formula is not None:
            first, second = (sum(one.size for one in parts) for parts in (lineages, tables))
            wholes, floats = laid_out(attribute.formula, first, second, heads[place])
            heads[place::count, WAY:] = heads[place, WAY:]
            lineages += wholes
            tables += floats
    return heads, _joined(lineages, np.int64), _joined(tables, np.float64)


def _palettes(attributes: Sequence[Attribute], heads: Longs, start: int) -> list[Floats]:
    """The palettes of attributes, to lie from a start on; `heads` is told what will lie where."""
    shaded = [(place, one.shades) for place, one in enumerate(attributes) if one.shades is not None]
    codes = _starts([shades.codes.size for _, shades in shaded])
    turned = codes[-1] + _starts([shades.turned.size for _, shades in shaded])
    for turn, (place, shades) in enumerate(shaded):
        own = heads[place :: len(attributes)]
        own[:, WAY], own[:, PALETTE], own[:, SHADES] = SHADED, start, shades.palette.size // 2
        own[:, START], own[:, TURNED] = codes[turn], turned[turn]
        start += shades.palette.size
    return [shades.palette for _, shades in shaded]


def select_points(points: Points, chosen: Longs) -> Points:
    """Some of the points, over the same tables."""
    return points._replace(
        codes=np.ascontiguousarray(points.codes[:, chosen]),
        numbers=np.ascontiguousarray(points.numbers[:, chosen]),
        sizes=points.sizes[chosen],
        weights=points.weights[chosen],
        factors=points.factors[chosen],
        owners=_selected_owners(points, chosen),
    )


def _selected_owners(points: Points, places: Longs) -> Longs:
    if points.owners.size == 0:
        return points.owners
    firsts, behind = points.owners[places], points.owners[places + 1]
    starts = _starts((behind - firsts).tolist())
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], behind - firsts)
    units = points.owners[np.repeat(firsts, behind - firsts) + within]
    return flat_owners(starts, np.unique(units, return_inverse=True)[1])


def flat_owners(starts: Longs, units: Longs) -> Longs:
    """Starts and units in one array, as points hold them."""
    return np.concatenate([starts + starts.size, units]).astype(np.int64)


def pack_points(
    attributes: Sequence[Attribute],
    codes: Ints,
    numbers: Floats,
    sizes: Floats,
    weights: Floats,
    factors: Floats,
    gaps: Floats,
    power: int,
    owners: Longs | None = None,
) -> Points:
    """Lay the attributes' tables out as the kernels want them."""
    heads, lineages, tables = _laid_out(attributes)
    nothing, shaded = np.empty(0), [one.shades for one in attributes if one.shades is not None]
    empty = Points(
        codes=codes,
        numbers=numbers,
        gaps=np.require(gaps, np.float64, LAYOUT),
        sizes=nothing,
        weights=nothing,
        factors=nothing,
        tables=tables,
        costs=_joined([attribute.costs for attribute in attributes], np.float64),
        shades=_joined([*(one.codes for one in shaded), *(one.turned for one in shaded)], np.int16),
        heads=heads,
        lineages=lineages,
        owners=np.empty(0, np.int64),
        power=int(power),
    )
    return with_points(empty, codes, numbers, sizes, weights, factors, owners)


def table_in(points: Points, attribute: int) -> Floats:
    """The table of an attribute, where it was laid out."""
    start, rows, values = points.heads[attribute, [START, ROWS, VALUES]].tolist()
    return points.tables[start : start + rows * values].reshape(rows, values)


def with_points(
    points: Points,
    codes: Ints,
    numbers: Floats,
    sizes: Floats,
    weights: Floats,
    factors: Floats,
    owners: Longs | None = None,
) -> Points:
    """Other points over the same tables."""
    return points._replace(
        codes=np.require(codes, np.int32, LAYOUT),
        numbers=np.require(numbers, np.float64, LAYOUT),
        sizes=np.require(sizes, np.float64, LAYOUT),
        weights=np.require(weights, np.float64, LAYOUT),
        factors=np.require(factors, np.float64, LAYOUT),
        owners=np.empty(0, np.int64) if owners is None else owners,
    )


@compiled
def point_reference(points: Points, point: int, reference: Floats) -> None:
    """Make a point the reference."""
    codes, numbers = points.codes, points.numbers
    heads, lineages = points.heads, points.lineages
    coded = codes.shape[0]
    for attribute in range(coded):
        value = heads[attribute, VALUE_START] + codes[attribute, point]
        reference[attribute] = lineages[value]
    for attribute in range(numbers.shape[0]):
        reference[coded + attribute] = numbers[attribute, point]


@part
def number_difference(number: float, other: float, gap: float, power: int) -> float:
    """Contribution of one pair of numbers."""
    difference = abs(number - other)
    # no branch, as the compiler would write every loop twice
    raised = difference * ((power - 1) * difference + (2 - power))
    # a missing number, NaN, is unequal even to itself
    if difference == difference:
        return raised
    return 0.0 if number != number and other != other else gap


@part
def _add_differences(points: Points, reference: Floats, point: int, total: float) -> float:
    """The total and what the numbers contribute, one after the other."""
    columns, gaps, coded = points.numbers, points.gaps, points.codes.shape[0]
    for attribute in range(gaps.size):
        number, other = columns[attribute, point], reference[coded + attribute]
        total += number_difference(number, other, gaps[attribute], points.power)
    return total


@compiled
def entry(points: Points, attribute: int, row: int, value: int) -> float:
    """What a row and a value of an attribute contribute."""
    heads, tables = points.heads, points.tables
    place = heads[attribute, START] + row * heads[attribute, VALUES] + value
    if heads[attribute, WAY] == SHADED:
        return float(tables[heads[attribute, PALETTE] + points.shades[place]])
    if heads[attribute, WAY] == LOOKED_UP:
        return float(tables[place])
    return float(formed(heads, points.lineages, tables, attribute, row, value, whole(COMPARED)))


@part
def cost(points: Points, attribute: int, row: int, value: int) -> float:
    """What it costs to replace a value by a row."""
    heads, place = points.heads, value * points.heads[attribute, ROWS] + row
    if heads[attribute, WAY] == SHADED:
        shade = points.shades[heads[attribute, TURNED] + place]
        return float(points.tables[heads[attribute, PALETTE] + heads[attribute, SHADES] + shade])
    if heads[attribute, WAY] == LOOKED_UP:
        return float(points.costs[heads[attribute, START] + place])
    lineages, tables = points.lineages, points.tables
    return float(formed(heads, lineages, tables, attribute, row, value, whole(REPLACED)))


@compiled
def contribution(points: Points, reference: Floats, point: int) -> float:
    """Contribution of a reference to one point: the one record distance of all kernels."""
    codes, heads, total = points.codes, points.heads, 0.0
    for attribute in range(heads.shape[0]):
        row, value = whole(reference[attribute]), whole(codes[attribute, point])
        total += entry(points, attribute, row, value)
    return _add_differences(points, reference, point, total)


@compiled
def coded_cost(points: Points, reference: Floats, point: int) -> float:
    """Cost of replacing a point's coded values by those of a reference."""
    codes, total = points.codes, 0.0
    for attribute in range(codes.shape[0]):
        row, value = whole(reference[attribute]), whole(codes[attribute, point])
        total += cost(points, attribute, row, value)
    return total


@compiled
def replacement_cost(points: Points, reference: Floats, point: int) -> float:
    """Cost of replacing one record of the point by a reference."""
    return _add_differences(points, reference, point, coded_cost(points, reference, point))


@compiled
def fill_distances(points: Points, reference: Floats, result: Floats) -> None:
    """Write the distance of a reference to every point.

    What `contribution` computes, but attribute by attribute: the same sums in the same order, and
    the columns of the points are read in one stream each.
    """
    codes, heads, tables, coded = points.codes, points.heads, points.tables, points.codes.shape[0]
    columns, gaps, power = points.numbers, points.gaps, points.power
    result[:] = 0.0
    for attribute in range(coded):
        row = whole(reference[attribute])
        base = unsigned(heads[attribute, START] + row * heads[attribute, VALUES])
        if heads[attribute, WAY] == SHADED:
            palette, shades = unsigned(heads[attribute, PALETTE]), points.shades
            for point in range(result.size):
                shade = shades[base + unsigned(codes[attribute, point])]
                result[point] += tables[palette + unsigned(shade)]
        elif heads[attribute, WAY] == LOOKED_UP:
            for point in range(result.size):
                result[point] += tables[base + unsigned(codes[attribute, point])]
        else:
            add_to_points(heads, points.lineages, tables, attribute, row, codes, result)
    for attribute in range(gaps.size):
        number, gap = reference[coded + attribute], gaps[attribute]
        for point in range(result.size):
            result[point] += number_difference(columns[attribute, point], number, gap, power)
    for point in range(result.size):
        result[point] *= points.factors[point]


def distances(points: Points, rows: Ints, numbers: Floats) -> Floats:
    """Distance of one reference to every point, by a full scan."""
    result = np.empty(points.weights.size, np.float64)
    fill_distances(points, np.concatenate([rows, numbers]), result)
    return result


def nearest(points: Points, rows: Ints, numbers: Floats) -> int:
    """Point of least distance."""
    return int(np.argmin(distances(points, rows, numbers)))


def farthest(points: Points, rows: Ints, numbers: Floats) -> int:
    """Point of greatest distance."""
    return int(np.argmax(distances(points, rows, numbers)))


LEAST_REFERENCES = 20_000
"""Pairs of a point and a reference that are enough work for one more thread."""


@compiled
def _find_nearest(
    first: int, last: int, points: Points, references: Floats, chosen: Longs, found: Longs
) -> None:
    """For the chosen points from first to last the nearest reference; ties: the smaller number."""
    for slot in range(first, last):
        best, least = whole(0), np.inf
        for number in range(references.shape[0]):
            distance = contribution(points, references[number], chosen[slot])
            # of equals the first stays
            if distance < least:
                best, least = number, distance
        found[slot] = best


def nearest_references(points: Points, chosen: Longs, rows: Ints, numbers: Floats) -> Longs:
    """The nearest reference of each of the chosen points, on all cores; ties: the first.

    `rows` and `numbers` hold one reference per line. Factors belong to points, so they do not
    matter here.
    """
    references, found = np.concatenate([rows, numbers], axis=1), np.empty(chosen.size, np.int64)

    def work(first: int, last: int) -> None:
        _find_nearest(first, last, points, references, chosen, found)

    in_blocks(work, chosen.size, 1 + LEAST_REFERENCES // max(1, rows.shape[0]))
    return found
