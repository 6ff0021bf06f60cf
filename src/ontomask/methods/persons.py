"""Several records of one person: what of them never changes, and is masked once.

A column that is constant within persons (sex, date of birth) must come out constant, or a person
would appear with two sexes. Where all quasi-identifiers are constant, persons are clustered, not
records. Where some are, persons are first put into classes by the constant columns alone, so that
each class has k of them; records are then clustered by all columns inside these classes, and the
constant columns take the centroid of the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ontomask.arrays import Ints, Longs, different
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError
from ontomask.methods.base import refuse_units
from ontomask.privacy import (
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NoAttack,
    PrivacyModel,
    Profitability,
    TCloseness,
)

__all__ = ["constant_columns", "one_each", "refuse_counting_records", "refuse_links"]

COUNTING_PERSONS = (
    *(KAnonymity, NoAttack, Profitability),
    *(LDiversity, TCloseness, DeltaDisclosure, BetaLikeness),
)
"""Models that can be kept where persons have several records: they count persons, or values."""

LINKED = 0.5
"""A column that joins the records of so many of the persons who have several is a pseudonym."""


def constant_columns(microdata: Microdata) -> tuple[str, ...]:
    """The quasi-identifiers that have one value in all records of a person."""
    if microdata.units is None:
        return ()
    _, firsts, places = np.unique(microdata.units, return_index=True, return_inverse=True)
    if firsts.size == len(microdata):
        return ()
    return tuple(
        name
        for name in microdata.quasi
        if np.array_equal(microdata[name].codes[firsts][places], microdata[name].codes)
    )


def refuse_links(attribute: Attribute, microdata: Microdata) -> None:
    """Refuse to publish what joins the records of a person, as they are, in a column."""
    if microdata.units is None or microdata.schema.sequences:
        return
    if _linked(attribute.codes, microdata.units) <= LINKED:
        return
    raise MethodError(
        f"Column {attribute.name!r} would join the records of single persons (it has a value of "
        f"its own for most of those who have several by {microdata.schema.unit!r}), and persons "
        "whose every record is shared by k others need not be alike when theirs are joined; do not "
        "publish it (declare it as Identifier, or leave it out), or have persons masked with all "
        f"their records: Identifier(unit=True, sequences=True) for {microdata.schema.unit!r}, in a "
        "plan sequences = true."
    )


def _linked(codes: Ints, units: Longs) -> float:
    """Of the persons with several records, the share who have one value that nobody else has."""
    size = int(codes.max()) + 1
    pairs = different(units * size + codes)
    whose, values = pairs // size, pairs % size
    own = (np.bincount(whose)[whose] == 1) & (np.bincount(values)[values] == 1)
    several = np.bincount(units) > 1
    return float(several[whose[own]].sum() / max(1, several.sum()))


def refuse_counting_records(microdata: Microdata, privacy: Sequence[PrivacyModel]) -> None:
    """Refuse models that count records, where persons are to be protected."""
    for model in privacy:
        if model.needs_population or not isinstance(model, COUNTING_PERSONS):
            refuse_units(microdata, f"{type(model).__name__} counts records", "use KAnonymity")


def one_each(microdata: Microdata, names: tuple[str, ...]) -> tuple[Microdata, Longs]:
    """One record for each person, with only these quasi-identifiers; and whose each record is."""
    assert microdata.units is not None
    _, firsts, places = np.unique(microdata.units, return_index=True, return_inverse=True)
    attributes = {
        name: replace(microdata[name], codes=microdata[name].codes[firsts]) for name in names
    }
    persons = replace(
        microdata,
        attributes=attributes,
        counts=np.ones(firsts.size),
        weights=np.bincount(places, microdata.weights).astype(np.float64),
        rows=microdata.rows[firsts],
        units=None,
    )
    return persons, places.astype(np.int64)
