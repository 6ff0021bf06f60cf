"""Generalization as a method: hierarchies, privacy models, a quality model and a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from ontomask.arrays import Bools, Ints
from ontomask.checks import AnyOf, Choice, Integer, ListOf, Null, Real, Text, Typed
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError
from ontomask.methods.base import Context, Method, register
from ontomask.methods.generalization.best_effort import best_effort
from ontomask.methods.generalization.encoding import EncodedColumn, encode_columns, make_problem
from ontomask.methods.generalization.local import local
from ontomask.methods.generalization.mondrian import mondrian
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.recoded import LocalSolution, class_places
from ontomask.methods.generalization.search import Solution, optimal
from ontomask.methods.generalization.tuples import generalize_tuples
from ontomask.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from ontomask.promises import ClassSize, Closeness, Diversity, Promise
from ontomask.quality import QUALITIES, Quality, quality_model

__all__ = ["SEARCHES", "Generalization", "Levels"]

SEARCHES = ("optimal", "best-effort", "local", "mondrian", "tuple")


@register
@dataclass(frozen=True)
class Generalization(Method):
    """Replace values by more general ones, and suppress what still stands out.

    Parameters
    ----------
    privacy
        The models that must hold, all of them.
    suppression_limit
        The share of records that may be suppressed.
    quality
        What to lose least of: the name of a quality model, or one with its parameters.
    search
        `optimal` (the best levels, provably), `best-effort` (the best within a budget, for many
        columns), `local` (different records may be generalized differently), `mondrian` (a table
        divided top-down) or `tuple` (single tuples generalized until k is reached).
    hierarchies
        For each column a file or rows (the value, then its generalizations), or a `Hierarchy`;
        nominal columns have their taxonomy.
    levels_by
        How a taxonomy is made level-wise: see `Hierarchy.from_taxonomy`.
    outliers
        What becomes of suppressed records: `star` (all quasi-identifiers become `*`) or `drop`.
        Too few stars to satisfy the models by themselves are dropped in any case.
    steps, seconds
        The budget of a best-effort search: nodes checked, or time.
    population
        A table of the population that the records come from, for models that need one.
    strata
        Columns inside whose values the table is masked separately.
    """

    name: ClassVar[str] = "generalization"

    privacy: Annotated[
        tuple[PrivacyModel, ...] | list[PrivacyModel],
        ListOf(Typed(PrivacyModel, "a privacy model such as KAnonymity(5)"), empty=False),
    ]
    suppression_limit: Annotated[float, Real(0, 1)] = 0.0
    quality: Annotated[
        str | Quality, AnyOf(Choice(*QUALITIES), Typed(Quality, "a quality model such as Loss()"))
    ] = "loss"
    search: Annotated[str, Choice(*SEARCHES)] = "optimal"
    hierarchies: Annotated[
        Mapping[str, Any], Typed(Mapping, "a mapping of columns to hierarchies")
    ] = field(default_factory=dict)
    levels_by: Annotated[str, Choice("steps", "depth")] = "steps"
    outliers: Annotated[str, Choice("star", "drop")] = "star"
    steps: Annotated[int | None, AnyOf(Integer(1), Null())] = None
    seconds: Annotated[float | None, AnyOf(Real(0, open_low=True), Null())] = None
    population: Any = None
    strata: Annotated[tuple[str, ...], ListOf(Text())] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "privacy", tuple(self.privacy))
        if self.search == "tuple" and not self._only_k_anonymity():
            raise MethodError("search='tuple' knows k-anonymity only; use search='local'.")
        quality_model(self.quality)

    def _only_k_anonymity(self) -> bool:
        return all(isinstance(model, KAnonymity) for model in self.privacy)

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Generalize the quasi-identifiers."""
        columns = encode_columns(microdata, self.hierarchies, levels_by=self.levels_by)
        quality = quality_model(self.quality)
        problem = make_problem(
            microdata, columns, self.privacy, quality.targets, self.hierarchies, self.population
        )
        if self.search in ("optimal", "best-effort"):
            masked = self._global(problem, columns, quality, context)
        else:
            masked = self._local(problem, columns, quality)
        return replace(masked, promises=self._promises(microdata, tuple(columns)))

    # One level for each column ----------------------------------------------------------------

    def _global(
        self,
        problem: Problem,
        columns: Mapping[str, EncodedColumn],
        quality: Quality,
        context: Context,
    ) -> Masked:
        solution = self._solve(problem, quality, context)
        levels = np.broadcast_to(
            np.array(solution.levels, np.int32), (len(problem.tuples.rows), len(columns))
        )
        scheme = Levels(dict(zip(columns, solution.levels, strict=True)), dict(columns))
        details = {
            "levels": dict(scheme.levels),
            "quality": solution.loss,
            "quality_model": quality.name,
            "optimal": solution.optimal,
            "bound": solution.bound,
            "checked": solution.checked,
            "pruned": solution.pruned,
            "nodes": solution.total,
            "suppressed": solution.outliers,
        }
        return self._masked(problem, columns, levels, solution.suppressed, details, scheme)

    def _solve(self, problem: Problem, quality: Quality, context: Context) -> Solution:
        def report(checked: int, pruned: int, total: int) -> None:
            done = min(1.0, (checked + pruned) / total)
            context.progress(done, f"{checked} nodes checked, {pruned} pruned, of {total}")

        if self.search == "optimal":
            return optimal(problem, self.privacy, self.suppression_limit, quality, report=report)
        return best_effort(
            problem,
            self.privacy,
            self.suppression_limit,
            quality,
            steps=self.steps,
            seconds=self.seconds,
            generator=context.generator,
            report=report,
        )

    # Levels for each tuple --------------------------------------------------------------------

    def _local(
        self, problem: Problem, columns: Mapping[str, EncodedColumn], quality: Quality
    ) -> Masked:
        solution = self._solve_locally(problem, quality)
        details = {
            "quality": solution.loss,
            "quality_model": quality.name,
            "classes": solution.classes,
            "steps": solution.steps,
            "suppressed": solution.outliers,
        }
        return self._masked(problem, columns, solution.levels, solution.suppressed, details, None)

    def _solve_locally(self, problem: Problem, quality: Quality) -> LocalSolution:
        if self.search == "local":
            return local(problem, self.privacy, self.suppression_limit, quality)
        if self.search == "mondrian":
            return mondrian(problem, self.privacy, quality)
        return generalize_tuples(problem, self._k, quality)

    @property
    def _k(self) -> int:
        """The largest k of the k-anonymity models, 0 if there is none."""
        return max((one.k for one in self.privacy if isinstance(one, KAnonymity)), default=0)

    def _masked(
        self,
        problem: Problem,
        columns: Mapping[str, EncodedColumn],
        levels: Ints,
        suppressed: Bools,
        details: dict[str, object],
        scheme: Levels | None,
    ) -> Masked:
        if suppressed.all():
            raise MethodError(
                "Every record would be suppressed; lower suppression_limit, weaken the privacy "
                "models, or give hierarchies that end in one value."
            )
        places = problem.tuples.places
        dropped = self._dropped(problem, suppressed)
        stars = np.zeros_like(suppressed) if dropped else suppressed
        new = {
            name: column.recode(column.attribute, levels[places, place], stars)
            for place, (name, column) in enumerate(columns.items())
        }
        gone = np.zeros(len(problem.tuples.rows), bool)
        gone[places[suppressed]] = True
        clusters = class_places(problem, np.ascontiguousarray(levels), gone)[places]
        return Masked(
            new,
            clusters=clusters,
            kept=~suppressed if dropped else None,
            scheme=scheme,
            details=details,
        )

    def _dropped(self, problem: Problem, suppressed: Bools) -> bool:
        """Whether suppressed records leave the table instead of being starred."""
        count = int(problem.weights[suppressed].sum())
        stand_out = not self._only_k_anonymity() or count < self._k
        return bool(suppressed.any()) and (self.outliers == "drop" or stand_out)

    def _promises(self, microdata: Microdata, names: tuple[str, ...]) -> tuple[Promise, ...]:
        """What can be recounted on the release: class sizes, diversity, closeness."""
        promises: list[Promise] = [ClassSize(names, self._k)] if self._k else []
        for model in self.privacy:
            if isinstance(model, LDiversity) and model.estimator == "shannon":
                column = _sensitive(microdata, model.column)
                promises.append(Diversity(names, column, model.l, model.kind, model.c))
            if isinstance(model, TCloseness) and model.ground == "equal":
                column = _sensitive(microdata, model.column)
                promises.append(Closeness(names, column, model.t, _counts(microdata[column])))
        return tuple(promises)


def _sensitive(microdata: Microdata, column: str | None) -> str:
    """The sensitive column that a model speaks of: the only one, unless it names one."""
    return column or microdata.schema.with_role("sensitive")[0]


def _counts(attribute: Attribute) -> tuple[tuple[object, float], ...]:
    counts = np.bincount(attribute.codes, minlength=attribute.cardinality)
    values = (*attribute.values, *([None] if attribute.has_missing else []))
    return tuple(zip(values, counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Levels:
    """The scheme of a global generalization: the level of each column."""

    levels: Mapping[str, int]
    columns: Mapping[str, EncodedColumn]

    def apply(self, microdata: Microdata) -> Masked:
        """Generalize records not seen; none is suppressed."""
        nothing = np.zeros(len(microdata), bool)
        return Masked(
            {
                name: column.recode(microdata[name], self.levels[name], nothing)
                for name, column in self.columns.items()
            }
        )
