"""Chapter 5: what the heuristics of recoding contribute, and semantics against discernibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ontomask as om
from studies.charts import lines, panels
from studies.study import Cell, Claim, Clock, Figure, ResultTable
from studies.thesis.material import (
    Grid,
    Make,
    Material,
    Part,
    chosen,
    counted,
    falling,
    grid_table,
    halves,
    rows_of,
    run_grid,
)

__all__ = ["ClusterDistances", "recoding_claims", "study_recoding"]

KS = tuple(range(2, 16))
DRAWS = (1, 2, 3, 4, 5)
UTILITY_K = 5
HIGH = 5
"""The thesis says that differences show above k = 5."""

METHODS: Mapping[str, Make] = {
    "no heuristic": lambda k: om.Recoding(k, algorithm="random", order="any"),
    "rarest first": lambda k: om.Recoding(k, algorithm="random"),
    "rarest first, nearest": lambda k: om.Recoding(k),
    "discernibility": lambda k: om.Recoding(k, algorithm="discernibility"),
}
NOTHING, FIRST, SEMANTIC, DISTRIBUTIONAL = METHODS
SEEDS = {NOTHING: DRAWS, FIRST: DRAWS}
CHAPTER = "chapter 5"


@dataclass(frozen=True)
class ClusterDistances:
    """Table 11: distances between the clusterings of original and recoded records."""

    semantic: float
    distributional: float
    between: float


def cluster_distances(material: Material) -> ClusterDistances:
    """Cluster the records before and after recoding with k = 5, and compare."""
    frame, schema = material.frame, material.schema
    semantic, distributional = (
        om.protect(frame, schema, METHODS[name](UTILITY_K), seed=1).frame
        for name in (SEMANTIC, DISTRIBUTIONAL)
    )
    pairs = ((frame, semantic), (frame, distributional), (semantic, distributional))
    found = [
        om.evaluate(one, other, schema, distances=(), clustering=True).clustering
        for one, other in pairs
    ]
    return ClusterDistances(*(0.0 if one is None else one.distance for one in found))


# Claims ---------------------------------------------------------------------------------------


def recoding_claims(
    grids: Mapping[str, Grid], distances: Mapping[str, ClusterDistances]
) -> tuple[Claim, ...]:
    """The statements of section 5.2."""
    return (
        *_heuristic_claims(grids),
        _distributional_claim(grids),
        *_utility_claims(distances),
        *_linkage_claims(grids),
        *_time_claims(grids),
    )


def _losses(grid: Grid, method: str) -> dict[int, float]:
    return {k: one.semantic_loss for k, one in grid[method].items()}


def _gains(grids: Mapping[str, Grid], worse: str, better: str) -> list[float]:
    """By how many percent one method loses less than another, for every table and k."""
    return [
        100.0 * (1.0 - _losses(grid, better)[k] / loss)
        for grid in grids.values()
        for k, loss in _losses(grid, worse).items()
    ]


def _span(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f} %"


def _heuristic_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "5.2.2, Fig. 13"
    first, second = _gains(grids, NOTHING, FIRST), _gains(grids, FIRST, SEMANTIC)
    high = [
        _losses(grid, NOTHING)[k] - _losses(grid, SEMANTIC)[k]
        > max(
            _losses(grid, NOTHING)[low] - _losses(grid, SEMANTIC)[low]
            for low in grid[SEMANTIC]
            if low <= HIGH
        )
        for grid in grids.values()
        for k in grid[SEMANTIC]
        if k > HIGH
    ]
    return (
        Claim.judged(
            "Taking the rarest records first improves slightly on random substitution.",
            where,
            [gain > 0 for gain in first],
            f"{_span(first)} less loss; better at {counted([gain > 0 for gain in first])}",
        ),
        Claim.judged(
            "The semantically nearest record brings the most significant improvement.",
            where,
            [two > max(one, 0) for one, two in zip(first, second, strict=True)],
            f"{_span(second)} less loss",
        ),
        Claim.judged(
            "The gain of both heuristics is more noticeable above k = 5.",
            where,
            high,
            f"the difference exceeds all those up to k = 5 at {counted(high)}",
        ),
    )


def _distributional_claim(grids: Mapping[str, Grid]) -> Claim:
    gains = _gains(grids, DISTRIBUTIONAL, SEMANTIC)
    above = [
        _losses(grid, DISTRIBUTIONAL)[k] / loss
        for grid in grids.values()
        for k, loss in _losses(grid, SEMANTIC).items()
        if k > HIGH
    ]
    return Claim.judged(
        "Guided by discernibility, recoding loses noticeably more meaning above k = 5.",
        "5.2.3, Fig. 14",
        [ratio > 1.1 for ratio in above],
        f"semantic recoding loses {_span(gains)} less",
        "noticeably: more than 10 %",
    )


def _utility_claims(distances: Mapping[str, ClusterDistances]) -> tuple[Claim, ...]:
    where = "5.2.4, Table 11"
    shown = "; ".join(
        f"{name}: {one.semantic:.2f} and {one.distributional:.2f}"
        for name, one in distances.items()
    )
    between = ", ".join(f"{one.between:.2f} ({name})" for name, one in distances.items())
    return (
        Claim.judged(
            "Clusters survive semantic recoding better than recoding by discernibility (k = 5).",
            where,
            [one.semantic < one.distributional for one in distances.values()],
            f"distances to the original clustering {shown}; printed 0.26 and 0.57",
        ),
        Claim.judged(
            "The clusterings after the two recodings differ much from each other.",
            where,
            [one.between > one.semantic for one in distances.values()],
            f"{between}; printed 0.56",
            "much: more than semantic recoding differs from the original",
        ),
    )


def _linkage_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "5.2.5, Fig. 16"
    risks = {
        (name, method): {k: one.printed_linkage for k, one in grid[method].items()}
        for name, grid in grids.items()
        for method in (SEMANTIC, DISTRIBUTIONAL)
    }
    drops = [step for one in risks.values() for step in falling(list(one.values()))]
    early = [one[2] - one[HIGH] for one in risks.values() if HIGH in one]
    late = [one[HIGH] - one[max(one)] for one in risks.values() if HIGH in one]
    lower = [
        risks[name, SEMANTIC][k] < other
        for name in grids
        for k, other in risks[name, DISTRIBUTIONAL].items()
    ]
    gaps = {
        name: {
            k: other - risks[name, SEMANTIC][k] for k, other in risks[name, DISTRIBUTIONAL].items()
        }
        for name in grids
    }
    return (
        Claim.judged(
            "Record linkage falls as k grows, for both guides.",
            where,
            drops,
            f"{counted(drops, 'steps of k')}",
        ),
        Claim.judged(
            "Record linkage is quite stable from k = 5 on.",
            where,
            [after < 0.25 * before for before, after in zip(early, late, strict=True)],
            f"fall from k = 2 to 5: {_points(early)}, from 5 on: {_points(late)}",
            "stable: the fall from 5 on is less than a quarter of that up to 5",
        ),
        Claim.judged(
            "Semantic recoding is linked less often than recoding by discernibility.",
            where,
            lower,
            f"at {counted(lower)}",
        ),
        Claim.judged(
            "The difference in linkage is largest for small k.",
            where,
            [max(one.values()) == max(one[k] for k in one if k <= HIGH) for one in gaps.values()],
            "largest at k = "
            + ", ".join(f"{max(one, key=one.__getitem__)} ({name})" for name, one in gaps.items()),
        ),
    )


def _points(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f} points"


def _time_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    seconds = [halves(grid[SEMANTIC]) for grid in grids.values()]
    return (
        Claim.judged(
            "The time of recoding hardly depends on k.",
            "5.2.6, Fig. 17",
            [max(one) < 2.0 * min(one) for one in seconds],
            "see the section on time",
            "hardly: the medians of the lower and upper half of k differ by less than the factor "
            "2; printed 1.2 to 1.6 s after 6.33 minutes for the distances",
        ),
        Claim.untestable(
            "Related works take several hours for smaller tables.",
            "5.2.6",
            "their programs and machines are not at hand",
        ),
    )


# The part -------------------------------------------------------------------------------------


def study_recoding(materials: Sequence[Material], clock: Clock) -> Part:
    """Run chapter 5."""
    grids = {
        one.name: run_grid(one, METHODS, chosen(KS, one), clock, CHAPTER, seeds=SEEDS)
        for one in materials
    }
    with clock.part(f"{CHAPTER}: clusterings"):
        distances = {one.name: cluster_distances(one) for one in materials}
    tables = [
        grid_table(
            f"recoding_loss_{name}",
            f"Chapter 5: semantic loss of recoding, {name}",
            grid,
            lambda one: one.semantic_loss,
            "Mean logSC distance of original and recoded values (Eq. 5.1); the random ones are "
            f"means of {len(DRAWS)} draws.",
        )
        for name, grid in grids.items()
    ]
    tables += [
        grid_table(
            f"recoding_linkage_{name}",
            f"Chapter 5: record linkage after recoding, {name}",
            {method: grid[method] for method in (SEMANTIC, DISTRIBUTIONAL)},
            lambda one: one.printed_linkage,
            "Percent of records linked by equal values (Eq. 5.7).",
        )
        for name, grid in grids.items()
    ]
    tables.append(_distance_table(distances))
    figures = (_figure(grids),)
    return Part(tuple(tables), figures, recoding_claims(grids, distances))


def _distance_table(distances: Mapping[str, ClusterDistances]) -> ResultTable:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("original and semantic", 0.26, *(one.semantic for one in distances.values())),
        ("original and discernibility", 0.57, *(one.distributional for one in distances.values())),
        ("semantic and discernibility", 0.56, *(one.between for one in distances.values())),
    )
    return ResultTable(
        "recoding_clusters",
        "Chapter 5: distances between clusterings (Table 11)",
        ("clusterings", "printed", *distances),
        rows,
        "Ward's method on semantic distances, ten clusters, at most 2,000 records, k = 5.",
    )


def _figure(grids: Mapping[str, Grid]) -> Figure:
    charts = {
        name: lines(
            rows_of(grid, loss=lambda one: one.semantic_loss),
            "k",
            "loss",
            "method",
            titles=("k", "semantic loss"),
        )
        for name, grid in grids.items()
    }
    return Figure(
        "recoding_loss",
        "Chapter 5: semantic loss of recoding (Figs. 13 and 14)",
        panels(charts),
        "Lines over k: random recoding loses most, semantic recoding least.",
    )
