"""The studio, started from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ontomask.cli.voice import Voice
from ontomask.extras import optional

__all__ = ["studio"]


def studio(
    path: Annotated[Path, typer.Argument(help="A table, a plan or a folder.")] = Path(),
    host: Annotated[str, typer.Option(help="Only this machine is allowed.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 finds a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Decide about a release in the browser, on this machine only.

    Examples: `ontomask studio`, `ontomask studio table.csv`, `ontomask studio plan.toml`
    """
    voice = Voice()
    with voice.answering():
        for module in ("starlette", "uvicorn", "tomlkit", "multipart"):
            optional(module)
        from ontomask.studio.serve import serve

        serve(path, lambda said: voice.say(Text(said)), host=host, port=port, browser=browser)
