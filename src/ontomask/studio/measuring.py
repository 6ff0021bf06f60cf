"""What worker processes compute of a whole release: its account, classifiers, single records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import comb
from typing import Any

import numpy as np

from ontomask.data.tables import open_table
from ontomask.evaluation.evaluation import Evaluation
from ontomask.evaluation.pairing import PairedColumn
from ontomask.evaluation.risk import Reidentification, reidentification
from ontomask.evaluation.scores import ClassScores, Scores
from ontomask.evaluation.structure import ClassRisk
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.evaluation.utility import ColumnLoss
from ontomask.methods.base import Progress
from ontomask.plan.execution import judgment_of
from ontomask.population import population_uniqueness
from ontomask.release import Release
from ontomask.report.document import render
from ontomask.report.maps import axis_of, shares_of
from ontomask.report.sentences import homogeneous
from ontomask.studio.opened import About, Opened, examples

__all__ = [
    "account",
    "attackers",
    "classifiers",
    "figures_of",
    "largest_set",
    "population",
    "records",
    "shares",
]

THRESHOLDS = (0.5, 1 / 3, 0.25, 0.2, 0.1, 1 / 11, 0.05, 0.02, 0.01)
SHOWN_RECORDS = 50
SHOWN_SETS = 15
LARGEST_SETS = (2, 3, 4)
COUNTED = 30_000_000
"""Sets of columns times records that are still counted while somebody waits."""
CURVE_POINTS = 60


def account(*, about: About, progress: Progress) -> dict[str, Any]:
    """The whole table masked and measured, as parts of a page."""
    opened = Opened.of(about)
    source, release, run = opened.measured(progress, 0.9)
    found = run.evaluation
    progress(0.9, "drawing")
    return {
        "page": render(release.account(source.frame, **vars(run)), internal=True),
        **figures_of(found),
        "columns": [_moved(one, release.schema[one.name].kind) for one in found.loss.columns],
        "before": _risks(found.risk_before),
        "after": _risks(found.risk_after),
        "sizes": [one.sizes for one in (found.risk_before, found.risk_after)],
        "alike": homogeneous(found.risk_after),
        "judged": str(judgment_of(release, release.verification)),
        "unchanged": {"alone": found.unchanged.alone, "said": str(found.unchanged)},
        "limits": [[one.name, one.measured, one.allowed, one.exceeded] for one in run.limits],
        **_sets(opened, release),
    }


def _moved(one: ColumnLoss, kind: str) -> list[Any]:
    """How far the values of a column moved; numbers also as they are counted there."""
    own = None if one.deviation is None else one.semantic_loss * one.deviation
    return [one.name, one.changed, one.semantic_loss, own, kind]


def figures_of(found: Evaluation) -> dict[str, float]:
    """The few figures by which a release is decided on."""
    return {
        "loss": found.loss.loss,
        "linkage": found.risk,
        "smallest": found.risk_after.smallest_class,
        "highest": found.risk_after.highest_risk,
    }


def largest_set(columns: int, records: int) -> int:
    """How many columns are looked at together: two in any case, more where it takes seconds."""
    quick = (one for one in LARGEST_SETS if comb(columns, one) * records <= COUNTED)
    return max(quick, default=min(LARGEST_SETS))


def _sets(opened: Opened, release: Release) -> dict[str, Any]:
    """Sets of columns that others may know, by how many are alone before or after."""
    names, records = list(release.schema.quasi), len(opened.table)
    size = largest_set(len(names), records)
    before, after = (
        suggest_quasi_identifiers(open_table(frame).released(names, {}, None), max_size=size)
        for frame in (opened.frame, release.frame)
    )
    alone = [
        {
            one.columns: one.unique_share
            for one in (*(of.alone for of in side.columns), *side.combinations)
        }
        for side in (before, after)
    ]
    every = sorted({*alone[0], *alone[1]}, key=lambda one: (-alone[0].get(one, 0.0), one))
    shown = [
        {"columns": list(columns), "shares": [side.get(columns, 0.0) for side in alone]}
        for columns in every[:SHOWN_SETS]
    ]
    return {"sets": shown, "set_size": min(size, len(names))}


def _risks(risk: ClassRisk) -> dict[str, float]:
    names = ("uniques", "highest_risk", "average_risk", "smallest_class")
    return {name: float(getattr(risk, name)) for name in names}


def attackers(found: Mapping[str, Any], fraction: float | None) -> dict[str, Any]:
    """What those who look for people find, before and after, and whom above each threshold.

    A prosecutor knows that somebody is in the table. A journalist does not: where the table is a
    `fraction` of the population, groups are taken to be that much larger there. A marketer looks
    for everybody: the average.
    """
    shares = {"prosecutor": 1.0} | ({} if fraction is None else {"journalist": fraction})
    groups = [np.array(side, np.int64).T for side in found["sizes"]]

    def told(share: float, limit: float) -> list[Reidentification]:
        return [reidentification(size * count, size / share, limit) for size, count in groups]

    risks = {who: told(share, 1.0) for who, share in shares.items()}
    return {
        "highest": {who: [one.highest for one in sides] for who, sides in risks.items()},
        "average": {who: [one.average for one in sides] for who, sides in risks.items()},
        "above": [
            [limit, [one.above for share in shares.values() for one in told(share, limit)]]
            for limit in THRESHOLDS
        ],
    }


def population(*, about: About, fraction: float, after: bool, progress: Progress) -> dict[str, Any]:
    """How many people are probably unique in the population that the table is a part of."""
    opened = Opened.of(about)
    progress(0.1, "reading the table")
    if after:
        found = opened.measured(progress, 0.9).run.evaluation
        sizes = np.repeat(*np.array(found.risk_after.sizes, np.int64).T)
    else:
        progress(0.3, "counting who shares their values")
        sizes = np.rint(opened.microdata().tuples().counts).astype(np.int64)
    progress(0.9, "estimating")
    return {"fraction": fraction, "after": after} | asdict(population_uniqueness(sizes, fraction))


def classifiers(*, about: About, progress: Progress) -> dict[str, Any]:
    """What classifiers learn from the table as it is and as it would be released."""
    opened = Opened.of(about)
    if opened.plan.contents.evaluation.target is None:
        return {"target": ""}
    release, bench = opened.release(progress, 0.4), opened.bench
    progress(0.4, "training classifiers")
    found = bench.classify(bench.read(), release)
    if found is None:
        return {"target": ""}
    return {
        "target": found.target,
        "features": list(found.features),
        "folds": found.folds,
        "records": found.records,
        "suppressed": found.suppressed,
        "classes": list(found.classes),
        "baseline": _scored(found.baseline),
        "classifiers": [
            {
                "name": one.name,
                "relative": one.relative_accuracy,
                "original": _scored(one.original),
                "masked": _scored(one.masked),
            }
            for one in found.classifiers
        ],
    }


def _scored(scores: Scores) -> dict[str, Any]:
    names = ("accuracy", "average_error", "brier", "auc")
    return {
        **{name: getattr(scores, name) for name in names},
        "classes": [_class(one) for one in scores.classes],
        "confidence": [[one.recall, one.precision, one.threshold] for one in scores.confidence],
    }


def _class(one: ClassScores) -> dict[str, Any]:
    curve = one.curve
    points = [curve.false_positive_rates, curve.recalls, curve.precisions, curve.thresholds]
    thinned = np.linspace(0, len(curve.recalls) - 1, CURVE_POINTS).astype(int)
    rates, recalls, precisions, limits = (np.round(np.array(each)[thinned], 4) for each in points)
    return {
        "value": one.value,
        "sensitivity": one.recall,
        "specificity": one.specificity,
        "precision": one.precision,
        "auc": one.auc,
        "brier": one.brier,
        "roc": np.column_stack([rates, recalls, limits]).tolist(),
        "recalled": np.column_stack([recalls, precisions, limits]).tolist(),
    }


def shares(
    *, about: About, first: str, second: str, within: Sequence[int], progress: Progress
) -> dict[str, Any]:
    """The shares of the values of a column, or of pairs of values, before and after."""
    opened = Opened.of(about)
    release = opened.release(progress, 0.7)
    progress(0.8, "counting")
    paired = release.paired(opened.frame)
    chosen = paired.chosen([name for name in (first, second) if name])
    axes = [axis_of(column, concept) for column, concept in zip(chosen, within, strict=False)]
    before, after = shares_of(axes[0], axes[1] if second else None, paired.weights)
    return {
        "axes": [
            {"name": column.name, "names": axis.names, "concepts": axis.concepts}
            | {"way": _way(column, axis.within)}
            for axis, column in zip(axes, chosen, strict=True)
        ],
        "before": before.tolist(),
        "after": after.tolist(),
    }


def _way(column: PairedColumn, within: int) -> list[list[object]]:
    """The concepts from the root down to one, as number and name."""
    taxonomy = getattr(column.column, "taxonomy", None)
    if taxonomy is None or within < 0:
        return []
    above = sorted(taxonomy.ancestors(taxonomy.ids[within]), key=taxonomy.depth)
    return [[taxonomy.index_of(one), taxonomy.label_of(one) or one] for one in above]


def records(*, about: About, sort: str, progress: Progress) -> dict[str, Any]:
    """Records before and after: those that moved farthest, or cluster by cluster."""
    opened = Opened.of(about)
    release = opened.release(progress, 0.6)
    progress(0.7, "measuring how far each record moved")
    moved = release.paired(opened.frame).moved
    order = _order(moved, release.clusters, sort)[:SHOWN_RECORDS]
    clusters = release.clusters
    return {
        "sort": sort,
        "examples": examples(opened.table, release, order),
        "moved": moved[order].tolist(),
        "clusters": [] if clusters is None else clusters[order].tolist(),
        "records": int(moved.size),
    }


def _order(moved: Any, clusters: Any, sort: str) -> Any:
    if sort == "clusters" and clusters is not None:
        farthest = np.zeros(int(clusters.max()) + 1)
        np.maximum.at(farthest, clusters, moved)
        return np.lexsort([-moved, clusters, -farthest[clusters]])
    return np.argsort(-moved, kind="stable")
