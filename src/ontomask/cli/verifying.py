"""The command that recounts a release from its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ontomask.cli.tables import Decimal, Encoding, Header, Reading, Separator, Sheet
from ontomask.cli.voice import PROMISE, Json, Quiet, Voice

if TYPE_CHECKING:
    from ontomask.plan.recounting import Recounted

__all__ = ["verify"]


def verify(
    release: Annotated[
        Path, typer.Argument(help="The folder of a run, or a table.", show_default=False)
    ],
    original: Annotated[
        Path | None, typer.Option(help="The table as it was, to compare with.")
    ] = None,
    quasi: Annotated[
        str, typer.Option("--quasi", help="For a table: the columns to count, such as age,sex.")
    ] = "",
    k: Annotated[int | None, typer.Option("--k", "-k", min=2, help="The least class size.")] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="A column whose values are counted in every class.")
    ] = None,
    l: Annotated[  # noqa: E741 - the literature's name
        float | None, typer.Option("--l", min=1, help="The least number of its values.")
    ] = None,
    t: Annotated[
        float | None, typer.Option("--t", min=0, max=1, help="Its largest distance.")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    header: Header = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recount what a release promises, from its files alone.

    In the folder of a run the manifest says what was promised; of a table by itself, say what to
    count. Every cell is read as the text that a reader sees. Exit code 1 says that something does
    not hold.

    Examples: `ontomask verify release`, `ontomask verify release --original patients.csv`,
    `ontomask verify masked.csv --quasi age,sex,diagnosis --k 5`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.plan.recounting import recount_folder, recount_table

        with voice.progress("recounting", measured=False):
            if quasi:
                found = recount_table(
                    release,
                    [name.strip() for name in quasi.split(",")],
                    k=k,
                    sensitive=sensitive,
                    diversity=l,
                    closeness=t,
                    how=Reading(separator, encoding, decimal, sheet, header).format,
                )
            else:
                found = recount_folder(release, original)
        _show(voice, found)
        if not found.verification.kept:
            raise typer.Exit(PROMISE)


def _show(voice: Voice, found: Recounted) -> None:
    for note in found.notes:
        voice.say(Text(note, style="yellow" if "NOT" in note else "dim"))
    voice.verdict(found.judgment)
    voice.result(
        {
            **found.judgment.as_dict(),
            "kept": found.verification.kept,
            "findings": [str(one) for one in found.verification.findings],
            "notes": list(found.notes),
        }
    )
