"""Local recoding: generalize what a global solution suppressed, again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.checks import Integer, Real, check
from ontomask.errors import MethodError
from ontomask.methods.base import Progress, silent
from ontomask.methods.generalization.evaluation import Evaluator
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.recoded import LocalSolution, recoded_loss
from ontomask.methods.generalization.search import make_evaluator, optimal
from ontomask.privacy import DeltaPresence, PrivacyModel, TableModel
from ontomask.quality import Loss, Quality

__all__ = ["local"]


def local(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float = 0.0,
    quality: Quality | None = None,
    *,
    factor: float = 0.02,
    rounds: int = 100,
    progress: Progress = silent,
) -> LocalSolution:
    """Search the best node, fix the records it does not suppress, and go on with the others.

    In every round all records may be suppressed, and suppression is cheap, since they are not lost
    but looked at again; when a round fixes nothing, suppression becomes twice as expensive. A last
    round keeps to the limit. Different records are thus generalized differently, each class having
    been formed in one round. Different rounds may give classes that look the same; together they
    satisfy every model that is joinable, and others are refused.

    Parameters
    ----------
    problem, privacy, suppression_limit, quality
        As for `optimal`.
    factor
        What takes the place of the quality model's own factor of generalization against
        suppression in the first rounds, where it has one.
    rounds
        At most so many rounds.
    progress
        Called now and then with the share of the records that are fixed.
    """
    check("factor", factor, Real(0, 1, open_low=True))
    check("rounds", rounds, Integer(1))
    _check_supported(privacy)
    chosen = quality or Loss()
    evaluator = make_evaluator(problem, privacy, suppression_limit, chosen)
    return _Rounds(evaluator, privacy, chosen, factor, progress).run(rounds)


def _check_supported(privacy: Sequence[PrivacyModel]) -> None:
    for model in privacy:
        if isinstance(model, (TableModel, DeltaPresence)) or not model.joinable:
            raise MethodError(
                f"{type(model).__name__} cannot be kept by local recoding, because classes that "
                "satisfy it by themselves need not do so together; use algorithm='optimal'."
            )


class _Rounds:
    """The state of a local recoding."""

    def __init__(
        self,
        evaluator: Evaluator,
        privacy: Sequence[PrivacyModel],
        quality: Quality,
        factor: float,
        progress: Progress,
    ) -> None:
        self._problem = evaluator.problem
        self._limit = evaluator.limit
        self._privacy = list(privacy)
        self._quality = quality
        self._factor = factor
        self._progress = progress
        self._made, self._done = 0, 0.0
        self._weighted = "factor" in {one.name for one in fields(quality)}
        count = len(self._problem.tuples.rows)
        self._levels = np.zeros((count, len(self._problem.hierarchies)), np.int32)
        self._left = np.ones(self._problem.codes.shape[1], bool)
        self._fixed: list[Longs] = []

    def run(self, rounds: int) -> LocalSolution:
        """Work until nothing is left, nothing changes, or the rounds are used up."""
        start, factor = time.perf_counter(), self._factor
        while self._left.any() and self._made < rounds:
            if not self._round(self._with_factor(factor)):
                if not self._weighted or factor >= 0.5:
                    break
                factor = min(0.5, 2.0 * factor)
        while self._records(self._left) > self._limit:
            self._last_round()
        return self._solution(time.perf_counter() - start)

    def _with_factor(self, factor: float) -> Quality:
        if not self._weighted:
            return self._quality
        return replace(self._quality, factor=factor)  # type: ignore[call-arg]

    def _records(self, mask: Bools) -> int:
        return int(self._problem.counts[mask].sum())

    def _report(self, _share: float, message: str) -> None:
        """Tell what a round does; how much of the whole that is shows when it is over."""
        self._progress(self._done, f"round {self._made}: {message}")

    def _round(self, quality: Quality, limit: float = 1.0) -> bool:
        """Fix some of the records that are left; tell whether there were any."""
        self._made += 1
        part = self._problem.restricted(self._left)
        try:
            solution = optimal(part, self._privacy, limit, quality, progress=self._report)
        except MethodError:  # fewer records than k, too few sensitive values, no valid node
            return False
        kept = np.flatnonzero(self._left)[~solution.suppressed]
        self._levels[self._problem.tuples.places[kept]] = solution.levels
        self._left[kept] = False
        # a round that is taken back was work, too
        self._done = max(self._done, 1.0 - self._records(self._left) / self._problem.records)
        self._fixed.append(kept)
        return bool(kept.size)

    def _last_round(self) -> None:
        """Generalize the rest within the limit; if that is impossible, take the last round back.

        Without rounds left to take back this is the search for a global solution.
        """
        share = min(1.0, self._limit / self._records(self._left))
        if not self._fixed:
            # raises if there is none
            optimal(self._problem, self._privacy, share, self._quality, progress=self._report)
        if not self._round(self._quality, share):
            self._left[self._fixed.pop()] = True

    def _solution(self, seconds: float) -> LocalSolution:
        tuples = self._problem.tuples
        suppressed = np.zeros(len(tuples.rows), bool)
        suppressed[tuples.places[self._left]] = True
        loss, classes = recoded_loss(self._problem, self._quality, self._levels, suppressed)
        outliers = self._records(self._left)
        return LocalSolution(
            self._levels, self._left.copy(), outliers, classes, loss, self._made, seconds
        )
