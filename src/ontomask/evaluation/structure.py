"""The risks that follow from the classes of a paired table, before and after masking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Longs
from ontomask.brevity import Brief
from ontomask.data.schema import Date
from ontomask.evaluation.pairing import Paired, PairedColumn, tuple_groups
from ontomask.evaluation.persons import PersonRisk, person_risk
from ontomask.evaluation.risk import (
    IntervalDisclosure,
    SensitiveRisk,
    class_structure,
    interval_disclosure,
    of_persons,
    reidentification,
    sensitive_risk,
)

__all__ = ["ClassRisk", "class_risk", "disclosed_intervals"]


@dataclass(frozen=True)
class ClassRisk(Brief):
    """Classes of equal quasi-identifiers; an intruder finds a record with risk 1 / class size.

    Where persons are protected, sizes and shares are of persons, each with the record by which it
    is found most easily.
    """

    classes: int
    smallest_class: int
    average_class_size: float
    uniques: float
    highest_risk: float
    average_risk: float
    records_at_risk: float
    threshold: float
    sizes: tuple[tuple[int, int], ...]
    sensitive: tuple[SensitiveRisk, ...]
    persons: PersonRisk | None = None


def class_risk(paired: Paired, which: str, threshold: float) -> ClassRisk:
    """The risk of the original (`old`) or masked (`new`) values."""
    columns = paired.quasi()
    classes = np.zeros(len(paired), np.int64)
    if columns:
        _, classes = tuple_groups(columns, which)
    sizes = np.rint(np.bincount(classes, weights=paired.counts)).astype(np.int64)
    structure, found = class_structure(sizes), reidentification(sizes, sizes, threshold)
    persons = None
    if paired.units is not None and paired.schema.unit is not None:
        risks = person_risk(classes, paired.units)
        structure, found = of_persons(risks, threshold)
        persons = risks.summary(paired.schema.unit)
    return ClassRisk(
        classes=structure.classes,
        smallest_class=structure.smallest,
        average_class_size=structure.mean,
        uniques=structure.unique_share,
        highest_risk=found.highest,
        average_risk=found.average,
        records_at_risk=found.above,
        threshold=threshold,
        sizes=structure.histogram,
        sensitive=tuple(
            _sensitive(one, which, classes)
            for one in paired.columns.values()
            if one.column.role == "sensitive"
        ),
        persons=persons,
    )


def _sensitive(one: PairedColumn, which: str, classes: Longs) -> SensitiveRisk:
    if which == "old":
        return sensitive_risk(one.name, classes, one.old, one.sides.size + 1, *one.amounts)
    return sensitive_risk(one.name, classes, one.new, one.sides.released_size + 1, *one.amounts)


def disclosed_intervals(paired: Paired) -> tuple[tuple[str, IntervalDisclosure], ...]:
    """For each numeric column, how many masked numbers lie near the original.

    Dates are left out: a percentage of a number of days since some first day means nothing.
    """
    return tuple(
        (one.name, interval_disclosure(one.old_numbers, one.new_numbers, weights=paired.weights))
        for one in paired.columns.values()
        if one.old_numbers is not None
        and one.new_numbers is not None
        and not isinstance(one.column, Date)
    )
