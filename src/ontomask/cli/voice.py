"""How the command line speaks: words for people, JSON for machines, exit codes for pipelines."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ontomask.errors import CancelledError, OntomaskError, PlanError, PromiseError
from ontomask.wording import percent

if TYPE_CHECKING:
    from ontomask.plan.problems import Problem
    from ontomask.report.facts import Limit
    from ontomask.verdict import Judgment

__all__ = [
    "DONE",
    "EXCEEDED",
    "INTERRUPTED",
    "PROMISE",
    "USAGE",
    "Force",
    "Json",
    "Quiet",
    "Voice",
    "echo",
    "grid",
]

DONE, PROMISE, USAGE, EXCEEDED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: done, a promise not kept, wrong usage, a limit exceeded, interrupted."""

VERDICTS = {"COVERED": "green", "UNCOVERED": "yellow", "BROKEN": "red"}
"""The color of each verdict; its words say the same."""

PATIENCE = 1.0
"""A progress bar appears after so many seconds."""

WHOLE_WORDS: Any = {
    "break_long_words": False,
    "break_on_hyphens": False,
    "drop_whitespace": False,
    "replace_whitespace": False,
    "expand_tabs": False,
}

WIDTH = 100
"""Lines are at least so wide where the output is no terminal."""

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def grid(*headers: str, numbers: tuple[str, ...] = ()) -> Table:
    """A plain table for people; columns of numbers stand right."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for header in headers:
        right = header in numbers
        table.add_column(header, justify="right" if right else "left", no_wrap=right)
    return table


class Careful(Console):
    """A console on which names and values from a file cannot play tricks with the terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Show control characters as what they are: something that cannot be shown."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Nobody reads any more: what is done stays done, and its exit code says so."""
        _let_nobody_read(self.file)


def echo(text: str) -> None:
    """Print a text as it is, for machines."""
    try:
        typer.echo(text)
    except BrokenPipeError:
        _let_nobody_read(sys.stdout)


def _let_nobody_read(stream: IO[str]) -> None:
    """Have all that is still said go nowhere, what waits to be written included."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _visible(text: str) -> str:
    return "".join(
        one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text
    )


@dataclass
class Voice:
    """What a command says, to whom."""

    as_json: bool = False
    quiet: bool = False
    out: Console = field(default_factory=lambda: _console(sys.stdout))
    err: Console = field(default_factory=lambda: _console(sys.stderr))

    def say(self, *things: RenderableType) -> None:
        """Tell a person something; a machine is told the result only."""
        if not self.quiet and not self.as_json:
            _print(self.out, *things)

    def aside(self, *things: RenderableType) -> None:
        """Tell a person something that is not the result."""
        if not self.quiet and not self.as_json:
            _print(self.err, *things)

    def exceeded(self, limits: Iterable[Limit]) -> None:
        """Tell a person which limits of a plan are exceeded."""
        for one in limits:
            self.say(
                f"[bold red]Limit exceeded:[/] {one.name} is {percent(one.measured, 2)}, "
                f"allowed are {100 * one.allowed:g}%."
            )

    def verdict(self, judgment: Judgment) -> None:
        """Tell a person what was promised and against whom, and then the verdict."""
        said = ""
        for known, finding in judgment.promised:
            if known != said:
                self.say("", f"Promised {escape(known)}:")
                said = known
            mark = "kept    " if finding.kept else "[red]BROKEN[/]  "
            self.say(f"{mark}{escape(finding.statement)}")
        color = VERDICTS[judgment.verdict.name]
        self.say("", f"[bold {color}]{escape(judgment.title)}.[/] {escape(judgment.consequence)}")

    def result(self, value: Mapping[str, Any]) -> None:
        """Give a machine the result."""
        if self.as_json:
            echo(json.dumps(_strict(value), indent=1, ensure_ascii=False, default=str))

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Answer a user's mistake with its sentence and an exit code, never with a traceback."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = self._warned
                yield
        except CancelledError as error:
            raise self._ended(error, INTERRUPTED) from None
        except PromiseError as error:
            raise self._ended(error, PROMISE) from None
        except OntomaskError as error:
            raise self._ended(error, USAGE) from None
        except KeyboardInterrupt:
            stopped = CancelledError("Interrupted; nothing was put in place.")
            raise self._ended(stopped, INTERRUPTED) from None
        except MemoryError:
            short = OntomaskError(
                "There is not enough memory for this table; take fewer columns or records, or a "
                "machine with more."
            )
            raise self._ended(short, USAGE) from None

    def _warned(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Say a warning as a sentence, without the place in our sources."""
        self.aside(Text(str(message), style="yellow"))

    def _ended(self, error: OntomaskError, code: int) -> typer.Exit:
        if self.as_json:
            problems = [str(one) for one in error.problems] if isinstance(error, PlanError) else []
            self.result({"error": str(error), "problems": problems, "exit_code": code})
        elif isinstance(error, PlanError) and error.problems:
            _print(self.err, f"[bold red]Error:[/] {escape(str(error).splitlines()[0])}")
            _print(self.err, _listed(cast("tuple[Problem, ...]", error.problems)))
        else:
            _print(self.err, f"[bold red]Error:[/] {escape(str(error))}")
        return typer.Exit(code)

    @contextlib.contextmanager
    def progress(self, what: str, *, measured: bool = True) -> Iterator[Any]:
        """Draw a bar once the work takes over a second, and lend the callback that moves it.

        Parameters
        ----------
        measured
            Whether the callback will be told how far the work is; if not, the bar only shows that
            something is being done.
        """
        if self.quiet or self.as_json or not self.err.is_terminal:
            yield lambda _fraction, _message: None
            return
        # what computes needs Numba anyway, but help and completion do not
        from ontomask.kernels.compiling import compiling

        estimate = (TaskProgressColumn(), TimeRemainingColumn()) if measured else ()
        columns = (TextColumn("{task.description}"), BarColumn(), *estimate)
        bar = _Bar(Progress(*columns, console=self.err, transient=True), what, measured=measured)
        try:
            with _after(PATIENCE, bar.shown.start), compiling(bar.compile):
                yield bar.report
        finally:
            if bar.shown.live.is_started:
                bar.shown.stop()


class _Bar:
    """A progress bar that says what is being done, or that kernels are being compiled."""

    def __init__(self, shown: Progress, what: str, *, measured: bool) -> None:
        self.shown, self._what, self._said, self._notice = shown, what, what, ""
        self._task = shown.add_task(escape(what), total=1.0 if measured else None)

    def report(self, fraction: float, message: str) -> None:
        """Move it."""
        self._said = message or self._what
        self.shown.update(self._task, completed=fraction, description=self._description)

    def compile(self, active: bool) -> None:
        """Say, until it is over, that kernels are being compiled."""
        from ontomask.kernels.compiling import NOTICE

        self._notice = NOTICE if active else ""
        self.shown.update(self._task, description=self._description)

    @property
    def _description(self) -> str:
        return escape(self._notice or self._said)


@contextlib.contextmanager
def _after(seconds: float, start: Callable[[], None]) -> Iterator[None]:
    """Start something unless the work is done by then."""
    timer = threading.Timer(seconds, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _listed(problems: tuple[Problem, ...]) -> Table:
    """Problems below each other, their sentences aligned."""
    table = Table.grid(padding=(0, 2))
    for problem in problems:
        where = Text(f"  {problem.where}", style="cyan", no_wrap=True)
        table.add_row(where, Text(problem.sentence))
    return table


def _print(console: Console, *things: RenderableType) -> None:
    for thing in things:
        text = Text.from_markup(thing) if isinstance(thing, str) else thing
        if isinstance(text, Text):
            console.print(_wrapped(text, console.width), soft_wrap=True)
        else:
            console.print(text)


def _wrapped(text: Text, width: int) -> Text:
    """Break lines between words only, and indented ones never: paths and commands are copied."""
    lines: list[Text] = []
    for line in text.split(allow_blank=True):
        if line.plain.startswith("  "):
            lines.append(line)
            continue
        pieces = textwrap.wrap(line.plain, width, **WHOLE_WORDS)
        ends = itertools.accumulate(len(piece) for piece in pieces[:-1])
        first, *rest = line.divide(ends)
        lines += [first, *(one[len(one.plain) - len(one.plain.lstrip()) :] for one in rest)]
    return Text("\n").join(lines)


def _strict(value: Any) -> Any:
    """A value without the numbers that JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(name): _strict(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _console(stream: Any) -> Console:
    console = Careful(file=stream, highlight=False)
    if not console.is_terminal:
        console = Careful(file=stream, highlight=False, width=max(WIDTH, console.width))
    return console
