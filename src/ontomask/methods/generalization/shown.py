"""The classes of a release as they look, which is what privacy models must hold for in the end.

Records that were generalized differently, in different rounds, boxes or strata, may come to look
the same; so do starred records and those at the root of every hierarchy. Models that are monotone
survive such unions, others need not.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.errors import MethodError
from ontomask.methods.generalization.problem import Problem, counted, distinct_rows
from ontomask.privacy import Classes, PrivacyModel

__all__ = ["Kinds", "class_places", "failing_records", "kept_records", "looks_at"]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Records that are treated alike: of one tuple, generalized to the same levels or suppressed.

    Attributes
    ----------
    firsts
        The first record of each kind; kinds are numbered by them.
    places
        The kind of each record.
    rows, levels
        The rows of the hierarchies and the levels of each kind (kinds x quasi-identifiers).
    suppressed
        Which kinds are suppressed.
    looks
        How each kind is written, by number (quasi-identifiers x kinds).
    """

    firsts: Longs
    places: Ints
    rows: Ints
    levels: Ints
    suppressed: Bools
    looks: Ints

    @classmethod
    def of(cls, problem: Problem, levels: Ints, suppressed: Bools) -> Kinds:
        """The tuples of a problem, given the levels of each, or of all, and of whom is suppressed.

        Those that only a population has are none.
        """
        places = problem.tuples.places
        firsts = np.empty(int(places.max()) + 1, np.int64)
        # backwards, so that the first one is written last
        firsts[places[::-1]] = np.arange(places.size - 1, -1, -1)
        rows = problem.tuples.rows[: firsts.size]
        given = levels if levels.ndim == 1 else levels[: firsts.size]
        each, starred = np.broadcast_to(given, rows.shape), suppressed[firsts]
        return cls(firsts, places, rows, each, starred, looks_at(problem, rows, each, starred))

    @classmethod
    def together(cls, parts: Sequence[tuple[Bools, Kinds]]) -> Kinds:
        """The kinds of separate strata, each given with the mask of its records."""
        firsts = np.concatenate([np.flatnonzero(mask)[one.firsts] for mask, one in parts])
        order = np.argsort(firsts)
        numbers = np.empty(order.size, np.int32)
        numbers[order] = np.arange(order.size, dtype=np.int32)
        places, behind = np.empty(parts[0][0].size, np.int32), 0
        for mask, one in parts:
            places[mask] = numbers[one.places + behind]
            behind += one.firsts.size
        rows, levels, suppressed = (
            np.concatenate([getattr(one, name) for _, one in parts])[order]
            for name in ("rows", "levels", "suppressed")
        )
        looks = np.concatenate([one.looks for _, one in parts], axis=1)[:, order]
        return cls(firsts[order], places, rows, levels, suppressed, looks)

    @functools.cached_property
    def classes(self) -> Longs:
        """The class of each kind: those that look the same."""
        return _alike(self.looks)

    def levels_of(self, place: int) -> Ints | int:
        """The level of each kind in one quasi-identifier; a single one where all have the same."""
        return _levels_of(self.levels, place)

    def information(self, problem: Problem, classes: Longs) -> Floats:
        """What each class keeps of its information, given the class of each kind."""
        kept = np.empty(int(classes.max()) + 1)
        kept[classes] = np.where(
            self.suppressed, 0.0, problem.information_at(self.rows, self.levels)
        )
        return kept

    def part(self, kept: Bools) -> Kinds:
        """The kinds of the records that are kept, which are numbered anew."""
        numbers = np.cumsum(kept, dtype=np.int32) - 1
        records = kept[self.places]
        firsts = (np.cumsum(records) - 1)[self.firsts[kept]]
        return Kinds(
            firsts,
            numbers[self.places[records]],
            self.rows[kept],
            self.levels[kept],
            self.suppressed[kept],
            self.looks[:, kept],
        )


def class_places(problem: Problem, rows: Ints, levels: Ints, suppressed: Bools) -> Longs:
    """The class of each record or tuple, given by its rows and levels: those that look the same."""
    return _alike(looks_at(problem, rows, levels, suppressed))


def _alike(looks: Ints) -> Longs:
    return distinct_rows(looks, (looks.max(axis=1) + 1).tolist())[1].astype(np.int64)


def looks_at(problem: Problem, rows: Ints, levels: Ints, suppressed: Bools) -> Ints:
    """For each quasi-identifier and record how it is written, by number."""
    shown = np.empty((len(problem.looks), len(rows)), np.int32)
    for place, looks in enumerate(problem.looks):
        chosen = _levels_of(levels, place)
        own = rows[:, place]
        shown[place] = looks[chosen].take(own) if isinstance(chosen, int) else looks[chosen, own]
    shown[:, suppressed] = 0
    return shown


def _levels_of(levels: Ints, place: int) -> Ints | int:
    # where all records have the same levels, they are one line that is repeated
    return levels[:, place] if levels.strides[0] else int(levels[0, place])


def failing_records(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    places: Longs,
    information: Floats | None = None,
) -> Bools:
    """Which records are in classes that fail one of the models, given the class of each.

    `information` is what the classes keep of theirs, for models that ask for it.

    People in a population table are not counted anew: the search did so when it formed the classes,
    and what holds for two of them holds for both together.
    """
    count = int(places.max(initial=-1)) + 1
    groups = places.astype(np.int32)
    amounts = counted(groups, problem.counts, count)[None]
    classes = problem.classes(amounts, problem.histograms(groups))
    classes = replace(classes, information=information)
    fails = np.zeros(count, bool)
    for model in privacy:
        if problem.population is None or not model.needs_population:
            fails |= ~model.holds(classes)
    return fails.take(places)


def kept_records(
    problem: Problem, privacy: Sequence[PrivacyModel], kinds: Kinds, stars: Bools
) -> Bools:
    """Which kinds stay in the release: suppressed ones only if the stars satisfy the models.

    Parameters
    ----------
    problem, privacy
        The table and the models.
    kinds
        Its records.
    stars
        Which kinds of those that are suppressed may be starred.
    """
    everyone = ~kinds.suppressed | stars
    if _hold(problem, privacy, kinds, everyone):
        return everyone
    if stars.any() and _hold(problem, privacy, kinds, ~kinds.suppressed):
        return ~kinds.suppressed
    raise MethodError(
        "As they look in the release, the classes do not satisfy the privacy models: some that do "
        "so by themselves do not together, or a hierarchy does not end in one value; use "
        "algorithm='optimal' without strata."
    )


def _hold(problem: Problem, privacy: Sequence[PrivacyModel], kinds: Kinds, kept: Bools) -> bool:
    """Whether all models hold for the records that are kept, as they look."""
    if not kept.any():
        return True
    if not kept.all():
        problem, kinds = problem.restricted(kept[kinds.places]), kinds.part(kept)
    classes = kinds.classes
    places = classes.take(kinds.places)
    asked = any(model.needs_information for model in privacy)
    information = kinds.information(problem, classes) if asked else None
    if failing_records(problem, privacy, places, information).any():
        return False
    stars = classes[kinds.suppressed]
    return not stars.size or _stars_are_in_the_population(problem, privacy, places == stars[0])


def _stars_are_in_the_population(
    problem: Problem, privacy: Sequence[PrivacyModel], alike: Bools
) -> bool:
    """Whether models of a population hold for the class of the stars, which anybody may be in."""
    if problem.population is None:
        return True
    stars = Classes(
        np.array([problem.counts[alike].sum()]),
        np.array([problem.population.shape[1]]),
        information=np.zeros(1),
    )
    return all(bool(one.holds(stars)[0]) for one in privacy if one.needs_population)
