"""Single files, written as a whole or not at all, an existing one only if that is wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ontomask.errors import OntomaskError, OutputError

__all__ = ["require_new", "write_new", "writing"]


def require_new(path: Path, *, force: bool) -> None:
    """Refuse to replace a file, unless that is wanted; a folder is never replaced."""
    with writing(path):
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file to write.")
        if not path.parent.is_dir():
            raise OutputError(
                f"There is no folder {str(path.parent)!r} to write {path.name!r} to; make it first."
            )
        if path.exists() and not force:
            raise OutputError(
                f"{path} exists already and is kept; give another name, or say --force."
            )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Answer the operating system's complaints with a sentence."""
    try:
        yield
    except OntomaskError:
        raise
    except (OSError, ValueError) as error:  # a name with a zero character is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{path} cannot be written ({reason}).") from None


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a text to a file that does not exist yet."""
    require_new(path, force=force)
    temporary = path.with_name(f".{path.name}.partial")
    with writing(path):
        try:
            temporary.write_text(text, encoding="utf-8", newline="\n")
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
