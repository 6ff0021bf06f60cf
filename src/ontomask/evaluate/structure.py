"""The class structure of quasi-identifiers, and the risks that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats
from ontomask.evaluate.pairing import PairedColumn, tuple_groups

__all__ = ["ClassRisk", "class_risk"]


@dataclass(frozen=True)
class ClassRisk:
    """Classes of equal quasi-identifiers; an intruder finds a record with risk 1 / class size."""

    classes: int
    smallest_class: float
    average_class_size: float
    uniques: float
    highest_risk: float
    average_risk: float
    records_at_risk: float
    threshold: float
    sizes: tuple[tuple[int, int], ...]


def class_risk(
    columns: list[PairedColumn], which: str, weights: Floats, threshold: float
) -> ClassRisk:
    """Class structure of the original (`old`) or masked (`new`) values."""
    if not columns:
        return ClassRisk(
            1, float(weights.sum()), float(weights.sum()), 0.0, 0.0, 0.0, 0.0, threshold, ()
        )
    firsts, places = tuple_groups(columns, which)
    sizes = np.bincount(places, weights=weights, minlength=firsts.size)
    total = float(sizes.sum())
    found, counts = np.unique(sizes.astype(np.int64), return_counts=True)
    return ClassRisk(
        classes=int(sizes.size),
        smallest_class=float(sizes.min()),
        average_class_size=total / sizes.size,
        uniques=float(sizes[sizes == 1].sum()) / total,
        highest_risk=1.0 / float(sizes.min()),
        average_risk=sizes.size / total,
        records_at_risk=float(sizes[sizes < 1.0 / threshold - 1e-9].sum()) / total,
        threshold=threshold,
        sizes=tuple(zip(found.tolist(), counts.tolist(), strict=True)),
    )
