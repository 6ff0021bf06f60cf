"""Generalization as a method: hierarchies, privacy models, a quality model and a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.checks import AnyOf, Choice, Integer, ListOf, Null, Real, TableOf, Text, Typed
from ontomask.data.grouping import group_rows
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata
from ontomask.errors import MethodError, OntomaskError, ParameterError
from ontomask.methods.base import Context, Method, check_k, register, strata_of
from ontomask.methods.generalization.best_effort import best_effort
from ontomask.methods.generalization.chosen import at_levels, chosen_node
from ontomask.methods.generalization.encoding import (
    EncodedColumn,
    default_hierarchies,
    encode_columns,
    make_problem,
    misnamed,
    people_of,
    unfit_hierarchies,
)
from ontomask.methods.generalization.local import local
from ontomask.methods.generalization.mondrian import mondrian
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.promised import Outcome
from ontomask.methods.generalization.recipes import check_hierarchy
from ontomask.methods.generalization.recoded import LocalSolution
from ontomask.methods.generalization.scheme import Levels
from ontomask.methods.generalization.search import Solution, optimal
from ontomask.methods.generalization.shown import Kinds, kept_records
from ontomask.methods.generalization.tuples import generalize_tuples
from ontomask.methods.persons import refuse_counting_records
from ontomask.privacy import DeltaPresence, KAnonymity, NoAttack, PrivacyModel
from ontomask.quality import QUALITIES, Quality, quality_model

__all__ = ["ALGORITHMS", "Generalization"]

Algorithm = Literal["optimal", "best-effort", "local", "mondrian", "tuple"]
ALGORITHMS = get_args(Algorithm)


@dataclass(frozen=True, eq=False)
class _Found:
    """The outcome of a search: the records, those that are treated alike as one, and figures."""

    kinds: Kinds
    details: dict[str, object]


@register
@dataclass(frozen=True)
class Generalization(Method):
    """Replace values by more general ones, and suppress what still stands out.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> method = om.Generalization(k=3, hierarchies={"age": {"intervals": [5, 10]}})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> release.frame["age"].unique(maintain_order=True).to_list()
    ['[30, 40)', '[50, 60)']
    """

    name: ClassVar[str] = "generalization"

    privacy: Annotated[
        tuple[PrivacyModel, ...] | list[PrivacyModel],
        ListOf(Typed(PrivacyModel, "a privacy model such as KAnonymity(5)")),
        "The models that must hold, all of them, besides k.",
    ] = ()
    suppression_limit: Annotated[
        float, Real(0, 1), "The share of records that may be suppressed."
    ] = 0.0
    quality: Annotated[
        str | Quality,
        AnyOf(Choice(*QUALITIES), Typed(Quality, "a quality model such as Loss()")),
        "What to lose least of: the name of a quality model, or one with its parameters.",
    ] = "loss"
    algorithm: Annotated[
        Algorithm,
        "`optimal` (the best levels, provably), `best-effort` (the best within a budget, for "
        "many columns), `local` (different records may be generalized differently), "
        "`mondrian` (a table divided top-down) or `tuple` (single tuples generalized until k "
        "is reached).",
    ] = "optimal"
    hierarchies: Annotated[
        Mapping[str, Any],
        Typed(Mapping, "a mapping of columns to hierarchies"),
        "For each column a file or rows (the value, then its generalizations), a `Hierarchy`, "
        'or how to build one: ``{"intervals": [5, 10, 20]}``, ``{"dates": ["month", '
        '"year"]}``, ``{"order": 2}``, ``{"digits": "last"}``, ``{"star": True}``; nominal '
        "columns have their taxonomy. Columns that are not named get one that fits their kind, "
        "which the release tells.",
    ] = field(default_factory=dict)
    levels_by: Annotated[Literal["steps", "depth"], "How a taxonomy is made level-wise."] = "steps"
    levels: Annotated[
        Mapping[str, int],
        TableOf(Integer(0)),
        "The level of each quasi-identifier, 0 as it is, if they are not to be searched: they are "
        "applied as they are, and what fails the models there is suppressed within the limit.",
    ] = field(default_factory=dict)
    outliers: Annotated[
        Literal["star", "drop"],
        "What becomes of suppressed records: `star` (all quasi-identifiers become `*`) or "
        "`drop`. Where the class of all stars would not satisfy the models, they are dropped "
        "in any case.",
    ] = "star"
    steps: Annotated[
        int | None,
        AnyOf(Integer(1), Null()),
        "The budget of a best-effort search: how many nodes it checks.",
    ] = None
    seconds: Annotated[
        float | None,
        AnyOf(Real(0, open_low=True), Null()),
        "The budget of a best-effort search: how long it takes.",
    ] = None
    population: Annotated[
        Any, "A table of the population that the records come from, for models that need one."
    ] = None
    strata: Annotated[
        tuple[str, ...],
        ListOf(Text()),
        "Columns inside whose values the table is masked separately. Models that speak of the "
        "whole table still do, and all of them hold for the strata together, too.",
    ] = ()
    k: Annotated[
        int | None,
        AnyOf(Integer(2), Null()),
        "The least number of records in a class: in short for `k-anonymity` in `privacy`.",
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "privacy", tuple(self.privacy))
        if not self.models:
            raise ParameterError("Say what must hold: k=5, or privacy=[…] with models.")
        if self.algorithm == "tuple" and not all(
            isinstance(one, KAnonymity) for one in self.privacy
        ):
            raise MethodError("algorithm='tuple' knows k-anonymity only; use algorithm='local'.")
        if self.levels and self.algorithm not in ("optimal", "best-effort"):
            raise MethodError(
                f"levels are those of all records, which algorithm={self.algorithm!r} generalizes "
                "differently; leave out one of the two."
            )
        if self.strata and any(isinstance(one, DeltaPresence) for one in self.privacy):
            raise MethodError(
                "DeltaPresence speaks of classes of the whole population, which strata divide; "
                "leave out strata."
            )
        quality_model(self.quality)
        for name, given in self.hierarchies.items():
            check_hierarchy(name, given)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The models that must hold, k-anonymity among them."""
        short = () if self.k is None else (KAnonymity(self.k),)
        return (*short, *self.privacy)

    def problems(
        self, microdata: Microdata, columns: Sequence[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What keeps a table from being generalized, each with the parameter that is wrong.

        The hierarchies of `columns` are tried, and the rest if there is nothing wrong with them.
        """
        found = [
            *unfit_hierarchies(microdata, columns, self.hierarchies, self.levels_by),
            *misnamed(self.privacy, microdata),
        ]
        yield from found
        if not found and set(columns) == set(microdata.quasi):
            try:
                self._check_persons(microdata)
                self._problem(microdata)
            except OntomaskError as error:
                yield (), str(error)

    def run(self, microdata: Microdata, context: Context) -> Masked:
        """Generalize the quasi-identifiers; inside strata, too, the whole table is seen."""
        return self.mask(microdata, context)

    @property
    def leaves_out(self) -> bool:
        """Outliers, where some may be suppressed: few stars are dropped too."""
        return self.suppression_limit > 0

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Generalize the quasi-identifiers."""
        self._check_persons(microdata)
        columns, problem = self._problem(microdata)
        quality = quality_model(self.quality)
        if self.strata:
            found, stars = self._found_by_stratum(problem, microdata, quality, context)
        else:
            found = self._found(problem, quality, context)
            stars = found.kinds.suppressed & (self.outliers == "star")
        if found.kinds.suppressed.all():
            raise MethodError(
                "Every record would be suppressed; lower suppression_limit, weaken the privacy "
                "models, or give hierarchies that end in one value."
            )
        kept = kept_records(problem, self.models, found.kinds, stars)
        outcome = Outcome(microdata, problem, columns, found.kinds, kept)
        default = default_hierarchies(microdata, self.hierarchies)
        told = {"default_hierarchies": default} if default else {}
        masked = _masked(outcome, {**found.details, **told})
        return replace(masked, promises=outcome.promises(self.models))

    def _problem(self, microdata: Microdata) -> tuple[dict[str, EncodedColumn], Problem]:
        people = people_of(self.population, microdata)
        columns = encode_columns(
            microdata, self.hierarchies, levels_by=self.levels_by, people=people
        )
        targets = quality_model(self.quality).targets
        given = (self.models, targets, self.hierarchies, people)
        problem = make_problem(microdata, columns, *given)
        if self.levels:
            chosen_node(self.levels, problem)
        return columns, problem

    def _check_persons(self, microdata: Microdata) -> None:
        """Refuse what counts records where persons are to be protected."""
        if microdata.units is not None:
            check_k(self._k, microdata)
            refuse_counting_records(microdata, self.models)

    def _found_by_stratum(
        self, problem: Problem, microdata: Microdata, quality: Quality, context: Context
    ) -> tuple[_Found, Bools]:
        """Search inside every stratum; tell also which kinds may be starred, seen from there."""
        parts, details, stars = [], [], np.zeros(len(microdata), bool)
        strata = strata_of(microdata, self.strata)
        for number, (mask, described) in enumerate(strata):
            part, own = problem.restricted(mask), context.part(number, 1, len(strata))
            try:
                found = self._found(part, quality, own)
                wanted = found.kinds.suppressed & (self.outliers == "star")
                kept = kept_records(part, self.models, found.kinds, wanted)
            except MethodError as error:
                raise MethodError(f"Stratum {described}: {error}") from None
            parts.append((mask, found.kinds))
            stars[mask] = (kept & found.kinds.suppressed)[found.kinds.places]
            details.append(found.details)
            own.progress(1.0, f"stratum {number + 1} of {len(strata)}")
        kinds = Kinds.together(parts)
        return _Found(kinds, {"strata": details}), stars[kinds.firsts]

    def _found(self, problem: Problem, quality: Quality, context: Context) -> _Found:
        if self.algorithm in ("optimal", "best-effort"):
            return _found_globally(problem, quality, self._solve(problem, quality, context))
        solution = self._solve_locally(problem, quality, context)
        details = {
            "quality": solution.loss,
            "quality_model": quality.name,
            "classes": solution.classes,
            "steps": solution.steps,
            "suppressed": solution.outliers,
        }
        return _Found(Kinds.of(problem, solution.levels, solution.suppressed), details)

    def _solve(self, problem: Problem, quality: Quality, context: Context) -> Solution:
        asked = problem, self.models, self.suppression_limit, quality
        if self.levels:
            chosen = chosen_node(self.levels, problem)
            return at_levels(*asked, chosen)
        if self.algorithm == "optimal":
            return optimal(*asked, progress=context.progress)
        return best_effort(
            *asked,
            steps=self.steps,
            seconds=self.seconds,
            generator=context.generator,
            progress=context.progress,
        )

    def _solve_locally(self, problem: Problem, quality: Quality, context: Context) -> LocalSolution:
        if self.algorithm == "local":
            asked = problem, self.models, self.suppression_limit, quality
            return local(*asked, progress=context.progress)
        if self.algorithm == "mondrian":
            return mondrian(problem, self.models, quality, progress=context.progress)
        return generalize_tuples(problem, self._k, quality, context)

    @property
    def _k(self) -> int:
        """The largest class that a model asks for by itself, 0 if none does."""
        asking = (KAnonymity, NoAttack)
        return max((one.k for one in self.models if isinstance(one, asking)), default=0)


def _found_globally(problem: Problem, quality: Quality, solution: Solution) -> _Found:
    levels = np.array(solution.levels, np.int32)
    chosen = list(zip(problem.names, problem.hierarchies, solution.levels, strict=True))
    details: dict[str, object] = {
        "levels": dict(zip(problem.names, solution.levels, strict=True)),
        "generalized": {name: one.level_in_words(level) for name, one, level in chosen},
        "generalized_public": {
            name: one.level_in_words(level, height=False) for name, one, level in chosen
        },
        "quality": solution.loss,
        "quality_model": quality.name,
        "optimal": solution.optimal,
        "bound": solution.bound,
        "checked": solution.checked,
        "pruned": solution.pruned,
        "nodes": solution.total,
        "suppressed": solution.outliers,
    }
    return _Found(Kinds.of(problem, levels, solution.suppressed), details)


def _masked(outcome: Outcome, details: dict[str, object]) -> Masked:
    kinds, kept = outcome.kinds, outcome.kept
    new, stars = {}, outcome.stars.take(kinds.places)
    for place, (name, column) in enumerate(outcome.columns.items()):
        levels = kinds.levels_of(place)
        each = levels if isinstance(levels, int) else levels.take(kinds.places)
        new[name] = column.recode(outcome.microdata[name], each, stars)
    return Masked(
        new,
        clusters=kinds.classes.take(kinds.places),
        kept=None if kept.all() else kept.take(kinds.places),
        scheme=_scheme(outcome, details.get("levels")),
        details=details,
    )


def _scheme(outcome: Outcome, levels: object) -> Levels | None:
    """The scheme for records not seen, where all records have the same levels."""
    if not isinstance(levels, dict):
        return None
    shown = outcome.kinds.rows[told_apart(outcome, levels)].T
    hierarchies = {name: column.hierarchy for name, column in outcome.columns.items()}
    codes = [
        one.levels[levels[name]].take(rows)
        for (name, one), rows in zip(hierarchies.items(), shown, strict=True)
    ]
    firsts = group_rows(codes, [int(one.widths[levels[name]]) for name, one in hierarchies.items()])
    classes = np.array(codes, np.int32)[:, firsts[0]].T
    star = bool((outcome.kinds.looks == 0).all(axis=0)[outcome.kept].any())
    return Levels(levels, dict(outcome.columns), classes, star)


def told_apart(outcome: Outcome, levels: Mapping[str, int]) -> Longs:
    """Kinds that are not suppressed, as many as have all combinations of generalized values."""
    shown = np.flatnonzero(~outcome.kinds.suppressed)
    for name, column in outcome.columns.items():
        level = levels[name]
        if np.unique(column.looks[level]).size < column.hierarchy.widths[level]:
            return shown  # some of these values look alike
    classes = outcome.kinds.classes
    firsts = np.full(int(classes.max()) + 1, -1, np.int64)
    firsts[classes[shown]] = shown
    return firsts[firsts >= 0]
