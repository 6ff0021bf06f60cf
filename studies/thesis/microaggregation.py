"""Chapter 6: SA-MDAV against its own variants, and against the Boolean and the LCS method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import ontomask as om
from studies.charts import lines, panels
from studies.study import Cell, Claim, Clock, Figure, ResultTable
from studies.thesis.material import (
    Grid,
    Make,
    Material,
    Outcome,
    Part,
    chosen,
    counted,
    grid_table,
    halves,
    rows_of,
    run_grid,
    tuple_counts,
)

__all__ = ["microaggregation_claims", "study_microaggregation"]

POLL_KS = tuple(range(2, 16))
CENSUS_KS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 800, 1200, 1800)
POLL, CENSUS = "poll", "census"
MIDDLE = {POLL: 7, CENSUS: 512}
"""An intermediate k of each table, for scores over alpha."""

HIGH = {POLL: 5, CENSUS: 800}
"""Where the thesis sees the variants part."""

MARGIN = 1.5
"""Quicker or slower means: by this factor."""

ALPHAS = tuple(step / 10 for step in range(11))
CHAPTER = "chapter 6"

METHODS: Mapping[str, Make] = {
    **{
        name: partial(om.preset, name)
        for name in ("sa-mdav", "sa-mdav-static", "s-mdav", "mdav+equality", "mdav+lcs")
    },
    "sa-mdav, weighted": lambda k: om.Microaggregation(k, weighting="frequency"),
    "sa-mdav, refined": lambda k: om.Microaggregation(k, refine=True),
}
OWN, STATIC, FIXED, BOOLEAN, LCS, WEIGHTED, REFINED = METHODS
RIVALS = (OWN, BOOLEAN, LCS)

Series = Mapping[int, float]


def series(grid: Grid, method: str, figure: Callable[[Outcome], float]) -> Series:
    """A figure of a method for each k."""
    return {k: figure(one) for k, one in grid[method].items()}


def loss(one: Outcome) -> float:
    """L."""
    return one.loss


def risk(one: Outcome) -> float:
    """Record linkage as printed."""
    return one.printed_linkage


def total(one: Outcome) -> float:
    """The score with alpha = 0.5."""
    return one.score()


# Claims ---------------------------------------------------------------------------------------


def microaggregation_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    """The statements of sections 6.3.3 and 6.3.4."""
    return (
        *_variant_claims(grids),
        *_rival_claims(grids),
        *_risk_claims(grids),
        *_score_claims(grids),
        *_time_claims(grids),
    )


def _ahead(
    grids: Mapping[str, Grid],
    better: str,
    worse: str,
    figure: Callable[[Outcome], float],
    slack: float = 0.0,
) -> dict[str, list[bool]]:
    """For each table and k, whether a method has the smaller figure."""
    return {
        name: [
            one <= series(grid, worse, figure)[k] + slack
            for k, one in series(grid, better, figure).items()
        ]
        for name, grid in grids.items()
    }


def _flat(tests: Mapping[str, Sequence[bool]]) -> list[bool]:
    return [one for each in tests.values() for one in each]


def _by_table(tests: Mapping[str, Sequence[bool]]) -> str:
    return ", ".join(f"{counted(each)} ({name})" for name, each in tests.items())


def _mean_gain(grid: Grid, better: str, worse: str) -> float:
    """By how many points of L a method is better, on average over k."""
    one, other = series(grid, better, loss), series(grid, worse, loss)
    return sum(other[k] - one[k] for k in one) / len(one)


def _later(grid: Grid, name: str, better: str, worse: str) -> bool:
    """Whether the mean advantage in L is larger above the k that the thesis names."""
    one, other = series(grid, better, loss), series(grid, worse, loss)
    gaps = {k: other[k] - one[k] for k in one}
    low = [gap for k, gap in gaps.items() if k <= HIGH[name]]
    high = [gap for k, gap in gaps.items() if k > HIGH[name]]
    return not high or sum(high) / len(high) > sum(low) / len(low)


def _variant_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "6.3.3, Fig. 21"
    first, second = _ahead(grids, OWN, STATIC, loss), _ahead(grids, STATIC, FIXED, loss)
    gains = {name: _mean_gain(grid, OWN, STATIC) for name, grid in grids.items()}
    sizes = {name: _mean_gain(grid, STATIC, FIXED) for name, grid in grids.items()}
    shown = ", ".join(f"{gain:.2f} ({name})" for name, gain in gains.items())
    adaptive = ", ".join(f"{gain:.2f} ({name})" for name, gain in sizes.items())
    plain = _ahead(grids, STATIC, FIXED, lambda one: one.semantic_loss)
    weighted = _ahead(grids, WEIGHTED, OWN, loss)
    return (
        Claim.judged(
            "Moving the center with the growing cluster lowers L.",
            where,
            _flat(first),
            f"at {_by_table(first)}; mean gain in points of L {shown}",
        ),
        Claim.judged(
            "The moving center helps more on the more heterogeneous table.",
            where,
            gains[POLL] > gains[CENSUS],
            f"mean gain in points of L: {shown}",
        ),
        Claim.judged(
            "Adaptive cluster sizes lower L.",
            where,
            _flat(second),
            f"at {_by_table(second)}; mean gain in points of L {adaptive}",
            f"by the mean distance, which centroids minimize, at {_by_table(plain)}",
        ),
        Claim.judged(
            "Adaptive sizes contribute more than the moving center.",
            where,
            [sizes[name] > gains[name] for name in grids],
            f"points of L: {adaptive} against {shown}",
        ),
        Claim.judged(
            "The advantage over fixed sizes grows for high k (above 5 and above 800).",
            where,
            [_later(grid, name, OWN, FIXED) for name, grid in grids.items()],
            "grows: "
            + ", ".join(
                f"{'yes' if _later(grid, name, OWN, FIXED) else 'no'} ({name})"
                for name, grid in grids.items()
            ),
        ),
        Claim.judged(
            "Weighting distances by frequency makes groups more cohesive.",
            "4.2, Eq. 4.2",
            _flat(weighted),
            f"lower L than without at {_by_table(weighted)}",
            "for this reason the library compares without weights unless asked",
        ),
    )


def _losses_at(grids: Mapping[str, Grid], one: str, other: str, end: Callable[..., int]) -> str:
    """L of two methods at the smallest or largest k, in words."""
    return ", ".join(
        f"{grid[one][k].loss:.1f} and {grid[other][k].loss:.1f} ({name})"
        for name, grid in grids.items()
        for k in (end(grid[OWN]),)
    )


def _rival_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "6.3.4, Fig. 22"
    best = {
        name: [
            one <= min(series(grid, other, loss)[k] for other in (BOOLEAN, LCS))
            for k, one in series(grid, OWN, loss).items()
        ]
        for name, grid in grids.items()
    }
    early = {
        name: [
            series(grid, LCS, loss)[k] < series(grid, BOOLEAN, loss)[k]
            for k in list(grid[OWN])[: len(grid[OWN]) // 2]
        ]
        for name, grid in grids.items()
    }
    firsts = [(grid, min(grid[OWN])) for grid in grids.values()]
    lasts = [(grid, max(grid[OWN])) for grid in grids.values()]
    return (
        Claim.judged(
            "SA-MDAV loses less than the Boolean and the LCS method, on both tables, for all k.",
            where,
            _flat(best),
            f"at {_by_table(best)}",
        ),
        Claim.judged(
            "The Boolean method loses much even for low k.",
            where,
            [grid[BOOLEAN][k].loss > 3.0 * grid[OWN][k].loss for grid, k in firsts],
            f"L at the smallest k, against SA-MDAV: {_losses_at(grids, BOOLEAN, OWN, min)}",
            "much: more than three times as much",
        ),
        Claim.judged(
            "The LCS method retains more than the Boolean one for low k.",
            where,
            _flat(early),
            f"in the lower half of k at {_by_table(early)}",
        ),
        Claim.judged(
            "The LCS method is worse than the Boolean one where k is high.",
            where,
            [grid[LCS][k].loss > grid[BOOLEAN][k].loss for grid, k in lasts],
            f"L at the largest k, against the Boolean method: "
            f"{_losses_at(grids, LCS, BOOLEAN, max)}",
        ),
    )


def _risk_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "6.3.4, Fig. 24"
    lowest = _ahead(grids, LCS, OWN, risk)
    highest = _ahead(grids, OWN, BOOLEAN, risk)
    nearer = {
        name: [
            abs(one - series(grid, LCS, risk)[k]) < abs(series(grid, BOOLEAN, risk)[k] - one)
            for k, one in series(grid, OWN, risk).items()
        ]
        for name, grid in grids.items()
    }
    return (
        Claim.judged(
            "The LCS method has the least record linkage.",
            where,
            _flat(lowest),
            f"below SA-MDAV at {_by_table(lowest)}",
        ),
        Claim.judged(
            "The Boolean method has the most record linkage.",
            where,
            _flat(highest),
            f"above SA-MDAV at {_by_table(highest)}",
        ),
        Claim.judged(
            "The linkage of SA-MDAV is nearer to the LCS method than to the Boolean one.",
            where,
            _flat(nearer),
            f"at {_by_table(nearer)}",
        ),
    )


def _score_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    best = {
        name: [
            one <= min(series(grid, other, total)[k] for other in (BOOLEAN, LCS))
            for k, one in series(grid, OWN, total).items()
        ]
        for name, grid in grids.items()
    }
    spans = {
        name: {method: _span(grid, method) for method in RIVALS} for name, grid in grids.items()
    }
    winners = {name: _winners(grid, name) for name, grid in grids.items()}
    shown = "; ".join(
        f"{name}: " + ", ".join(f"{method} {span:.0f}" for method, span in each.items())
        for name, each in spans.items()
    )
    return (
        Claim.judged(
            "SA-MDAV has the best score (alpha = 0.5) on both tables.",
            "6.3.4, Fig. 25",
            _flat(best),
            f"at {_by_table(best)}",
        ),
        Claim.judged(
            "The score of SA-MDAV hardly changes with k, that of the others grows.",
            "6.3.4, Fig. 25",
            [each[OWN] < 0.5 * min(each[BOOLEAN], each[LCS]) for each in spans.values()],
            f"largest less smallest score: {shown}",
            "hardly: less than half the span of the others",
        ),
        Claim.judged(
            "SA-MDAV has the best score for almost all alpha.",
            "6.3.4, Fig. 26",
            [each.count(OWN) >= len(each) - 2 for each in winners.values()],
            ", ".join(f"{each.count(OWN)} of {len(each)} ({n})" for n, each in winners.items()),
            "almost all: all but two of eleven; k = "
            + ", ".join(f"{MIDDLE[name]} ({name})" for name in grids),
        ),
        Claim.judged(
            "The LCS method wins only where disclosure risk has the highest weight.",
            "6.3.4, Fig. 26",
            [
                all(alpha <= 0.3 for alpha, one in zip(ALPHAS, each, strict=True) if one == LCS)
                for each in winners.values()
            ],
            "wins at alpha = "
            + "; ".join(
                ", ".join(f"{a:g}" for a, one in zip(ALPHAS, each, strict=True) if one == LCS)
                + f" ({name})"
                for name, each in winners.items()
            ),
        ),
    )


def _span(grid: Grid, method: str) -> float:
    scores = series(grid, method, total).values()
    return max(scores) - min(scores)


def middle(grid: Grid, name: str) -> int:
    """The k of the table that is nearest to the intermediate one."""
    return min(grid[OWN], key=lambda k: abs(k - MIDDLE[name]))


def _winners(grid: Grid, name: str) -> list[str]:
    """The method with the least score for each alpha."""
    k = middle(grid, name)
    return [min(RIVALS, key=lambda one: grid[one][k].score(alpha)) for alpha in ALPHAS]


def _time_claims(grids: Mapping[str, Grid]) -> tuple[Claim, ...]:
    where = "6.3.4, Fig. 27"
    times = {
        (name, method): sum(one.seconds for one in grid[method].values())
        for name, grid in grids.items()
        for method in RIVALS
    }
    own = halves(grids[CENSUS][OWN])
    see = "see the section on time"
    return (
        Claim.judged(
            "On the large table SA-MDAV is the quickest.",
            where,
            MARGIN * times[CENSUS, OWN] < min(times[CENSUS, BOOLEAN], times[CENSUS, LCS]),
            see,
            "printed: 131 to 205 s against 242 to 318 s (Boolean) and 1,839 to 7,873 s (LCS)",
        ),
        Claim.judged(
            "On the small, heterogeneous table SA-MDAV is the slowest.",
            where,
            times[POLL, OWN] > MARGIN * max(times[POLL, BOOLEAN], times[POLL, LCS]),
            see,
            "printed: 70 to 80 s against 20 s (LCS) and almost nothing (Boolean); here distances "
            "are looked up in tables",
        ),
        Claim.judged(
            "The time of SA-MDAV depends on the distinct tuples, not on k.",
            where,
            max(own) < 2.0 * min(own),
            see,
            "the medians of the lower and upper half of k differ by less than the factor 2",
        ),
    )


# The data -------------------------------------------------------------------------------------


def distribution_claims(census: Material) -> tuple[Claim, ...]:
    """What section 6.3.1 says of Adult."""
    counts = tuple_counts(census.frame)
    whole = sum(counts)
    frequent = [one for one in counts if one > 1000]
    rare = sum(one for one in counts if one <= 5)
    below = sum(one for one in counts if one < 1800)
    return (
        Claim.judged(
            "Adult has 30,162 complete records with 388 combinations, 83 of them unique; the most "
            "frequent occurs 3,739 times.",
            "6.3.1, Fig. 20",
            (whole, len(counts), counts.count(1), counts[0]) == (30_162, 388, 83, 3_739),
            f"{whole:,} records, {len(counts)} combinations, {counts.count(1)} unique, "
            f"most frequent {counts[0]:,}",
            "no two values share a concept here",
        ),
        Claim.judged(
            "9 combinations occur more than 1,000 times and hold 83.2 % of the records; those "
            "that occur at most 5 times hold 1.9 %.",
            "6.3.1",
            [
                len(frequent) == 9,
                round(100 * sum(frequent) / whole, 1) == 83.2,
                round(100 * rare / whole, 1) == 1.9,
            ],
            f"{len(frequent)} with {100 * sum(frequent) / whole:.1f} %; {100 * rare / whole:.1f} %",
        ),
        Claim.judged(
            "With k = 1,800 up to 31 % of the records are protected.",
            "6.3.1",
            round(100 * below / whole) == 31,
            f"{100 * below / whole:.1f} % are in combinations of fewer than 1,800",
        ),
    )


# The part -------------------------------------------------------------------------------------


def study_microaggregation(poll: Material, census: Material, clock: Clock) -> Part:
    """Run chapter 6."""
    grids = {
        POLL: run_grid(poll, METHODS, chosen(POLL_KS, poll), clock, CHAPTER, measure="wu-palmer"),
        CENSUS: run_grid(
            census, METHODS, chosen(CENSUS_KS, census), clock, CHAPTER, measure="wu-palmer"
        ),
    }
    tables = [_table(name, grid, what) for name, grid in grids.items() for what in _FIGURES]
    return Part(
        (*tables, _alpha_table(grids)),
        tuple(_figure(grids, what) for what in _FIGURES),
        (*distribution_claims(census), *microaggregation_claims(grids)),
    )


_FIGURES: Mapping[str, tuple[str, Callable[[Outcome], float], str]] = {
    "loss": ("L", loss, "100 SSE/SST by Wu-Palmer distances (Eq. 6.4)."),
    "linkage": ("record linkage, %", risk, "Links by equal values (Eq. 5.7)."),
    "score": ("score", total, "Half L, half record linkage (Eq. 6.5)."),
}


def _table(name: str, grid: Grid, what: str) -> ResultTable:
    title, figure, note = _FIGURES[what]
    return grid_table(
        f"microaggregation_{what}_{name}",
        f"Chapter 6: {title} of microaggregation, {name}",
        grid,
        figure,
        note,
    )


def _alpha_table(grids: Mapping[str, Grid]) -> ResultTable:
    rows: list[tuple[Cell, ...]] = [
        (name, k, alpha, *(grid[one][k].score(alpha) for one in RIVALS))
        for name, grid in grids.items()
        for k in (middle(grid, name),)
        for alpha in ALPHAS
    ]
    columns = ("table", "k", "alpha", *RIVALS)
    return ResultTable(
        "microaggregation_alpha", "Chapter 6: scores over alpha (Fig. 26)", columns, tuple(rows)
    )


def _figure(grids: Mapping[str, Grid], what: str) -> Figure:
    title, figure, _ = _FIGURES[what]
    charts = {
        name: lines(
            rows_of(grid, value=figure),
            "k",
            "value",
            "method",
            titles=("k", title),
            log_x=name == CENSUS,
        )
        for name, grid in grids.items()
    }
    return Figure(
        f"microaggregation_{what}",
        f"Chapter 6: {title} over k",
        panels(charts, columns=1),
        f"Lines of {title} over k for seven ways of microaggregation on both tables.",
    )
