"""Record linkage: how many records an intruder who knows the originals would link correctly.

For every original record, G is the set of masked records at minimum distance; the record counts
1 / |G| if its own masked version is in G, else 0; the risk is the mean.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Bools, Floats, Ints, Longs, offsets_of
from ontomask.brevity import Brief
from ontomask.checks import AnyOf, Choice, ListOf, Null, Text, check
from ontomask.data.encoding import record_counts
from ontomask.data.grouping import group_rows
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import open_table
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.pairing import (
    Amounts,
    Paired,
    PairedColumn,
    pair_column,
    pair_tables,
)
from ontomask.evaluation.sides import CodedSides, NumberSides
from ontomask.evaluation.tuples import PairedTuples
from ontomask.kernels.blocks import side_by_side
from ontomask.kernels.formulas import LENGTH, Formula, unrelated
from ontomask.kernels.neighbors import Links
from ontomask.kernels.records import Attribute, Points, compared, on_demand, pack_points, table_in
from ontomask.kernels.tiles import Tile, Tiles
from ontomask.memory import SMALL_TABLE
from ontomask.semantics.distances import MISSING_DISTANCE
from ontomask.semantics.operators import Comparison
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.wording import terse_percent

__all__ = [
    "DISTANCES",
    "LinkageRisk",
    "link_paired",
    "link_tables",
    "linked",
    "linking",
    "own_versions",
    "record_linkage",
]

DISTANCES = ("semantic", "matching", "s-distance", "euclidean")
METRIC = {"semantic": "mean", "s-distance": "s-distance", "euclidean": "euclidean"}
"""How the distances combine the columns of a record."""

TOLERANCE = 1e-9
MANY = 2_000
"""The distances of the values of so many tuples are computed for several columns at once."""


@dataclass(frozen=True)
class LinkageRisk(Brief):
    """The outcome of a record linkage.

    Attributes
    ----------
    distance
        How the intruder compares records.
    risk
        The mean over records of 1 / |G| if the own masked version is in G, else 0.
    linked
        How many records' own masked version is among the nearest.
    expected
        How many links an intruder who picks among the nearest at random gets right.
    chance
        The risk of picking any masked record: 1 / records.
    """

    distance: str
    known: tuple[str, ...]
    risk: float
    linked: float
    expected: float
    records: int
    chance: float

    def __str__(self) -> str:
        return (
            f"{self.distance} linkage on {', '.join(self.known)}: {terse_percent(self.risk, 2)} "
            f"(by chance {100 * self.chance:.2g}%)"
        )


def record_linkage(
    original: object,
    masked: object,
    schema: Schema,
    *,
    distance: str = "semantic",
    known: Sequence[str] | None = None,
    measure: str | None = None,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    truth: Sequence[int] | None = None,
) -> LinkageRisk:
    """Link an intruder's table with a masked one.

    Parameters
    ----------
    original
        What the intruder has: the original table, or an external one (see `truth`).
    masked
        The released table.
    schema
        What the columns are; the quasi-identifiers are compared unless `known` says otherwise.
    distance
        `semantic` (mean distance of the attributes), `matching` (all values equal), `s-distance` or
        `euclidean`.
    known
        The columns that the intruder knows.
    measure, taxonomies
        The intruder's distance and ontologies, where they differ from the schema's.
    truth
        For an external table: for each of its records the position of the same person in the masked
        table, or -1 for people who are not in it. By default record i of one is record i of the
        other.

    Examples
    --------
    >>> original = pl.DataFrame({"age": [30, 40, 50, 60]})
    >>> masked = pl.DataFrame({"age": [35, 35, 55, 55]})
    >>> linkage = om.measuring.record_linkage(original, masked, om.Schema(age=om.Numeric()))
    >>> linkage.risk, linkage.chance  # and what guessing would reach
    (0.5, 0.25)
    """
    check("distance", distance, Choice(*DISTANCES))
    check("measure", measure, AnyOf(Choice(*MEASURES), Null()))
    check("known", known, AnyOf(ListOf(Text(), empty=False), Null()))
    viewed = _intruders_view(schema, measure, taxonomies or {})
    if truth is None:
        return link_paired(pair_tables(original, masked, viewed), distance, known)
    return link_tables(original, masked, viewed, np.asarray(truth, np.int64), distance, known)


def _intruders_view(
    schema: Schema, measure: str | None, taxonomies: Mapping[str, Taxonomy]
) -> Schema:
    unknown = [name for name in taxonomies if not isinstance(schema.get(name), Nominal)]
    if unknown:
        raise ParameterError(f"taxonomies names {unknown[0]!r}, which is not a nominal column.")
    columns = dict(schema)
    for name, column in schema.items():
        if isinstance(column, Nominal):
            assert column.taxonomy is not None
            columns[name] = Nominal(
                taxonomies.get(name, column.taxonomy),
                column.role,
                measure=measure or column.measure,
                root=column.root,
                options=column.options if measure in (None, column.measure) else {},
                overrides=column.overrides,
                unmapped=column.unmapped,
                missing=column.missing,
                weight=column.weight,
            )
    return Schema.of(columns)


def link_paired(
    paired: Paired, distance: str = "semantic", known: Sequence[str] | None = None
) -> LinkageRisk:
    """Link the records of a paired table with their masked versions."""
    return linked(own_versions(paired, known), distance)


def own_versions(paired: Paired, known: Sequence[str] | None = None) -> Versions:
    """The records of a paired table and their masked versions, for any distance."""
    columns = paired.chosen(known) if known is not None else paired.quasi()
    every = np.arange(len(paired))
    return Versions.of(columns, paired.counts, paired.counts, every, every)


def link_tables(
    external: object,
    masked: object,
    schema: Schema,
    truth: Longs,
    distance: str = "semantic",
    known: Sequence[str] | None = None,
) -> LinkageRisk:
    """Link an external table whose records are known to be, or not to be, in the masked one."""
    above, below = open_table(external), open_table(masked)
    if truth.size != len(above) or truth.max(initial=-1) >= len(below) or truth.min(initial=0) < -1:
        raise ParameterError(
            f"truth must give, for each of the {len(above)} external records, a position in the "
            f"masked table (0 to {len(below) - 1}) or -1."
        )
    names = [name for name in schema.quasi if name in above.names and name in below.names]
    if not names:
        raise DataError("The external and the masked table have no quasi-identifier in common.")
    ones = np.ones(len(above))
    columns = [
        pair_column(above, below, name, schema.column(name), Amounts(ones, ones), together=False)
        for name in names
        if known is None or name in known
    ]
    counted = schema.count in below.names
    counts = record_counts(below, schema) if counted else np.ones(len(below))
    present = np.flatnonzero(truth >= 0)
    return linked(Versions.of(columns, ones, counts, present, truth[present]), distance)


@dataclass(frozen=True, eq=False)
class Versions:
    """Which tuples became which: pairs of an original and a masked one.

    Attributes
    ----------
    old, new
        The tuples of each pair.
    records
        How many records it holds.
    """

    tuples: PairedTuples
    old: Longs
    new: Longs
    records: Floats

    @classmethod
    def of(
        cls,
        columns: list[PairedColumn],
        counts: Floats,
        masked_counts: Floats,
        records: Longs,
        versions: Longs,
    ) -> Versions:
        """Of records, each of which has its masked version among those of the masked table."""
        if not columns:
            raise DataError("There is no column to link on: none has the role 'quasi'.")
        tuples = PairedTuples.of(columns, counts, masked_counts)
        both = [tuples.places[records], tuples.masked_places[versions]]
        firsts, spots = group_rows(both, [tuples.firsts.size, tuples.masked_firsts.size])
        held = np.bincount(spots, weights=counts[records]).astype(np.float64)
        return cls(tuples, both[0][firsts], both[1][firsts], held)


def linked(versions: Versions, distance: str) -> LinkageRisk:
    """Link records with their masked versions."""
    if distance != "matching":
        with linking(versions, distance) as outcome:
            return outcome()
    found = _matching(versions.tuples, versions.old, versions.new)
    return _risk(distance, versions, *found)


@contextmanager
def linking(versions: Versions, distance: str) -> Iterator[Callable[[], LinkageRisk]]:
    """Let other threads link by a distance, other than matching, while this one does other things.

    What is handed out gives the outcome.
    """
    links = _made_ready(versions.tuples, distance)
    with links.begun() as finish:

        def outcome() -> LinkageRisk:
            finish()
            own = links.distances(versions.old, versions.new)
            return _risk(distance, versions, links.found[0], links.found[1], own)

        yield outcome


def _risk(
    distance: str, versions: Versions, nearest: Floats, shared: Floats, own: Floats
) -> LinkageRisk:
    """The outcome, by what was found for every original tuple, and for every pair."""
    nearest, shared = nearest[versions.old], shared[versions.old]
    records = round(float(versions.records.sum()))
    hit: Bools = (own <= nearest + TOLERANCE) & (shared > 0)
    credit = np.where(hit, 1.0 / np.maximum(shared, 1.0), 0.0)
    expected = summed_products(versions.records, credit)
    return LinkageRisk(
        distance,
        tuple(one.name for one in versions.tuples.columns),
        expected / max(1, records),
        float(versions.records[hit].sum()),
        expected,
        records,
        1.0 / max(1, records),
    )


def _matching(tuples: PairedTuples, old: Longs, new: Longs) -> tuple[Floats, Floats, Floats]:
    """Only masked tuples in which an original one lies are linked with it."""
    inside = tuples.lies_in(tuples.firsts[old], tuples.masked_firsts[new])
    return np.zeros(tuples.firsts.size), tuples.covered("members"), (~inside).astype(np.float64)


def _made_ready(tuples: PairedTuples, distance: str) -> Links:
    """What finds the masked tuples that are nearest to each original one."""
    coded, numeric = _compared(tuples, distance)
    count, tiles = tuples.masked_firsts.size, Tiles.of([one.tile for one in coded])
    points = pack_points(
        [one.attribute(tiles) for one in coded],
        np.array([one.new for one in coded], np.int32).reshape(len(coded), count),
        np.array([one.new for one in numeric], np.float64).reshape(len(numeric), count),
        tuples.masked_people,
        tuples.masked_people,
        np.ones(count),
        np.array([one.gap for one in numeric], np.float64),
        1 if distance == "semantic" else 2,
    )
    for place, one in enumerate(coded):
        one.hold_once(points, place)
    lines = [one.old.astype(np.float64) for one in coded] + [one.old for one in numeric]
    return Links.of(points, np.stack(lines, axis=1), TOLERANCE, tiles)


class _Coded(NamedTuple):
    """A column whose values are compared by distances, and their codes in each tuple."""

    old: Ints
    new: Ints
    compared: Attribute | Tile
    sides: CodedSides | None = None

    @property
    def tile(self) -> Tile | None:
        """What gives rows of the table, where it is too large."""
        return self.compared if isinstance(self.compared, Tile) else None

    def attribute(self, tiles: Tiles) -> Attribute:
        """The column as kernels know it."""
        made = self.compared
        return made.attribute(tiles.step) if isinstance(made, Tile) else made

    def hold_once(self, points: Points, place: int) -> None:
        """Have the column take its distances from where they were laid out, or compute them anew.

        Links may be looked for while other things are: both hold no more than one did.
        """
        held = {} if self.sides is None else vars(self.sides)
        if isinstance(self.compared, Attribute) and held.pop("table", None) is self.compared.table:
            held["table"] = table_in(points, place)


class _Numeric(NamedTuple):
    """A column whose numbers are compared by their difference; `gap` is for one that is missing."""

    old: Floats
    new: Floats
    gap: float


def _compared(tuples: PairedTuples, distance: str) -> tuple[list[_Coded], list[_Numeric]]:
    """The columns as the kernels compare them."""

    def work(one: PairedColumn) -> tuple[list[_Coded], list[_Numeric]]:
        old, new = one.old[tuples.firsts], one.new[tuples.masked_firsts]
        if isinstance(one.sides, CodedSides):
            attribute = _contributions(one, one.sides, METRIC[distance])
            return [_Coded(old, new, attribute, one.sides)], []
        sides, scale = one.sides, _scale(one.sides, distance)
        points = np.append(np.where(sides.released.sets < 0, sides.released.points, np.nan), np.nan)
        several = len(sides.released.members) > 0
        number = sides.numbers[old] * scale, points[new] * scale
        if not several:
            return [], [_Numeric(*number, MISSING_DISTANCE)]
        power = 1 if distance == "semantic" else 2
        return [_sets(sides, old, new, scale, power)], [_Numeric(*number, 0.0)]

    made = side_by_side(work, tuples.columns, shares=tuples.firsts.size >= MANY)
    coded, numeric = zip(*made, strict=True)
    return [*itertools.chain(*coded)], [*itertools.chain(*numeric)]


def _sets(sides: NumberSides, old: Ints, new: Ints, scale: float, power: int) -> _Coded:
    """What the sets of a numeric column contribute; then what no set does, and a missing value."""
    count = len(sides.released.members)

    def rows(chosen: Longs) -> Floats:
        table, known = np.empty((chosen.size, count + 2)), chosen < sides.size
        apart = sides.some_to_sets(chosen)
        np.multiply(apart, sides.deviation * scale, out=table[:, :count])
        table[~known, :count] = apart[~known]
        if power == 2:
            table[:, :count] *= table[:, :count]
        table[:, count], table[:, count + 1] = ~known, known
        return table

    codes = np.where(sides.sets < 0, count, sides.sets)
    codes[-1] = count + 1
    small = (sides.size + 1) * (count + 2) <= SMALL_TABLE
    ranks = np.append(sides.middles, [-1, -1])
    tile = Tile(rows, sides.size + 1, count + 2, ranks)
    made = compared(rows(np.arange(sides.size + 1))) if small else tile
    return _Coded(old, codes[new], made)


def _contributions(one: PairedColumn, sides: CodedSides, metric: str) -> Attribute:
    """What pairs of values contribute, as the methods compare them."""
    comparison = Comparison(sides.distances, metric=metric).with_spread(
        sides.values, one.old, *one.amounts
    )
    many = comparison.is_formed(sides.values.size, sides.released_size + 1)
    if many and (sides.released.sets < 0).all():
        return comparison.attribute(sides.values, np.append(sides.released.points, -1))
    if sides.distances.of_words and not sides.held:
        nodes = sides.values.size + np.arange(sides.released_size + 1)
        formula = comparison.entered(_unlike_sets(sides), nodes)
        return on_demand(formula, sides.values.size, np.maximum(sides.own, 0))
    released = np.append(np.zeros(sides.released_size, np.int64), -1)
    return compared(comparison.contributions(sides.table, sides.values, released))


def _unlike_sets(sides: CodedSides) -> Formula:
    """How far words are from released codes, as the least way in a tree of them.

    Everything is below one top, to which an original word has a way of 1 and a released code none;
    to a set that it is in, a word has what is left of the set without it.
    """
    size, shares, sets = sides.values.size, sides.shares, sides.sets
    words, codes = np.arange(size), size + np.arange(sets.size)
    within, alone = np.flatnonzero(sets >= 0), np.flatnonzero((sets < 0) & (sides.own >= 0))
    empty = np.append(shares.sizes == 0, False)[sets]
    first = 1 + len(shares)  # of the words, behind the top and the sets
    entries = (
        (words, np.zeros(size, np.int64), np.ones(size)),
        (shares.columns, 1 + shares.owners, 1.0 - shares.amounts),
        (words, first + words, np.zeros(size)),
        (codes, np.zeros(codes.size, np.int64), np.where(empty, -1.0, 0.0)),
        (codes[within], 1 + sets[within], np.zeros(within.size)),
        (codes[alone], first + sides.own[alone], np.zeros(alone.size)),
    )
    owners, members, ways = (np.concatenate(one) for one in zip(*entries, strict=True))
    order = np.lexsort((members, owners))
    depths = np.repeat([1, 2, 3], [1, len(shares), size])
    return unrelated(np.zeros(size + codes.size, np.int64), LENGTH, 1.0)._replace(
        offsets=offsets_of(owners, size + codes.size),
        members=members[order],
        ways=ways[order],
        classes=np.zeros(depths.size, np.int64),
        depths=depths,
        contents=np.zeros(depths.size),
    )


def _scale(sides: NumberSides, distance: str) -> float:
    """What numbers are multiplied by; in the S-distance a constant column contributes nothing."""
    if distance == "s-distance":
        return float(np.sqrt(0.5 / sides.spread)) if sides.spread else 0.0
    return 1.0 / sides.deviation
