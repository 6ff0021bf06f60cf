"""The risk of a table as it is: its classes and who could be found in them.

A class is the set of people who share their values of the quasi-identifiers; a missing value is a
value like any other. A record is a person, or as many as its count says; whom else it stands for by
a survey weight does not hide it. Prosecutor, journalist and marketer risk after El Emam, "Guide to
the De-Identification of Personal Health Information" (2013).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ontomask.arithmetic import log, summed_products
from ontomask.arrays import Floats, Ints, Longs
from ontomask.brevity import Brief
from ontomask.cards import card, table
from ontomask.checks import ListOf, Real, check
from ontomask.data.grouping import group_rows
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.persons import PersonRisk, PersonRisks, person_risk
from ontomask.evaluation.selection import chosen_columns
from ontomask.population import PopulationUniqueness, population_uniqueness
from ontomask.wording import terse_percent

__all__ = [
    "DEFINITIONS",
    "ClassStructure",
    "FileRisk",
    "IntervalDisclosure",
    "Reidentification",
    "SensitiveRisk",
    "class_structure",
    "count_in_population",
    "file_risk",
    "interval_disclosure",
    "of_persons",
    "reidentification",
    "sensitive_risk",
]

THRESHOLD = Real(0, 1, open_low=True)
WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2)
ROUNDING = 1e-12
"""Risks and intervals that exceed a bound by no more than this, relatively, are equal to it."""

DEFINITIONS: dict[str, str] = {
    "people": "records in the table, each as often as its count says",
    "classes": "number of different combinations of values of the quasi-identifiers",
    "smallest": "records in the smallest class (k of k-anonymity)",
    "largest": "records in the largest class",
    "mean": "records per class on average",
    "uniques": "records that are alone in their class",
    "unique_share": "share of records that are alone in their class",
    "histogram": "for each class size that occurs, how many classes have it",
    "prosecutor": (
        "1 / class size: risk of a person whom the intruder knows to be in the table (highest, "
        "average over records, share of records above the threshold)"
    ),
    "journalist": (
        "1 / size of the class in the population: risk of a person whom the intruder does not know "
        "to be in the table (highest, average over records, share of records above the threshold)"
    ),
    "marketer": (
        "expected share of records that an intruder links correctly who links them all: classes / "
        "records, or the average of 1 / size in the population where that is known"
    ),
    "distinct_l": "smallest number of different sensitive values in a class (distinct l-diversity)",
    "homogeneous": "share of records in classes that have a single sensitive value",
    "entropy_l": (
        "smallest exponential of the entropy of the sensitive values of a class (entropy "
        "l-diversity holds for l up to this)"
    ),
    "closeness_t": (
        "largest distance, 1/2 sum |p - q|, of the sensitive values of a class from those of the "
        "table, weighted where there are survey weights (t-closeness with equal ground distance)"
    ),
    "persons": (
        "risks of persons with several records: of the record by which each is found most easily, "
        "1 / persons in its class, and of all of them, 1 - prod(1 - r_i)"
    ),
    "interval_disclosure": (
        "share of known original numbers whose masked value lies within a share x of them"
    ),
}


@dataclass(frozen=True)
class ClassStructure(Brief):
    """The classes of the quasi-identifiers; see `DEFINITIONS` for each figure.

    Attributes
    ----------
    people
        People in the table: records, each as often as its count says.
    classes
        Number of classes.
    smallest, largest, mean
        People in the smallest, the largest and the average class.
    uniques, unique_share
        People alone in their class, and their share.
    histogram
        Pairs of a class size and the number of classes that have it, by size.
    """

    people: int
    classes: int
    smallest: int
    largest: int
    mean: float
    uniques: int
    unique_share: float
    histogram: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Reidentification:
    """The risk of being re-identified.

    Attributes
    ----------
    highest
        The greatest risk of a person.
    average
        The mean risk of all people.
    above
        The share of people whose risk exceeds the threshold.
    """

    highest: float
    average: float
    above: float


@dataclass(frozen=True)
class SensitiveRisk:
    """How much a class gives away of a sensitive column.

    Attributes
    ----------
    column
        The sensitive column; a missing value is a value like any other.
    distinct_l
        The smallest number of different values in a class.
    homogeneous
        The share of records whose class has a single value.
    entropy_l
        The smallest exponential of the entropy of a class.
    closeness_t
        The largest distance of a class from the whole table, 1/2 sum |p - q|.
    """

    column: str
    distinct_l: int
    homogeneous: float
    entropy_l: float
    closeness_t: float


@dataclass(frozen=True)
class FileRisk(Brief):
    """The risk of a table as it is; see `DEFINITIONS` for each figure.

    Attributes
    ----------
    columns
        The columns that an intruder may know.
    threshold
        The risk that people should not exceed.
    structure
        The classes.
    prosecutor, journalist
        The risks of re-identification; the latter needs class sizes in the population.
    marketer
        The expected share of people linked correctly.
    sensitive
        What the classes give away of each sensitive column.
    population
        Estimates of population uniqueness, if the sampling fraction was given.
    persons
        The risk of persons with all their records, where a column says whose each record is.
    """

    columns: tuple[str, ...]
    threshold: float
    structure: ClassStructure
    prosecutor: Reidentification
    journalist: Reidentification | None
    marketer: float
    sensitive: tuple[SensitiveRisk, ...]
    population: PopulationUniqueness | None
    persons: PersonRisk | None = None

    def as_dict(self) -> dict[str, Any]:
        """The figures as a dictionary."""
        return asdict(self)

    def _repr_html_(self) -> str:
        structure = self.structure
        facts = [
            ("known to an intruder", ", ".join(self.columns)),
            ("people", f"{structure.people:,} in {structure.classes:,} classes"),
            ("smallest class", f"{structure.smallest:,}"),
            (
                "alone in their class",
                f"{structure.uniques:,} ({terse_percent(structure.unique_share, 1)})",
            ),
            ("highest risk", f"{self.prosecutor.highest:.3g}"),
            ("average risk", f"{self.prosecutor.average:.3g}"),
            (f"share above {self.threshold:g}", terse_percent(self.prosecutor.above, 1)),
        ]
        rows = [
            (one.column, one.distinct_l, terse_percent(one.homogeneous, 1), one.closeness_t)
            for one in self.sensitive
        ]
        head = ["sensitive column", "least distinct", "in classes of one value", "largest distance"]
        return card("Risk of the table", facts, *([table(head, rows)] if rows else []))


def file_risk(
    microdata: Microdata,
    columns: Sequence[str] | None = None,
    *,
    threshold: float = 0.2,
    fraction: float | None = None,
    population_sizes: Sequence[int] | Longs | None = None,
) -> FileRisk:
    """Measure the risk of a table as it is.

    Parameters
    ----------
    microdata
        The encoded table.
    columns
        The columns that an intruder may know; the quasi-identifiers if None.
    threshold
        The risk that people should not exceed; 0.2 asks for classes of five.
    fraction
        The share of the population that is in the table, to estimate population uniqueness.
    population_sizes
        For each record, how many people of the population share its values of the columns, as
        counted by `count_in_population`.
    """
    check("threshold", threshold, THRESHOLD)
    chosen = chosen_columns(microdata, columns)
    tuples = microdata.tuples(chosen)
    sizes = _whole(tuples.counts)
    journalist = _journalist(tuples, sizes, population_sizes, threshold)
    structure, prosecutor = class_structure(sizes), reidentification(sizes, sizes, threshold)
    persons = None
    if microdata.units is not None and microdata.schema.unit is not None:
        risks = person_risk(tuples.places, microdata.units)
        structure, prosecutor = of_persons(risks, threshold)
        persons = risks.summary(microdata.schema.unit)
    return FileRisk(
        columns=chosen,
        threshold=float(threshold),
        structure=structure,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=prosecutor.average if journalist is None else journalist.average,
        sensitive=tuple(_sensitive_risks(microdata, tuples)),
        population=None if fraction is None else population_uniqueness(sizes, fraction),
        persons=persons,
    )


def of_persons(risks: PersonRisks, threshold: float) -> tuple[ClassStructure, Reidentification]:
    """Classes and risks where persons may be in several classes: each counts once."""
    alone, each = int(np.count_nonzero(risks.single == 1.0)), np.ones(risks.single.size, np.int64)
    structure = replace(
        class_structure(risks.sizes),
        people=each.size,
        uniques=alone,
        unique_share=alone / each.size,
    )
    return structure, reidentification(each, 1.0 / risks.single, threshold)


def class_structure(sizes: Longs) -> ClassStructure:
    """Describe classes by the number of people in each."""
    found, counts = np.unique(sizes, return_counts=True)
    people, uniques = int(sizes.sum()), int(np.count_nonzero(sizes == 1))
    return ClassStructure(
        people=people,
        classes=sizes.size,
        smallest=int(found[0]),
        largest=int(found[-1]),
        mean=people / sizes.size,
        uniques=uniques,
        unique_share=uniques / people,
        histogram=tuple(zip(found.tolist(), counts.tolist(), strict=True)),
    )


def _whole(weights: Floats) -> Longs:
    return np.rint(weights).astype(np.int64)


# Re-identification ----------------------------------------------------------------------------


def reidentification(sizes: Longs, among: Longs | Floats, threshold: float) -> Reidentification:
    """The risk 1 / among of each class, where so many people of the table are in the classes."""
    people = sizes.sum()
    risks = 1.0 / among
    exceeding = risks > threshold * (1 + ROUNDING)
    return Reidentification(
        highest=float(risks.max()),
        average=summed_products(sizes, risks) / float(people),
        above=float(sizes[exceeding].sum() / people),
    )


def _journalist(
    tuples: Tuples,
    sizes: Longs,
    population_sizes: Sequence[int] | Longs | None,
    threshold: float,
) -> Reidentification | None:
    if population_sizes is None:
        return None
    given = np.asarray(population_sizes)
    if given.shape != tuples.places.shape:
        raise ParameterError(
            f"population_sizes must hold a number for each of the {tuples.places.size} records, "
            f"not {given.size} of them; count_in_population counts them."
        )
    among = np.zeros(len(tuples), given.dtype)
    among[tuples.places] = given
    if (among[tuples.places] != given).any():
        raise ParameterError(
            "population_sizes must be equal for records that share their values of the columns; "
            "count the population over the same columns."
        )
    _refuse_small_population(sizes, among)
    return reidentification(sizes, among, threshold)


def _refuse_small_population(sizes: Longs, among: Longs) -> None:
    wrong = int(np.count_nonzero(~(among >= sizes)))
    if wrong:
        raise ParameterError(
            f"population_sizes must be at least the size of the class in the table, but {wrong} of "
            f"{sizes.size} classes have fewer people in the population; give a population that "
            "holds the people of the table, with values written alike."
        )


def count_in_population(
    microdata: Microdata, population: Microdata, columns: Sequence[str] | None = None
) -> Longs:
    """For each record, how many people of a population table share its values of the columns.

    Values are compared by what they mean: concepts by id, numbers and dates by value, other values
    as they are written; a missing value equals a missing value.
    """
    chosen = chosen_columns(microdata, columns)
    chosen_columns(population, chosen)
    ours, theirs = microdata.tuples(chosen), population.tuples(chosen)
    pairs = [(microdata[name], population[name]) for name in chosen]
    translated = np.array(
        [_translated(*pair)[codes] for pair, codes in zip(pairs, theirs.codes, strict=True)]
    )
    known = np.all(translated >= 0, axis=0)
    joined = np.concatenate([ours.codes, translated[:, known].astype(np.int32)], axis=1)
    sizes = [one.size + 1 for one, _ in pairs]
    places = group_rows(list(joined), sizes)[1]
    people = np.concatenate([np.zeros(len(ours)), theirs.weights[known]])
    counts = _whole(np.bincount(places, weights=people).astype(np.float64))
    return counts[places[: len(ours)]][ours.places]


def _translated(ours: Attribute, theirs: Attribute) -> Ints:
    """For each code of their column ours for the same value, -1 where we do not have it."""
    places = {key: code for code, key in enumerate(ours.domain.meanings())}
    codes = [places.get(key, -1) for key in theirs.domain.meanings()]
    codes.append(ours.size if ours.has_missing else -1)
    return np.array(codes, np.int32)


# Sensitive columns ----------------------------------------------------------------------------


def _sensitive_risks(microdata: Microdata, tuples: Tuples) -> list[SensitiveRisk]:
    names = [
        name
        for name in microdata.attributes
        if microdata.schema[name].role == "sensitive" and name not in tuples.names
    ]
    return [
        sensitive_risk(
            name,
            tuples.places,
            microdata[name].codes,
            microdata[name].cardinality,
            microdata.counts,
            microdata.weights,
        )
        for name in names
    ]


def sensitive_risk(
    name: str, classes: Longs, codes: Ints, cardinality: int, counts: Floats, weights: Floats
) -> SensitiveRisk:
    """Diversity and closeness of the classes, from the pairs of class and value that occur.

    Diversity counts records; closeness compares distributions, which are those of people.
    """
    found, places = np.unique(classes * cardinality + codes, return_inverse=True)
    owners, values = found // cardinality, found % cardinality
    mixture, shares = (
        np.bincount(places, weights=amounts) / np.bincount(classes, weights=amounts)[owners]
        for amounts in (counts, weights)
    )
    values_of_class = np.bincount(owners)
    entropies = -np.bincount(owners, weights=mixture * log(mixture))
    # Values that a class does not have add their share q, so 1/2 sum |p - q| starts from sum q = 1.
    q = (np.bincount(codes, weights=weights, minlength=cardinality) / weights.sum())[values]
    distances = 0.5 * (1.0 + np.bincount(owners, weights=np.abs(shares - q) - q))
    return SensitiveRisk(
        column=name,
        distinct_l=int(values_of_class.min()),
        homogeneous=float(counts[values_of_class[classes] == 1].sum() / counts.sum()),
        entropy_l=float(math.exp(max(0.0, entropies.min()))),
        closeness_t=float(distances.max()),
    )


# Numeric columns ------------------------------------------------------------------------------


@dataclass(frozen=True)
class IntervalDisclosure(Brief):
    """How near masked numbers are to the original ones.

    Attributes
    ----------
    widths
        The widths x of the interval, as shares of the original value.
    shares
        For each of them, the share of known original numbers whose masked value lies within x of
        them; None if no original number is known.
    people
        How many original numbers are known, with their weights.
    """

    widths: tuple[float, ...]
    shares: tuple[float, ...] | None
    people: float

    def as_dict(self) -> Mapping[str, Any]:
        """The figures as a dictionary."""
        return asdict(self)


def interval_disclosure(
    original: Sequence[float] | Floats,
    masked: Sequence[float] | Floats,
    widths: Sequence[float] = WIDTHS,
    *,
    weights: Sequence[float] | Floats | None = None,
) -> IntervalDisclosure:
    """Share of masked numbers within a share x of the original: |y - x0| <= x |x0|.

    Original numbers that are missing are left out; a number that is missing only in the masked
    column is disclosed at no width. Zero is disclosed by zero alone.

    Examples
    --------
    >>> before, after = [100, 200, 300, 400], [100, 210, 360, 800]
    >>> disclosure = om.measuring.interval_disclosure(before, after, [0.01, 0.05, 0.2])
    >>> dict(zip(disclosure.widths, disclosure.shares))
    {0.01: 0.25, 0.05: 0.5, 0.2: 0.75}
    """
    check("widths", widths, ListOf(Real(0), empty=False))
    before, after = np.asarray(original, np.float64), np.asarray(masked, np.float64)
    people = np.ones(before.size) if weights is None else np.asarray(weights, np.float64)
    if not before.shape == after.shape == people.shape:
        raise DataError(
            f"Original and masked numbers must correspond one to one, but there are {before.size} "
            f"and {after.size} of them (and {people.size} weights); compare the same records."
        )
    known = ~np.isnan(before)
    total = float(people[known].sum())
    moved, size = np.abs(after - before)[known], np.abs(before)[known]
    near = [moved <= one * size * (1 + ROUNDING) for one in widths]
    shares = tuple(float(people[known][one].sum() / total) for one in near) if total else None
    return IntervalDisclosure(tuple(map(float, widths)), shares, total)
