"""A made-up table of hospital discharges to try things on.

Nobody in it exists. Diagnoses and procedures are real ICD-9-CM codes; how often they occur, in whom
and what follows from them is set by the small tables below and in `demo_files`, written for this
purpose to look like the discharges of general hospitals, and is no statistic of any real ones.

`demo_files/diagnoses.csv` says of each principal diagnosis how often it occurs (`weight`), how many
percent of the patients are women, which age profile they have, the typical stay in days, the
percentage who die, and with what percentage (`treated`) a procedure of which group follows;
`demo_files/procedures.csv` lists the groups, with the days and the charge that a procedure adds.
"""

from __future__ import annotations

import csv
import datetime
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontomask.arithmetic import cosine, exp, log, log1p
from ontomask.arrays import Bools, Floats, Longs
from ontomask.checks import Integer, checked

__all__ = ["discharges"]

Objects = NDArray[np.object_]

FILES = Path(__file__).parent / "demo_files"

AGE_SHARES = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
AGE_PROFILES = {
    "newborn": (0, 0, 0, 0, 0, 0, 0),
    "infant": (0, 0.1, 0.6, 1.4, 2.7, 4.5, 6),
    "child": (1, 2.5, 6, 10, 14, 17, 19),
    "young": (5, 15, 21, 28, 38, 52, 70),
    "mother": (14, 19, 23.5, 28, 33, 39, 46),
    "adult": (16, 23, 35, 46, 56, 72, 88),
    "middle": (20, 37, 52, 61, 70, 82, 95),
    "older": (28, 48, 63, 73, 81, 90, 101),
    "aged": (50, 65, 77, 83, 88, 94, 104),
    "any": (0, 3, 21, 46, 68, 87, 99),
}
"""Ages below which the `AGE_SHARES` of the patients of a profile lie; linear in between."""

COUNTIES = ("Ashford", "Brookvale", "Clearwater", "Dunmore", "Elmhurst", "Fairhaven", "Granite")
COUNTY_SHARES = (0.34, 0.22, 0.15, 0.11, 0.09, 0.06, 0.03)
COUNTY_SHARES_OF_ELDERLY = (0.27, 0.20, 0.14, 0.11, 0.08, 0.16, 0.04)
ELDERLY = 65

FIRST_DAY = datetime.date(2008, 1, 1)
DAYS = 3 * 365 + 1
WEEKDAYS = (1.18, 1.14, 1.10, 1.08, 1.02, 0.76, 0.72)
"""Admissions from Monday to Sunday, relative to an average day."""

WINTER = 0.04
WINTER_OF_LUNGS = 0.35
"""By how much admissions rise in mid-January and fall in mid-July, by cause."""

STAY_SPREAD = 0.55
STAY_OF_OLDEST = 0.25

HOME_CARE, NURSING, OTHER_HOSPITAL, AGAINST_ADVICE, DIED = range(1, 6)
STATUSES = (
    "home",
    "home care",
    "nursing facility",
    "other hospital",
    "left against advice",
    "died",
)

HARD_TO_WALK = ("knee", "hip", "hip revision", "hip fracture", "thigh fracture", "rehabilitation")
"""Groups of procedures, named by a diagnosis, after which many need care for some weeks."""

CHARGE_OF_ADMISSION = 2400.0
CHARGE_OF_DAY = 1900.0
CHARGE_OF_HEALTHY_NEWBORN = 0.3
CHARGE_SPREAD = 0.35


class Columns(dict[str, list[object]]):
    """The columns of a table by name; printed as what they are, not with every value."""

    def __repr__(self) -> str:
        records = len(next(iter(self.values()), []))
        return f"{{columns of {records:,} records: {', '.join(self)}}}"


@checked(records=Integer(1), seed=Integer(0))
def discharges(records: int = 5000, seed: int = 1) -> Columns:
    """Make a synthetic table of hospital discharges, one per patient.

    Parameters
    ----------
    records
        How many discharges.
    seed
        The same seed gives the same table.

    Returns
    -------
    dict[str, list]
        The columns by name, ready for any data frame: `patient` (an identifier), `sex`, `age` in
        years, `county`, `admission_date`, `diagnosis` and `procedure` (ICD-9-CM codes; None where
        nothing was done), `length_of_stay` in days, `status` at discharge and `charge` in dollars.

    Examples
    --------
    >>> table = om.discharges(1000, seed=7)
    >>> list(table)[:4]
    ['patient', 'sex', 'age', 'county']
    >>> len(table["age"])
    1000
    """
    random = np.random.default_rng(seed)
    diagnoses, procedures = _diagnoses(), _procedures()
    diagnosis = _drawn(random, diagnoses.weight, records)
    female = random.random(records) < diagnoses.women[diagnosis]
    age = _ages(random, diagnoses.profile[diagnosis])
    procedure = _treatments(random, diagnosis, female)
    stay = _stays(random, diagnosis, procedure, age)
    columns = {
        "patient": _patients(random, records),
        "sex": np.where(female, "F", "M"),
        "age": age,
        "county": _counties(random, age),
        "admission_date": _admissions(random, diagnoses.lungs[diagnosis]),
        "diagnosis": diagnoses.code[diagnosis],
        "procedure": procedures.code[procedure],
        "length_of_stay": stay,
        "status": _statuses(random, diagnosis, age, stay),
        "charge": _charges(random, diagnosis, procedure, stay),
    }
    return Columns((name, column.tolist()) for name, column in columns.items())


@dataclass(frozen=True, eq=False)
class _Diagnoses:
    """The table of diagnoses, one array per column; percentages as shares."""

    code: Objects
    weight: Floats
    women: Floats
    profile: Longs
    stay: Floats
    death: Floats
    group: Objects
    treated: Floats

    @functools.cached_property
    def lungs(self) -> Bools:
        """Whether a diagnosis is a disease of the respiratory system (460–519)."""
        return np.array(["460" <= code < "520" for code in self.code])

    @functools.cached_property
    def hard_to_walk(self) -> Bools:
        """Whether patients will not walk easily when they leave."""
        return np.isin(self.group.astype(str), HARD_TO_WALK)

    @functools.cached_property
    def healthy_newborn(self) -> Bools:
        """Whether a diagnosis is a birth and nothing else (V30–V39)."""
        return np.array([code.startswith("V3") for code in self.code])


@dataclass(frozen=True, eq=False)
class _Procedures:
    """The table of procedures, one array per column; the last row is no procedure at all."""

    group: Objects
    code: Objects
    weight: Floats
    days: Floats
    cost: Floats

    def of(self, group: str) -> Longs:
        """The rows of a group."""
        return np.flatnonzero(self.group == group)


def _read(name: str) -> dict[str, list[str]]:
    with (FILES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: [row[column] for row in rows] for column in rows[0]}


def _numbers(texts: Sequence[str]) -> Floats:
    return np.array([float(text) for text in texts])


@functools.cache
def _diagnoses() -> _Diagnoses:
    table = _read("diagnoses.csv")
    profiles = list(AGE_PROFILES)
    return _Diagnoses(
        code=np.array(table["code"], object),
        weight=_numbers(table["weight"]),
        women=_numbers(table["women"]) / 100,
        profile=np.array([profiles.index(name) for name in table["ages"]]),
        stay=_numbers(table["stay"]),
        death=_numbers(table["death"]) / 100,
        group=np.array(table["procedures"], object),
        treated=_numbers(table["treated"]) / 100,
    )


@functools.cache
def _procedures() -> _Procedures:
    table = _read("procedures.csv")
    return _Procedures(
        group=np.array([*table["group"], ""], object),
        code=np.array([*table["code"], None], object),
        weight=_numbers([*table["weight"], "1"]),
        days=_numbers([*table["days"], "0"]),
        cost=_numbers([*table["cost"], "0"]),
    )


def _drawn(random: np.random.Generator, weights: Floats | Sequence[float], size: int) -> Longs:
    """Draw positions with probabilities in proportion to the weights."""
    steps = np.cumsum(np.asarray(weights, float))
    drawn: Longs = np.searchsorted(steps, random.random(size) * steps[-1], side="right")
    return drawn


def _named(names: Sequence[str], places: Longs) -> Objects:
    return np.array(names, object)[places]


def _patients(random: np.random.Generator, records: int) -> Objects:
    numbers = random.choice(max(1_000_000, 10 * records), size=records, replace=False)
    return np.array([f"P{number:06d}" for number in numbers.tolist()], object)


def _ages(random: np.random.Generator, profile: Longs) -> Longs:
    place = random.random(profile.size)
    ages = np.zeros(profile.size)
    for number, limits in enumerate(AGE_PROFILES.values()):
        chosen = profile == number
        ages[chosen] = np.interp(place[chosen], AGE_SHARES, limits)
    return ages.astype(np.int64)


def _counties(random: np.random.Generator, age: Longs) -> Objects:
    """Draw counties; the elderly live by the sea more often than others."""
    younger = _drawn(random, COUNTY_SHARES, age.size)
    elderly = _drawn(random, COUNTY_SHARES_OF_ELDERLY, age.size)
    return _named(COUNTIES, np.where(age >= ELDERLY, elderly, younger))


def _admissions(random: np.random.Generator, lungs: Bools) -> Objects:
    """Draw days of admission: fewer at weekends, more in winter, above all for the lungs."""
    days = np.array([FIRST_DAY + datetime.timedelta(day) for day in range(DAYS)], object)
    weekday = np.array([WEEKDAYS[day.weekday()] for day in days])
    season = cosine(2 * np.pi * (np.arange(DAYS) - 14) / 365.25)
    usual = _drawn(random, weekday * (1 + WINTER * season), lungs.size)
    of_lungs = _drawn(random, weekday * (1 + WINTER_OF_LUNGS * season), lungs.size)
    return days[np.where(lungs, of_lungs, usual)]


def _treatments(random: np.random.Generator, diagnosis: Longs, female: Bools) -> Longs:
    """Draw rows of the table of procedures, from the group of the diagnosis."""
    diagnoses, procedures = _diagnoses(), _procedures()
    group = diagnoses.group[diagnosis]
    group[(group == "newborn") & ~female] = "newborn boy"
    group[random.random(diagnosis.size) >= diagnoses.treated[diagnosis]] = ""
    treatment = np.empty(diagnosis.size, np.int64)
    for name in sorted(set(procedures.group)):
        chosen, rows = np.flatnonzero(group == name), procedures.of(name)
        treatment[chosen] = rows[_drawn(random, procedures.weight[rows], chosen.size)]
    return treatment


def _stays(random: np.random.Generator, diagnosis: Longs, procedure: Longs, age: Longs) -> Longs:
    """Draw whole days, skewed to the right; procedures and old age prolong the stay."""
    typical = _diagnoses().stay[diagnosis] + _procedures().days[procedure]
    typical = typical * (1 + STAY_OF_OLDEST * np.clip((age - ELDERLY) / 30, 0, 1))
    healthy = _diagnoses().healthy_newborn[diagnosis]
    spread = np.where(healthy, STAY_SPREAD / 2, STAY_SPREAD)
    return np.rint(typical * exp(spread * random.standard_normal(age.size))).astype(np.int64)


def _statuses(random: np.random.Generator, diagnosis: Longs, age: Longs, stay: Longs) -> Objects:
    """Draw where patients go: most home, the old and long-staying to care, some die.

    The states compete by scores (log odds against going home, a multinomial logit drawn by the
    Gumbel maximum).
    """
    death = np.clip(_diagnoses().death[diagnosis], 1e-5, None)
    old, days = np.clip((age - 70) / 10, -3, 3), log1p(stay)
    walking = _diagnoses().hard_to_walk[diagnosis]
    scores = np.zeros((age.size, len(STATUSES)))
    scores[:, HOME_CARE] = -2.8 + 0.4 * old + 0.7 * days + 1.0 * walking
    scores[:, NURSING] = -3.5 + 0.9 * old + 0.95 * days + 1.5 * walking
    scores[:, OTHER_HOSPITAL] = -3.9 + 0.2 * old - 0.1 * days
    scores[:, AGAINST_ADVICE] = -4.6 - 0.35 * old - 0.4 * days
    scores[:, DIED] = log(death / (1 - death)) + 0.5 + 0.45 * old + 0.25 * days
    children = age < 18
    scores[children, AGAINST_ADVICE] = scores[children, NURSING] = -np.inf
    chosen = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    return _named(STATUSES, chosen)


def _charges(
    random: np.random.Generator, diagnosis: Longs, procedure: Longs, stay: Longs
) -> Floats:
    """Draw charges, lognormal around what admission, days and procedure cost; in whole cents."""
    care = CHARGE_OF_ADMISSION + CHARGE_OF_DAY * (stay + 0.5)
    healthy = _diagnoses().healthy_newborn[diagnosis]
    care = np.where(healthy, CHARGE_OF_HEALTHY_NEWBORN * care, care)
    typical = care + _procedures().cost[procedure]
    factor = exp(CHARGE_SPREAD * random.standard_normal(stay.size))
    return np.round(typical * factor, 2)
