"""Levels that a person has chosen: applied as they are, without a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ontomask.checks import did_you_mean
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.groupings import Levels
from ontomask.methods.generalization.lattice import Lattice
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.search import Incumbent, Solution, make_evaluator
from ontomask.privacy import PrivacyModel
from ontomask.quality import Quality

__all__ = ["at_levels", "chosen_node"]


def chosen_node(given: Mapping[str, int], problem: Problem) -> Levels:
    """The node of the lattice that levels by column name; what is no node is refused."""
    for name in given:
        if name not in problem.names:
            raise ParameterError(
                f"levels names {name!r}, which is not a quasi-identifier; there are "
                f"{', '.join(problem.names)}.{did_you_mean(name, problem.names)}"
            )
    for name, height in zip(problem.names, problem.heights, strict=True):
        if name not in given:
            raise ParameterError(
                f"levels says nothing about {name!r}; give every quasi-identifier a level, or "
                "leave out levels to have them searched."
            )
        if given[name] > height:
            raise ParameterError(
                f"levels[{name!r}] must be between 0 and {height}, the height of its hierarchy, "
                f"not {given[name]}."
            )
    return tuple(given[name] for name in problem.names)


def at_levels(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float,
    quality: Quality,
    levels: Levels,
) -> Solution:
    """The table at these levels, with what fails the models there suppressed."""
    evaluator = make_evaluator(problem, privacy, suppression_limit, quality)
    grouping = evaluator.grouper.roll_up(evaluator.grouper.finest, levels)
    incumbent = Incumbent(evaluator)
    evaluation = evaluator.evaluate(grouping, complete=True)
    incumbent.consider(evaluation)
    if not evaluation.valid:
        raise _failing(evaluator, evaluation)
    return incumbent.solution(Lattice(problem.heights).size, bound=-np.inf)


def _failing(evaluator: Evaluator, evaluation: Evaluation) -> MethodError:
    if evaluator.unmendable:
        return MethodError(
            f"The levels chosen do not satisfy {evaluator.unmendable[0]} for every class of the "
            "population, which suppression cannot mend; choose higher levels, or lower its minimum."
        )
    share = evaluation.outliers / evaluator.problem.records
    return MethodError(
        f"The levels chosen satisfy the privacy models only if {evaluation.outliers} records are "
        f"suppressed, and {evaluator.limit} may be; choose higher levels, raise suppression_limit "
        f"to {share:.4f} or more, or weaken the privacy models."
    )
