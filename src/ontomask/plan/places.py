"""Where the masked table of a run goes: a file of the output folder, or a table of a database.

Both are written, read back as a reader would, and seen by others only when everything is done: a
file with its folder, a table by the commit of its transaction, just before.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontomask.data.file_names import format_of_name
from ontomask.data.files import (
    FileFormat,
    file_digest,
    read_file,
    read_texts,
    with_formulas_escaped,
    write_file,
)
from ontomask.data.files.reading import as_declared
from ontomask.data.tables import Table, open_table
from ontomask.engines.databases import Database, Session
from ontomask.errors import DataError, OutputError
from ontomask.plan.outputs import MANIFEST
from ontomask.plan.sections import Output

__all__ = ["FilePlace", "Place", "TablePlace", "check_table", "place_of", "target_database"]


@dataclass(frozen=True)
class FilePlace:
    """A file of the output folder, under the name that it has before the folder is in place."""

    path: Path

    @property
    def shown(self) -> str:
        """What to call it in a sentence."""
        return str(self.path)

    def write(self, frame: Any, how: FileFormat, *, escape: bool) -> Any:
        """Write a frame; the frame as it was written is returned."""
        outgoing = with_formulas_escaped(frame, self.path) if escape else frame
        write_file(outgoing, self.path, how)
        return outgoing

    def back(self, outgoing: Table, how: FileFormat) -> tuple[Any, FileFormat | None]:
        """What a reader sees, and how values are written as texts, if they are."""
        if format_of_name(self.path) == "csv":
            return read_texts(self.path, how), how
        return read_file(self.path, how, kinds=_kinds(outgoing)).frame, None

    def digest(self) -> str:
        """The digest of what was written."""
        return file_digest(self.path)


@dataclass(frozen=True, eq=False)
class TablePlace:
    """A table of a database, in a transaction that nobody has seen yet."""

    session: Session
    table: str
    replacing: bool

    @property
    def shown(self) -> str:
        """What to call it in a sentence."""
        return self.table

    def write(self, frame: Any, how: FileFormat, *, escape: bool) -> Any:  # noqa: ARG002 - for files
        """Write a frame; the frame as it was written is returned."""
        self.store(frame.to_arrow().to_reader())
        return frame

    def store(self, batches: Any) -> None:
        """Write Arrow batches."""
        self.session.write(self.table, batches, replace=self.replacing)

    def back(self, outgoing: Table, how: FileFormat) -> tuple[Any, FileFormat | None]:  # noqa: ARG002
        """What a reader sees; values have types there."""
        frame, _ = self.session.frame(self.session.back(self.table))
        kinds = {name: kind for name, kind in _kinds(outgoing).items() if name in frame.columns}
        return as_declared(frame, FileFormat(), kinds, self.table).frame, None

    def digest(self) -> str:
        """The digest of the values that were written."""
        return open_table(self.session.frame(self.session.back(self.table))[0]).digest()


Place = FilePlace | TablePlace


def _kinds(outgoing: Table) -> dict[str, str]:
    return {name: "numeric" if outgoing.is_number(name) else "flat" for name in outgoing.names}


def target_database(output: Output, folder: Path) -> Database | None:
    """The database that a table goes to; None for a file."""
    if output.database is None:
        return None
    return Database(output.database, folder, output.password_variable)


def check_table(output: Output, folder: Path, target: Path, *, force: bool) -> None:
    """See before anything is computed whether the table can be put in the database."""
    database = target_database(output, folder)
    if database is None:
        return
    assert output.table is not None
    with database.opened(writing=True) as session:
        if not session.exists(output.table) or (force and _is_release(output, target)):
            return
    raise OutputError(
        f"There is a table {output.table} in the database already; nothing was changed. Choose "
        "another name under [output]; --force (force=True) replaces only the table of the release "
        f"in {target}."
    )


def _is_release(output: Output, target: Path) -> bool:
    """Whether the release in a folder is the one whose table is in the database."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        described = json.loads((target / MANIFEST).read_text(encoding="utf-8"))["output"]
        return bool(described["database"] == output.database and described["table"] == output.table)
    return False


@contextlib.contextmanager
def place_of(
    output: Output, folder: Path, path: Path, target: Path, *, force: bool
) -> Iterator[Place]:
    """Where the table goes; if all went well, others see it in its database afterwards.

    Parameters
    ----------
    output, folder
        What the plan says, and the folder it lies in.
    path
        The file that the table would go to.
    target
        The folder in which the release will be.
    force
        Whether a release that is there is replaced.
    """
    database = target_database(output, folder)
    if database is None:
        yield FilePlace(path)
        return
    assert output.table is not None
    check_table(output, folder, target, force=force)
    with database.opened(writing=True) as session:
        yield TablePlace(session, output.table, force)
        try:
            session.commit()
        except DataError as error:
            raise OutputError(str(error)) from None
