"""Best-first generalization of single tuples: each value may become any of its ancestors."""

from __future__ import annotations

import time

import numpy as np

from ontomask.arrays import Longs, different
from ontomask.checks import Integer, check
from ontomask.data.microdata import Owners
from ontomask.errors import MethodError
from ontomask.kernels.mergers import Ladders, merge_smallest
from ontomask.kernels.records import flat_owners
from ontomask.methods.base import Context, watched
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.recoded import LocalSolution, recoded_loss
from ontomask.quality import Loss, Quality
from ontomask.taxonomy.hierarchies import real_steps
from ontomask.wording import only

__all__ = ["generalize_tuples"]


def generalize_tuples(
    problem: Problem, k: int, quality: Quality | None = None, context: Context | None = None
) -> LocalSolution:
    """Unite the smallest class below k with another one, cheapest first, until there is none.

    The classical scheme (Martinez et al. 2010; He and Naughton 2009): the cost of uniting two
    classes is the number of generalization steps of all their records up to their lowest common
    generalization in every attribute; other classes stay as they are. Ties: the smaller class,
    then the one that appears first. No record is suppressed. Where the problem says whose records
    they are, sizes are of persons; costs are of records.
    """
    check("k", k, Integer(2))
    units = problem.units
    there = problem.records if units is None else different(units).size
    if k > there:
        counted = only(there, "record" if units is None else "person")
        raise MethodError(f"k is {k}, but {counted}; choose a smaller k.")
    start = time.perf_counter()
    rows, persons = problem.tuples.rows, _persons(problem)
    levels = np.zeros(rows.shape, np.int32)
    owners = watched(
        merge_smallest,
        rows,
        levels,
        problem.tuples.amounts[0].copy(),
        _ladders(problem),
        persons,
        k,
        total=_most_mergers(problem, persons, k),
        context=context or Context(np.random.default_rng(0)),
        message="uniting classes",
    )
    levels = levels[owners]
    nothing = np.zeros(len(rows), bool)
    loss, classes = recoded_loss(problem, quality or Loss(), levels, nothing)
    kept = np.zeros(problem.codes.shape[1], bool)
    mergers, seconds = len(rows) - different(owners).size, time.perf_counter() - start
    return LocalSolution(levels, kept, 0, classes, loss, mergers, seconds)


def _ladders(problem: Problem) -> Ladders:
    """The hierarchies as the kernel wants them."""
    return Ladders(
        np.concatenate([one.levels.ravel() for one in problem.hierarchies]),
        np.concatenate([real_steps(one.levels).ravel() for one in problem.hierarchies]),
        np.array(problem.facts.starts, np.int64),
        np.array([one.rows for one in problem.hierarchies], np.int64),
        np.array(problem.heights, np.int64),
    )


def _most_mergers(problem: Problem, persons: Longs, k: int) -> float:
    """Every merger leaves at least one class fewer that is too small."""
    sizes = problem.tuples.amounts[0]
    if persons.size:
        sizes = np.diff(persons[: sizes.size + 1])
    return float(np.count_nonzero(sizes < k))


def _persons(problem: Problem) -> Longs:
    """Whose records each tuple holds, as points say it; nothing where records are counted."""
    if problem.units is None:
        return np.empty(0, np.int64)
    places, count = problem.tuples.places.astype(np.int64), len(problem.tuples.rows)
    owners = Owners.of(places, problem.units.astype(np.int64), count)
    return flat_owners(owners.starts, owners.units)
