"""What a release promises, as plain data that `verify` can recount without the methods.

A promise names the columns that it speaks of and holds whatever else a recount needs that the
release itself does not show: the distribution of a sensitive column in the whole table, the classes
of a population. It holds nothing about single records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ontomask.brevity import Brief
from ontomask.wording import enumerated

__all__ = [
    "AverageRiskLimit",
    "ClassPromise",
    "ClassSize",
    "Closeness",
    "Counts",
    "DifferentialPrivacy",
    "Disclosure",
    "Diversity",
    "EstimatedMapSize",
    "Excluded",
    "Likeness",
    "MapSize",
    "Payout",
    "Permutation",
    "Population",
    "PopulationPromise",
    "PopulationUniquenessLimit",
    "Possible",
    "Presence",
    "Promise",
    "Published",
    "Records",
    "RiskLimit",
    "SensitivePromise",
    "SequenceSize",
    "Unchanged",
    "UniquenessLimit",
]

SHOWN = 20
"""So many columns are named in a sentence."""

Counts = tuple[tuple[object, float], ...]
"""Values of a sensitive column in the whole table, with how many people have each."""

Population = tuple[tuple[tuple[object, ...], float], ...]
"""Classes of a population as the release writes them, with how many people are in each."""


@dataclass(frozen=True)
class Promise(Brief, ABC):
    """A statement about the columns of a release."""

    columns: tuple[str, ...]

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same statement about columns with other names."""
        return replace(self, columns=tuple(names[name] for name in self.columns))

    def left(self, published: Collection[str]) -> Self | None:
        """The statement about the columns that are published; None where nothing is left to say."""
        kept = tuple(name for name in self.columns if name in published)
        return replace(self, columns=kept) if kept else None

    @property
    def needs(self) -> tuple[str, ...]:
        """All columns that the statement speaks of."""
        return self.columns

    @property
    def covers(self) -> tuple[str, ...]:
        """The columns that it guards against an intruder; none where it describes the table."""
        return ()

    @property
    def intruder(self) -> str:
        """Whom it guards against, in words; nobody where it describes the table."""
        return ""

    @abstractmethod
    def describe(self) -> str:
        """Say it to a person."""

    @property
    def listed(self) -> str:
        """The columns in words; of very many, the first."""
        return _listed(self.columns)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    said = ", ".join(names[:SHOWN])
    return f"{said} and {more:,} more" if more > 0 else said


# The table as a whole -------------------------------------------------------------------------


@dataclass(frozen=True)
class Published(Promise):
    """The release has these columns in this order and no others."""

    def describe(self) -> str:
        """Say it to a person."""
        return f"the columns are exactly {self.listed}"


@dataclass(frozen=True)
class Records(Promise):
    """The release has so many rows."""

    count: int

    def describe(self) -> str:
        """Say it to a person."""
        return f"there are {self.count} records"


@dataclass(frozen=True)
class Permutation(Promise):
    """Each of the columns holds exactly the values that it had, with their frequencies.

    Where records are left out afterwards (`partly`), it holds no other values and none more often.
    In the columns `by_meaning`, several spellings of one concept were written as one.
    """

    partly: bool = False
    by_meaning: tuple[str, ...] = ()

    def describe(self) -> str:
        """Say it to a person."""
        how = "no values but those of the original, none more often"
        if not self.partly:
            how = "the same values as in the original, each as often"
        if self.by_meaning:
            how += f" (by meaning, with one spelling for each concept: {_listed(self.by_meaning)})"
        return f"{self.listed}: {how}"


@dataclass(frozen=True)
class Unchanged(Promise):
    """The columns are as they were, record by record.

    The columns `rewritten` mean the same, written as the ids or labels of their concepts.
    """

    rewritten: tuple[str, ...] = ()

    def describe(self) -> str:
        """Say it to a person."""
        if not self.rewritten:
            return f"{self.listed}: unchanged"
        return f"{self.listed}: unchanged (by meaning: {_listed(self.rewritten)})"


Excluded = tuple[str, tuple[object, ...], tuple[tuple[float | None, float | None], ...], str]
"""A condition: the column, its values and ranges that are meant, and how dates are written."""


@dataclass(frozen=True)
class Possible(Promise):
    """No record has a combination that nobody can have; or no more than had it before.

    Attributes
    ----------
    rules
        For each rule the conditions that must not all hold in one record.
    stated
        The rules in words.
    most
        How many records of the original have such a combination.
    """

    rules: tuple[tuple[Excluded, ...], ...] = field(repr=False)
    stated: tuple[str, ...] = ()
    most: int = 0

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same statement about columns with other names."""
        rules = tuple(tuple((names[one[0]], *one[1:]) for one in rule) for rule in self.rules)
        return replace(super().renamed(names), rules=rules)

    def left(self, published: Collection[str]) -> Self | None:
        """The rules of which all columns are published."""
        kept = [all(one[0] in published for one in rule) for rule in self.rules]
        if not any(kept):
            return None
        rules = tuple(rule for rule, stays in zip(self.rules, kept, strict=True) if stays)
        stated = tuple(text for text, stays in zip(self.stated, kept, strict=True) if stays)
        columns = tuple(dict.fromkeys(one[0] for rule in rules for one in rule))
        return replace(self, columns=columns, rules=rules, stated=stated)

    def describe(self) -> str:
        """Say it to a person."""
        whom = "no more records than in the original have" if self.most else "no record has"
        return f"{whom} a combination that a rule excludes ({'; '.join(self.stated)})"


# Classes of records that share the values of the columns --------------------------------------


@dataclass(frozen=True)
class ClassPromise(Promise):
    """A statement against an intruder who knows the columns of a person."""

    @property
    def covers(self) -> tuple[str, ...]:
        """The columns that it guards: those that the intruder knows, and what is to be learned."""
        return self.needs

    @property
    def intruder(self) -> str:
        """Whom it guards against, in words; all columns are named, or the promise would be none."""
        if not self.columns:
            return "anyone who has the table"
        known = enumerated(self.columns, most=len(self.columns))
        return f"an intruder who knows {known} of a person"


@dataclass(frozen=True)
class ClassSize(ClassPromise):
    """Every combination of values that occurs in the columns is shared by at least k.

    Records are counted or, where a `unit` is named, different values of that column, which the
    release does not show: persons, with all their records.
    """

    k: int
    unit: str | None = None

    def describe(self) -> str:
        """Say it to a person."""
        whom = f" persons (different {self.unit})" if self.unit else ""
        return f"every combination of {self.listed} is shared by at least {self.k}{whom}"


@dataclass(frozen=True)
class SequenceSize(ClassPromise):
    """All records of a person together are, by the columns, those of at least k persons.

    Whose each record is tells the column `unit`, or a pseudonym of it; how many records a person
    has, and which of them are alike, is part of what is compared, their order is not.
    """

    k: int
    unit: str

    @property
    def intruder(self) -> str:
        """Whom it guards against, in words."""
        known = enumerated(self.columns, most=len(self.columns))
        return f"an intruder who knows {known} of all records of a person, and can join them"

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"all records of a person (one {self.unit}) together, by {self.listed}, are those of "
            f"at least {self.k} persons"
        )


@dataclass(frozen=True)
class PopulationPromise(ClassPromise):
    """A statement that compares the release with the classes of a population.

    Without a column that is not published, classes of the population are one that it told apart.
    """

    population: Population | None = field(default=None, repr=False, compare=False, kw_only=True)

    @property
    def weighed(self) -> bool:
        """Whether people are counted by the survey weights of the records."""
        return self.population is None

    def left(self, published: Collection[str]) -> Self | None:
        """The statement about the columns that are published, and the classes by these."""
        kept = super().left(published)
        if kept is None or self.population is None:
            return kept
        places = [place for place, name in enumerate(self.columns) if name in published]
        people: dict[tuple[object, ...], float] = defaultdict(float)
        for values, count in self.population:
            people[tuple(values[place] for place in places)] += count
        return replace(kept, population=tuple(people.items()))


@dataclass(frozen=True)
class MapSize(PopulationPromise):
    """Every combination stands for at least k people of a population.

    `population` holds its classes; without it, the survey weights of the records are added up.
    """

    k: int

    def describe(self) -> str:
        """Say it to a person."""
        return f"every combination of {self.listed} stands for at least {self.k} of the population"


@dataclass(frozen=True)
class Presence(PopulationPromise):
    """Of every class of a population, a share within bounds is in the release."""

    minimum: float
    maximum: float

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"of every combination of {self.listed} in the population, between {self.minimum:g} "
            f"and {self.maximum:g} are in the table"
        )


@dataclass(frozen=True)
class Payout(PopulationPromise):
    """Publishing a record pays, whatever an attacker makes of it.

    Records of a class bring the `benefit` times the share of their information that they keep:
    `kept` holds for each of the columns what each value adds to that share. An attacker guesses
    among the people of the population (`by_population`), or the records or persons (`unit`) of the
    table; where the `gain` times the chance exceeds the `cost`, that times the `loss` is lost.
    """

    benefit: float
    loss: float
    gain: float
    cost: float
    kept: tuple[Counts, ...] = field(repr=False)
    by_population: bool = False
    unit: str | None = None

    def left(self, published: Collection[str]) -> Self | None:
        """The statement about the columns that are published; what others told is not kept."""
        found = super().left(published)
        pairs = zip(self.columns, self.kept, strict=True)
        kept = tuple(values for name, values in pairs if name in published)
        return None if found is None else replace(found, kept=kept)

    @property
    def weighed(self) -> bool:
        """Whether people are counted by the survey weights of the records."""
        return self.by_population and self.population is None

    def describe(self) -> str:
        """Say it to a person."""
        whom = f"a person (one {self.unit})" if self.unit else "a person"
        where = "of the population" if self.by_population else "in the table"
        return (
            f"publishing every combination of {self.listed} pays (benefit {self.benefit:g}, loss "
            f"{self.loss:g}) against an attack on {whom} {where} (gain {self.gain:g}, cost "
            f"{self.cost:g})"
        )


@dataclass(frozen=True)
class AverageRiskLimit(ClassPromise):
    """The average risk, classes over records, is at most t."""

    t: float

    def describe(self) -> str:
        """Say it to a person."""
        return f"the average risk by {self.listed} is at most {self.t:g}"


@dataclass(frozen=True)
class UniquenessLimit(ClassPromise):
    """The share of records that are alone in their class is at most t."""

    t: float

    def describe(self) -> str:
        """Say it to a person."""
        return f"at most {self.t:g} of the records are alone with their {self.listed}"


@dataclass(frozen=True)
class EstimatedMapSize(ClassPromise):
    """Every class is so large that the population most probably has k such people.

    The table holds a `fraction` of the population; `estimator` and `significance` say how probable.
    """

    k: int
    fraction: float
    estimator: str
    significance: float

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"every combination of {self.listed} stands for an estimated {self.k} of the "
            f"population or more ({self.estimator}, significance {self.significance:g})"
        )


@dataclass(frozen=True)
class RiskLimit(ClassPromise):
    """The share of records whose risk, 1 / class size, exceeds t is at most `share`."""

    t: float
    share: float

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"at most {self.share:g} of the records have a risk above {self.t:g} by {self.listed}"
        )


@dataclass(frozen=True)
class PopulationUniquenessLimit(ClassPromise):
    """The estimated share of the population that is unique is at most t."""

    t: float
    fraction: float
    estimator: str

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"at most {self.t:g} of the population are estimated to be unique by {self.listed} "
            f"({self.estimator})"
        )


@dataclass(frozen=True)
class DifferentialPrivacy(ClassPromise):
    """The release is (epsilon, delta)-differentially private by the way it was made.

    Records were drawn with probability `beta`, and classes below `k` left out; `spent` of epsilon
    went into the choice of the levels. A table does not show how it was made: what can be recounted
    is that these numbers are enough, and that no class is below k.
    """

    epsilon: float
    delta: float
    beta: float
    k: int
    spent: float = 0.0

    @property
    def intruder(self) -> str:
        """Whom it guards against, in words."""
        return "an intruder, whatever is known besides this release"

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"{self.listed}: ({self.epsilon:g}, {self.delta:g})-differentially private, made by "
            f"drawing records with probability {self.beta:.4g} and leaving out classes below "
            f"{self.k}"
        )


# Sensitive values inside the classes ----------------------------------------------------------


@dataclass(frozen=True)
class SensitivePromise(ClassPromise):
    """A statement about the values of a sensitive column inside every class of the columns."""

    sensitive: str

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same statement about columns with other names."""
        return replace(super().renamed(names), sensitive=names[self.sensitive])

    def left(self, published: Collection[str]) -> Self | None:
        """None if the sensitive column is not published; without others, all are one class."""
        if self.sensitive not in published:
            return None
        return replace(self, columns=tuple(name for name in self.columns if name in published))

    @property
    def needs(self) -> tuple[str, ...]:
        """All columns that the statement speaks of."""
        return (*self.columns, self.sensitive)


@dataclass(frozen=True)
class Diversity(SensitivePromise):
    """Every class of the columns has at least l well-represented values of a sensitive column.

    `kind` is `distinct` (so many different values), `entropy` (entropy of at least ln l, by the
    `estimator` named) or `recursive` (the most frequent value occurs less than c times as often as
    the l-th and rarer ones together).
    """

    l: float  # noqa: E741 - the literature's name
    kind: str = "distinct"
    c: float = 1.0
    estimator: str = "shannon"

    def describe(self) -> str:
        """Say it to a person."""
        return f"{self.sensitive} is {self.kind} {self.l:g}-diverse in every class"


@dataclass(frozen=True)
class Closeness(SensitivePromise):
    """In every class of the columns a sensitive column is distributed nearly as in the whole table.

    The earth mover's distance is at most t. `counts` holds the values of the whole table, left-out
    records included, with how many people have each. `ground` is the distance of two values:

    * `equal`: 1 for all;
    * `ordered`: by rank, the values of `counts` being listed from lowest to highest;
    * `hierarchical`: `distances` holds for each level above the values the group of each value;
    * `semantic`: `distances` is the matrix of all pairs of values.
    """

    t: float
    counts: Counts = field(repr=False)
    ground: str = "equal"
    distances: Any = field(default=None, repr=False, compare=False)

    def describe(self) -> str:
        """Say it to a person."""
        by = "" if self.ground == "equal" else f" by {self.ground} distances"
        return f"{self.sensitive} is {self.t:g}-close to the whole table in every class{by}"


@dataclass(frozen=True)
class Disclosure(SensitivePromise):
    """No value of a class is delta times more or less frequent (log2) than in the whole table."""

    delta: float
    counts: Counts = field(repr=False)

    def describe(self) -> str:
        """Say it to a person."""
        return (
            f"no value of {self.sensitive} is 2^{self.delta:g} times more or less frequent in a "
            "class than in the whole table"
        )


@dataclass(frozen=True)
class Likeness(SensitivePromise):
    """No value of a class is much more frequent than in the whole table.

    The relative gain (p - q) / q is at most beta, or (`enhanced`) at most min(beta, -ln q).
    """

    beta: float
    counts: Counts = field(repr=False)
    kind: str = "basic"

    def describe(self) -> str:
        """Say it to a person."""
        return f"{self.sensitive} is {self.kind} {self.beta:g}-like the whole table in every class"
