"""The table of a plan where it is too large for memory: read, rewritten and recounted by DuckDB."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.data.schema import Schema
from ontomask.engines.files import (
    LargeSource,
    copied,
    digest_of,
    files_of,
    opened,
    read,
    read_back,
    too_large,
    too_many,
    write,
)
from ontomask.engines.libraries import DuckDB
from ontomask.engines.protecting import prepare
from ontomask.engines.release import LargeRelease, released
from ontomask.engines.suitability import require_suitable
from ontomask.engines.tables import LargeTable
from ontomask.errors import DataError, OntomaskError
from ontomask.extras import is_there
from ontomask.findings import Verification
from ontomask.methods.base import Progress
from ontomask.plan.examination import identifiers, repeating
from ontomask.plan.places import Place, TablePlace
from ontomask.plan.reading import Contents

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
        relation, digest = self.table()
        ready = prepare(relation, DuckDB(), schema, contents.steps, contents.seed, progress)
        release = released(ready, ready.rewritten(), Verification(()))
        records = release.records + release.left_out
        found = digest or release.digests["input"]
        source = LargeSource.of(found, how, relation, records)
        return replace(source, repeated=repeated_in(relation, schema)), release

    def table(self) -> tuple[Any, str]:
        """The table as DuckDB sees it, and the digest of its files."""
        how = self.contents.input
        kinds = {name: column.kind for name, column in self.contents.schema.items()}
        asked = how.source(self.folder)
        if asked is None:
            files = files_of(self.folder / how.file)
            return read(self.connection, files, how, kinds), digest_of(files)
        if how.missing_in or how.read_as:
            raise DataError(
                "DuckDB takes the values of a database as they are; say missing_in and read_as in "
                'the query (NULLIF, CASE), or say name = "memory" under [engine].'
            )
        database, query = asked
        with database.opened() as session:
            return copied(self.connection, session.read(query), kinds, "asked"), ""

    def written(self, release: LargeRelease, place: Place) -> Verification:
        """Write the release, and recount what DuckDB reads from where it is."""
        how, shuffle = self.contents.input.dialect, self.contents.output.shuffle
        if isinstance(place, TablePlace):
            ordered = release.frame.order("random()") if shuffle else release.frame
            place.store(ordered.to_arrow_reader())
            answer = place.session.read(place.session.back(place.table))
            back = copied(self.connection, answer, dict.fromkeys(answer.numbers, "numeric"), "back")
            return release.recounted(back, DuckDB())
        if set("*?[") & set(place.path.name):
            raise DataError("The input is several files; name the output under [output] (table).")
        write(release.frame, place.path, how, shuffle=shuffle)
        back = read_back(self.connection, place.path, how, release.frame)
        return release.recounted(back, DuckDB())


def repeated_in(relation: Any, schema: Schema) -> tuple[str, ...]:
    """The identifiers of a large table that repeat where records are counted."""
    table, names = LargeTable.of(relation, DuckDB()), identifiers(schema)
    if not names:
        return ()
    distinct, found, (records, _) = table.distinct(names), table.summaries(names), table.size(None)
    counts = {name: (distinct[name], records - found[name].missing) for name in names}
    return repeating(schema, counts)


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
    asked = contents.input.source(folder)
    if not is_there("duckdb"):
        return False
    if not (too_many(*asked) if asked else too_large(folder / contents.input.file)):
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
