"""The risk of persons who have several records in a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arithmetic import expm1, log1p
from ontomask.arrays import Floats, Longs
from ontomask.data.microdata import Owners

__all__ = ["PersonRisk", "PersonRisks", "person_risk"]


@dataclass(frozen=True)
class PersonRisk:
    """What the classes of a table say of whole persons (households, …) with all their records.

    Attributes
    ----------
    unit
        The column that says whose record it is.
    persons
        How many there are.
    highest, average
        The risk of the record by which a person is found most easily, 1 / persons in its class.
    joined_highest, joined_average
        The risk that any of a person's records is found, 1 - prod(1 - r_i): for an intruder who
        tries them all, as with the members of a household.
    """

    unit: str
    persons: int
    highest: float
    average: float
    joined_highest: float
    joined_average: float


@dataclass(frozen=True, eq=False)
class PersonRisks:
    """For each class how many persons it has, and for each person two risks."""

    sizes: Longs
    single: Floats
    joined: Floats

    def summary(self, unit: str) -> PersonRisk:
        """The risks of all persons in a few figures."""
        return PersonRisk(
            unit,
            self.single.size,
            float(self.single.max()),
            float(self.single.mean()),
            float(self.joined.max()),
            float(self.joined.mean()),
        )


def person_risk(classes: Longs, units: Longs) -> PersonRisks:
    """The risks of persons, given the class and the person of each record.

    An intruder who knows a record of a person guesses among the persons of its class.
    """
    sizes = Owners.of(classes, units, int(classes.max()) + 1).counts
    _, whose = np.unique(units, return_inverse=True)
    risks = 1.0 / sizes[classes]
    single = np.zeros(int(whose.max()) + 1)
    np.maximum.at(single, whose, risks)
    with np.errstate(divide="ignore"):
        joined = -expm1(np.bincount(whose, weights=log1p(-risks)))
    return PersonRisks(sizes.astype(np.int64), single, joined.astype(np.float64))
