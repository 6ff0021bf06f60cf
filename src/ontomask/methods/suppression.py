"""Suppression: leave out, or star, what stands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arrays import Bools, Floats, different
from ontomask.checks import Integer
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata, Tuples
from ontomask.errors import MethodError
from ontomask.methods.base import (
    Context,
    Method,
    Paced,
    Strata,
    check_columns,
    check_k,
    class_size,
    register,
)
from ontomask.methods.stars import starred_cells

__all__ = ["LocalSuppression", "Suppression"]


@register
@dataclass(frozen=True)
class Suppression(Method):
    """Leave out the records whose quasi-identifiers are shared by fewer than k: the naive way.

    `outliers="drop"` removes them from the release; `"star"` keeps them with all quasi-identifiers
    missing, provided that at least k are starred (records of the smallest classes are added).

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Reus", "Reus", "Tarragona", "Tarragona", "Falset"]})
    >>> release = om.protect(table, om.Schema(city=om.Flat()), om.Suppression(k=2))
    >>> release.frame["city"].to_list(), release.left_out
    (['Reus', 'Reus', 'Tarragona', 'Tarragona'], 1)
    """

    name: ClassVar[str] = "suppression"

    k: Annotated[int, Integer(2), "Records in classes smaller than k are suppressed."]
    outliers: Annotated[Literal["drop", "star"], "`drop` or `star`, as above."] = "drop"
    strata: Strata = ()

    @property
    def leaves_out(self) -> bool:
        """Records that stand out, unless they are starred."""
        return self.outliers == "drop"

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Suppress the records in classes smaller than k."""
        check_k(self.k, microdata)
        tuples = microdata.tuples()
        outlying = tuples.counts < self.k
        if self.outliers == "star":
            outlying = _enough_stars(outlying, tuples, self.k)
        suppressed = outlying[tuples.places]
        if suppressed.all():
            raise MethodError(
                f"Every record is in a class smaller than k = {self.k}; suppression would leave "
                "nothing. Choose a smaller k or a method that changes values."
            )
        promise = class_size(self.k, microdata)
        details = {"suppressed": int(microdata.counts[suppressed].sum())}
        if self.outliers == "drop":
            known = KnownTuples.of(microdata, ~suppressed)
            return Masked({}, (promise,), tuples.places, ~suppressed, known, details=details)
        columns = {name: microdata[name].starred(suppressed) for name in microdata.quasi}
        return Masked(columns, (promise,), tuples.places, details=details)


@dataclass(frozen=True, eq=False)
class KnownTuples:
    """The scheme of suppression: a record not seen stays if its combination was released.

    It holds the released combinations, each once, and nothing of the records.
    """

    names: tuple[str, ...]
    combinations: frozenset[tuple[object, ...]]

    @classmethod
    def of(cls, microdata: Microdata, kept: Bools) -> KnownTuples:
        """Remember the combinations of the kept records."""
        names = microdata.quasi
        return cls(names, frozenset(_combinations(microdata.subset(kept), names)))

    def apply(self, microdata: Microdata) -> Masked:
        """Leave out the records whose combination is not among the released ones."""
        found = _combinations(microdata, self.names)
        places = microdata.tuples(self.names).places
        known = np.array([one in self.combinations for one in found], bool)
        return Masked({}, kept=known[places])


def _combinations(microdata: Microdata, names: tuple[str, ...]) -> list[tuple[object, ...]]:
    """The distinct combinations of what values mean, in the order of the tuples."""
    codes = microdata.tuples(names).codes
    columns = [(*microdata[name].domain.meanings(), None) for name in names]
    return [
        tuple(column[code] for column, code in zip(columns, combination, strict=True))
        for combination in codes.T.tolist()
    ]


@register
@dataclass(frozen=True)
class LocalSuppression(Method):
    """Star single cells, as few as possible, until every combination is shared by at least k.

    A star matches nothing but a star. `importance` gives columns that should keep their values a
    larger weight (1 each by default).

    Examples
    --------
    >>> table = pl.DataFrame({"sex": ["m", "m", "f", "f"], "age": [30, 30, 30, 41]})
    >>> schema = om.Schema(sex=om.Flat(), age=om.Numeric())
    >>> release = om.protect(table, schema, om.LocalSuppression(k=2, importance={"sex": 2}))
    >>> release.frame["age"].to_list(), release.details[0]["cells"]
    ([30, 30, None, None], 2)
    """

    name: ClassVar[str] = "local-suppression"

    k: Annotated[int, Integer(2), "The least size of a class."]
    importance: Annotated[
        Mapping[str, float], "For columns that should keep their values, a number above 1."
    ] = field(default_factory=dict)
    strata: Strata = ()

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Star cells of the quasi-identifiers."""
        check_k(self.k, microdata)
        check_columns(tuple(self.importance), microdata, "importance")
        records = microdata.records()
        costs = np.array([float(self.importance.get(name, 1.0)) for name in records.names])
        if (costs <= 0).any():
            raise MethodError("importance must be greater than 0 for every column.")

        tell = Paced(context.progress)

        def report(share: float) -> None:
            tell(lambda: (share, "starring cells"))

        counts = _counted_once(microdata)
        cells = starred_cells(records.codes, counts, costs, self.k, report)
        columns = {
            name: microdata[name].starred(cells[:, place])
            for place, name in enumerate(records.names)
        }
        by_column = dict(zip(records.names, cells.sum(axis=0).tolist(), strict=True))
        details = {"cells": int(cells.sum()), "cells_by_column": by_column}
        return Masked(columns, (class_size(self.k, microdata),), details=details)


def _counted_once(microdata: Microdata) -> Floats:
    """How much each record counts: every person once, in the first of the records.

    Groups then have at least as many persons as they count, however they are formed.
    """
    if microdata.units is None:
        return microdata.counts
    once = np.zeros(len(microdata))
    once[np.unique(microdata.units, return_index=True)[1]] = 1.0
    return once


def _enough_stars(outlying: Bools, tuples: Tuples, k: int) -> Bools:
    """Star the smallest further classes until no starred record stands out."""
    chosen = outlying.copy()
    order = np.argsort(tuples.counts, kind="stable")
    for place in order:
        total = _together(tuples, chosen)
        if total == 0.0 or total >= k:
            break
        chosen[place] = True
    return chosen


def _together(tuples: Tuples, chosen: Bools) -> float:
    """How many records, or persons, some tuples have together."""
    if tuples.units is None:
        return float(tuples.counts[chosen].sum())
    owned = np.repeat(chosen, np.diff(tuples.units.starts))
    return float(different(tuples.units.units[owned]).size)
