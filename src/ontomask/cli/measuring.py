"""The commands that measure: evaluate, compare, risk."""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from ontomask.cli.tables import (
    Decimal,
    Encoding,
    Header,
    Reading,
    Separator,
    Sheet,
    measured_table,
    require_columns,
)
from ontomask.cli.voice import EXCEEDED, Force, Json, Quiet, Voice, grid
from ontomask.wording import terse_percent
from ontomask.writing import require_new, write_new

if TYPE_CHECKING:
    from ontomask.comparison import Comparison
    from ontomask.data.schema import Schema
    from ontomask.evaluation.evaluation import Evaluation
    from ontomask.evaluation.risk import FileRisk

__all__ = ["compare", "evaluate", "risk", "sizes"]

Data = Annotated[Path, typer.Argument(help="A table.", show_default=False)]
PLAN = typer.Option("--plan", "-p", help="The plan that says what the columns are.")
MOST_SIZES = 1000
MOST_COMBINATIONS = 20_000
METHODS = "mdav+equality,s-mdav,sa-mdav,recoding,resampling"


def evaluate(
    original: Annotated[Path, typer.Argument(help="The table as it was.", show_default=False)],
    masked: Annotated[Path, typer.Argument(help="The table as released.", show_default=False)],
    plan: Annotated[Path, PLAN],
    key: Annotated[
        str | None,
        typer.Option(
            help="A column of both that tells which records correspond; else by their order."
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file.")] = None,
    internal: Annotated[bool, typer.Option("--internal", help="With all details.")] = False,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare an original and a masked table, which may come from any tool, record by record.

    Example: `ontomask evaluate patients.csv masked.csv --plan plan.toml --report report.html`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.plan.comparing import evaluate_files
        from ontomask.plan.plan import Plan

        if report is not None:
            require_new(report, force=force)
        with voice.progress("measuring loss and risk", measured=False):
            found = evaluate_files(Plan.read(plan), original, masked, key)
        _show_evaluation(voice, found.evaluation)
        if report is not None:
            page = found.report(internal=internal)
            write_new(report, page, force=force, private=internal)
            voice.say(f"\nThe report is [bold]{escape(str(report))}[/].")
        voice.exceeded(found.exceeded)
        exceeded = [vars(one) for one in found.exceeded]
        voice.result({**found.evaluation.as_dict(), "exceeded": exceeded})
        if exceeded:
            raise typer.Exit(EXCEEDED)


def _show_evaluation(voice: Voice, found: Evaluation) -> None:
    table = grid("", "figure", "value")
    for row in found.rows():
        value = f"{row.value:.5g}" if isinstance(row.value, float) else str(row.value)
        table.add_row(f"[dim]{row.section}", Text(row.figure), Text(value))
    voice.say(table)


def compare(
    plan: Annotated[Path, typer.Argument(help="The plan.", show_default=False)],
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            help="Presets, methods, `plan` for the plan's own steps, other plan files for theirs.",
        ),
    ] = METHODS,
    k: Annotated[
        str, typer.Option("--k", "-k", help="Such as 2..20, 2..20:2 or 2,5,10.")
    ] = "2,5,10",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds to average over.")] = 1,
    max_risk: Annotated[
        float | None, typer.Option(min=0, max=100, help="Recommend under this linkage, in percent.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a CSV file.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Draw loss and risk, for the house only, into this file.")
    ] = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try several methods and values of k on the table of a plan, side by side.

    What is measured is what the plan says; where it names a target, also how well classifiers
    that learned from a release predict it.

    Examples: `ontomask compare plan.toml --methods sa-mdav,recoding --k 2..20:3 --max-risk 10`,
    `ontomask compare plan.toml --methods plan,other.toml,suppression --html comparison.html`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.plan.comparing import compare_methods
        from ontomask.plan.plan import Plan

        for file in filter(None, (output, html)):
            require_new(file, force=force)
        chosen, found = sizes(k), Plan.read(plan)
        limit = None if max_risk is None else max_risk / 100.0
        with voice.progress("comparing") as progress:
            comparison = compare_methods(
                found,
                [name.strip() for name in methods.split(",") if name.strip()],
                k=chosen,
                seeds=range(1, seeds + 1),
                workers=workers,
                progress=progress,
            )
        _show_comparison(voice, comparison)
        if output is not None:
            write_new(output, _as_csv(comparison.rows()), force=force)
            voice.say(f"\nAll figures are in [bold]{escape(str(output))}[/].")
        if html is not None:
            title = found.contents.input.name
            comparison.report(html, title=title, max_risk=limit)
            voice.say(f"\nThe picture is [bold]{escape(str(html))}[/] (do not hand it on).")
        _recommend(voice, comparison, limit)


def _recommend(voice: Voice, comparison: Comparison, max_risk: float | None) -> None:
    """Name the best release under a risk; that there is none is a limit that is exceeded."""
    from ontomask.errors import MethodError

    failures = [cell.error for cell in comparison.cells]
    if all(failures):
        raise MethodError(f"None of the releases could be made. {failures[0]}")
    best, problem = None, ""
    if max_risk is not None:
        try:
            best = comparison.best(max_risk)
            voice.say(f"\nLeast loss under {100 * max_risk:g}%: [bold]{escape(best.title)}[/].")
        except MethodError as error:
            problem = str(error)
            voice.say("", Text(problem, style="red"))
    voice.result(
        {"cells": comparison.rows(), "best": vars(best) if best else None, "problem": problem}
    )
    if problem:
        raise typer.Exit(EXCEEDED)


def sizes(text: str) -> list[int]:
    """Read values of k: 2..20, 2..20:2, 2,5,10."""
    from ontomask.errors import ParameterError

    found: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+)(?::(\d+))?)?\s*", part)
        if span is None:
            raise ParameterError(f"k must be such as 2..20, 2..20:2 or 2,5,10, not {text!r}.")
        low, high, step = int(span[1]), int(span[2] or span[1]), int(span[3] or 1)
        if step == 0 or high < low:
            raise ParameterError(f"k counts upwards in steps of at least 1, unlike {text!r}.")
        found.extend(range(low, high + 1, step)[: MOST_SIZES + 1])
    if len(found) > MOST_SIZES:
        raise ParameterError(f"k must be {MOST_SIZES} values at most, unlike {text!r}.")
    return list(dict.fromkeys(found))


def _show_comparison(voice: Voice, comparison: Comparison) -> None:
    frontier = {(cell.method, cell.k) for cell in comparison.frontier()}
    accuracy = ("accuracy %",) if comparison.target else ()
    numbers = ("k", "loss %", "linkage %", "score %", *accuracy, "suppressed", "stars", "seconds")
    table = grid("", "method", *numbers, numbers=numbers)
    for cell in comparison.means():
        if cell.error:
            continue
        mark = "[green]●" if (cell.method, cell.k) in frontier else " "
        k = "–" if cell.k is None else str(cell.k)
        shares = [cell.loss, cell.risk, cell.score, *([cell.accuracy] if accuracy else [])]
        counts = (f"{value or 0:,.0f}" for value in (cell.suppressed, cell.stars))
        figures = (f"{100 * (value or 0):.2f}" for value in shares)
        seconds = f"{cell.seconds or 0:.2f}"
        table.add_row(mark, Text(cell.method), k, *figures, *counts, seconds)
    if table.row_count:
        voice.say(table, "\n[green]●[/] no other has both less loss and less linkage")
    _show_failures(voice, comparison)


def _show_failures(voice: Voice, comparison: Comparison) -> None:
    """Say why releases could not be made, what has the same reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in comparison.means():
        if cell.error:
            reasons.setdefault((cell.method, cell.error), []).append(str(cell.k))
    for (method, reason), sizes_of_it in reasons.items():
        k = "" if sizes_of_it == ["None"] else f", k = {', '.join(sizes_of_it)}"
        voice.say(Text(f"\nNot made: {method}{k}. {reason}", style="red"))


def _as_csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def risk(
    data: Data,
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Columns an intruder may know: a,b,c.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The column that says whose record it is.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="People above this risk are counted; 0.2 is 20%.")
    ] = 0.2,
    fraction: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="How much of the population is in the table; 0.1 is 10%."),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    header: Header = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how much a table gives away as it is.

    Examples: `ontomask risk patients.csv --quasi age,sex,zip`,
    `ontomask risk visits.csv --quasi age,sex,zip --unit patient`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.engines.measuring import file_risk, minimal_unique_sets

        how = Reading(separator, encoding, decimal, sheet, header)
        with measured_table(data, how) as (source, whole):
            voice.aside(*(Text(note, style="dim") for note in source.guessed.values()))
            schema = _known(voice, source.frame, quasi, unit)
            counted = _counted(voice, source.frame, unit)
            with voice.progress("measuring the risk", measured=False):
                found = file_risk(whole, schema, threshold=threshold, fraction=fraction)
                unique = minimal_unique_sets(whole, schema, max_size=_combined(len(schema.quasi)))
        _show_risk(voice, found, counted)
        table = grid("what singles people out", counted, numbers=(counted,))
        for one in [each for each in unique.combinations if each.minimal][:10]:
            table.add_row(Text(" + ".join(one.columns)), f"{one.minimal:,}")
        if table.row_count:
            voice.say("", table)
        voice.result({**found.as_dict(), "unique_sets": unique.as_dict()})


def _combined(columns: int) -> int:
    """How many columns to combine at most: up to three, as long as that takes seconds."""
    sizes = [size for size in (2, 3) if math.comb(columns, size) <= MOST_COMBINATIONS]
    return min(columns, max(sizes, default=1))


def _known(voice: Voice, frame: Any, quasi: str | None, unit: str | None) -> Schema:
    """The columns that an intruder may know, as plain values."""
    from ontomask.data.inference import infer_schema
    from ontomask.data.schema import Flat, Identifier, Schema
    from ontomask.errors import ParameterError

    if quasi is None:
        names = list(infer_schema(frame).schema.quasi)
        shown = escape(", ".join(names) or "none")
        voice.aside(f"Taken as known to others: {shown} (say --quasi to choose).\n")
    else:
        names = [name.strip() for name in quasi.split(",") if name.strip()]
    if not names:
        raise ParameterError("No column is named; say --quasi with the columns others may know.")
    whose = [] if unit is None else [unit]
    require_columns([*names, *whose], list(frame.columns))
    units = {name: Identifier(unit=True) for name in whose}
    return Schema.of({**{name: Flat() for name in names if name not in units}, **units})


def _counted(voice: Voice, frame: Any, unit: str | None) -> str:
    """What is counted: people, unless one of them seems to have several records."""
    from ontomask.data.inference import infer_schema

    repeated = None if unit is not None else infer_schema(frame).schema.unit
    if repeated is None:
        return "people"
    voice.aside(
        f"Several records have the same {escape(repeated)}, and records are counted (say "
        f"--unit {escape(shlex.quote(repeated))} to count persons).\n"
    )
    return "records"


def _show_risk(voice: Voice, found: FileRisk, counted: str) -> None:
    structure, prosecutor = found.structure, found.prosecutor
    alone = terse_percent(structure.unique_share, 1)
    facts = {
        counted: f"{structure.people:,}",
        "different combinations": f"{structure.classes:,}",
        "smallest class": f"{structure.smallest:,}",
        "alone in their class": f"{structure.uniques:,} ({alone})",
        "highest risk": terse_percent(prosecutor.highest, 1),
        "average risk": terse_percent(prosecutor.average, 1),
        f"{counted} at a risk above {100 * found.threshold:g}%": terse_percent(prosecutor.above, 1),
    }
    if found.persons is not None:
        joined = found.persons.joined_average
        facts["average risk of any of a person's records"] = terse_percent(joined, 1)
    if found.population is not None:
        share = found.population.dankar.share
        facts["alone in the population (estimate)"] = (
            "?" if share is None else terse_percent(share, 1)
        )
    table = grid("", "", numbers=())
    for name, value in facts.items():
        table.add_row(f"[dim]{name}", value)
    voice.say(table)
