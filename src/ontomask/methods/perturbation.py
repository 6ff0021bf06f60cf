"""The small classical steps: post-randomization, noise, top and bottom coding, rounding, sampling.

PRAM after Gouweleeuw, Kooiman, Willenborg and de Wolf (1998); correlated noise after Kim (1986);
random rounding after Nargundkar and Saveland (1972).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arithmetic import combined
from ontomask.arrays import Bools, Floats, occurring, stretches
from ontomask.checks import AnyOf, Flag, Integer, ListOf, Null, Real, Text
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.decompositions import eigenvectors
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Context, Method, record_limit, register
from ontomask.methods.heeding import redrawn
from ontomask.methods.permuting import check_published
from ontomask.methods.points import number_column, spread_of
from ontomask.semantics.moments import covariances, mean
from ontomask.wording import only

__all__ = ["Noise", "Rounding", "Sampling", "TopBottomCoding"]

NUMBERS = ("numeric", "date")
Columns = Annotated[tuple[str, ...] | list[str], ListOf(Text(), empty=False)]
Strata = Annotated[tuple[str, ...], ListOf(Text())]


@register
@dataclass(frozen=True)
class Noise(Method):
    """Add normal noise to numbers.

    Examples
    --------
    >>> table = pl.DataFrame({"pay": [2000.0, 2400.0, 2200.0, 4100.0]})
    >>> schema = om.Schema(pay=om.Numeric(role="sensitive"))
    >>> release = om.protect(table, schema, om.Noise(["pay"], scale=0.1, keep_range=True), seed=1)
    >>> release.changed["pay"] > 0, release.frame["pay"].is_between(2000, 4100).all()
    (True, True)
    """

    name: ClassVar[str] = "noise"

    columns: Annotated[Columns, "Numeric or date columns."]
    scale: Annotated[
        float, Real(0, open_low=True), "The noise's standard deviation as a share of the column's."
    ] = 0.1
    correlated: Annotated[
        bool,
        Flag(),
        "Give the noise the correlations of the columns, so that theirs stay as they were; "
        "else the noise of each column is independent and weakens them.",
    ] = False
    keep_range: Annotated[
        bool, Flag(), "Move results outside the column's own range to its ends."
    ] = False
    strata: Annotated[Strata, "Columns whose values are masked apart from each other."] = ()

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Add the noise."""
        chosen = number_columns(self.columns, microdata, "noise")
        if self.correlated:
            root = self._root(np.stack([one.record_numbers() for one in chosen]), microdata)
        else:
            root = np.sqrt([spread_of(one, microdata) for one in chosen])

        def draw(_context: Context) -> dict[str, Attribute]:
            pairs = zip(chosen, self._drawn(root, len(microdata), context), strict=True)
            return {one.name: self._noisy(one, noise) for one, noise in pairs}

        return Masked(redrawn(microdata, draw, context))

    def _drawn(self, root: Floats, count: int, context: Context) -> Iterator[Floats]:
        """The noise of each column; unless it is correlated, no more than one is held."""
        if root.ndim == 2:
            yield from combined(root, context.generator.standard_normal((len(root), count)))
        else:
            for spread in root.tolist():
                noise = context.generator.standard_normal(count)
                noise *= spread
                yield noise

    def _noisy(self, attribute: Attribute, noise: Floats) -> Attribute:
        # in place: a table of many records has no room for every step of a formula
        noise *= self.scale
        known, codes = np.append(attribute.numbers, np.nan), attribute.narrow
        for part in stretches(noise.size):
            noise[part] += known.take(codes[part])
        if self.keep_range:
            own = known[occurring(codes, known.size)]
            np.clip(noise, np.nanmin(own), np.nanmax(own), out=noise)
        return number_column(attribute, noise)

    def _root(self, numbers: Floats, microdata: Microdata) -> Floats:
        """A root of the columns' covariance."""
        counts, weights = microdata.counts, microdata.weights
        complete = ~np.isnan(numbers).any(axis=0)
        if counts[complete].sum() < 2:
            raise MethodError(
                "Correlated noise needs at least two records without missing values in "
                f"{', '.join(self.columns)}; use correlated=False."
            )
        spread = covariances(numbers[:, complete], counts[complete], weights[complete])
        values, vectors = eigenvectors(spread)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)


@register
@dataclass(frozen=True)
class TopBottomCoding(Method):
    """Replace extreme numbers: those above a top, those below a bottom.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [17, 34, 36, 52, 55, 97]})
    >>> method = om.TopBottomCoding(["age"], top=90, bottom=18)
    >>> om.protect(table, om.Schema(age=om.Numeric()), method).frame["age"].to_list()
    [18, 34, 36, 52, 55, 90]
    """

    name: ClassVar[str] = "top-bottom-coding"

    columns: Annotated[Columns, "Numeric or date columns."]
    top: Annotated[float | None, AnyOf(Real(), Null()), "Numbers above it are replaced."] = None
    bottom: Annotated[float | None, AnyOf(Real(), Null()), "Numbers below it are replaced."] = None
    top_share: Annotated[
        float | None,
        AnyOf(Real(0, 0.5, open_low=True), Null()),
        "Instead of a top, the share of records with the highest numbers, at most.",
    ] = None
    bottom_share: Annotated[
        float | None,
        AnyOf(Real(0, 0.5, open_low=True), Null()),
        "Instead of a bottom, the share of records with the lowest numbers, at most.",
    ] = None
    replace: Annotated[
        Literal["limit", "mean"],
        "Replace by the `limit`, or by the `mean` of the replaced numbers, which keeps the "
        "column's mean.",
    ] = "limit"
    strata: Annotated[Strata, "Columns whose values are masked apart from each other."] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = (self.top, self.bottom, self.top_share, self.bottom_share)
        if all(one is None for one in limits):
            raise ParameterError(
                "Top and bottom coding needs a limit: give top, bottom, top_share or bottom_share."
            )
        for side in ("top", "bottom"):
            if getattr(self, side) is not None and getattr(self, f"{side}_share") is not None:
                raise ParameterError(f"Give either {side} or {side}_share, not both.")
        if self.top is not None and self.bottom is not None and self.bottom > self.top:
            raise ParameterError(f"bottom ({self.bottom:g}) must not exceed top ({self.top:g}).")

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Replace the extremes."""
        chosen = number_columns(self.columns, microdata, "top and bottom coding")
        coded = np.stack([self._coded(one, microdata) for one in chosen])
        return Masked(new_numbers(chosen, coded))

    def _coded(self, attribute: Attribute, microdata: Microdata) -> Floats:
        numbers, weights = attribute.record_numbers(), microdata.weights
        top = _upper_limit(numbers, microdata.counts, self.top, self.top_share)
        lowest = None if self.bottom is None else -self.bottom
        bottom = -_upper_limit(-numbers, microdata.counts, lowest, self.bottom_share)
        result = numbers.copy()
        for limit, beyond in ((top, numbers > top), (bottom, numbers < bottom)):
            if beyond.any():
                replaced = mean(numbers[beyond], weights[beyond])
                result[beyond] = limit if self.replace == "limit" else replaced
        return result


def _upper_limit(
    numbers: Floats, counts: Floats, limit: float | None, share: float | None
) -> float:
    """The greatest number that stays, by a limit or such that at most that share exceeds it."""
    if share is None:
        return np.inf if limit is None else limit
    order = np.argsort(numbers)[: np.count_nonzero(~np.isnan(numbers))]
    if not order.size:
        return np.inf
    passed = np.cumsum(counts[order])
    beyond = record_limit(share, round(float(passed[-1])))
    return float(numbers[order[np.searchsorted(passed, passed[-1] - beyond)]])


@register
@dataclass(frozen=True)
class Rounding(Method):
    """Round numbers to multiples of a base.

    Examples
    --------
    >>> table = pl.DataFrame({"pay": [2013, 2390, 2208, 4120]})
    >>> schema = om.Schema(pay=om.Numeric(role="sensitive"))
    >>> om.protect(table, schema, om.Rounding(["pay"], base=100)).frame["pay"].to_list()
    [2000, 2400, 2200, 4100]
    """

    name: ClassVar[str] = "rounding"

    columns: Annotated[Columns, "Numeric columns."]
    base: Annotated[float, Real(0, open_low=True), "The multiples' base, such as 5 or 1000."]
    algorithm: Annotated[
        Literal["nearest", "random"],
        "`nearest` (halves to the even multiple), or `random`: up or down with probabilities "
        "that leave the expected value unchanged.",
    ] = "nearest"
    strata: Annotated[Strata, "Columns whose values are masked apart from each other."] = ()

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Round the numbers."""
        chosen = number_columns(self.columns, microdata, "rounding", kinds=("numeric",))
        for one in chosen:
            self._check_whole(one)
        shares = np.stack([one.record_numbers() for one in chosen]) / self.base
        if self.algorithm == "nearest":
            return Masked(new_numbers(chosen, np.rint(shares) * self.base))
        lower = np.floor(shares)

        def draw(_context: Context) -> dict[str, Attribute]:
            upward = context.generator.random(shares.shape) < shares - lower
            return new_numbers(chosen, (lower + upward) * self.base)

        return Masked(redrawn(microdata, draw, context))

    def _check_whole(self, attribute: Attribute) -> None:
        if attribute.as_numbers.whole and self.base != np.rint(self.base):
            raise MethodError(
                f"Column {attribute.name!r} holds whole numbers, which cannot be multiples of "
                f"{self.base:g}; choose a whole base."
            )


@register
@dataclass(frozen=True)
class Sampling(Method):
    """Release a random sample of the records, so that nobody can be sure to be in it.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.Sampling(share=0.5), seed=1)
    >>> len(release.frame), release.left_out
    (3, 3)
    """

    name: ClassVar[str] = "sampling"

    share: Annotated[
        float | None,
        AnyOf(Real(0, 1, open_low=True, open_high=True), Null()),
        "The share of the records to keep; or give `size`.",
    ] = None
    size: Annotated[int | None, AnyOf(Integer(1), Null()), "The number of records to keep."] = None
    strata: Annotated[
        Strata,
        "Columns whose values are sampled apart from each other; every stratum keeps its share.",
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.share is None) == (self.size is None):
            raise ParameterError(
                "Sampling needs to know how many records to keep: give either share or size, "
                "not both."
            )

    @property
    def leaves_out(self) -> bool:
        """Whoever is not drawn."""
        return True

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Draw the sample."""
        count = len(microdata)
        wanted = self.size if self.share is None else max(1, round(self.share * count))
        assert wanted is not None
        if wanted > count:
            raise MethodError(
                f"size is {wanted}, but {only(count, 'record')}; choose a smaller size."
            )
        kept: Bools = np.zeros(count, bool)
        kept[context.generator.choice(count, wanted, replace=False)] = True
        return Masked({}, kept=kept, details={"kept": wanted, "of": count})


def number_columns(
    names: Sequence[str], microdata: Microdata, what: str, kinds: Sequence[str] = NUMBERS
) -> list[Attribute]:
    """The columns asked for, which must hold numbers."""
    check_published(names, microdata, "columns")
    for name in names:
        kind = microdata[name].column.kind
        if kind not in kinds:
            raise MethodError(
                f"Column {name!r} is {kind}, and {what} is for {' or '.join(kinds)} columns only; "
                "leave it out, or use rank swapping or PRAM for it."
            )
    return [microdata[name] for name in names]


def new_numbers(attributes: Sequence[Attribute], numbers: Floats) -> dict[str, Attribute]:
    """Columns with a new number for each record; whole columns stay whole."""
    pairs = zip(attributes, numbers, strict=True)
    return {attribute.name: number_column(attribute, row) for attribute, row in pairs}
