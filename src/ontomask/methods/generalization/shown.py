"""The classes of a release as they look, which is what privacy models must hold for in the end.

Records that were generalized differently, in different rounds, boxes or strata, may come to look
the same; so do starred records and those at the root of every hierarchy. Models that are monotone
survive such unions, others need not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.errors import MethodError
from ontomask.methods.generalization.problem import Problem, counted, distinct_rows
from ontomask.privacy import Classes, PrivacyModel

__all__ = ["class_places", "failing_records", "kept_records", "looks_at"]


def class_places(problem: Problem, rows: Ints, levels: Ints, suppressed: Bools) -> Longs:
    """The class of each record or tuple, given by its rows and levels: those that look the same."""
    sizes = [int(looks.max()) + 1 for looks in problem.looks]
    shown = looks_at(problem, rows, levels, suppressed)
    return distinct_rows(shown, sizes)[1].astype(np.int64)


def looks_at(problem: Problem, rows: Ints, levels: Ints, suppressed: Bools) -> Ints:
    """For each quasi-identifier and record how it is written, by number."""
    return np.array(
        [
            np.where(suppressed, 0, looks[levels[:, place], rows[:, place]])
            for place, looks in enumerate(problem.looks)
        ],
        np.int32,
    )


def failing_records(problem: Problem, privacy: Sequence[PrivacyModel], places: Longs) -> Bools:
    """Which records are in classes that fail one of the models, given the class of each.

    People in a population table are not counted anew: the search did so when it formed the classes,
    and what holds for two of them holds for both together.
    """
    count = int(places.max(initial=-1)) + 1
    groups = places.astype(np.int32)
    amounts = counted(groups, problem.counts, count)[None]
    classes = problem.classes(amounts, problem.histograms(groups))
    fails = np.zeros(count, bool)
    for model in privacy:
        if problem.population is None or not model.needs_population:
            fails |= ~model.holds(classes)
    failing: Bools = fails[places]
    return failing


def kept_records(
    problem: Problem, privacy: Sequence[PrivacyModel], levels: Ints, suppressed: Bools, stars: Bools
) -> Bools:
    """Which records stay in the release: suppressed ones only if the stars satisfy the models.

    Parameters
    ----------
    problem, privacy
        The table and the models.
    levels
        The levels of each record.
    suppressed
        Which records are suppressed.
    stars
        Which of them may be starred.
    """
    everyone = ~suppressed | stars
    if _hold(problem, privacy, levels, suppressed, everyone):
        return everyone
    if stars.any() and _hold(problem, privacy, levels, suppressed, ~suppressed):
        return ~suppressed
    raise MethodError(
        "As they look in the release, the classes do not satisfy the privacy models: some that do "
        "so by themselves do not together, or a hierarchy does not end in one value; use "
        "search='optimal' without strata."
    )


def _hold(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    levels: Ints,
    suppressed: Bools,
    kept: Bools,
) -> bool:
    """Whether all models hold for the records that are kept, as they look."""
    if not kept.any():
        return True
    part = problem.restricted(kept)
    starred = suppressed[kept]
    places = class_places(part, part.codes.T, levels[kept], starred)
    if failing_records(part, privacy, places).any():
        return False
    return not starred.any() or _stars_are_in_the_population(part, privacy, places, starred)


def _stars_are_in_the_population(
    problem: Problem, privacy: Sequence[PrivacyModel], places: Longs, starred: Bools
) -> bool:
    """Whether models of a population hold for the class of the stars, which anybody may be in."""
    if problem.population is None:
        return True
    alike = places == places[starred][0]
    stars = Classes(
        np.array([problem.counts[alike].sum()]), np.array([problem.population.shape[1]])
    )
    return all(bool(one.holds(stars)[0]) for one in privacy if one.needs_population)
