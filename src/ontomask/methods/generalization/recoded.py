"""Outcomes in which records with different values may be generalized to different levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints
from ontomask.kernels import groups as kernel
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.shown import class_places
from ontomask.quality import Quality, Recoded

__all__ = ["LocalSolution", "make_recoded", "recoded_loss"]


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
        How many they are, by their counts.
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


def make_recoded(problem: Problem, levels: Ints, suppressed: Bools) -> Recoded:
    """Bring together what quality models need to know of a local outcome."""
    places = class_places(problem, problem.tuples.rows, levels, suppressed)
    # what is lost is counted apart from what was generalized to the root
    places = np.unique(np.where(suppressed, -1, places), return_inverse=True)[1]
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
