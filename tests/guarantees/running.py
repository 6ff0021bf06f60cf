"""One run: a random table, steps with random options, and everything that must hold afterwards."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ontomask as om
from guarantees.counting import Text, smallest_class
from guarantees.manners import mannered
from guarantees.options import Option, Unsuitable
from guarantees.people import People, random_people, released, written
from guarantees.promised import Seen, broken, largest_k, leaks, untouched
from ontomask.promises import ClassSize

TABLES = 60
"""So many tables are looked at for one that an option can be about."""

PATIENCE = 12
"""So many times as many runs are made until one of them is not refused."""

REPEATED = 3
"""Every third run is made twice."""

EMPTY = ("holds missing values only", "Every record has a missing value")
"""Tables that are refused for what they are."""

NOBODY = People((), {}, "")
"""Options of columns are drawn before there is a table."""

Steps = Callable[[People, np.random.Generator], list[Any]]
Look = Callable[["Run", om.Release], Iterator[str]]


@dataclass(frozen=True)
class Run:
    """A table and the steps that mask it."""

    people: People
    steps: tuple[Any, ...]
    seed: int

    def protected(self) -> om.Release:
        return om.protect(self.people.frame, self.people.schema, list(self.steps), self.seed)


@dataclass(frozen=True)
class Trial:
    """The runs of one test: which there are, and how to see one of them again.

    Attributes
    ----------
    node
        The test, as pytest calls it.
    count
        How many runs are made.
    only
        The one run to be made, if one is to be seen again.
    released
        Whether at least one of the runs must end in a release.
    forced
        An option for all columns of a kind.
    """

    node: str
    count: int
    only: int | None = None
    released: bool = True
    forced: Mapping[str, Option] = field(default_factory=dict)

    def examine(self, steps: Steps, look: Look | None = None) -> None:
        """Make the runs; all that is wrong is told together with the command that shows it."""
        found, release = [], None
        for number in self._numbers():
            if number >= self.count and (release or found or not self.released):
                break
            run = self.drawn(number, steps)
            try:
                release = run.protected()
                wrong = list((look or complaints)(run, release))
            except om.errors.OntomaskError as refusal:
                wrong = list(unhelpful(refusal, run))
            found += [f"{one}\n    pytest '{self.node}' --guarantee-seed {number}" for one in wrong]
        assert not found, "\n".join(found)
        assert release or self.only is not None or not self.released, "every run was refused"

    def _numbers(self) -> Sequence[int]:
        return range(self.count * PATIENCE) if self.only is None else [self.only]

    def drawn(self, number: int, steps: Steps) -> Run:
        """The run with a number."""
        for attempt in range(TABLES):
            key = [zlib.crc32(self.node.encode()), number, attempt]
            generator = np.random.default_rng(key)
            settings = {kind: one.draw(NOBODY, generator) for kind, one in self.forced.items()}
            people = random_people(generator, settings)
            try:
                return Run(people, tuple(steps(people, generator)), number)
            except Unsuitable:
                continue
        raise LookupError("No table suits the option; let people.py make one.")


def unhelpful(refusal: Exception, run: Run) -> Iterator[str]:
    """A run may be refused for what was asked, or for the order of its steps, which is named."""
    if isinstance(refusal, om.errors.PromiseError):
        expected = "put the steps in the order" in str(refusal)
    elif isinstance(refusal, om.errors.DataError):
        new_values = len(run.steps) > 1 and "has no row for" in str(refusal)
        expected = new_values or any(one in str(refusal) for one in EMPTY)
    else:
        expected = isinstance(refusal, (om.errors.MethodError, om.errors.ParameterError))
    if not expected:
        yield repr(refusal)


def complaints(run: Run, release: om.Release) -> Iterator[str]:
    """Everything that is wrong with a release."""
    text = written(released(release.frame))
    seen = Seen(run.people, run.steps, Text.read(text))
    yield from wrong(seen)
    if broken(seen, lifted=True) and not release.given_up:
        yield "a promise is broken and nobody says that it was given up"
    yield from _false_certificates(release, seen)
    if run.seed % REPEATED == 0 and written(released(run.protected().frame)) != text:
        yield "the same seed gives another release"
    if any(largest_k(step) for step in run.steps) and not broken(seen, lifted=True):
        yield from _scheme(run, release, seen)


def _false_certificates(release: om.Release, seen: Seen) -> Iterator[str]:
    """Class sizes that are said to have been counted, whatever the steps promise."""
    for one in release.verification.findings:
        if isinstance(one.promise, ClassSize):
            smallest = smallest_class(seen.text, one.promise.columns, seen.people.count)
            if smallest < one.promise.k or not one.kept:
                yield f"it is certified that {one}, but there is a class of {smallest}"


def wrong(seen: Seen) -> Iterator[str]:
    """Everything that is wrong with a text."""
    yield from broken(seen)
    yield from leaks(seen)
    yield from untouched(seen)
    if len(seen.steps) == 1:
        yield from mannered(seen)


def _taken(column: Any, places: Any) -> Any:
    """Some values of a column, which keeps its type: 40 and 40.0 are different texts."""
    if hasattr(column, "iloc"):
        return column.iloc[places].reset_index(drop=True)
    return column[places]


def _scheme(run: Run, release: om.Release, seen: Seen) -> Iterator[str]:
    """Records not seen are given combinations of the release, or left out."""
    generator = np.random.default_rng(run.seed)
    frame = run.people.frame
    places = {name: generator.integers(0, len(frame), len(frame)) for name in frame.columns}
    columns = {name: _taken(frame[name], places[name]) for name in frame.columns}
    try:
        applied = release.scheme.apply(type(frame)(columns))
    except (om.errors.MethodError, om.errors.DataError):
        return
    new = Text.read(written(released(applied)))
    strange = set(new.classes(seen.quasi)) - set(seen.text.classes(seen.quasi))
    if strange:
        yield f"the scheme makes {len(strange)} combinations that the release does not have"
