"""What worker processes compute of a whole release: its account, classifiers, single records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ontomask.data.tables import open_table
from ontomask.evaluation.classification import judge_classification
from ontomask.evaluation.pairing import PairedColumn
from ontomask.evaluation.risk import file_risk, reidentification
from ontomask.evaluation.scores import ClassScores, Scores
from ontomask.evaluation.structure import ClassRisk
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.methods.base import Progress
from ontomask.release import Release
from ontomask.report.document import render
from ontomask.report.maps import axis_of, shares_of
from ontomask.studio.opened import About, Opened, examples

__all__ = ["account", "classifiers", "population", "records", "shares"]

THRESHOLDS = (1.0, 0.5, 1 / 3, 0.25, 0.2, 0.1, 1 / 11, 0.05, 0.02, 0.01)
SHOWN_RECORDS = 50
SHOWN_SETS = 15
CURVE_POINTS = 60


def account(*, about: About, progress: Progress) -> dict[str, Any]:
    """The whole table masked and measured, as parts of a page."""
    opened = Opened.of(about)
    release = opened.release(progress, 0.5)
    settings: Mapping[str, Any] = opened.plan.contents.evaluation.settings
    found = release.evaluate(
        opened.frame,
        progress=lambda share, said: progress(0.5 + 0.4 * share, said),
        **settings,
    )
    progress(0.9, "drawing")
    return {
        "page": render(release.account(opened.frame, found), internal=True),
        "loss": found.loss.loss,
        "linkage": found.risk,
        "columns": [[one.name, one.semantic_loss] for one in found.loss.columns],
        "before": _risks(found.risk_before),
        "after": _risks(found.risk_after),
        "at_risk": _at_risk(found.risk_before, found.risk_after),
        "unchanged": str(found.unchanged),
        "sets": list(_sets(opened, release)),
    }


def _sets(opened: Opened, release: Release) -> Iterator[dict[str, Any]]:
    """Sets of one or two columns that others may know, by how many are alone before or after."""
    names = list(release.schema.quasi)
    before, after = (
        suggest_quasi_identifiers(open_table(frame).released(names, {}, None))
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
    for columns in every[:SHOWN_SETS]:
        yield {"columns": list(columns), "shares": [side.get(columns, 0.0) for side in alone]}


def _risks(risk: ClassRisk) -> dict[str, float]:
    names = ("uniques", "highest_risk", "average_risk", "smallest_class")
    return {name: float(getattr(risk, name)) for name in names}


def _at_risk(*sides: ClassRisk) -> list[list[float]]:
    """For each threshold the share of records whose risk is above it, before and after."""
    sizes = [np.repeat(*np.array(side.sizes, np.int64).T) for side in sides]
    return [
        [limit, *(reidentification(one, one, limit).above for one in sizes)] for limit in THRESHOLDS
    ]


def population(*, about: About, fraction: float, progress: Progress) -> dict[str, Any]:
    """How many people are probably unique in the population that the table is a part of."""
    opened = Opened.of(about)
    progress(0.3, "estimating")
    found = file_risk(opened.microdata(), fraction=fraction).population
    return {"fraction": fraction, "estimates": {} if found is None else vars(found)}


def classifiers(*, about: About, progress: Progress) -> dict[str, Any]:
    """What classifiers learn from the table as it is and as it would be released."""
    opened = Opened.of(about)
    chosen = opened.plan.contents.evaluation
    if chosen.target is None:
        return {"target": ""}
    release = opened.release(progress, 0.4)
    progress(0.4, "training classifiers")
    found = judge_classification(
        opened.frame,
        release.schema,
        chosen.target,
        lambda _: release,
        classifiers=chosen.classifiers,
        features=chosen.features,
        folds=chosen.folds,
        seed=chosen.seed,
    )
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
