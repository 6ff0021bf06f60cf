"""Outcomes in which records with different values may be generalized to different levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.kernels import groups as kernel
from ontomask.methods.generalization.problem import Problem, distinct_rows
from ontomask.quality import Quality, Recoded

__all__ = ["LocalSolution", "class_places", "make_recoded", "recoded_loss"]


@dataclass(frozen=True, eq=False)
class LocalSolution:
    """A table whose tuples are generalized each in its own way.

    Attributes
    ----------
    levels
        For each distinct tuple of the problem and quasi-identifier its level.
    suppressed
        Which records are suppressed.
    outliers
        How many people they stand for.
    classes
        The number of classes that are not suppressed.
    loss
        The quality model's value.
    steps
        How many rounds, mergers or splits were made.
    seconds
        How long it took.
    """

    levels: Ints
    suppressed: Bools
    outliers: int
    classes: int
    loss: float
    steps: int
    seconds: float


def class_places(problem: Problem, levels: Ints, suppressed: Bools) -> Longs:
    """The class of each tuple: those that look the same; the suppressed ones are one class.

    Values at different levels look the same when they have the same label.
    """
    columns, sizes = [], []
    for attribute, hierarchy in enumerate(problem.hierarchies):
        numbers: dict[str, int] = {}
        tables = [
            np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)
            for labels in hierarchy.labels
        ]
        shown = np.array(
            [table[codes] for table, codes in zip(tables, hierarchy.levels, strict=True)]
        )
        codes = shown[levels[:, attribute], problem.tuples.rows[:, attribute]] + 1
        columns.append(np.where(suppressed, 0, codes))
        sizes.append(len(numbers) + 1)
    return distinct_rows(np.array(columns), sizes)[1].astype(np.int64)


def make_recoded(problem: Problem, levels: Ints, suppressed: Bools) -> Recoded:
    """Bring together what quality models need to know of a local outcome."""
    places = class_places(problem, levels, suppressed)
    count = int(places.max()) + 1
    targets = {
        name: kernel.merge_pairs(
            places.astype(np.int32), *problem.tuples.pairs[name], count, one.size
        )
        for name, one in problem.targets.items()
    }
    return Recoded(problem.facts, levels, suppressed, places, targets)


def recoded_loss(
    problem: Problem, quality: Quality, levels: Ints, suppressed: Bools
) -> tuple[float, int]:
    """The loss of a local outcome, and the number of classes that are not suppressed."""
    recoded = make_recoded(problem, levels, suppressed)
    measure = quality.prepare(problem.facts)
    loss = float(measure.scalar(measure.mixed(recoded)))
    return loss, int(np.count_nonzero(~recoded.suppressed_classes))
