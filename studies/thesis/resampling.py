"""Chapter 7: resampling under four settings."""

from __future__ import annotations

from collections.abc import Mapping

import ontomask as om
from studies.charts import lines
from studies.study import Claim, Clock, Figure
from studies.thesis.material import (
    Grid,
    Make,
    Material,
    Part,
    chosen,
    counted,
    grid_table,
    rows_of,
    run_grid,
)

__all__ = ["resampling_claims", "study_resampling"]

KS = (*range(2, 16), 30, 60, 120, 200)
PRINTED_UP_TO = 15
DRAWS = (1, 2, 3)
LOW = 5
WHERE = "7.3, Fig. 30"
CHAPTER = "chapter 7"

METHODS: Mapping[str, Make] = {
    "1: equality, mode": lambda k: om.preset("resampling+equality", k),
    "2: Wu-Palmer, mode": lambda k: om.preset("resampling+mode", k),
    "3: Wu-Palmer, LCS": lambda k: om.preset("resampling+lcs", k),
    "4: semantic": lambda k: om.preset("resampling", k),
}
EQUALITY, MODE, LCS, SEMANTIC = METHODS


def resampling_claims(grid: Grid) -> tuple[Claim, ...]:
    """The statements of section 7.3."""
    errors = {method: {k: one.sse for k, one in grid[method].items()} for method in METHODS}
    ks = [k for k in errors[SEMANTIC] if k <= PRINTED_UP_TO]
    later = [k for k in errors[LCS] if errors[LCS][k] > errors[SEMANTIC][k]]
    least = [errors[SEMANTIC][k] <= min(errors[one][k] for one in METHODS) for k in ks]
    most = [errors[EQUALITY][k] >= max(errors[one][k] for one in METHODS) for k in ks]
    ratios = [errors[MODE][k] / errors[EQUALITY][k] for k in ks]
    low = [errors[LCS][k] < errors[MODE][k] for k in ks if k < LOW]
    high = [errors[LCS][k] > 1.25 * errors[MODE][k] for k in ks if k > 2 * LOW]
    second = [errors[LCS][k] < errors[SEMANTIC][k] for k in ks]
    return (
        Claim.judged(
            "Semantic resampling (setting 4) loses least for every k.",
            WHERE,
            least,
            f"least at {counted(least)}; the LCS loses less at {counted(second)}",
        ),
        Claim.judged(
            "The setting without semantics (1) loses most for most k.",
            WHERE,
            sum(most) > len(most) / 2,
            f"most at {counted(most)}",
        ),
        Claim.judged(
            "Comparing by meaning (setting 2 against 1) reduces the loss significantly.",
            WHERE,
            [ratio < 0.9 for ratio in ratios],
            f"SSE is {100 * (1 - max(ratios)):.0f} to {100 * (1 - min(ratios)):.0f} % lower",
            "significantly: by more than 10 %",
        ),
        Claim.judged(
            "The LCS (setting 3) retains more than the mode for low k.",
            WHERE,
            low,
            f"less SSE than setting 2 at {counted(low)} below {LOW}",
        ),
        Claim.judged(
            "The LCS is severely worse for higher k.",
            WHERE,
            high,
            f"more than 1.25 times the SSE of setting 2 at {counted(high)} above {2 * LOW}",
            "the LCS loses more than setting 4 at k = " + ", ".join(map(str, later))
            if later
            else "",
        ),
    )


def study_resampling(material: Material, clock: Clock) -> Part:
    """Run chapter 7."""
    seeds = dict.fromkeys(METHODS, DRAWS)
    grid = run_grid(
        material,
        METHODS,
        chosen(KS, material),
        clock,
        CHAPTER,
        measure="wu-palmer",
        seeds=seeds,
    )
    table = grid_table(
        "resampling",
        f"Chapter 7: SSE of resampling, {material.name}",
        grid,
        lambda one: one.sse,
        f"Wu-Palmer distances (Eq. 6.2), means of {len(DRAWS)} draws.",
    )
    chart = lines(rows_of(grid, sse=lambda one: one.sse), "k", "sse", "method", titles=("k", "SSE"))
    figure = Figure(
        "resampling",
        "Chapter 7: SSE of resampling under four settings (Fig. 30)",
        chart,
        "Lines of the sum of squared errors over k for four settings of resampling.",
    )
    return Part((table,), (figure,), resampling_claims(grid))
