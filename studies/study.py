"""What a study is, and what it finds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from studies.data import Data

__all__ = [
    "VERDICTS",
    "Cell",
    "Claim",
    "Clock",
    "Figure",
    "Findings",
    "ResultTable",
    "Study",
    "Verdict",
    "judge",
]

Verdict = Literal["holds", "partly", "does not hold", "cannot be tested here"]
VERDICTS: tuple[Verdict, ...] = ("holds", "partly", "does not hold", "cannot be tested here")

Cell = str | int | float | None


def judge(tests: bool | Iterable[bool]) -> Verdict:
    """All tests passed: holds; none: does not hold; some: partly; no test at all: untested."""
    results = [bool(one) for one in (tests if isinstance(tests, Iterable) else [tests])]
    if not results:
        return "cannot be tested here"
    if all(results):
        return "holds"
    return "partly" if any(results) else "does not hold"


@dataclass(frozen=True)
class Claim:
    """What a paper says, where it says it, whether it holds here, and the figure that shows it.

    Make claims with `judged` or `untestable`: a verdict comes from numbers, it is never typed in.
    """

    claim: str
    where: str
    verdict: Verdict
    figure: str
    why: str = ""

    @classmethod
    def judged(
        cls, claim: str, where: str, tests: bool | Iterable[bool], figure: str, why: str = ""
    ) -> Claim:
        """A claim whose verdict follows from one test, or from several (see `judge`)."""
        return cls(claim, where, judge(tests), figure, why)

    @classmethod
    def untestable(cls, claim: str, where: str, why: str) -> Claim:
        """A claim that these data or tools cannot test, and the reason."""
        return cls(claim, where, "cannot be tested here", "—", why)


@dataclass(frozen=True)
class ResultTable:
    """A table of results: a CSV file, and unless `on_page` is false a table on the page.

    `name` is the name of the file. `digits` are the significant digits of floats on the page (the
    file has ten).
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    on_page: bool = True
    digits: int = 4


@dataclass(frozen=True)
class Figure:
    """A figure: a Vega-Lite specification without theme, and what it shows in words."""

    name: str
    title: str
    spec: Mapping[str, Any]
    alt: str


@dataclass(frozen=True)
class Findings:
    """What a study found.

    Parameters
    ----------
    title, paper
        The title of the page, and the citation of the paper.
    data, setup
        The data used here instead of the paper's, and how the experiment was set up (Markdown).
    tables, figures, claims
        The results.
    printed_notes
        About figures as printed: what they are, slips in print (Markdown, one item each).
    discrepancies
        Where our results differ from the printed ones, and why (Markdown, one item each).
    seconds
        Wall-clock seconds of each part; the only thing that may change from run to run.
    """

    title: str
    paper: str
    data: str
    setup: str
    tables: tuple[ResultTable, ...]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    printed_notes: tuple[str, ...] = ()
    discrepancies: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Clock:
    """Measures the parts of a study: ``with clock.part("rank swapping"): …``."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a part."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class Study:
    """A study: its name (the name of its page), and the function that runs it.

    `run(data, small)` gets the tables, and whether a quick run on small tables is wanted.
    """

    name: str
    run: Callable[[Data, bool], Findings]
