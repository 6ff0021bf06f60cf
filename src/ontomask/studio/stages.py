"""The stages of the rail, and how each of them stands: decided here, from what is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontomask.plan.outputs import MANIFEST
from ontomask.studio.jobs import Job

__all__ = ["CHECKED", "STAGES", "Known", "Stage", "computed", "exceeded", "made_of", "state_of"]

STAGES = (
    ("open", "Table"),
    ("columns", "Columns"),
    ("protection", "Protection"),
    ("explore", "Explore"),
    ("utility", "Utility"),
    ("risk", "Risk"),
    ("release", "Release"),
)
CHECKED = ("open", "columns", "protection")
"""The screens whose state the check of the plan tells."""


@dataclass(frozen=True)
class Stage:
    """A screen of the rail and how it stands: empty, look, wait, busy, ready or old."""

    path: str
    title: str
    state: str = "empty"


@dataclass(frozen=True)
class Known:
    """What is known of a plan as it is now.

    Attributes
    ----------
    readable
        Whether it can be run at all.
    needing
        What the check found, in sentences by screen; None while it is not made.
    asked
        The screens on which somebody has to decide something.
    explored, measured
        How the comparison of methods and the account of the whole table stand (`computed`).
    found
        The account, where there is one.
    released
        How the release stands (`made_of`).
    """

    readable: bool = True
    needing: Mapping[str, list[str]] | None = None
    asked: frozenset[str] = frozenset()
    explored: str = "empty"
    measured: str = "empty"
    found: Mapping[str, Any] | None = None
    released: str = "empty"


def state_of(path: str, known: Known | None) -> str:
    """How a stage stands; without a plan, all are empty."""
    if known is None:
        return "empty"
    if not known.readable:
        return "look" if path in ("columns", "protection") else "empty"
    if path in CHECKED:
        if path in known.asked or (known.needing or {}).get(path):
            return "look"
        return "wait" if known.needing is None else "ready"
    if path in ("utility", "risk"):
        needs = known.found is not None and _needs_a_look(path, known.found)
        return "look" if needs else known.measured
    return known.explored if path == "explore" else known.released


def _needs_a_look(path: str, found: Mapping[str, Any]) -> bool:
    """Whether what was measured exceeds a limit, or tells the values of whole groups."""
    return bool(exceeded(found, path) or (path == "risk" and found["alike"]))


def exceeded(found: Mapping[str, Any], path: str) -> list[tuple[str, float, float]]:
    """The limits that an account exceeds and that are about a screen: measured and allowed.

    Loss and suppression are about the use of a release, the others about its risk.
    """
    from ontomask.report.facts import LOSS, SUPPRESSED  # with all that a report computes

    return [
        (name, measured, allowed)
        for name, measured, allowed, is_over in found["limits"]
        if is_over and (name in (LOSS, SUPPRESSED)) == (path == "utility")
    ]


def computed(jobs: Iterable[Job | None], *, earlier: bool) -> str:
    """How a screen stands that shows what jobs found; `earlier` ones were of another plan."""
    states = {job.state for job in jobs if job is not None}
    if states & {"waiting", "running"}:
        return "busy"
    if "done" in states:
        return "ready"
    if "failed" in states:
        return "look"
    return "old" if earlier else "empty"


def made_of(target: Path, text: str, changed: float, job: Job | None) -> str:
    """How the release of a plan stands, by the last run and by what the release says of itself.

    Parameters
    ----------
    target, text
        Where the release is, and the plan as it is now.
    changed
        When a file was changed last that the plan reads.
    job
        The last run, if it was one of the plan as it is now.
    """
    if job is not None and not job.is_over:
        return "busy"
    if job is not None and job.state == "failed":
        return "look"
    try:
        made = json.loads((target / MANIFEST).read_text("utf-8"))
        then = (target / MANIFEST).stat().st_mtime
    except (OSError, ValueError):
        return "empty"
    if made.get("plan", {}).get("text") != text or changed > then:
        return "old"
    return "look" if any(one["exceeded"] for one in made.get("limits", ())) else "ready"
