"""The commands around a plan: demo, init, check, run, schema, warm.

What a command needs is imported when it runs, so that help and completion are quick.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from ontomask.cli.tables import Decimal, Encoding, Header, Quote, Reading, Separator, Sheet, Skip
from ontomask.cli.voice import EXCEEDED, USAGE, Json, Quiet, Voice, echo, grid
from ontomask.wording import percent, terse_percent

if TYPE_CHECKING:
    from ontomask.data.inference import Proposal
    from ontomask.data.schema import Schema
    from ontomask.evaluation.unchanged import UnchangedRisk
    from ontomask.plan.examination import Examination, Examined
    from ontomask.plan.execution import Outcome

__all__ = ["check", "demo", "init", "run", "schema", "warm"]

PlanFile = Annotated[Path, typer.Argument(help="The plan, a TOML file.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what an earlier run wrote.")]
Internal = Annotated[
    bool, typer.Option("--internal", help="Also write a report that must not be published.")
]


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put it; made if needed.")] = Path(
        "ontomask-demo"
    ),
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a table of 5,000 hospital discharges, protect it, and show what came out.

    Examples: `ontomask demo`, `ontomask demo my-folder`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.cli.demonstration import prepare

        plan = prepare(folder)
        table = folder / "discharges.csv"
        voice.say(
            f"The table is [bold]{escape(str(table))}[/], the plan [bold]{escape(str(plan))}[/].\n"
        )
        _run(voice, plan, force=True)


def init(
    data: Annotated[
        str, typer.Argument(help="The table, or with --query its database.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The plan to write; the table's name by default."),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=2, help="The least size of a class.")] = 5,
    query: Annotated[
        str | None, typer.Option(help="The SELECT that gives the table of a database.")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    header: Header = None,
    skip: Skip = None,
    quote: Quote = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at a table and write a plan for it, with every guess explained in a comment.

    Examples: `ontomask init patients.csv`, `ontomask init patients.csv -o plan.toml --k 10`,
    `ontomask init postgresql://reader@host/hospital --query "SELECT * FROM visits"`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.plan.plan import Plan
        from ontomask.plan.proposal import propose
        from ontomask.writing import require_new, write_new

        place = Path(data) if query is None or "://" not in data else Path(Path(data).name)
        target = output or place.parent / f"{place.name.lstrip('.').split('.')[0] or 'plan'}.toml"
        require_new(target, force=force)
        how = Reading(separator, encoding, decimal, sheet, header, tuple(skip or ()), quote)
        with voice.progress("looking at the table", measured=False):
            text, source, proposal = propose(
                data, target, how.format, k=k, guess=how.guess, query=query
            )
        Plan.parse(text, name=target.name, folder=target.parent)
        write_new(target, text, force=force)
        _show_proposal(voice, proposal, (*proposal.notes, *source.notes))
        _show_undecided(voice, proposal.schema)
        shown = escape(shlex.quote(str(target)))
        voice.say(
            f"\n[bold]{escape(str(target))}[/] is written. Read it, correct what is wrong, then:\n"
            f"  ontomask check {shown}\n  ontomask run {shown}"
        )
        columns = {
            name: {
                "kind": one.kind,
                "role": one.role,
                "why": proposal.reasons[name],
                "profile": str(proposal.profiles[name]),
            }
            for name, one in proposal.schema.items()
        }
        voice.result(
            {
                "plan": str(target),
                "columns": columns,
                "undecided": proposal.schema.undecided,
                "notes": (*proposal.notes, *source.notes),
            }
        )


def _show_proposal(voice: Voice, proposal: Proposal, notes: Iterable[str]) -> None:
    table = grid("column", "values", "kind", "role", "why")
    for name, column in proposal.schema.items():
        reason = Text(proposal.reasons[name], style="yellow" if name in proposal.unsure else "dim")
        profile = Text(str(proposal.profiles[name]))
        table.add_row(Text(name), profile, column.kind, column.role, reason)
    voice.say(table)
    for note in notes:
        voice.say(Text(note, style="dim"))


def _show_undecided(voice: Voice, schema: Schema) -> None:
    if schema.undecided:
        voice.say(
            "\n[yellow]Undecided, so not published until you say what they are to others:[/] "
            f"{escape(', '.join(schema.undecided))}."
        )


def check(plan: PlanFile, json_: Json = False, quiet: Quiet = False) -> None:
    """Say whether a plan is sound and fits its table; nothing is written.

    Example: `ontomask check plan.toml`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.plan.plan import Plan

        read = Plan.read(plan)
        with voice.progress("comparing plan and table", measured=False):
            found = read.check()
        _show_examination(voice, found)
        voice.result(_examined(found))
        if found.undecided and json_:
            raise typer.Exit(USAGE)
        read.contents.decided(str(plan))
        for sentence in found.exceeded:
            voice.say(f"\n[red]A limit of the plan is exceeded already.[/] {escape(sentence)}")
        if found.exceeded:
            raise typer.Exit(EXCEEDED)
        shown = escape(shlex.quote(str(plan)))
        voice.say(f"\n[green]{escape(str(plan))} fits its table.[/] Next:\n  ontomask run {shown}")


def _examined(found: Examination) -> dict[str, Any]:
    return {
        "records": found.records,
        "columns": [vars(one) for one in found.columns],
        "risk": found.risk.as_dict() if found.risk else None,
        "unchanged": vars(found.unchanged),
        "undecided": found.undecided,
        "notes": found.notes,
        "exceeded": found.exceeded,
    }


def _show_examination(voice: Voice, found: Examination) -> None:
    table = grid("column", "kind", "role", "values", "missing", "", numbers=("values", "missing"))
    for one in found.columns:
        table.add_row(
            Text(one.name),
            one.kind,
            one.role,
            f"{one.distinct:,}",
            f"{one.missing:,}",
            Text("; ".join(_remarks(one, found)), style="dim"),
        )
    voice.say(table)
    if found.risk is not None:
        structure = found.risk.structure
        alone = percent(structure.unique_share, 1)
        voice.say(
            f"\nAs it is, {alone} of the {structure.people:,} {_counted(found.repeated)} are alone "
            f"with their combination of {', '.join(map(escape, found.risk.columns))}."
        )
    _show_unchanged(voice, found.unchanged)
    for note in found.notes:
        voice.say(Text(note, style="dim"))


def run(
    plan: PlanFile,
    force: Force = False,
    internal: Internal = False,
    leave_out_undecided: Annotated[
        bool, typer.Option("--leave-out-undecided", help="Publish without undecided columns.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the plan's.")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the release of a plan: masked table, report, manifest.

    Either all files are there afterwards, or none; only where memory is too short for the report
    is the release put in place without it, and a note says so. Exit code 3 says that a limit of the
    plan is exceeded; the files are written all the same, and the report says so.

    Examples: `ontomask run plan.toml`, `ontomask run plan.toml --force --internal`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        _run(
            voice,
            plan,
            seed,
            force=force,
            internal=internal,
            leave_out_undecided=leave_out_undecided,
        )


def _run(voice: Voice, path: Path, seed: int | None = None, **options: bool) -> None:
    from ontomask.helping import helped

    with helped(), voice.progress("reading") as progress:
        from ontomask.plan.plan import Plan

        plan = Plan.read(path)
        if seed is not None:
            plan = plan.with_seed(seed)
        outcome = plan.run(**options, progress=progress)
    _show_outcome(voice, outcome)
    voice.result(_summary(outcome))
    if outcome.exceeded:
        raise typer.Exit(EXCEEDED)


def _remarks(one: Examined, found: Examination) -> Iterator[str]:
    yield from filter(None, [one.profile, one.mapped, found.undecided.get(one.name, "")])


def _show_unchanged(voice: Voice, found: UnchangedRisk) -> None:
    """Say whom the columns published as they are single out, and what can be done."""
    if found.alone:
        voice.say(
            Text(f"{found} Make quasi what others may know, coarsen it, or leave it out.", "yellow")
        )


def _counted(repeated: tuple[str, ...]) -> str:
    """What is counted: people only where persons are, or where each record is one."""
    return "records" if repeated else "people"


def _show_outcome(voice: Voice, outcome: Outcome) -> None:
    release, found = outcome.release, outcome.evaluation
    before, after = found.risk_before, found.risk_after
    table = grid("measured", "before", "after", numbers=("before", "after"))
    table.add_row(
        f"{_counted(outcome.repeated)} alone in their class",
        terse_percent(before.uniques, 1),
        terse_percent(after.uniques, 1),
    )
    table.add_row(
        "highest risk", terse_percent(before.highest_risk, 1), terse_percent(after.highest_risk, 1)
    )
    table.add_row(
        "average risk", terse_percent(before.average_risk, 1), terse_percent(after.average_risk, 1)
    )
    for link in found.linkage:
        table.add_row(f"records linked rightly, {link.distance}", "", terse_percent(link.risk, 1))
    table.add_row("information loss", "", terse_percent(found.loss.loss, 1))
    table.add_row("records left out", "", f"{release.left_out:,}")
    if release.starred:
        table.add_row("records starred", "", f"{release.starred:,}")
    voice.say(table, "")
    for name, level in release.generalized.items():
        voice.say(f"generalized  {escape(name)}: {escape(level)}")
    _show_unchanged(voice, found.unchanged)
    voice.exceeded(outcome.exceeded)
    for note in outcome.notes:
        voice.say(Text(note, style="yellow"))
    voice.say("", f"table     {escape(outcome.place)}")
    if outcome.report is not None:
        voice.say(f"report    [bold]{escape(str(outcome.report))}[/]")
    voice.say(f"manifest  {escape(str(outcome.manifest))} (keep it to yourself: it holds the seed)")
    if outcome.internal is not None:
        voice.say(f"internal  {escape(str(outcome.internal))} (do not hand it on)")
    voice.say(f"{outcome.seconds:.1f} s")
    for promise in outcome.verification.given_up:
        voice.say("", f"[red]GIVEN UP[/]  {escape(promise.describe())}")
    voice.verdict(outcome.judgment)


def _summary(outcome: Outcome) -> dict[str, Any]:
    found = outcome.evaluation
    return {
        "table": outcome.place,
        "report": str(outcome.report) if outcome.report else None,
        "manifest": str(outcome.manifest),
        "internal_report": str(outcome.internal) if outcome.internal else None,
        **outcome.judgment.as_dict(),
        "kept": outcome.verification.kept,
        "given_up": [one.describe() for one in outcome.verification.given_up],
        "findings": [str(one) for one in outcome.verification.findings],
        "loss": found.loss.loss,
        "linkage": {one.distance: one.risk for one in found.linkage},
        "unchanged": vars(found.unchanged),
        "highest_risk": found.risk_after.highest_risk,
        "suppressed": outcome.release.suppressed,
        "left_out": outcome.release.left_out,
        "starred": outcome.release.starred,
        "exceeded": [vars(one) for one in outcome.exceeded],
        "notes": list(outcome.notes),
        "seconds": round(outcome.seconds, 3),
    }


def schema() -> None:
    """Print the JSON Schema of plans, for editors that complete and check TOML.

    Example: `ontomask schema > plan.schema.json`
    """
    from ontomask.plan.schema import plan_schema

    echo(json.dumps(plan_schema(), indent=1))


def warm(quiet: Quiet = False) -> None:
    """Compile everything once, so that the first run of each method is quick.

    Example: `ontomask warm`
    """
    voice = Voice(quiet=quiet)
    with voice.answering():
        from ontomask.warming import warm as compiled

        with voice.progress("compiling") as progress:
            for share, name in compiled():
                progress(share, f"compiled what {name} needs")
        voice.aside("The kernels are compiled.")
