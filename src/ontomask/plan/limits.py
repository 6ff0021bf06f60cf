"""Comparing what was measured with the limits of a plan."""

from __future__ import annotations

from ontomask.evaluation.evaluation import Evaluation
from ontomask.plan.sections import Limits
from ontomask.report.facts import LOSS, SUPPRESSED, UNCHANGED, Limit

__all__ = ["LIMITS", "measured_limits"]

LIMITS = {
    "max_linkage": "record linkage",
    "max_risk": "highest risk",
    "max_loss": LOSS,
    "max_suppressed": SUPPRESSED,
    "max_unique_unchanged": UNCHANGED,
}
"""What the limits of a plan limit, in words."""


def measured_limits(
    limits: Limits, found: Evaluation, suppressed: int, records: int
) -> tuple[Limit, ...]:
    """The limits of a plan with what was measured, as shares.

    Parameters
    ----------
    suppressed, records
        How many of how many records were left out or starred.
    """
    measured = {
        "max_linkage": found.risk,
        "max_risk": found.risk_after.highest_risk,
        "max_loss": found.loss.loss,
        "max_suppressed": suppressed / max(1, records),
        "max_unique_unchanged": found.unchanged.alone,
    }
    said = {name: getattr(limits, name) for name in LIMITS}
    return tuple(
        Limit(LIMITS[name], measured[name], most) for name, most in said.items() if most is not None
    )
