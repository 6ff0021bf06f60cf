"""The table of a plan where it is too large for memory: read, rewritten and recounted by DuckDB."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontomask.data.schema import Schema
from ontomask.engines.files import (
    LargeSource,
    files_of,
    opened,
    read,
    read_back,
    too_large,
    write,
)
from ontomask.engines.libraries import DuckDB
from ontomask.engines.protecting import prepare
from ontomask.engines.release import LargeRelease, released
from ontomask.engines.suitability import require_suitable
from ontomask.errors import DataError, OntomaskError
from ontomask.extras import is_there
from ontomask.methods.base import Progress
from ontomask.plan.reading import Contents
from ontomask.verify import Verification

__all__ = ["LargeRun", "engine_of"]

BY_ITSELF = (
    "The table is too large for memory, so DuckDB protected it by its distinct combinations; "
    'name = "memory" under [engine] would read it whole.'
)


@dataclass(frozen=True, eq=False)
class LargeRun:
    """A run on DuckDB.

    Attributes
    ----------
    contents, folder
        The plan, and the folder it lies in.
    connection
        The connection that does the work.
    notes
        Why it is done so, where the plan does not say it.
    """

    contents: Contents
    folder: Path
    connection: Any
    notes: tuple[str, ...]

    def protected(self, schema: Schema, progress: Progress) -> tuple[LargeSource, LargeRelease]:
        """Mask the table; nothing is written, and nothing recounted yet."""
        contents, how = self.contents, self.contents.input
        files = files_of(self.folder / how.path)
        kinds = {name: column.kind for name, column in contents.schema.items()}
        relation = read(self.connection, files, how, kinds)
        ready = prepare(relation, DuckDB(), schema, contents.steps, contents.seed, progress)
        release = released(ready, ready.rewritten(), Verification(()))
        records = release.records + release.left_out
        return LargeSource.of(files, how, relation, records), release

    def written(self, release: LargeRelease, path: Path) -> Verification:
        """Write the release, and recount what DuckDB reads from the file."""
        if set("*?[") & set(path.name):
            raise DataError("The input is several files; name the output under [output] (table).")
        how = self.contents.input.dialect
        write(release.frame, path, how, shuffle=self.contents.output.shuffle)
        back = read_back(self.connection, path, how, release.frame)
        return release.recounted(back, DuckDB())


@contextlib.contextmanager
def engine_of(contents: Contents, folder: Path) -> Iterator[LargeRun | None]:
    """The engine that a plan asks for, or that its table needs; None for memory."""
    chosen = contents.engine
    by_itself = chosen.name == "automatic" and _should_be_large(contents, folder)
    if chosen.name != "duckdb" and not by_itself:
        yield None
        return
    _refuse_what_needs_records(contents)
    with opened(chosen) as connection:
        yield LargeRun(contents, folder, connection, (BY_ITSELF,) if by_itself else ())


def _should_be_large(contents: Contents, folder: Path) -> bool:
    """Whether a table does not fit into memory, and its plan works without that."""
    if not is_there("duckdb") or not too_large(folder / contents.input.path):
        return False
    with contextlib.suppress(OntomaskError):
        require_suitable(contents.steps, contents.schema)
        _refuse_what_needs_records(contents)
        return True
    return False


def _refuse_what_needs_records(contents: Contents) -> None:
    """Refuse what is done with every record in memory."""
    if contents.evaluation.target is not None:
        raise DataError(
            "Classifiers learn from records in memory, and DuckDB leaves them where they are; take "
            'out target under [evaluation], or say name = "memory" under [engine].'
        )
    if contents.output.escape_formulas:
        raise DataError(
            "DuckDB writes texts as they are; take out escape_formulas under [output] and write "
            'Parquet, or say name = "memory" under [engine].'
        )
