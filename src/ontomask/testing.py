"""What everything that packages add owes its users, as checks that such a package can run too.

`check_method(MyMethod(…))` runs all of them on a small table and raises an AssertionError that says
which is broken; `METHOD_CHECKS` are the checks themselves, to be run one by one by a test suite.
`check_privacy_model`, `check_quality_model`, `check_measure` and `check_reader` do the same for the
other things that can be added. ontomask's own are tested by the same checks.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import importlib.util
import os
import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ontomask.checks import constraints_of
from ontomask.data.schema import Date, Flat, Identifier, Numeric, Ordinal, Schema
from ontomask.data.tables import open_table
from ontomask.engines.release import protect
from ontomask.errors import CancelledError, MethodError, ParameterError
from ontomask.methods.base import Method
from ontomask.methods.generalization.exploration import explore
from ontomask.methods.generalization.method import Generalization
from ontomask.privacy import AverageRisk, PrivacyModel
from ontomask.quality import Loss, Quality
from ontomask.release import Release
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Reader
from ontomask.taxonomy.measures import Measure, Space
from ontomask.taxonomy.readers.sources import first_bytes
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "METHOD_CHECKS",
    "Case",
    "check_measure",
    "check_method",
    "check_privacy_model",
    "check_quality_model",
    "check_reader",
    "example_columns",
    "example_schema",
]

COUNT = 60
FEWEST_FINDINGS = 2
SEED = 3
NEARLY = 1e-9
FOREIGN = b"\xd0\xcf\x11\xe0 no taxonomy \x00\x01\x02"
SEARCHED: dict[str, Any] = {"suppression_limit": 0.2}
CONCEPTS = {
    "pet": [],
    "mammal": ["pet"],
    "swimmer": ["pet"],
    "cat": ["mammal"],
    "dog": ["mammal"],
    "beagle": ["dog"],
    "otter": ["mammal", "swimmer"],
    "guppy": ["swimmer"],
}
"""Concepts and those above them."""


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
    _refuses_nonsense(case.method)


def survives_a_pickle(case: Case) -> None:
    """Methods travel to other processes."""
    _travels(case.method)


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


# Models, measures and readers --------------------------------------------------------------------


def check_privacy_model(
    model: PrivacyModel,
    columns: Mapping[str, Sequence[Any]] | None = None,
    schema: Schema | None = None,
    *,
    population: object = None,
) -> None:
    """Check what a privacy model says of itself and of classes; what is broken is raised.

    A search that leaves out what the model says of unions of classes must find as good a
    generalization as one that asks it about everything.

    Parameters
    ----------
    model
        The model, with parameters that fit the table.
    columns, schema
        A small table and what its columns are; by default some columns of the example.
    population
        A table of the population, for models that need one.
    """
    _require(isinstance(model, PrivacyModel), "a privacy model is a class below PrivacyModel")
    _refuses_nonsense(model)
    _travels(model)
    method = Generalization([model], quality=Loss(), population=population, **SEARCHED)
    _finds_the_best(method, columns, schema)


def check_quality_model(
    quality: Quality,
    columns: Mapping[str, Sequence[Any]] | None = None,
    schema: Schema | None = None,
) -> None:
    """Check that a quality model is a loss that searches can rely on; what is broken is raised.

    Nothing loses less than the original, every loss is a number, and a search that leaves out what
    the model says cannot be better must find as good a generalization as one that looks at all.

    Parameters
    ----------
    quality
        The model, with parameters that fit the table.
    columns, schema
        A small table and what its columns are; by default some columns of the example.
    """
    _require(isinstance(quality, Quality), "a quality model is a class below Quality")
    _refuses_nonsense(quality)
    _travels(quality)
    anything = Generalization([AverageRisk(1.0)], quality=quality)  # so that nothing is suppressed
    nodes = explore(*_tried_on(columns, schema), anything)
    (losses,) = nodes.losses.values()
    _require(bool(np.isfinite(losses).all()), "a loss is no number")
    original = losses[(nodes.levels == 0).all(axis=1)]
    _require(bool((original <= losses + NEARLY).all()), "something loses less than the original")
    _finds_the_best(Generalization(k=3, quality=quality, **SEARCHED), columns, schema)


def check_measure(measure: Measure, taxonomy: Taxonomy | None = None) -> None:
    """Check that a measure is a distance between concepts; what is broken is raised.

    Parameters
    ----------
    measure
        The measure.
    taxonomy
        What it is tried on; by default a small one, with a concept that has two parents.
    """
    _require(isinstance(measure, Measure), "a measure is a Measure")
    tree = Taxonomy.from_parents(CONCEPTS) if taxonomy is None else taxonomy
    every = np.arange(len(tree), dtype=np.int32)
    space = Space(tree, every, measure, 0, tree.depths, measure.settings({}))
    apart = space.between(every, every)
    _require(apart.shape == (every.size, every.size), "there is not one distance for each pair")
    _require(bool(np.isfinite(apart).all()), "a distance is no number")
    _require(bool((apart >= 0).all()), "a distance is negative")
    within = not measure.bounded or bool((apart <= 1 + NEARLY).all())
    _require(within, "a distance is larger than 1, and bounded says that none is")
    _require(np.allclose(apart, apart.T), "a distance depends on the direction")
    _require(np.allclose(np.diag(apart), 0), "a concept is apart from itself")
    listed = space.paired(np.repeat(every, every.size), np.tile(every, every.size))
    _require(np.allclose(listed, apart.ravel()), "pairs and rectangles have different distances")


def check_reader(reader: Reader, path: str | os.PathLike[str], **options: Any) -> None:
    """Check that a reader knows its format, and nothing else, and reads it alike every time.

    Parameters
    ----------
    reader
        The reader.
    path
        A file of its format.
    options
        Options of the reader.
    """
    _require(isinstance(reader, Reader), "a reader is a Reader")
    source = Path(path)
    _require(reader.can_read(source, first_bytes(source)), f"{source.name} is not recognized")
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "letter.doc")
        other.write_bytes(FOREIGN)
        _require(not reader.can_read(other, FOREIGN), "a file of no known format is claimed")
    one, two = (assemble(reader.read(source, **options), name="checked") for _ in range(2))
    _require(len(one) > 0, "nothing was read")
    _require(one.ids == two.ids, "reading twice gives different concepts")


def _finds_the_best(
    method: Generalization,
    columns: Mapping[str, Sequence[Any]] | None,
    schema: Schema | None,
) -> None:
    """Whether a search finds what looking at everything finds, in whatever order records come."""
    frame, declared = _tried_on(columns, schema)
    nodes = explore(frame, declared, method)
    (losses,) = nodes.losses.values()
    best = float(losses[nodes.valid].min()) if nodes.valid.any() else None
    for table in (frame, frame.reverse()):
        try:
            found = protect(table, declared, method, SEED).quality
        except MethodError:
            found = None
        alike = found == best if None in (found, best) else abs(found - best) <= NEARLY
        _require(alike, f"a search finds a loss of {found}, but the least is {best}")


def _tried_on(
    columns: Mapping[str, Sequence[Any]] | None, schema: Schema | None
) -> tuple[pl.DataFrame, Schema]:
    """The table that models are tried on; the dates of the example have many levels."""
    whole = example_columns() if columns is None else columns
    declared = example_schema().replace(admitted=None) if schema is None else schema
    return pl.DataFrame({name: whole[name] for name in declared}), declared


def _refuses_nonsense(made: Any) -> None:
    """Every declared constraint refuses what it does not allow, by the parameter's name."""
    values = {one.name: getattr(made, one.name) for one in dataclasses.fields(made)}
    for parameter, constraint in constraints_of(type(made)).items():
        for wrong in constraint.wrong_values():
            try:
                type(made)(**{**values, parameter: wrong})
            except ParameterError as error:
                said = f"{parameter} must be "
                _require(str(error).startswith(said), f"{parameter}={wrong!r} is answered: {error}")
            else:
                raise AssertionError(f"{parameter}={wrong!r} is not refused")


def _travels(made: object) -> None:
    """What is sent to another process arrives as what it was."""
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - its own bytes
    _require(type(again) is type(made), "what is pickled becomes something else")


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
