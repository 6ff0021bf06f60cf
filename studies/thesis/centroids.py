"""Chapter 4: the value that stands best for a set of values.

Seven strategies on whole columns, on a whole table, and on the seven clusters that Ward's method
makes of it. A strategy is an operator set of the library; the centroid of a set of n records is
what microaggregation with k = n gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import ontomask as om
from ontomask.semantics.operators import Operator
from studies.charts import bars
from studies.study import Claim, Clock, Figure, ResultTable
from studies.thesis.material import Material, Part, tuple_counts

__all__ = ["STRATEGIES", "Costs", "centroid_claims", "study_centroids", "worked_examples"]

CLUSTERS = 7
FEW = 3
DRAWS = 10
PREDOMINANT = 0.5
"""A cluster is homogeneous if one value of every attribute has more than this share."""

STRATEGIES: Mapping[str, tuple[Operator, str]] = {
    "semantic, logSC": ("semantic", "logsc"),
    "semantic, Wu-Palmer": ("semantic", "wu-palmer"),
    "semantic, path": ("semantic", "path"),
    "consensus": ("consensus", "logsc"),
    "most frequent": ("mode", "logsc"),
    "random": ("random", "logsc"),
    "LCS": ("lcs", "logsc"),
}
SEMANTIC = tuple(name for name in STRATEGIES if name.startswith("semantic"))
OTHERS = tuple(name for name in STRATEGIES if name not in SEMANTIC)
TIE = 1e-9

Costs = Mapping[str, float]
"""For each strategy the sum of the distances of all records to the centroid (Eq. 4.8, logSC)."""


# Costs ----------------------------------------------------------------------------------------


def centroid_cost(material: Material, strategy: str) -> float:
    """The sum of the distances of all records to the centroid of a strategy."""
    if material.frame.height < 2:
        return 0.0
    several = strategy == "random" and not material.quick
    seeds = range(1, DRAWS + 1) if several else (1,)
    return mean(_cost(material, strategy, seed) for seed in seeds)


def _cost(material: Material, strategy: str, seed: int) -> float:
    operators, measure = STRATEGIES[strategy]
    count = material.frame.height
    method = om.Microaggregation(count, algorithm="mdav", operators=operators, measure=measure)
    release = om.protect(material.frame, material.schema, method, seed)
    found = om.evaluate(material.frame, release.frame, material.schema, distances=())
    return found.loss.semantic_loss * count


def all_costs(material: Material) -> Costs:
    """The cost of each strategy."""
    return {strategy: centroid_cost(material, strategy) for strategy in STRATEGIES}


def ward_clusters(material: Material) -> list[Material]:
    """The clusters of Ward's method on semantic distances between records, the largest first."""
    distances = np.mean([_distances(material, one) for one in material.frame.columns], axis=0)
    tree = linkage(squareform(distances, checks=False), method="ward")
    labels = fcluster(tree, FEW if material.quick else CLUSTERS, criterion="maxclust")
    numbers, sizes = np.unique(labels, return_counts=True)
    ordered = numbers[np.argsort(-sizes, kind="stable")]
    return [
        material.only(f"cluster {place}", material.frame.filter(pl.Series(labels == number)))
        for place, number in enumerate(ordered.tolist(), start=1)
    ]


def _distances(material: Material, column: str) -> npt.NDArray[np.float64]:
    concepts = material.concepts(column)
    distinct = sorted(set(concepts))
    places = {one: place for place, one in enumerate(distinct)}
    codes = np.array([places[one] for one in concepts])
    matrix = material.taxonomy.distances(distinct, "logsc")
    between: npt.NDArray[np.float64] = matrix[np.ix_(codes, codes)]
    return between


# The worked examples --------------------------------------------------------------------------

CONDITIONS = {
    "symptom": [],
    "pain": ["symptom"],
    "inflammation": ["symptom"],
    "colic": ["pain"],
    "ache": ["pain"],
    "lumbago": ["ache"],
    "migraine": ["ache"],
    "appendicitis": ["inflammation"],
    "gastritis": ["inflammation"],
}
TREATMENTS = {
    "medical care": [],
    "therapy": ["medical care"],
    "hospitalisation": ["medical care"],
    "medication": ["therapy"],
    "rehabilitation": ["therapy"],
    "antibiotic": ["medication"],
    "analgesic": ["medication"],
    "aspirin": ["analgesic"],
    "codeine": ["analgesic"],
}
FIRST = {"colic": 1, "lumbago": 3, "migraine": 2, "pain": 1, "appendicitis": 1, "gastritis": 1}
UNIFORM = dict.fromkeys(("colic", "lumbago", "migraine", "appendicitis", "gastritis"), 1)
PAIRS = {
    ("colic", "antibiotic"): 1,
    ("lumbago", "rehabilitation"): 3,
    ("migraine", "aspirin"): 2,
    ("appendicitis", "hospitalisation"): 1,
    ("gastritis", "codeine"): 1,
    ("lumbago", "codeine"): 2,
    ("colic", "hospitalisation"): 1,
}
PRINTED = (
    ("Example 4", FIRST, "semantic", "ache", 16.0),
    ("Example 4", FIRST, "lcs", "symptom", 22.0),
    ("Example 4", FIRST, "mode", "lumbago", 19.0),
    ("Example 5", UNIFORM, "semantic", "pain", 11.0),
    ("Example 5", UNIFORM, "lcs", "symptom", 12.0),
    ("Example 6", PAIRS, "semantic", "ache, medication", 21.0),
    ("Example 6", PAIRS, "lcs", "symptom, medical care", 30.0),
    ("Example 6", PAIRS, "mode", "lumbago, rehabilitation", 24.5),
)


def worked_examples() -> tuple[tuple[str, str, str, float, str, float], ...]:
    """Example, operator, printed centroid and sum, our centroid and sum."""
    return tuple(
        (example, operators, centroid, total, *_example(counts, operators))
        for example, counts, operators, centroid, total in PRINTED
    )


def _example(counts: Mapping[Any, int], operators: Any) -> tuple[str, float]:
    """The centroid of counted values by the library, and the sum of path lengths to it."""
    values = [value for value, count in counts.items() for _ in range(count)]
    pairs = [value if isinstance(value, tuple) else (value,) for value in values]
    trees = [om.Taxonomy.from_parents(one) for one in (CONDITIONS, TREATMENTS)][: len(pairs[0])]
    columns = {
        f"attribute {place}": column for place, column in enumerate(zip(*pairs, strict=True))
    }
    schema = om.Schema.of(
        {name: om.Nominal(tree, measure="path") for name, tree in zip(columns, trees, strict=True)}
    )
    method = om.Microaggregation(len(values), algorithm="mdav", operators=operators)
    release = om.protect(pl.DataFrame(columns), schema, method, seed=1)
    centroid = release.frame.row(0)
    sums = [
        float(tree.between([center], column, "path").sum())
        for tree, center, column in zip(trees, centroid, columns.values(), strict=True)
    ]
    return ", ".join(centroid), mean(sums)


# Claims ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CentroidCosts:
    """The costs on one table: as a whole, of its columns, and of its clusters."""

    name: str
    whole: Costs
    columns: Mapping[str, Costs]
    clusters: tuple[Costs, ...]
    predominance: tuple[float, ...]

    @property
    def total(self) -> Costs:
        """The costs of all clusters together."""
        return {name: sum(one[name] for one in self.clusters) for name in STRATEGIES}

    @property
    def sets(self) -> tuple[Costs, ...]:
        """The costs of the whole table and of its columns."""
        return (self.whole, *self.columns.values())


def measure_costs(material: Material) -> CentroidCosts:
    """All costs of a table."""
    clusters = ward_clusters(material)
    columns = {
        name: all_costs(material.only(name, material.frame.select(name)))
        for name in material.frame.columns
    }
    predominance = [_predominance(one) for one in clusters]
    return CentroidCosts(
        material.name,
        all_costs(material),
        columns,
        tuple(all_costs(one) for one in clusters),
        tuple(predominance),
    )


def _predominance(material: Material) -> float:
    """The share of the most frequent value, in the attribute where it is smallest."""
    frame = material.frame
    return min(tuple_counts(frame.select(name))[0] for name in frame.columns) / frame.height


def best(costs: Costs, names: Sequence[str] = SEMANTIC) -> float:
    """The least cost of some strategies."""
    return min(costs[name] for name in names)


def worse(costs: Costs, name: str) -> float:
    """By how many percent a strategy costs more than the best semantic one."""
    least = best(costs)
    return 100.0 * (costs[name] / least - 1.0) if least else 0.0


def _range(shares: Sequence[float]) -> str:
    return f"{min(shares):.1f} to {max(shares):.1f} %"


def centroid_claims(tables: Sequence[CentroidCosts]) -> tuple[Claim, ...]:
    """The statements of section 4.3.5."""
    whole = [costs for one in tables for costs in one.sets]
    totals = [one.total for one in tables]
    clusters = [
        (costs, share)
        for one in tables
        for costs, share in zip(one.clusters, one.predominance, strict=True)
    ]
    return (*_whole_claims(whole), *_cluster_claims(clusters, totals), _easier_claim(tables))


def _whole_claims(whole: Sequence[Costs]) -> tuple[Claim, ...]:
    where = "4.3.5.3, Fig. 10"
    logsc, palmer, path = ([one[name] / best(one) - 1.0 for one in whole] for name in SEMANTIC)
    gaps = [min(worse(one, name) for name in OTHERS) for one in whole]
    lcs, frequent = ([worse(one, name) for one in whole] for name in ("LCS", "most frequent"))
    consensus = [worse(one, "consensus") for one in whole]
    return (
        Claim.judged(
            "The semantic centroid costs less than every other strategy.",
            where,
            [gap > TIE for gap in gaps],
            f"the next best costs {_range(gaps)} more, in {len(whole)} sets",
        ),
        Claim.judged(
            "logSC and Wu-Palmer give identical results as goal functions.",
            where,
            [abs(a - b) < TIE for a, b in zip(logsc, palmer, strict=True)],
            f"Wu-Palmer costs {_range([100 * one for one in palmer])} more than the best",
        ),
        Claim.judged(
            "Path length as the goal function is slightly worse.",
            where,
            [TIE < one < 0.1 for one in path],
            f"{_range([100 * one for one in path])} more than the best",
        ),
        Claim.judged(
            "The LCS is the worst centroid of all.",
            where,
            [one["LCS"] >= max(one.values()) - TIE for one in whole],
            f"the LCS costs {_range(lcs)} more than the semantic centroid",
        ),
        Claim.judged(
            "Consensus is much better than the LCS, and worse than the semantic centroid.",
            where,
            [TIE < own < 0.5 * other for own, other in zip(consensus, lcs, strict=True)],
            f"consensus costs {_range(consensus)} more than the semantic centroid",
            "much better: less than half of the excess of the LCS",
        ),
        Claim.judged(
            "The most frequent value does reasonably well where one is predominant.",
            where,
            [own < 0.5 * other for own, other in zip(frequent, lcs, strict=True)],
            f"{_range(frequent)} more than the semantic centroid",
            "reasonably: less than half of the excess of the LCS",
        ),
        Claim.judged(
            "A random record, too, does better than the LCS where combinations repeat.",
            where,
            [one["random"] < one["LCS"] for one in whole],
            f"{_range([worse(one, 'random') for one in whole])} more than the semantic centroid",
        ),
        Claim.judged(
            "The mode and the LCS are not necessarily the best representative of a column.",
            "6.3.4, Fig. 23",
            any(a > TIE for a in frequent) and any(b > TIE for b in lcs),
            f"excess of the mode {_range(frequent)}, of the LCS {_range(lcs)}",
            "printed for one column of the poll: 257.97 (centroid), 322.74 (mode), 746.31 (LCS)",
        ),
    )


def _cluster_claims(
    clusters: Sequence[tuple[Costs, float]], totals: Sequence[Costs]
) -> tuple[Claim, ...]:
    where = "4.3.5.4, Fig. 11"
    even = [costs for costs, share in clusters if share > PREDOMINANT]
    spread = [costs for costs, share in clusters if share <= PREDOMINANT]
    named = ("consensus", "most frequent")
    gaps = [min(worse(one, name) for name in OTHERS) for one in totals]
    return (
        Claim.judged(
            "On homogeneous clusters all strategies but the LCS find the same, best centroid.",
            where,
            [all(worse(one, name) < TIE for name in named) for one in even],
            f"{len(even)} clusters in which every attribute has a value of more than half",
            "consensus and most frequent are tested" if even else "there is no such cluster here",
        ),
        Claim.judged(
            "On less uniform clusters only the semantic centroid is the best.",
            where,
            [min(worse(one, name) for name in OTHERS) > TIE for one in spread],
            f"{sum(min(worse(one, name) for name in OTHERS) > TIE for one in spread)} of "
            f"{len(spread)} clusters",
        ),
        Claim.judged(
            "Over all seven clusters the semantic centroid has the least sum of distances.",
            where,
            [gap > TIE for gap in gaps],
            f"the next best costs {_range(gaps)} more",
        ),
        Claim.judged(
            "Over the clusters, too, the LCS is the worst.",
            where,
            [one["LCS"] >= max(one.values()) - TIE for one in totals],
            f"{_range([worse(one, 'LCS') for one in totals])} more than the semantic centroid",
        ),
    )


def _easier_claim(tables: Sequence[CentroidCosts]) -> Claim:
    pairs = [(worse(one.whole, name), worse(one.total, name)) for one in tables for name in OTHERS]
    nearer = [inside < whole for whole, inside in pairs]
    return Claim.judged(
        "Clusters are easier than the whole table: other strategies come nearer to the best.",
        "4.3.5.1",
        nearer,
        f"{sum(nearer)} of {len(nearer)} strategies and tables",
    )


def _example_claim(examples: Sequence[tuple[str, str, str, float, str, float]]) -> Claim:
    right = [
        printed == ours and abs(total - own) < TIE for _, _, printed, total, ours, own in examples
    ]
    return Claim.judged(
        "The worked examples: centroids and sums of path lengths as printed.",
        "4.3.3, 4.3.4, Tables 6–9",
        right,
        f"{sum(right)} of {len(right)} printed centroids and sums",
    )


# The part -------------------------------------------------------------------------------------


def study_centroids(materials: Sequence[Material], clock: Clock) -> Part:
    """Run chapter 4."""
    with clock.part("chapter 4: centroids"):
        tables = [measure_costs(material) for material in materials]
        examples = worked_examples()
    return Part(
        (_cost_table(tables), _example_table(examples)),
        tuple(_figure(one) for one in tables),
        (_example_claim(examples), *centroid_claims(tables)),
    )


def _cost_table(tables: Sequence[CentroidCosts]) -> ResultTable:
    rows: list[tuple[str | float, ...]] = []
    for one in tables:
        named = {"the whole table": one.whole, **one.columns}
        for place, costs in enumerate(one.clusters, start=1):
            share = one.predominance[place - 1]
            named[f"cluster {place} (most frequent values {share:.0%})"] = costs
        named["all clusters"] = one.total
        rows += [(one.name, name, *costs.values()) for name, costs in named.items()]
    return ResultTable(
        "centroids",
        "Chapter 4: sums of distances to the centroid",
        ("table", "set", *STRATEGIES),
        tuple(rows),
        f"logSC distances, mean over the attributes, summed over the records. Random: mean of "
        f"{DRAWS} draws. Most frequent, random and consensus choose for each attribute.",
    )


def _example_table(examples: Sequence[tuple[str, str, str, float, str, float]]) -> ResultTable:
    columns = ("example", "operators", "printed", "printed sum", "here", "sum here")
    return ResultTable("examples", "Chapter 4: the worked examples", columns, tuple(examples))


def _figure(one: CentroidCosts) -> Figure:
    named = {"whole": one.whole, **{f"c{n}": costs for n, costs in enumerate(one.clusters, 1)}}
    rows = [
        {"set": name, "strategy": strategy, "excess": worse(costs, strategy)}
        for name, costs in named.items()
        for strategy in OTHERS
    ]
    spec = bars(rows, "set", "excess", "strategy", titles=("set", "% above the semantic centroid"))
    return Figure(
        f"centroids_{one.name}",
        f"Chapter 4: what other centroids cost more, {one.name}",
        spec,
        f"Bars: percent by which consensus, most frequent, random and LCS centroids lie farther "
        f"from the records than the semantic centroid, for the {one.name} table and its clusters.",
    )
