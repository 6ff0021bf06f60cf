"""Differentially private generalization: sampling, a scheme that does not look, no small classes.

After Bild, Kuhn and Prasser, "SafePub: a truthful data anonymization algorithm with strong privacy
guarantees" (2018). All random choices come from the operating system's cryptographic generator.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from ontomask.arithmetic import exp
from ontomask.arrays import Bools, Floats, Longs
from ontomask.checks import ListOf, Real, Typed, did_you_mean
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Context, Method, refuse_units, register
from ontomask.methods.generalization.encoding import (
    EncodedColumn,
    default_hierarchies,
    encode_columns,
)
from ontomask.methods.generalization.problem import distinct_rows
from ontomask.privacy.differential import least_class, sampling_probability
from ontomask.promises import DifferentialPrivacy

__all__ = ["PrivateGeneralization", "drawn", "scheme_chances"]

Scheme = dict[str, int]


@register
@dataclass(frozen=True)
class PrivateGeneralization(Method):
    """Publish a differentially private sample of generalized records.

    Whether any one record is in the table hardly changes what may come out: the odds of every
    outcome change by a factor of at most e^epsilon, up to a probability of delta. Values are true,
    but general; records are shuffled. Every run is different, whatever the seed.

    Examples
    --------
    >>> table = pl.DataFrame({"sex": ["m", "f"] * 200})
    >>> rows = [["m", "*"], ["f", "*"]]
    >>> method = om.PrivateGeneralization(1.0, 1e-3, [{"sex": 0}], hierarchies={"sex": rows})
    >>> method.k, round(method.beta, 2)
    (34, 0.63)
    >>> set(om.protect(table, om.Schema(sex=om.Flat()), method).frame["sex"]) <= {"m", "f"}
    True
    """

    name: ClassVar[str] = "private-generalization"
    repeatable: ClassVar[bool] = False

    epsilon: Annotated[
        float,
        Real(0, 20, open_low=True),
        "How much a single record may change what is released: the smaller, the stronger the "
        "protection. With `delta` it gives the sampling probability and the least class.",
    ]
    delta: Annotated[
        float,
        Real(0, 0.1, open_low=True),
        "How probable it may be that this does not hold: the smaller, the stronger; usually "
        "less than one over the number of records.",
    ]
    schemes: Annotated[
        tuple[Mapping[str, int], ...] | list[Mapping[str, int]],
        ListOf(Typed(Mapping, "a mapping of columns to levels"), empty=False),
        "The level of every quasi-identifier's hierarchy, chosen without a look at the table; "
        "of several schemes one is drawn, those that lose less being more probable.",
    ]
    search_epsilon: Annotated[
        float,
        Real(0, 20),
        "The part of epsilon that is spent on that draw, where there are several schemes.",
    ] = 0.0
    hierarchies: Annotated[
        Mapping[str, Any],
        Typed(Mapping, "a mapping of columns to hierarchies"),
        "For each column a file, rows or a `Hierarchy`, none that is built from the values.",
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, given in self.hierarchies.items():
            if isinstance(given, Mapping):
                raise MethodError(
                    f"The hierarchy of {name!r} would be built from the values of the table, which "
                    "a differentially private release must not depend on; give a file or rows."
                )
        several = len(self.schemes) > 1
        if several != (self.search_epsilon > 0) or self.search_epsilon >= self.epsilon:
            raise ParameterError(
                "search_epsilon must be a part of epsilon where schemes holds several, of which "
                f"one is drawn, and 0 where it holds one; it is {self.search_epsilon:g} of "
                f"{self.epsilon:g} for {len(self.schemes)}."
            )

    @property
    def leaves_out(self) -> bool:
        """Most records are not drawn, or in small classes."""
        return True

    @property
    def beta(self) -> float:
        """The probability with which a record is drawn."""
        return sampling_probability(self.epsilon - self.search_epsilon)

    @functools.cached_property
    def k(self) -> int:
        """The least class."""
        return least_class(self.epsilon - self.search_epsilon, self.delta, self.beta)

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Choose a scheme, draw records, leave out small classes, and shuffle."""
        refuse_units(
            microdata,
            "Differential privacy is promised to single records",
            "leave one record of each person",
        )
        _check_published(microdata)
        _check_hierarchies(microdata, self.hierarchies)
        columns = encode_columns(microdata, self.hierarchies, levels_by="steps")
        rows = np.array([one.rows(microdata[name]) for name, one in columns.items()], np.int32)
        schemes, k = [_complete(one, columns) for one in self.schemes], self.k
        places = [_classes(columns, rows, one) for one in schemes]
        costs = scheme_costs(schemes, [_small(one, k) for one in places])
        chosen = drawn(scheme_chances(costs, self.search_epsilon, k))
        kept = _sampled(len(microdata), self.beta)
        kept[kept] = ~_small(places[chosen][kept], k)
        if not kept.any():
            raise MethodError(
                f"Of the records drawn, with probability {self.beta:.3g}, no class has {k} or "
                "more; choose higher levels, or a larger epsilon or delta."
            )
        return self._masked(microdata, columns, schemes[chosen], kept, k)

    def _masked(
        self,
        microdata: Microdata,
        columns: Mapping[str, EncodedColumn],
        scheme: Scheme,
        kept: Bools,
        k: int,
    ) -> Masked:
        nobody, order = np.zeros(len(microdata), bool), _shuffled(kept)
        new = {
            name: one.recode(microdata[name], min(scheme[name], one.hierarchy.height), nobody).of(
                order
            )
            for name, one in columns.items()
        }
        promise = DifferentialPrivacy(
            tuple(columns), self.epsilon, self.delta, self.beta, k, self.search_epsilon
        )
        details: dict[str, object] = {"levels": scheme, "beta": self.beta, "k": k}
        return Masked(new, (promise,), kept=kept, details=details)


def _check_published(microdata: Microdata) -> None:
    """Refuse columns that would be published as they are."""
    others = [name for name in microdata.attributes if name not in microdata.quasi]
    if others:
        raise MethodError(
            f"Column {others[0]!r} would be published as it is, which is not differentially "
            "private; declare it as a quasi-identifier, so that it is generalized too, or leave it "
            "out."
        )
    schema = microdata.schema
    if schema.weight is not None or (microdata.counts != 1.0).any():
        raise MethodError(
            "Counts and survey weights say more of a record than its generalized values; leave "
            "them out, with one row for each record."
        )


def _check_hierarchies(microdata: Microdata, given: Mapping[str, Any]) -> None:
    """Refuse hierarchies by default: they are built from the values, which gives these away."""
    for name in default_hierarchies(microdata, given):
        raise MethodError(
            f"Column {name!r} is a quasi-identifier and has no hierarchy; give it one in "
            "hierarchies (a file, rows of a value and its generalizations, or how to build it), or "
            "declare it as nominal with a taxonomy."
        )


def _complete(scheme: Mapping[str, int], columns: Mapping[str, EncodedColumn]) -> Scheme:
    """A scheme with a level for every quasi-identifier."""
    for name, level in scheme.items():
        if name not in columns:
            raise ParameterError(
                f"schemes names {name!r}, which is not a quasi-identifier."
                f"{did_you_mean(name, columns)}"
            )
        if not isinstance(level, int) or level < 0:
            raise ParameterError(
                f"schemes[…][{name!r}] must be a level, a whole number from 0 on, not {level!r}."
            )
    missing = [name for name in columns if name not in scheme]
    if missing:
        raise ParameterError(
            f"schemes says no level for {missing[0]!r}; every quasi-identifier needs one."
        )
    return {name: scheme[name] for name in columns}


def _classes(columns: Mapping[str, EncodedColumn], rows: Any, scheme: Scheme) -> Longs:
    """The class of each record under a scheme: those that look the same."""
    looks = [
        one.looks[min(scheme[name], one.hierarchy.height)][codes]
        for (name, one), codes in zip(columns.items(), rows, strict=True)
    ]
    return distinct_rows(np.array(looks, np.int32), [int(one.max()) + 1 for one in looks])[
        1
    ].astype(np.int64)


def _small(places: Longs, k: int) -> Bools:
    """Which records are in classes below k."""
    return np.asarray(np.bincount(places)[places] < k) if places.size else np.zeros(0, bool)


# Choices --------------------------------------------------------------------------------------


def scheme_costs(schemes: list[Scheme], small: list[Bools]) -> Floats:
    """What each scheme loses: a record in a small class 1, others the mean relative level.

    Levels are relative to the highest among the schemes, whatever the table. A record more or less
    changes the sum by at most max(1, k - 1): where it makes a class large enough, k - 1 others stop
    costing 1.
    """
    highest = {name: max(1, *(one[name] for one in schemes)) for name in schemes[0]}
    levels = [np.mean([one[name] / highest[name] for name in one]) for one in schemes]
    return np.array(
        [np.where(out, 1.0, level).sum() for level, out in zip(levels, small, strict=True)]
    )


def scheme_chances(costs: Floats, epsilon: float, k: int) -> Floats:
    """Exponential mechanism (McSherry and Talwar 2007): exp(-epsilon cost / (2 sensitivity))."""
    weights = exp(-epsilon * (costs - costs.min()) / (2.0 * max(1, k - 1)))
    chances: Floats = weights / weights.sum()
    return chances


def drawn(chances: Floats) -> int:
    """One of the places, with these chances."""
    uniform = secrets.SystemRandom().random()
    return min(int(np.searchsorted(np.cumsum(chances), uniform, side="right")), chances.size - 1)


def _words(count: int) -> Any:
    """Random numbers of 64 bits."""
    return np.frombuffer(secrets.token_bytes(8 * count), np.uint64)


def _sampled(count: int, beta: float) -> Bools:
    """Each record with probability beta."""
    return np.asarray(_words(count) < np.uint64(int(beta * 2.0**64)))


def _shuffled(kept: Bools) -> Longs:
    """A place for each record to take its values from: those that are kept in a random order."""
    order, places = np.arange(kept.size), np.flatnonzero(kept)
    order[places] = places[np.argsort(_words(places.size), kind="stable")]
    return order
