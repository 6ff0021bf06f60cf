"""Record linkage: how many records an intruder who knows the originals would link correctly.

For every original record, G is the set of masked records at minimum distance; the record counts
1 / |G| if its own masked version is in G, else 0; the risk is 100 times the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.checks import AnyOf, Choice, ListOf, Null, Text, check
from ontomask.data.encoding import record_counts
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import open_table
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.pairing import Paired, PairedColumn, pair_tables, tuple_groups
from ontomask.kernels.neighbors import closest_links, paired_distances
from ontomask.kernels.records import Points, compared, pack_points
from ontomask.semantics.operators import Comparison
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["DISTANCES", "LinkageRisk", "link_paired", "link_tables", "record_linkage"]

DISTANCES = ("semantic", "matching", "s-distance", "euclidean")
METRIC = {"semantic": "mean", "s-distance": "s-distance", "euclidean": "euclidean"}
"""How the distances combine the columns of a record."""

TOLERANCE = 1e-9


@dataclass(frozen=True)
class LinkageRisk:
    """The outcome of a record linkage.

    Attributes
    ----------
    distance
        How the intruder compares records.
    risk
        100 times the mean over records of 1 / |G| if the own masked version is in G, else 0.
    linked
        How many records' own masked version is among the nearest.
    expected
        How many links an intruder who picks among the nearest at random gets right.
    chance
        The risk of picking any masked record: 100 / records.
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
            f"{self.distance} linkage on {', '.join(self.known)}: {self.risk:.2f} % "
            f"(by chance {self.chance:.2g} %)"
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
    columns = paired.chosen(known) if known is not None else paired.quasi()
    if not columns:
        raise DataError("There is no column to link on: none has the role 'quasi'.")
    firsts, places = tuple_groups(columns, "old")
    masked_firsts, masked_places = tuple_groups(columns, "new")
    pairs, spots = np.unique(places * masked_firsts.size + masked_places, return_inverse=True)
    counts: Floats = np.bincount(spots, weights=paired.counts).astype(np.float64)
    old, new = pairs // masked_firsts.size, pairs % masked_firsts.size
    sizes = np.bincount(masked_places, paired.counts, masked_firsts.size).astype(np.float64)
    nearest, shared, own = _links(columns, firsts, masked_firsts, sizes, old, new, distance)
    return _risk(distance, columns, nearest, shared, own, old, counts)


def link_tables(
    external: object,
    masked: object,
    schema: Schema,
    truth: Longs,
    distance: str = "semantic",
    known: Sequence[str] | None = None,
) -> LinkageRisk:
    """Link an external table whose records are known to be, or not to be, in the masked one."""
    count, masked_count = len(open_table(external)), len(open_table(masked))
    if truth.size != count or truth.max(initial=-1) >= masked_count or truth.min(initial=0) < -1:
        raise ParameterError(
            f"truth must give, for each of the {count} external records, a position in the masked "
            f"table (0 to {masked_count - 1}) or -1."
        )
    stacked = _stacked(external, masked, schema)
    columns = stacked.chosen(known) if known is not None else stacked.quasi()
    external_rows = np.arange(count)
    masked_rows = count + np.arange(masked_count)
    firsts, places = tuple_groups(columns, "old")
    released = open_table(masked)
    counted = schema.count in released.names
    counts = record_counts(released, schema) if counted else np.ones(masked_count)
    return _link_stacked(
        columns, firsts, places, external_rows, masked_rows, counts, truth, distance
    )


def _stacked(external: object, masked: object, schema: Schema) -> Paired:
    """Both tables below each other over common domains, paired with themselves."""
    above, below = open_table(external), open_table(masked)
    names = [name for name in schema.quasi if name in above.names and name in below.names]
    if not names:
        raise DataError("The external and the masked table have no quasi-identifier in common.")
    joined = above.stacked_on(below, names)
    return pair_tables(joined, joined, Schema.of({name: schema[name] for name in names}))


def _link_stacked(
    columns: list[PairedColumn],
    firsts: Longs,
    places: Longs,
    external_rows: Longs,
    masked_rows: Longs,
    masked_counts: Floats,
    truth: Longs,
    distance: str,
) -> LinkageRisk:
    external, inside = places[external_rows], places[masked_rows]
    used, masked_places = np.unique(inside, return_inverse=True)
    sizes = np.bincount(masked_places, weights=masked_counts).astype(np.float64)
    present = truth >= 0
    old_used, old_places = np.unique(external[present], return_inverse=True)
    pairs, counts = np.unique(
        old_places * used.size + masked_places[truth[present]], return_counts=True
    )
    old, new = pairs // used.size, pairs % used.size
    nearest, shared, own = _links(
        columns, firsts[old_used], firsts[used], sizes, old, new, distance, masked="old"
    )
    return _risk(distance, columns, nearest, shared, own, old, counts.astype(np.float64))


def _risk(
    distance: str,
    columns: list[PairedColumn],
    nearest: Floats,
    shared: Floats,
    own: Floats,
    old: Longs,
    counts: Floats,
) -> LinkageRisk:
    records = round(float(counts.sum()))
    hit: Bools = own <= nearest[old] + TOLERANCE
    credit = np.where(hit & (shared[old] > 0), 1.0 / np.maximum(shared[old], 1.0), 0.0)
    expected = float(counts @ credit)
    return LinkageRisk(
        distance,
        tuple(one.name for one in columns),
        100.0 * expected / max(1, records),
        float(counts[hit & (shared[old] > 0)].sum()),
        expected,
        records,
        100.0 / max(1.0, float(records)),
    )


def _links(
    columns: list[PairedColumn],
    firsts: Longs,
    masked_firsts: Longs,
    sizes: Floats,
    old: Longs,
    new: Longs,
    distance: str,
    masked: str = "new",
) -> tuple[Floats, Floats, Floats]:
    """Least distance and weight at it of each original tuple, and the distance of each own pair."""
    if distance == "matching":
        return _matching(columns, firsts, masked_firsts, sizes, old, new, masked)
    points = _masked_points(columns, masked_firsts, sizes, distance, masked)
    references = _references(columns, firsts, distance)
    nearest, shared = closest_links(points, references, TOLERANCE)
    return nearest, shared, paired_distances(points, references, old, new)


def _masked_points(
    columns: list[PairedColumn], firsts: Longs, sizes: Floats, distance: str, side: str
) -> Points:
    """The masked tuples as the kernels take them, compared as the distance says."""
    coded, numeric = _by_kind(columns)
    codes = [(one.new if side == "new" else one.old)[firsts] for one in coded]
    numbers = [_numbers(one, side)[firsts] * _scale(one, distance) for one in numeric]
    return pack_points(
        [compared(_contributions(one, METRIC[distance])) for one in coded],
        np.array(codes, np.int32).reshape(len(coded), firsts.size),
        np.array(numbers, np.float64).reshape(len(numeric), firsts.size),
        sizes,
        sizes,
        np.ones(firsts.size),
        np.ones(len(numeric)),
        1 if distance == "semantic" else 2,
    )


def _references(columns: list[PairedColumn], firsts: Longs, distance: str) -> Floats:
    """The original tuples, one per line: their codes, then their numbers."""
    coded, numeric = _by_kind(columns)
    lines = [one.old[firsts].astype(np.float64) for one in coded]
    lines += [_numbers(one, "old")[firsts] * _scale(one, distance) for one in numeric]
    return np.stack(lines, axis=1)


def _by_kind(columns: list[PairedColumn]) -> tuple[list[PairedColumn], list[PairedColumn]]:
    """Coded columns, then numeric ones, in the order of the kernels."""
    coded = [one for one in columns if not one.is_numeric]
    return coded, [one for one in columns if one.is_numeric]


def _numbers(one: PairedColumn, which: str) -> Floats:
    numbers = one.old_numbers if which == "old" else one.new_numbers
    assert numbers is not None
    return numbers


def _contributions(one: PairedColumn, metric: str) -> Floats:
    """What pairs of values contribute, as the methods compare them."""
    values = one.numbered
    comparison = Comparison(one.distances, metric=metric).with_spread(
        one.table, values, one.old, *one.amounts
    )
    return comparison.contributions(one.table, values, values)


def _scale(one: PairedColumn, distance: str) -> float:
    """What numbers are multiplied by; in the S-distance a constant column contributes nothing."""
    if distance == "s-distance":
        return float(np.sqrt(0.5 / one.spread)) if one.spread else 0.0
    return 1.0 / one.deviation


def _matching(
    columns: list[PairedColumn],
    firsts: Longs,
    masked_firsts: Longs,
    sizes: Floats,
    old: Longs,
    new: Longs,
    masked: str,
) -> tuple[Floats, Floats, Floats]:
    """Only masked tuples with all values equal are linked."""
    originals = np.array([one.old[firsts] for one in columns]).T.tolist()
    others = np.array(
        [(one.new if masked == "new" else one.old)[masked_firsts] for one in columns]
    ).T.tolist()
    places = {tuple(other): place for place, other in enumerate(others)}
    same = np.array([places.get(tuple(one), -1) for one in originals], np.int64)
    shared = np.where(same >= 0, sizes[same], 0.0)
    own = np.where(same[old] == new, 0.0, 1.0)
    return np.zeros(firsts.size), shared, own
