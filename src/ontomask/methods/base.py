"""What every method is: a small immutable description that masks encoded microdata."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.checks import (
    AnyOf,
    Choice,
    Declared,
    Flag,
    ListOf,
    Null,
    Text,
    composed,
    did_you_mean,
)
from ontomask.data.grouping import group_rows
from ontomask.data.masked import Masked, joined
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError, ParameterError
from ontomask.kernels.blocks import workers
from ontomask.privacy import KAnonymity, NoAttack
from ontomask.promises import ClassSize
from ontomask.semantics.operators import METRICS, Operator
from ontomask.taxonomy.measures import MEASURES
from ontomask.wording import only

__all__ = [
    "METHODS",
    "Context",
    "Measure",
    "Method",
    "Metric",
    "Operators",
    "Paced",
    "Progress",
    "Strata",
    "record_limit",
    "register",
    "silent",
    "sizes_asked",
    "watched",
    "watched_parts",
]

Progress = Callable[[float, str], None]
"""Called with the fraction done and a message; it may raise to stop the run."""

Operators = Annotated[Operator, "How values are compared and summed up."]
Metric = Annotated[
    str | None,
    AnyOf(Choice(*METRICS), Null()),
    "How attributes are combined: `mean`, `euclidean` or `s-distance`; by default `mean` when all "
    "are nominal and `euclidean` otherwise.",
]
Measure = Annotated[
    str | None,
    AnyOf(Choice(*MEASURES), Null()),
    "A distance for all nominal columns, instead of each column's own.",
]
Strata = Annotated[
    tuple[str, ...], ListOf(Text()), "Columns whose values are masked apart from each other."
]

Result = TypeVar("Result")
Kind = TypeVar("Kind", bound="type[Method]")

POLLED_EVERY = 0.05
"""Progress is told again after so many seconds."""
NAMING = {"columns", "confidential", "given", "hierarchies", "importance", "strata"}
"""Parameters that name columns."""


def record_limit(share: float, records: int) -> int:
    """How many records are at most a share of them: the whole part of share times records."""
    # exact: in floats 0.29 * 100 is less than 29
    return math.floor(Fraction(repr(float(share))) * records)


def silent(fraction: float, message: str) -> None:
    """Report progress to nobody."""


class Paced:
    """Progress of loops that could tell more often than anybody wants to hear.

    What there is to tell is only made up when it is told.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._told = -math.inf

    def __call__(self, telling: Callable[[], tuple[float, str]]) -> None:
        """Tell how far it is, unless that was told just before."""
        now = time.perf_counter()
        if now - self._told >= POLLED_EVERY:
            self._told = now
            self._progress(*telling())


@dataclass(frozen=True)
class Context:
    """What a run lends to a method: randomness and a way to report progress."""

    generator: np.random.Generator
    progress: Progress = silent

    def part(self, start: float, some: float, count: float = 1.0) -> Context:
        """The context of some of several works: their progress is a part of the whole."""

        def report(fraction: float, message: str) -> None:
            self.progress((start + some * fraction) / count, message)

        return Context(self.generator, report)


@dataclass(frozen=True)
class Method(Declared, ABC):
    """A masking method: parameters, checked when it is made, and what it does with microdata."""

    name: ClassVar[str] = ""
    repeatable: ClassVar[bool] = True
    """Whether the same table and seed give the same release."""

    keeps: Annotated[
        bool,
        Flag(),
        "Whether everything that earlier steps promise must still hold in the end; otherwise this "
        "step is meant to undo it.",
    ] = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter in NAMING & {one.name for one in fields(self)}:
            object.__setattr__(self, parameter, _composed(getattr(self, parameter)))

    @property
    def leaves_out(self) -> bool:
        """Whether records may be missing from the release afterwards."""
        return False

    @abstractmethod
    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Mask the microdata."""

    def run(self, microdata: Microdata, context: Context) -> Masked:
        """Mask the microdata, separately inside each stratum where `strata` are given."""
        strata: tuple[str, ...] = tuple(getattr(self, "strata", ()))
        if not strata:
            return self.mask(microdata, context)
        return self._by_stratum(microdata, context, strata)

    def _by_stratum(
        self, microdata: Microdata, context: Context, strata: tuple[str, ...]
    ) -> Masked:
        parts, masks = [], strata_of(microdata, strata)
        for number, (mask, described) in enumerate(masks):
            part = context.part(number, 1, len(masks))
            try:
                parts.append((mask, self.mask(_stratum(microdata, mask), part)))
            except MethodError as problem:
                raise MethodError(f"Stratum {described}: {problem}") from None
            part.progress(1.0, f"stratum {number + 1} of {len(masks)}")
        return joined(parts, len(microdata))


def _composed(names: Any) -> Any:
    """Names of columns, alone or with something for each, as a table has them."""
    if isinstance(names, Mapping):
        return {composed(name): value for name, value in names.items()}
    return names if names is None else type(names)(composed(name) for name in names)


def strata_of(microdata: Microdata, names: tuple[str, ...]) -> list[tuple[Bools, str]]:
    """The records of each stratum, and how to speak of it."""
    check_columns(names, microdata, "strata")
    columns = [microdata[name] for name in names]
    firsts, places = group_rows(
        [one.codes for one in columns], [one.cardinality for one in columns]
    )
    return [
        (places == stratum, _described(columns, first))
        for stratum, first in enumerate(firsts.tolist())
    ]


def _stratum(microdata: Microdata, mask: Bools) -> Microdata:
    """The records of a stratum; sensitive values stay distributed as in the whole table."""
    sensitive = microdata.schema.with_role("sensitive")
    others = microdata.subset(~mask)
    gone = {name: others.distribution(name) for name in sensitive if name in others.attributes}
    return replace(microdata.subset(mask), gone=gone)


def _described(columns: list[Attribute], record: int) -> str:
    values = (one.by_code[one.codes[record]] for one in columns)
    return ", ".join(f"{one.name} = {value!r}" for one, value in zip(columns, values, strict=True))


METHODS: dict[str, type[Method]] = {}
"""Every method by the name it has in a plan."""


def register(kind: Kind) -> Kind:
    """Enter a method into the registry."""
    METHODS[kind.name] = kind
    return kind


def sizes_asked(steps: Sequence[Method]) -> list[int]:
    """The sizes that steps ask of classes of the table, themselves or by their models."""
    models = [model for step in steps for model in getattr(step, "privacy", ())]
    asking = [*steps, *(model for model in models if isinstance(model, (KAnonymity, NoAttack)))]
    sizes = [getattr(one, "k", None) for one in asking]
    return [size for size in sizes if isinstance(size, int)]


def check_columns(names: tuple[str, ...], microdata: Microdata, parameter: str) -> None:
    """Refuse names that are no encoded columns."""
    for name in names:
        if name not in microdata.attributes:
            raise ParameterError(
                f"{parameter} names {name!r}, which is not a published column."
                f"{did_you_mean(name, microdata.attributes)}"
            )


def check_k(k: int, microdata: Microdata, *, by_records: bool = True) -> None:
    """Refuse a k that the table cannot give, and a table without quasi-identifiers.

    Methods that mask record by record are refused where persons are masked as wholes.
    """
    if by_records and microdata.schema.sequences:
        raise MethodError(
            "This method masks single records, but column "
            f"{microdata.schema.unit!r} says by sequences that persons are masked with all their "
            "records; use microaggregation, or declare the column without sequences."
        )
    if not microdata.quasi:
        raise MethodError("No column has the role 'quasi'; say which columns an intruder may know.")
    if k > microdata.total:
        raise MethodError(
            f"k is {k}, but {only(microdata.total, microdata.counted)}; choose a smaller k."
        )


def class_size(k: int, microdata: Microdata) -> ClassSize:
    """The promise that every class of the quasi-identifiers has k records, or persons."""
    return ClassSize(microdata.quasi, k, microdata.schema.unit)


def refuse_units(microdata: Microdata, why: str, way_out: str) -> None:
    """Refuse to count records where persons are to be protected."""
    if microdata.units is not None:
        raise MethodError(
            f"{why}, but column {microdata.schema.unit!r} says that persons are to be protected, "
            f"who may have several records; {way_out}, or declare the column without unit."
        )


def watched(
    kernel: Callable[..., Result], *args: Any, total: float, context: Context, message: str
) -> Result:
    """Run a kernel that takes a `signal` array last, report its progress, and stop it on request.

    The kernel writes how far it is to signal[0] and stops soon after signal[1] is set; it runs in
    a thread of its own and releases the interpreter, so the callback stays responsive.
    """
    works = [lambda signal: kernel(*args, signal)]
    return watched_parts(works, totals=[total], context=context, message=message)[0]


def watched_parts(
    works: Sequence[Callable[[Longs], Result]],
    *,
    totals: Sequence[float],
    context: Context,
    message: str,
    brief: bool = False,
    efforts: Sequence[float] | None = None,
) -> list[Result]:
    """Do works that are independent of each other, on all cores, each as `watched` does one.

    Where they are `brief`, they are done before a thread for them would have begun. The `efforts`
    tell how long each takes beside the others, if the totals do not.
    """
    signals: Longs = np.zeros((len(works), 2), np.int64)
    amounts, efforts = np.maximum(totals, 1.0), totals if efforts is None else efforts
    if brief:
        made = [work(own) for work, own in zip(works, signals, strict=True)]
        context.progress(1.0, message)
        return made
    with workers(len(works)) as pool:
        # the longest begin first, so that all threads end at about the same time
        order = sorted(range(len(works)), key=lambda place: -efforts[place])
        begun = {place: pool.submit(works[place], signals[place]) for place in order}
        running = [begun[place] for place in range(len(works))]
        try:
            more = True
            while more:
                ended, waiting = wait(running, POLLED_EVERY)
                for one in ended:
                    one.result()
                more = bool(waiting)
                done = np.where([one.done() for one in running], amounts, signals[:, 0])
                passed = np.minimum(done, amounts).sum() / amounts.sum()
                context.progress(float(passed), message)
        except BaseException:
            signals[:, 1] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [one.result() for one in running]
