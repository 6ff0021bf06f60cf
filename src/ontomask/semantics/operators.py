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

from dataclasses import dataclass, replace

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels import records as kernel
from ontomask.taxonomy.measures import Space
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "METRICS",
    "OPERATORS",
    "Coded",
    "concept_distances",
    "flat_operator",
    "nominal_operator",
    "ordinal_operator",
]

OPERATORS = ("semantic", "marginality", "lcs", "mode", "equality", "consensus", "random")
METRICS = ("mean", "euclidean", "s-distance")

MISSING_DISTANCE = 1.0

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
class Coded:
    """A coded attribute ready for the kernels.

    `rows` holds, for each candidate row, the concept number (nominal) or the value's code (others);
    the row behind the last is the missing value where there is one, with the entry -1.
    """

    arrays: kernel.Attribute
    rows: Longs
    operators: str = "semantic"
    metric: str = "mean"
    spread: float = 1.0
    weight: float = 1.0

    def table_to(self, distances: Floats) -> Floats:
        """The comparison table of plain distances, as this attribute has it."""
        return _tables(distances, self.metric, self.operators, self.spread, self.weight)[0]


def nominal_operator(
    space: Space,
    concepts: Ints,
    counts: Floats,
    *,
    has_missing: bool,
    operators: str,
    metric: str,
    weight: float = 1.0,
) -> Coded:
    """The operator of a nominal attribute with the given distinct concepts and frequencies."""
    taxonomy = space.taxonomy
    rows = _candidate_rows(taxonomy, concepts, operators)
    distances = concept_distances(space, rows, concepts, operators)
    spread = _spread(distances[np.searchsorted(rows, concepts)], counts, metric)
    table, costs = _tables(distances, metric, operators, spread, weight)
    offsets, above = _ancestors_among(taxonomy, rows)
    own_rows = np.searchsorted(rows, concepts)
    packed = _packed(
        table,
        costs,
        rows,
        own_rows,
        taxonomy.depths[rows],
        offsets,
        above,
        RULES[operators],
        has_missing,
        MISSING_DISTANCE / spread * weight,
    )
    return replace(packed, operators=operators, metric=metric, spread=spread, weight=weight)


def flat_operator(
    size: int,
    counts: Floats,
    *,
    has_missing: bool,
    operators: str,
    metric: str,
    weight: float = 1.0,
) -> Coded:
    """The operator of words without a taxonomy: 0 or 1, and the mode."""
    distances = 1.0 - np.eye(size)
    spread = _spread(distances, counts, metric)
    rule = kernel.RANDOM if operators == "random" else kernel.PRESENT
    return _without_taxonomy(
        distances * weight / spread, distances, rule, has_missing, weight / spread
    )


def ordinal_operator(
    size: int,
    counts: Floats,
    *,
    has_missing: bool,
    operators: str,
    metric: str,
    weight: float = 1.0,
) -> Coded:
    """The operator of ordered words: distance of ranks scaled to [0, 1], and the median."""
    ranks = np.arange(size) / max(1, size - 1)
    distances = np.abs(ranks[:, None] - ranks[None, :])
    if operators == "equality":
        distances = 1.0 - np.eye(size)
    rule = kernel.RANDOM if operators == "random" else kernel.PRESENT
    if metric == "mean":
        return _without_taxonomy(distances * weight, distances, rule, has_missing, weight)
    if metric == "euclidean":
        return _without_taxonomy(distances**2 * weight, distances, rule, has_missing, weight)
    variance = _weighted_variance(ranks, counts)
    table = distances**2 / 2.0 / variance if variance > 0 else np.zeros_like(distances)
    return _without_taxonomy(table * weight, distances, rule, has_missing, weight)


def _weighted_variance(numbers: Floats, counts: Floats) -> float:
    counts = counts[: numbers.size]
    total = counts.sum()
    if total < 2:
        return 0.0
    mean = numbers @ counts / total
    return float((numbers - mean) ** 2 @ counts / (total - 1.0))


def _candidate_rows(taxonomy: Taxonomy, concepts: Ints, operators: str) -> Ints:
    """Concepts that can become centroids, ascending by (depth, id)."""
    if RULES[operators] in (kernel.MINIMUM_HIERARCHY, kernel.LCS):
        return taxonomy.minimum_hierarchy_numbers(concepts)
    return np.asarray(concepts, np.int32)


def concept_distances(space: Space, rows: Ints, concepts: Ints, operators: str) -> Floats:
    """Distances from rows to values as an operator set compares them."""
    if operators == "equality":
        different: Bools = rows[:, None] != concepts[None, :]
        return different.astype(np.float64)
    if operators == "consensus":
        return _confusion(space, rows, concepts)
    return space.between(rows, concepts)


def _confusion(space: Space, rows: Ints, concepts: Ints) -> Floats:
    """Links that descend from the LCS to the replaced value, scaled by the attribute's height.

    Going up costs nothing: an ancestor stands for what is below it without being wrong.
    """
    taxonomy = space.taxonomy
    links = taxonomy.space(concepts, "path", root="taxonomy")
    up_and_down = links.between(rows, concepts)
    depths = taxonomy.depths.astype(np.float64)
    descending = (up_and_down - depths[rows][:, None] + depths[concepts][None, :]) / 2.0
    height = max(1.0, float(np.ptp(depths[np.concatenate([rows, concepts])])))
    return np.clip(descending, 0.0, None) / height


def _spread(distances: Floats, counts: Floats, metric: str) -> float:
    """The marginality variance that S-distance divides by; 1 for the other metrics."""
    if metric != "s-distance":
        return 1.0
    known = counts[: distances.shape[1]]
    total = float(known.sum())
    variance = float(known @ distances @ known) / total if total else 0.0
    return variance or np.inf


def _tables(
    distances: Floats, metric: str, operators: str, spread: float, weight: float
) -> tuple[Floats, Floats]:
    """Comparison and aggregation tables of a metric.

    The centroid minimizes the sum of distances (mean), of squared distances (euclidean), or the
    marginality (marginality and consensus, whatever the metric).
    """
    squared = metric == "euclidean"
    table = distances**2 if squared else distances / spread
    costs = distances**2 if squared and operators == "semantic" else distances
    if operators == "mode":
        costs = (distances > 0).astype(np.float64)
    return table * weight, costs


def _ancestors_among(taxonomy: Taxonomy, rows: Ints) -> tuple[Longs, Ints]:
    """For each row, the rows that are its ancestors or itself."""
    offsets, members, _ = taxonomy.ancestor_arrays(rows)
    places = np.full(len(taxonomy), -1, np.int32)
    places[rows] = np.arange(rows.size, dtype=np.int32)
    found = places[members]
    owners = np.repeat(np.arange(rows.size), np.diff(offsets))
    kept = found >= 0
    new_offsets = np.zeros(rows.size + 1, np.int64)
    np.cumsum(np.bincount(owners[kept], minlength=rows.size), out=new_offsets[1:])
    return new_offsets, found[kept]


def _without_taxonomy(
    table: Floats, costs: Floats, rule: int, has_missing: bool, missing_distance: float
) -> Coded:
    size = table.shape[0]
    every = np.arange(size, dtype=np.int32)
    offsets = np.arange(size + 1, dtype=np.int64)
    depths = np.ones(size, np.int32)
    return _packed(
        table, costs, every, every, depths, offsets, every, rule, has_missing, missing_distance
    )


def _packed(
    table: Floats,
    costs: Floats,
    rows: Ints,
    own_rows: Longs | Ints,
    depths: Ints,
    offsets: Longs,
    above: Ints,
    rule: int,
    has_missing: bool,
    missing_distance: float,
) -> Coded:
    """Put the arrays together, with a row and a value for "missing" where values are missing."""
    missing = -1
    if has_missing:
        missing = table.shape[1]
        table = np.pad(table, ((0, 1), (0, 1)), constant_values=missing_distance)
        costs = np.pad(costs, ((0, 1), (0, 1)), constant_values=MISSING_DISTANCE)
        table[-1, -1] = costs[-1, -1] = 0.0
        own_rows = np.append(own_rows, rows.size)
        depths = np.append(depths, 1)
        offsets = np.append(offsets, offsets[-1] + 1)
        above = np.append(above, rows.size)
        rows = np.append(rows, -1)
    arrays = kernel.Attribute(
        np.ascontiguousarray(table, np.float64),
        np.ascontiguousarray(costs, np.float64),
        np.asarray(own_rows, np.int32),
        np.asarray(depths, np.int32),
        np.asarray(offsets, np.int64),
        np.asarray(above, np.int32),
        rule,
        missing,
    )
    return Coded(arrays, np.asarray(rows, np.int64))
