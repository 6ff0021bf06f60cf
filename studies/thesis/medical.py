"""Chapter 9: recoding, microaggregation, resampling and suppression on medical records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import numpy as np

import ontomask as om
from studies.charts import lines, panels
from studies.study import Claim, Clock, Figure, ResultTable
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
    rising,
    rows_of,
    run_grid,
    tuple_counts,
)

__all__ = ["medical_claims", "study_medical"]

KS = tuple(range(2, 16))
DRAWS = (1, 2, 3)
MIDDLE = 7
LOW = 5
ALPHAS = tuple(step / 10 for step in range(11))
CHAPTER = "chapter 9"

METHODS: Mapping[str, Make] = {
    "recoding": lambda k: om.Recoding(k),
    "microaggregation": lambda k: om.Microaggregation(k),
    "resampling": lambda k: om.Resampling(k),
    "recoding, equality": lambda k: om.Recoding(k, operators="equality"),
    "microaggregation, equality": lambda k: om.Microaggregation(k, operators="equality"),
    "resampling, equality": lambda k: om.Resampling(k, operators="equality"),
    "suppression": lambda k: om.Suppression(k, outliers="star"),
}
SEMANTIC = RECODING, MICRO, RESAMPLING = tuple(METHODS)[:3]
PLAIN = tuple(METHODS)[3:6]
SUPPRESSION = "suppression"
SEEDS = {RESAMPLING: DRAWS, "resampling, equality": DRAWS}

Series = dict[int, float]


def series(grid: Grid, method: str, figure: Callable[[Outcome], float]) -> Series:
    """A figure of a method for each k."""
    return {k: figure(one) for k, one in grid[method].items()}


def errors(grid: Grid, method: str) -> Series:
    """SSE."""
    return series(grid, method, lambda one: one.sse)


def _straight(numbers: Series) -> tuple[float, float]:
    """How well SSE follows k, and log k: the squared correlations."""
    ks, values = np.array(list(numbers), float), np.array(list(numbers.values()))
    if np.ptp(values) == 0:
        return 0.0, 0.0
    linear, logarithmic = (float(np.corrcoef(axis, values)[0, 1] ** 2) for axis in (ks, np.log(ks)))
    return linear, logarithmic


# Claims ---------------------------------------------------------------------------------------


def medical_claims(grid: Grid) -> tuple[Claim, ...]:
    """The statements of sections 9.2.2 and 9.2.3."""
    return (
        *_semantic_claims(grid),
        *_loss_claims(grid),
        _divergence_claim(grid),
        *_risk_claims(grid),
        *_score_claims(grid),
        *_alpha_claims(grid),
        *_time_claims(grid),
    )


def _semantic_claims(grid: Grid) -> tuple[Claim, ...]:
    where = "9.2.2, Fig. 37"
    steps = [step for one in SEMANTIC for step in rising(errors(grid, one).values())]
    lower = [
        errors(grid, own)[k] < other
        for own, plain in zip(SEMANTIC, PLAIN, strict=True)
        for k, other in errors(grid, plain).items()
    ]
    gains = {
        own: 100.0 * (1.0 - sum(errors(grid, own).values()) / sum(errors(grid, plain).values()))
        for own, plain in zip(SEMANTIC, PLAIN, strict=True)
    }
    shown = ", ".join(f"{gain:.0f} % ({name})" for name, gain in gains.items())
    last = max(grid[MICRO])
    suppressed, micro = (errors(grid, one)[last] for one in (SUPPRESSION, MICRO))
    above = [
        errors(grid, SUPPRESSION)[k] > 1.5 * errors(grid, own)[k]
        for own in SEMANTIC
        for k in grid[own]
    ]
    return (
        Claim.judged("SSE grows with k.", where, steps, counted(steps, "steps of k")),
        Claim.judged(
            "Each method loses less with semantic operators than with equality and mode.",
            where,
            lower,
            f"at {counted(lower, 'methods and k')}; SSE lower by {shown}",
        ),
        Claim.judged(
            "Microaggregation gains most by semantics: it retains more than 50 % more.",
            where,
            [gains[MICRO] == max(gains.values()), gains[MICRO] > 50.0],
            f"SSE lower by {shown}",
            "the first half of the statement is one test, the 50 % another",
        ),
        Claim.judged(
            "Resampling gains least.",
            where,
            gains[RESAMPLING] == min(gains.values()),
            f"SSE lower by {shown}",
        ),
        Claim.judged(
            "Suppression loses significantly more than the semantic methods.",
            where,
            above,
            f"k = {last}: {suppressed:,.0f} against {micro:,.0f} of microaggregation",
            "printed: 2,875 against 645; significantly: more than 1.5 times as much",
        ),
    )


def _loss_claims(grid: Grid) -> tuple[Claim, ...]:
    where = "9.2.3, Fig. 38"
    order = [
        errors(grid, MICRO)[k] < errors(grid, RECODING)[k] < errors(grid, RESAMPLING)[k]
        for k in grid[MICRO]
    ]
    ratios = [errors(grid, RECODING)[k] / one for k, one in errors(grid, MICRO).items()]
    fits = {one: _straight(errors(grid, one)) for one in SEMANTIC}
    shown = ", ".join(f"{one}: {a:.2f} and {b:.2f}" for one, (a, b) in fits.items())
    return (
        Claim.judged(
            "SSE: microaggregation is best, then recoding, resampling last.",
            where,
            order,
            f"in this order at {counted(order)}",
        ),
        Claim.judged(
            "Recoding follows microaggregation closely.",
            where,
            [ratio < 1.25 for ratio in ratios],
            f"its SSE is {min(ratios):.2f} to {max(ratios):.2f} times that of microaggregation",
            "closely: less than 1.25 times",
        ),
        Claim.judged(
            "SSE of microaggregation and recoding grows almost linearly, that of resampling "
            "logarithmically.",
            where,
            [
                fits[MICRO][0] > fits[MICRO][1],
                fits[RECODING][0] > fits[RECODING][1],
                fits[RESAMPLING][1] > fits[RESAMPLING][0],
            ],
            f"squared correlation with k and with log k: {shown}",
        ),
    )


def _divergence_claim(grid: Grid) -> Claim:
    found = {one: series(grid, one, lambda each: each.divergence) for one in SEMANTIC}
    order = [found[RECODING][k] < found[MICRO][k] < found[RESAMPLING][k] for k in found[MICRO]]
    last = [found[RESAMPLING][k] == max(one[k] for one in found.values()) for k in found[MICRO]]
    return Claim.judged(
        "KL divergence: recoding is best, then microaggregation, resampling last.",
        "9.2.3, Fig. 38",
        order,
        f"in this order at {counted(order)}; resampling last at {counted(last)}",
        "combinations that vanish take a floor (Eq. 9.2 is infinite for them)",
    )


def _risk_claims(grid: Grid) -> tuple[Claim, ...]:
    where = "9.2.3, Fig. 39"
    risks = {one: series(grid, one, lambda each: each.linkage) for one in SEMANTIC}
    ks = list(risks[MICRO])
    low = [risks[RESAMPLING][k] == min(one[k] for one in risks.values()) for k in ks if k >= 4]
    high = [risks[MICRO][k] == max(one[k] for one in risks.values()) for k in ks]
    between = [risks[RESAMPLING][k] <= risks[RECODING][k] <= risks[MICRO][k] for k in ks if k > 2]
    return (
        Claim.judged("Resampling is linked least from k = 4 on.", where, low, f"at {counted(low)}"),
        Claim.judged("Microaggregation is linked most.", where, high, f"at {counted(high)}"),
        Claim.judged(
            "Recoding lies between the two above k = 2.", where, between, f"at {counted(between)}"
        ),
        Claim.judged(
            "Recoding is linked least at k = 2.",
            where,
            [risks[RECODING][2] == min(one[2] for one in risks.values())],
            ", ".join(f"{name} {one[2]:.1f} %" for name, one in risks.items()),
        ),
    )


def _score_claims(grid: Grid) -> tuple[Claim, ...]:
    where = "9.2.3, Fig. 40"
    scores = {one: series(grid, one, lambda each: each.semantic_score()) for one in SEMANTIC}
    ks = list(scores[MICRO])
    winners = {k: min(SEMANTIC, key=lambda one: scores[one][k]) for k in ks}
    low = [winners[k] == RECODING for k in ks if k <= LOW]
    high = [winners[k] == MICRO for k in ks if k > LOW]
    worst = [scores[RESAMPLING][k] == max(one[k] for one in scores.values()) for k in ks]
    spans = {name: max(one.values()) / min(one.values()) for name, one in scores.items()}
    return (
        Claim.judged(
            "Recoding has the best score up to k = 5.",
            where,
            low,
            f"at {counted(low)} up to {LOW}",
        ),
        Claim.judged(
            "Microaggregation has the best score above k = 5.",
            where,
            high,
            f"at {counted(high)} above {LOW}",
        ),
        Claim.judged("Resampling has the worst score.", where, worst, f"at {counted(worst)}"),
        Claim.judged(
            "The score is almost constant over k.",
            where,
            [span < 1.25 for span in spans.values()],
            "largest over smallest: "
            + ", ".join(f"{span:.2f} ({name})" for name, span in spans.items()),
            "almost constant: the largest is less than 1.25 times the smallest",
        ),
    )


def _middle(grid: Grid) -> int:
    return min(grid[MICRO], key=lambda k: abs(k - MIDDLE))


def _winners(grid: Grid) -> list[str]:
    k = _middle(grid)
    return [min(SEMANTIC, key=lambda one: grid[one][k].semantic_score(alpha)) for alpha in ALPHAS]


def _alpha_claims(grid: Grid) -> tuple[Claim, ...]:
    where = "9.2.3, Fig. 41"
    winners = _winners(grid)
    shown = ", ".join(f"{alpha:g} {one}" for alpha, one in zip(ALPHAS, winners, strict=True))
    return (
        Claim.judged(
            "For low alpha (above 0) recoding has the best score, for high alpha "
            "microaggregation (k = 7).",
            where,
            [RECODING in winners[1:5], set(winners[6:]) == {MICRO}],
            shown,
        ),
        Claim.judged(
            "Resampling is best only where loss does not count at all.",
            where,
            winners[0] == RESAMPLING and RESAMPLING not in winners[1:],
            shown,
        ),
    )


def _time_claims(grid: Grid) -> tuple[Claim, ...]:
    where, see = "9.2.3, Fig. 42", "see the section on time"
    times = {one: series(grid, one, lambda each: each.seconds) for one in SEMANTIC}
    usual = {one: median(each.values()) for one, each in times.items()}
    low, high = (
        {one: median(each[k] for k in ks) for one, each in times.items()}
        for ks in ([k for k in times[MICRO] if k < 4], [k for k in times[MICRO] if k >= 4] or [2])
    )
    first, second = halves(grid[MICRO])
    return (
        Claim.judged(
            "Resampling is the quickest, by far.",
            where,
            [
                usual[RESAMPLING] < min(usual[MICRO], usual[RECODING]),
                2 * usual[RESAMPLING] < min(usual[MICRO], usual[RECODING]),
            ],
            see,
            "by far: less than half the time of the others, a test of its own; medians over k",
        ),
        Claim.judged(
            "Microaggregation is slower than recoding below k = 4 and quicker above.",
            where,
            [low[MICRO] > low[RECODING], high[MICRO] < high[RECODING]],
            see,
            "medians over k",
        ),
        Claim.judged(
            "Microaggregation takes less time as k grows.",
            where,
            second < 0.9 * first,
            see,
            "the median of the upper half of k is below that of the lower half by 10 % or more",
        ),
    )


# The part -------------------------------------------------------------------------------------


def study_medical(material: Material, clock: Clock) -> Part:
    """Run chapter 9."""
    largest = tuple_counts(material.frame)[0]
    ks = [k for k in chosen(KS, material) if k <= largest]  # suppression must leave something
    grid = run_grid(material, METHODS, ks, clock, CHAPTER, seeds=SEEDS)
    tables = tuple(
        grid_table(f"medical_{name}", f"Chapter 9: {title}", grid, figure, note)
        for name, (title, figure, note) in _FIGURES.items()
    )
    return Part(
        (*tables, _alpha_table(grid)),
        tuple(_figure(grid, names) for names in (("sse", "kl"), ("linkage", "score"))),
        medical_claims(grid),
    )


_FIGURES: Mapping[str, tuple[str, Callable[[Outcome], float], str]] = {
    "sse": (
        "SSE",
        lambda one: one.sse,
        "logSC distances (Eq. 9.1); a starred record is moved by 1.",
    ),
    "kl": (
        "KL divergence",
        lambda one: one.divergence,
        "Combinations that vanish take the floor 1/(n + p), which can make it slightly negative.",
    ),
    "linkage": (
        "semantic record linkage, %",
        lambda one: one.linkage,
        "Nearest masked records by logSC (Eq. 8.3).",
    ),
    "score": (
        "score",
        lambda one: one.semantic_score(),
        "Half L, half semantic record linkage (Eq. 6.5).",
    ),
}


def _alpha_table(grid: Grid) -> ResultTable:
    k = _middle(grid)
    rows = tuple(
        (alpha, *(grid[one][k].semantic_score(alpha) for one in SEMANTIC)) for alpha in ALPHAS
    )
    title = f"Chapter 9: scores over alpha, k = {k} (Fig. 41)"
    return ResultTable("medical_alpha", title, ("alpha", *SEMANTIC), rows)


def _figure(grid: Grid, names: Sequence[str]) -> Figure:
    charts = {
        _FIGURES[name][0]: lines(
            rows_of(grid, value=_FIGURES[name][1]),
            "k",
            "value",
            "method",
            titles=("k", _FIGURES[name][0]),
        )
        for name in names
    }
    title = " and ".join(_FIGURES[name][0] for name in names)
    return Figure(
        f"medical_{'_'.join(names)}",
        f"Chapter 9: {title} over k",
        panels(charts, columns=1),
        f"Lines of {title} over k for recoding, microaggregation, resampling and suppression.",
    )
