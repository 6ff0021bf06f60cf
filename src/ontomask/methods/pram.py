"""Post-randomization: every value is replaced by one drawn with known probabilities.

Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post randomisation for statistical disclosure
control", Journal of Official Statistics 14 (1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arithmetic import exp, summed_rows
from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import AnyOf, Choice, ListOf, Null, Real, Text, Typed, did_you_mean
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError, ParameterError
from ontomask.kernels.chains import Chains, amounts_around, drawn_along
from ontomask.memory import MODERATE_TABLE, NEAR_TABLE, row_blocks
from ontomask.methods.base import Context, Method, Paced, Progress, register, silent
from ontomask.methods.heeding import redrawn
from ontomask.methods.permuting import chosen_columns
from ontomask.semantics.distances import ValueDistances
from ontomask.taxonomy.measures import MEASURES

__all__ = ["Pram"]

ROUNDING = 1e-9
ROUNDED = 2.0 * float(np.finfo(np.float64).eps)
"""What a sum of chances gains or loses by rounding with each of them, at most."""

DRAW = 128
"""To draw for a record along chains takes as long as to look at so many pairs."""

Matrix = Sequence[Sequence[float]]

Transitions = Iterator[tuple[int, Floats]]
"""Some rows of probabilities at a time, with the code of the first of them."""


@register
@dataclass(frozen=True)
class Pram(Method):
    """Replace every value by one drawn with probabilities that depend on the value.

    Examples
    --------
    >>> table = pl.DataFrame({"vote": ["yes", "no"] * 50})
    >>> release = om.protect(table, om.Schema(vote=om.Flat()), om.Pram(retain=0.7), seed=1)
    >>> set(release.frame["vote"]) == {"yes", "no"}, 0 < release.changed["vote"] < 0.6
    (True, True)
    """

    name: ClassVar[str] = "pram"

    retain: Annotated[float, Real(0, 1), "The probability that a value stays."] = 0.8
    algorithm: Annotated[
        Literal["semantic", "plain"],
        "`semantic`: a value that does not stay becomes another of the column with a "
        "probability proportional to exp(-distance / reach). `plain`: all others are equally "
        "likely.",
    ] = "semantic"
    reach: Annotated[
        float,
        Real(0, open_low=True),
        "How far values go with `semantic`: at this distance a value is e times less "
        "likely than a nearby one.",
    ] = 0.2
    matrix: Annotated[
        Matrix | None,
        AnyOf(Typed((list, tuple, np.ndarray), "a list"), Null()),
        "Your own probabilities for a single column, instead of `retain`: row i gives the "
        "probabilities with which the i-th value of `order` becomes each of them.",
    ] = None
    order: Annotated[
        Sequence[object] | None,
        AnyOf(Typed((list, tuple), "a list"), Null()),
        "The values that the rows and columns of `matrix` are about; an empty entry is the "
        "missing value.",
    ] = None
    columns: Annotated[
        tuple[str, ...] | list[str] | None,
        AnyOf(ListOf(Text(), empty=False), Null()),
        "The columns to mask, by default the quasi-identifiers. They must be categories.",
    ] = None
    measure: Annotated[
        str | None,
        AnyOf(Choice(*MEASURES), Null()),
        "A distance for all nominal columns, instead of each column's own.",
    ] = None
    strata: Annotated[
        tuple[str, ...], ListOf(Text()), "Columns whose values are masked apart from each other."
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.matrix is None) != (self.order is None):
            raise ParameterError(
                "matrix and order belong together: order says which value each row and column of "
                "the matrix stands for; give both or neither."
            )
        if self.matrix is not None and self.order is not None:
            check_transitions(self.matrix, self.order)

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Draw new values."""
        names = chosen_columns(self.columns, microdata)
        if self.matrix is not None and len(names) > 1:
            raise MethodError(
                f"The matrix is for a single column, but {', '.join(names)} are to be masked; name "
                "one in columns and add a step for each further one."
            )
        columns = [microdata[name] for name in names]
        return Masked(redrawn(microdata, lambda part: self._drawn(columns, part), context))

    def _drawn(self, columns: Sequence[Attribute], context: Context) -> dict[str, Attribute]:
        found = {}
        for number, attribute in enumerate(columns):
            part = context.part(number, 1, len(columns))
            _refuse_numbers(attribute)
            uniforms = context.generator.random(attribute.codes.size)
            distances = self._distances(attribute)
            told = None if self.matrix is not None else self._told(attribute, distances, uniforms)
            if told is not None:
                codes = told
            else:
                given = attribute.codes, self._transitions(attribute, distances), uniforms
                codes = drawn(*given, part.progress)
            found[attribute.name] = replace(attribute, codes=codes)
        return found

    def _told(
        self, attribute: Attribute, distances: ValueDistances, uniforms: Floats
    ) -> Ints | None:
        """The draws where no value need be compared with all others, else None."""
        if distances.of_words:
            return drawn_words(attribute.codes, self.retain, uniforms)
        kinds, numbers = np.unique(attribute.codes, return_inverse=True)
        places = numbers.astype(np.int32)
        if places.size * DRAW > kinds.size**2:
            return None
        values = attribute.numbered[kinds]
        chains = distances.chains(values)
        if chains is None:
            return None
        found, unsure = self._along(chains, places, uniforms)
        for place in np.unique(places[unsure]).tolist():
            records = np.flatnonzero(unsure & (places == place))
            rows = distances.between(values[[place]], values)
            chances = self._decreasing(rows, np.ones(kinds.size, bool), place)[0]
            found[records] = _place(np.cumsum(chances), uniforms[records])
        return np.asarray(kinds[found], np.int32)

    def _along(self, chains: Chains, places: Ints, uniforms: Floats) -> tuple[Ints, Bools]:
        """Draws for different concepts of a tree, and which of them rounding may decide."""
        found, unsure = places.copy(), np.zeros(places.size, bool)
        order = np.argsort(places, kind="stable")
        ascending, count = places[order], chains.kinds.size
        for block, amounts in amounts_around(chains, np.ones(count)):
            start, rows = block.start, np.arange(len(amounts))
            first, last = np.searchsorted(ascending, [start, start + rows.size])
            those = order[first:last]
            reached = chains.reached[chains.kinds[block]]
            lengths = np.diff(chains.offsets)[block]
            own = rows, chains.kinds[block] * chains.width + lengths - 1
            amounts[own] = 0.0
            shares = self._falling(reached, amounts)
            shares[own] = np.where(shares.any(axis=1), self.retain, 1.0)
            amounts[own] = 1.0
            totals = summed_rows(amounts * shares, np.ones(amounts.shape[1]))
            given = places[those], start, shares, totals, uniforms[those]
            found[those], apart = drawn_along(chains, *given)
            unsure[those] = apart <= ROUNDED * (count + amounts.shape[1] + 4.0)
        return found, unsure

    def _falling(self, distances: Floats, amounts: Floats) -> Floats:
        """The probability of each of as many others as there are at each of some distances."""
        others = np.where(amounts > 0.0, distances, np.inf)
        lowest = others.min(axis=1, keepdims=True)
        lowest = np.where(np.isfinite(lowest), lowest, 0.0)
        moves = exp(-(others - lowest) / self.reach)
        total = summed_rows(moves * amounts, np.ones(moves.shape[1]))[:, None]
        shares: Floats = moves * ((1.0 - self.retain) / np.where(total > 0.0, total, 1.0))
        return shares

    def _distances(self, attribute: Attribute) -> ValueDistances:
        is_semantic = self.matrix is None and self.algorithm == "semantic"
        return attribute.distances(self.measure) if is_semantic else ValueDistances()

    def _transitions(self, attribute: Attribute, distances: ValueDistances) -> Transitions:
        if self.matrix is not None and self.order is not None:
            yield 0, _given(attribute, np.asarray(self.matrix, np.float64), self.order)
            return
        values = attribute.numbered
        present = np.bincount(attribute.codes, minlength=attribute.cardinality) > 0
        for block in row_blocks(values.size, values.size, MODERATE_TABLE):
            rows = distances.between(values[block], values)
            for part in row_blocks(len(rows), values.size, NEAR_TABLE):
                start = block.start + part.start
                yield start, self._decreasing(rows[part], present, start)

    def _decreasing(self, distances: Floats, present: Bools, start: int) -> Floats:
        """Probabilities that fall with the distance, among the values that occur.

        `distances` are those of the values from `start` on to all values.
        """
        own = np.arange(len(distances)), start + np.arange(len(distances))
        nearest = np.where(present, distances, np.inf)
        nearest[own] = np.inf
        lowest = nearest.min(axis=1, keepdims=True, initial=np.inf)
        lowest = np.where(np.isfinite(lowest), lowest, 0.0)
        moves = exp(-(nearest - lowest) / self.reach)
        total = moves.sum(axis=1, keepdims=True)
        retain = np.where(total[:, 0] > 0.0, self.retain, 1.0)
        moves *= (1.0 - retain)[:, None] / np.where(total > 0.0, total, 1.0)
        moves[own] += retain
        return np.asarray(moves, np.float64)


def _refuse_numbers(attribute: Attribute) -> None:
    if attribute.column.kind in ("numeric", "date"):
        raise MethodError(
            f"Column {attribute.name!r} is {attribute.column.kind}, and PRAM is for categories "
            "only; use noise or rank swapping for it."
        )


def check_transitions(matrix: Matrix, order: Sequence[object]) -> None:
    """Refuse a matrix that is not square over the order, or whose rows are no probabilities."""
    if len(set(order)) != len(order):
        raise ParameterError("order names a value twice; name every value once.")
    lengths = {len(row) for row in matrix}
    if len(matrix) != len(order) or lengths != {len(order)}:
        shown = f"{len(matrix)} x {'/'.join(str(one) for one in sorted(lengths))}"
        raise ParameterError(
            f"The PRAM matrix is {shown}, but order names {len(order)} values; it must have a row "
            "and a column for each of them."
        )
    numbers = np.asarray(matrix, np.float64)
    if not np.isfinite(numbers).all() or (numbers < 0.0).any():
        raise ParameterError(
            "The PRAM matrix holds entries that are no probabilities (from 0 to 1)."
        )
    sums = numbers.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > ROUNDING)
    if wrong.size:
        raise ParameterError(
            f"Row {wrong[0] + 1} of the PRAM matrix sums to {sums[wrong[0]]:g}; every row holds "
            "the probabilities of one value and must sum to 1."
        )


def _given(attribute: Attribute, matrix: Floats, order: Sequence[object]) -> Floats:
    """The user's matrix over the column's codes; values that do not occur stay out."""
    places = {value: place for place, value in enumerate(order)}
    domain = attribute.by_code
    unknown = [value for value in order if value is not None and value not in attribute.values]
    lacking = [value for value in domain if value not in places and value is not None]
    if lacking:
        raise MethodError(
            f"order lacks a value of column {attribute.name!r} ({len(lacking)} in all); it must "
            "name every value that occurs."
        )
    reached = [value for value in unknown if matrix[:, places[value]].any()]
    if reached:
        raise MethodError(
            f"The PRAM matrix leads to {reached[0]!r}, which is not a value of column "
            f"{attribute.name!r}.{did_you_mean(reached[0], [str(one) for one in domain])}"
        )
    chosen = [places.get(value, -1) for value in domain]
    padded = np.pad(matrix, ((0, 1), (0, 1)))
    padded[-1, -1] = 1.0
    return np.asarray(padded[np.ix_(chosen, chosen)], np.float64)


def drawn(
    codes: Ints, transitions: Transitions, uniforms: Floats, progress: Progress = silent
) -> Ints:
    """For each record a new code, with the probabilities in the row of its old one."""
    order = np.argsort(codes, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(codes)))
    result, tell, done = np.empty(codes.size, np.int32), Paced(progress), 0.0

    def telling() -> tuple[float, str]:
        return done, "drawing values"

    for start, rows in transitions:
        for code in range(start, min(start + len(rows), ends.size - 1)):
            done = code / ends.size
            tell(telling)
            records = order[ends[code] : ends[code + 1]]
            if records.size:
                result[records] = _place(np.cumsum(rows[code - start]), uniforms[records])
    return result


def drawn_words(codes: Ints, retain: float, uniforms: Floats) -> Ints:
    """The same where all other values that occur are equally likely, without a row for each.

    A sum of equal chances is one of them times their number, but for what is rounded on the way.
    Draws that lie so near to a sum that rounding decides are looked up among all sums.
    """
    kinds, places = np.unique(codes, return_inverse=True)
    others = kinds.size - 1
    if others == 0 or retain == 1.0:
        return codes.copy()
    share = (1.0 - retain) / others
    beyond = uniforms - share * places - retain
    stays, behind = (beyond < 0.0) & (beyond >= -retain), beyond >= 0.0
    # the own chance is passed over, so that all others are shares
    passed = (uniforms - retain * behind) / share
    found = np.where(stays, places, np.floor(passed) + behind).astype(np.int64)
    apart = np.where(
        stays, np.minimum(-beyond, beyond + retain), share * np.abs(passed - np.rint(passed))
    )
    unsure = apart <= ROUNDED * (kinds.size + 4.0)
    for record in np.flatnonzero(unsure).tolist():
        chances = np.full(kinds.size, share)
        chances[places[record]] = retain
        found[record] = _place(np.cumsum(chances), uniforms[record])
    return np.asarray(kinds[found], np.int32)


def _place(sums: Floats, uniforms: Floats | float) -> Longs:
    """Where among sums of chances a share of all of them lies."""
    found = np.searchsorted(sums, uniforms * sums[-1], side="right")
    return np.asarray(np.minimum(found, sums.size - 1), np.int64)
