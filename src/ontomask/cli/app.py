"""All commands in one application."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Annotated, Any

import typer

import ontomask
from ontomask.cli import deciding, knowledge, measuring, running, verifying
from ontomask.cli.voice import echo

__all__ = ["app", "main"]

app = typer.Typer(
    help="Release microdata that keeps its meaning.",
    epilog="Start with: ontomask demo. Exit codes: 0 done, 1 a promise is not kept, 2 wrong usage, "
    "3 a limit of the plan is exceeded, 130 interrupted.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"ontomask {ontomask.__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Release microdata that keeps its meaning."""


COMMANDS: tuple[Callable[..., None], ...] = (
    running.demo,
    running.init,
    running.check,
    running.run,
    deciding.studio,
    verifying.verify,
    measuring.evaluate,
    measuring.compare,
    measuring.risk,
    running.schema,
    running.warm,
)

for _command in COMMANDS:
    app.command()(_command)
app.add_typer(knowledge.app, name="taxonomy")


def main() -> None:
    """Run the command line; being told to end is treated as an interruption."""

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    app()
