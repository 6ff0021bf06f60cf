"""Comparing what was measured with the limits of a plan."""

from __future__ import annotations

from ontomask.evaluation.evaluation import Evaluation
from ontomask.plan.sections import Limits
from ontomask.report.facts import SUPPRESSED, UNCHANGED, Limit

__all__ = ["measured_limits"]


def measured_limits(
    limits: Limits, found: Evaluation, suppressed: int, records: int
) -> tuple[Limit, ...]:
    """The limits of a plan with what was measured, all in percent.

    Parameters
    ----------
    suppressed, records
        How many of how many records were left out or starred.
    """
    measured = (
        ("record linkage", found.risk, limits.max_linkage),
        ("highest risk", 100.0 * found.risk_after.highest_risk, limits.max_risk),
        ("information loss", found.loss.loss, limits.max_loss),
        (SUPPRESSED, 100.0 * suppressed / max(1, records), limits.max_suppressed),
        (UNCHANGED, 100.0 * found.unchanged.alone, limits.max_unique_unchanged),
    )
    return tuple(Limit(name, value, most) for name, value, most in measured if most is not None)
