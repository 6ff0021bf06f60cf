"""What every method owes its users, as checks that a package with its own methods can run too.

`check_method(MyMethod(…))` runs all of them on a small table and raises an AssertionError that says
which is broken; `METHOD_CHECKS` are the checks themselves, to be run one by one by a test suite.
ontomask's own methods are tested by the same checks.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import importlib.util
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from ontomask.checks import constraints_of
from ontomask.data.schema import Date, Flat, Identifier, Numeric, Ordinal, Schema
from ontomask.data.tables import open_table
from ontomask.engines.release import protect
from ontomask.errors import CancelledError, ParameterError
from ontomask.methods.base import Method
from ontomask.release import Release

__all__ = ["METHOD_CHECKS", "Case", "check_method", "example_columns", "example_schema"]

COUNT = 60
FEWEST_FINDINGS = 2
SEED = 3


def example_columns() -> dict[str, list[Any]]:
    """A small table of people with numbers, dates, ranks, words, and gaps among them."""
    draw = np.random.default_rng(1)
    first = datetime.date(2024, 1, 1)
    ages: list[Any] = draw.integers(20, 80, COUNT).tolist()
    ages[5] = None
    return {
        "patient": [f"p{place}" for place in range(COUNT)],
        "age": ages,
        "admitted": [first + datetime.timedelta(int(one)) for one in draw.integers(0, 60, COUNT)],
        "severity": draw.choice(["mild", "severe", "fatal"], COUNT).tolist(),
        "sex": draw.choice(["f", "m"], COUNT).tolist(),
        "charge": (draw.random(COUNT) * 1e3).round(2).tolist(),
    }


def example_schema() -> Schema:
    """What the columns of the example are."""
    return Schema(
        patient=Identifier(),
        age=Numeric(),
        admitted=Date(),
        severity=Ordinal(("mild", "severe", "fatal")),
        sex=Flat(),
        charge=Numeric(role="sensitive"),
    )


@dataclass(frozen=True)
class Case:
    """A method with the table that it is tried on."""

    method: Method
    columns: Mapping[str, Sequence[Any]] = field(default_factory=example_columns)
    schema: Schema = field(default_factory=example_schema)

    def release(self, frame: object = None, **more: Any) -> Release:
        """A release of the table, or of the same in another frame."""
        table = pl.DataFrame(dict(self.columns)) if frame is None else frame
        released: Release = protect(table, self.schema, self.method, SEED, **more)
        return released

    def frames(self) -> Iterator[Any]:
        """The table in the frames of every library that is installed."""
        yield pl.DataFrame(dict(self.columns))
        if importlib.util.find_spec("pandas"):
            import pandas as pd

            yield pd.DataFrame(dict(self.columns))
        if importlib.util.find_spec("pyarrow"):
            import pyarrow as pa

            yield pa.table(dict(self.columns))


def check_method(
    method: Method,
    columns: Mapping[str, Sequence[Any]] | None = None,
    schema: Schema | None = None,
) -> None:
    """Run every check on a method; the first that fails raises an AssertionError.

    Parameters
    ----------
    method
        The method, with parameters that fit the table.
    columns, schema
        A small table and what its columns are; `example_columns` and `example_schema` by default.
    """
    case = Case(
        method,
        example_columns() if columns is None else columns,
        example_schema() if schema is None else schema,
    )
    for check in METHOD_CHECKS:
        check(case)


# The checks -----------------------------------------------------------------------------------


def says_that_records_may_be_left_out(case: Case) -> None:
    """Else a public report would tell none from few."""
    complete = len(open_table(case.release().frame)) == _count(case)
    _require(case.method.leaves_out or complete, "records are missing; leaves_out must say so")


def repeats_itself(case: Case) -> None:
    """The same table and seed give the same release, unless the method says that it must not."""
    if case.method.repeatable:
        one, two = case.release(), case.release()
        _require(one.digests == two.digests, "two runs with the same seed differ")


def leaves_its_input_alone(case: Case) -> None:
    """The frame given in is not changed."""
    for frame in case.frames():
        before = copy.deepcopy(frame)
        case.release(frame)
        _require(_written(frame) == _written(before), "the frame given in was changed")


def publishes_what_is_declared(case: Case) -> None:
    """No other column, no record invented, every promise recounted and kept."""
    release = case.release()
    published = set(case.schema.published)
    _require(set(release.published) <= published, "a column is published that must not be")
    there = len(open_table(release.frame)) + release.left_out
    _require(there == _count(case), "records were invented or lost without being counted")
    _require(release.verification.kept, "a promise is not kept")
    _require(len(release.verification.findings) >= FEWEST_FINDINGS, "nothing was recounted")


def gives_every_frame_the_same(case: Case) -> None:
    """Each library gets its own kind of frame back, with the same values."""
    if not case.method.repeatable:
        return
    found = []
    for frame in case.frames():
        masked = case.release(frame).frame
        _require(type(masked) is type(frame), f"a {type(frame)} became a {type(masked)}")
        found.append(_written(masked))
    _require(all(one == found[0] for one in found), "libraries get different values")


def keeps_no_index(case: Case) -> None:
    """An index of pandas may tell who is who."""
    for frame in case.frames():
        if hasattr(frame, "set_index"):
            name = next(iter(case.columns))
            masked = case.release(frame.set_index(name, drop=False)).frame
            _require(masked.index.tolist() == list(range(len(masked))), "the index came along")
            _require(masked.index.name is None, "the name of the index came along")


def keeps_its_k(case: Case) -> None:
    """Where a size of classes is promised, counting tuples of the release finds it."""
    release = case.release()
    k = release.verification.k
    names = [name for name in case.schema.quasi if name in release.published]
    if k is not None and names:
        texts = [[_plain(one) for one in open_table(release.frame).column(name)] for name in names]
        smallest = min(Counter(zip(*texts, strict=True)).values(), default=k)
        _require(smallest >= k, f"a class has {smallest} records, {k} are promised")


def tells_how_far_it_is(case: Case) -> None:
    """Progress ends with 1, and who is told may stop the run."""
    seen: list[float] = []

    def note(fraction: float, message: str) -> None:
        _require(0 <= fraction <= 1, f"progress of {fraction}")
        _require(bool(message), "progress without a message")
        seen.append(fraction)

    def stop(*_: object) -> None:
        raise CancelledError("stopped")

    case.release(progress=note)
    _require(bool(seen), "no progress was reported")
    _require(seen[-1] == 1.0, "progress does not end with 1")
    try:
        case.release(progress=stop)
    except CancelledError:
        return
    raise AssertionError("the run could not be stopped")


def refuses_wrong_parameters(case: Case) -> None:
    """Every declared constraint refuses what it does not allow, by the parameter's name."""
    method = case.method
    values = {one.name: getattr(method, one.name) for one in dataclasses.fields(method)}
    for parameter, constraint in constraints_of(type(method)).items():
        for wrong in constraint.wrong_values():
            try:
                type(method)(**{**values, parameter: wrong})
            except ParameterError as error:
                said = f"{parameter} must be "
                _require(str(error).startswith(said), f"{parameter}={wrong!r} is answered: {error}")
            else:
                raise AssertionError(f"{parameter}={wrong!r} is not refused")


def survives_a_pickle(case: Case) -> None:
    """Methods travel to other processes."""
    again = pickle.loads(pickle.dumps(case.method))  # noqa: S301 - its own bytes
    _require(type(again) is type(case.method), "a pickled method becomes something else")


METHOD_CHECKS: tuple[Callable[[Case], None], ...] = (
    says_that_records_may_be_left_out,
    repeats_itself,
    leaves_its_input_alone,
    publishes_what_is_declared,
    gives_every_frame_the_same,
    keeps_no_index,
    keeps_its_k,
    tells_how_far_it_is,
    refuses_wrong_parameters,
    survives_a_pickle,
)


def _require(holds: bool, otherwise: str) -> None:
    """Assert something, also where Python leaves assertions out."""
    if not holds:
        raise AssertionError(otherwise)


def _count(case: Case) -> int:
    return len(next(iter(case.columns.values())))


def _written(frame: Any) -> list[list[str]]:
    table = open_table(frame)
    return [[name, *(_plain(one) for one in table.column(name))] for name in table.names]


def _plain(value: Any) -> str:
    """A value as every library would write it."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return f"{float(value):.9g}"
    return str(value)[:10] if hasattr(value, "year") else str(value)
