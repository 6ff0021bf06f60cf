"""Recounting a release from its files, by anyone who has them.

A steward has the folder of a run: its manifest says what was promised, with everything needed to
recount it. Whoever received only the table says what to count. Both ways all cells are read as
texts and counted by `verify`; nothing of the methods is used. Of a table that does not fit into
memory DuckDB counts the combinations of cells first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ontomask import promises as promises_room
from ontomask.arrays import Floats, Longs
from ontomask.brevity import Brief
from ontomask.checks import did_you_mean
from ontomask.data.files import FileFormat, as_texts
from ontomask.data.seen import Seen
from ontomask.data.tables import open_table
from ontomask.data.values import is_star
from ontomask.engines.databases import Database
from ontomask.engines.files import digest_of, files_of
from ontomask.errors import DataError, ParameterError
from ontomask.findings import Claim, Finding, Verification
from ontomask.plan.cells import Cells, Columns
from ontomask.plan.manifest import rows_of
from ontomask.plan.outputs import MANIFEST
from ontomask.promises import (
    ClassSize,
    Closeness,
    Counts,
    Disclosure,
    Diversity,
    Likeness,
    Permutation,
    PopulationPromise,
    Promise,
    Published,
    Records,
    SensitivePromise,
    Unchanged,
)
from ontomask.verdict import Judgment, judge
from ontomask.verify import shape

__all__ = ["Recounted", "recount_folder", "recount_table"]

NUMBERS = ("numeric", "count", "weight")


@dataclass(frozen=True)
class Recounted(Brief):
    """What a recount of files found.

    Attributes
    ----------
    verification
        Every promise with what was counted.
    judgment
        The verdict on what was counted.
    notes
        What else was compared, and what could not be counted with the files at hand.
    """

    verification: Verification
    judgment: Judgment
    notes: tuple[str, ...] = ()


# Whoever has the table only -------------------------------------------------------------------


def recount_table(
    path: Path,
    quasi: Sequence[str],
    *,
    k: int | None = None,
    sensitive: str | None = None,
    diversity: float | None = None,
    closeness: float | None = None,
    how: FileFormat | None = None,
) -> Recounted:
    """Count classes of a table: their size, and the sensitive values in them.

    Without a manifest nobody knows the distribution of the whole original table; closeness is then
    measured against the released one.
    """
    needed = [*quasi, *([sensitive] if sensitive else [])]
    with Cells.at(path, how or FileFormat()) as cells:
        _require_columns(cells.names, needed)
        table = cells.columns(needed)
    columns, notes = tuple(quasi), []
    claims: list[Promise] = [ClassSize(columns, k)] if k is not None else []
    if sensitive is not None and diversity is not None:
        claims.append(Diversity(columns, sensitive, diversity))
    if sensitive is not None and closeness is not None:
        claims.append(Closeness(columns, sensitive, closeness, _tally(table.seen(sensitive))))
        notes.append(
            "Closeness is measured against the released table: the distribution of the original "
            "one, left-out records included, is known to its owner only."
        )
    if not claims:
        raise ParameterError("Say what to count: k, or a sensitive column with l or t.")
    counted = Verification(table.recounted(claims, table.rows))
    return Recounted(counted, judge(counted, cells.names), tuple(notes))


def _require_columns(there: Sequence[str], names: Sequence[str]) -> None:
    for name in names:
        if name not in there:
            raise DataError(f"The table has no column {name!r}.{did_you_mean(name, there)}")


def _tally(column: Seen) -> Counts:
    """How often each value of a column occurs."""
    totals = np.bincount(column.codes, weights=column.counts, minlength=len(column.values))
    pairs = zip(column.values, totals.tolist(), strict=True)
    return tuple((value, float(total)) for value, total in pairs if total)


# Whoever has the folder -----------------------------------------------------------------------


def recount_folder(folder: Path, original: Path | None = None) -> Recounted:
    """Recount what the manifest of a release says, on its table.

    With the original, distributions are taken from it instead of from the manifest, and columns
    that are promised to be unchanged or permuted are compared with it; whose record each row is,
    where persons are protected, is read there too.
    """
    described = _Described.read(folder)
    with described.released(folder) as (cells, note):
        notes = [note, *_stars(described, cells)]
        findings = [*_counted(described, cells)]
        if original is not None:
            digest = described.manifest["input"]["sha256"]
            notes.append(_same_file("original", "protected", original, digest))
            with Cells.at(original, described.original_format) as before:
                findings += _compared(described, cells, before)
    if original is not None and described.rewritten:
        listed = ", ".join(described.rewritten)
        notes.append(f"Not compared, since several spellings were written as one: {listed}.")
    left = _left(described, findings, cells, compared=original is not None)
    notes += [f"Not counted, since {why}: {one.describe()}." for one, why in left]
    notes += [f"Given up by a later step: {one}." for one in described.manifest["given_up"]]
    verification = Verification(tuple(findings))
    aside = described.of_kind("count")
    to_cover = [name for name in described.published if name not in aside]
    return Recounted(
        verification, judge(verification, to_cover, [one for one, _ in left]), tuple(notes)
    )


def _left(
    described: _Described, findings: Sequence[Finding], cells: Cells, *, compared: bool
) -> list[tuple[Promise, str]]:
    """The promises that were not counted, and why."""
    counted = {(one.promise.columns, one.promise.describe()) for one in findings}
    left = []
    for promise in described.promises:
        by_values = isinstance(promise, (Permutation, Unchanged))
        lacking = described.lacking(promise, cells)
        if (promise.columns, promise.describe()) in counted:
            continue
        if lacking:
            left.append((promise, f"the table has no column {lacking[0]!r}"))
        elif not (by_values or getattr(promise, "unit", None)):
            left.append((promise, "that needs survey weights or distances"))
        elif not compared:
            left.append((promise, "that needs the original"))
        elif not described.is_whole(cells):
            left.append((promise, "the table has other columns or records than were released"))
        elif not by_values:  # spellings are spoken of apart
            left.append((promise, "that needs files whose records have kept their order"))
    return left


def _same_file(what: str, done: str, path: Path, digest: str) -> str:
    if digest_of(files_of(path)) == digest:
        return f"The {what} is the file that was {done}, byte for byte."
    return f"The {what} is NOT the file that was {done}: its digest is not the manifest's."


def _stars(described: _Described, cells: Cells) -> Iterator[str]:
    """How many records tell nothing by their quasi-identifiers, where that is any."""
    quasi = [name for name in described.quasi if name in cells.names]
    table = cells.columns([*quasi, *described.of_kind("count")])
    gaps = (None, *described.format.missing)
    empty = np.full(len(table.table), bool(quasi))
    for one in map(table.seen, quasi):
        empty &= np.array([value in gaps or is_star(value) for value in one.values])[one.codes]
    counts = described.counts(table)
    found = int(empty.sum() if counts is None else counts[empty].sum())
    stated = int(described.manifest["starred"])
    if found < stated:  # there may be more: records that had nothing to be starred
        yield f"NOT as the manifest says: {found:,} records have nothing but stars, not {stated:,}."
    elif found:
        yield f"{found:,} of {described.records:,} records have nothing but stars or gaps."


def _counted(described: _Described, cells: Cells) -> Iterator[Finding]:
    """The promises that table and manifest alone can tell."""
    yield from shape(cells.names, cells.rows, described.published, described.records)
    countable = filter(described.is_countable, described.promises)
    # of a table with other columns or records, too: whoever changed it may have broken more
    claims = [one for one in countable if not described.lacking(one, cells)]
    if claims:
        needed = [name for one in claims for name in described.needed(one)]
        table = cells.columns(list(dict.fromkeys(needed)))
        yield from table.recounted(claims, described.counts(table))


def _compared(described: _Described, cells: Cells, before: Cells) -> Iterator[Finding]:
    """The promises that compare with the original, with numbers written in one way."""
    if not described.is_whole(cells):
        return
    for promise in described.promises:
        if isinstance(promise, (Permutation, Unchanged)):
            known = [one for one in promise.columns if one in before.names]
            names = tuple(one for one in known if one not in described.rewritten)
            if names:
                yield _columns_compared(described, promise, names, cells, before)
        elif getattr(promise, "unit", None) and not (cells.in_order and before.in_order):
            continue
        elif claim := described.against(promise, before):
            numbers = described.of_kind(*NUMBERS)
            table = cells.columns([*promise.needs, *described.of_kind("count")], numbers)
            units = described.units(before) if getattr(promise, "unit", None) else None
            found = table.recounted([claim], described.counts(table), units)
            yield replace(found[0], promise=promise)


def _columns_compared(
    described: _Described,
    promise: Permutation | Unchanged,
    names: tuple[str, ...],
    cells: Cells,
    before: Cells,
) -> Finding:
    """Columns by their values and frequencies: which record is whose is not known here."""
    partly, numbers = isinstance(promise, Unchanged) or promise.partly, described.of_kind(*NUMBERS)
    said = Unchanged(names) if isinstance(promise, Unchanged) else Permutation(names, partly)
    found: list[Finding] = []
    for name in names:
        claim = Claim(
            Permutation((name,), partly), {name: before.columns([name], numbers).seen(name)}
        )
        own = cells.columns([name], numbers)
        found += own.recounted([claim], own.rows)
    wrong = sum(one.figure for one in found)
    kept = "by their values and frequencies" if isinstance(promise, Unchanged) else "all of them"
    return Finding(said, not wrong, wrong, f"not in {wrong:g} values" if wrong else kept)


@dataclass(frozen=True, eq=False)
class _Described:
    """A manifest: what was promised, and how the files are written."""

    manifest: Mapping[str, Any]
    promises: tuple[Promise, ...]
    columns: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> _Described:
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            promises = tuple(_promise(one) for one in manifest["guarantee"])
            columns = tomllib.loads(manifest["plan"]["text"])["columns"]
            return cls(manifest, promises, columns)
        except (OSError, ValueError, LookupError, TypeError):
            raise DataError(
                f"{folder} holds no manifest of a release that can be read; name the folder of a "
                "run, or a table and the columns to count (--quasi)."
            ) from None

    @property
    def table(self) -> str:
        return str(self.manifest["output"]["table"])

    @contextlib.contextmanager
    def released(self, folder: Path) -> Iterator[tuple[Cells, str]]:
        """The cells of the released table, and whether they are what was written."""
        digest = self.manifest["output"]["sha256"]
        if "database" not in self.manifest["output"]:
            path = folder / Path(self.table).name
            with Cells.at(path, self.format) as cells:
                yield cells, _same_file("table", "released", path, digest)
            return
        with self._database(folder).opened() as session:
            frame, _ = session.frame(session.back(self.table))
        same = open_table(frame).digest() == digest
        note = (
            "The table holds the values that were released, in the same order."
            if same
            else "The table does NOT hold the values that were released, or in another order."
        )
        yield Cells.of(as_texts(frame, self.format), self.format), note

    def _database(self, folder: Path) -> Database:
        """The database of the table, whose file lies beside the plan: where the folder is from."""
        output = tomllib.loads(self.manifest["plan"]["text"])["output"]
        above = len(Path(output.get("folder") or "release").parts)
        plan = Path(*folder.resolve().parts[:-above])
        return Database(self.manifest["output"]["database"], plan, output.get("password_variable"))

    @property
    def published(self) -> tuple[str, ...]:
        return next(one.columns for one in self.promises if isinstance(one, Published))

    @property
    def records(self) -> int:
        return next(one.count for one in self.promises if isinstance(one, Records))

    @property
    def original_format(self) -> FileFormat:
        known = {one.name for one in dataclasses.fields(FileFormat)}
        written = self.manifest["input"]["format"]
        return FileFormat(**{name: one for name, one in written.items() if name in known})

    @property
    def format(self) -> FileFormat:
        return self.original_format.dialect

    @property
    def quasi(self) -> list[str]:
        return [name for name, one in self.columns.items() if one.get("role", "quasi") == "quasi"]

    def is_whole(self, cells: Cells) -> bool:
        """Whether a table has the columns and the number of records that were released."""
        return cells.names == self.published and cells.rows == self.records

    def needed(self, promise: Promise) -> tuple[str, ...]:
        """The columns that are looked at when a promise is counted."""
        return (*promise.needs, *self.of_kind("count"))

    def lacking(self, promise: Promise, cells: Cells) -> list[str]:
        """Those of them that a table has not."""
        return [name for name in self.needed(promise) if name not in cells.names]

    def of_kind(self, *kinds: str) -> list[str]:
        return [name for name, one in self.columns.items() if one["kind"] in kinds]

    @property
    def rewritten(self) -> tuple[str, ...]:
        """Columns in which several spellings of a concept were written as one."""
        found = [
            *(one.by_meaning for one in self.promises if isinstance(one, Permutation)),
            *(one.rewritten for one in self.promises if isinstance(one, Unchanged)),
        ]
        return tuple(dict.fromkeys(name for names in found for name in names))

    def counts(self, table: Columns) -> Floats | None:
        """How many records each line of cells stands for."""
        column = next(iter(self.of_kind("count")), None)
        if column is None or column not in table.table.names:
            return table.rows
        seen = table.seen(column)
        amounts: Floats = np.array([float(str(one or 1)) for one in seen.values])[seen.codes]
        return amounts if table.rows is None else amounts * table.rows

    def units(self, before: Cells) -> Longs:
        """Whose record each row of the release is, by the original and the manifest's rows."""
        column = next(name for name, one in self.columns.items() if one.get("unit"))
        rows = rows_of(self.manifest["output"]["rows"])
        if column not in before.names or rows.max(initial=-1) >= before.rows:
            raise DataError(
                f"The original has no column {column!r}, or fewer records than were protected, so "
                "nobody can tell whose records the release holds; give the table as it was."
            )
        return before.columns([column]).seen(column).codes[rows].astype(np.int64)

    def is_countable(self, promise: Promise) -> bool:
        """Whether table and manifest hold all that a recount needs."""
        if isinstance(promise, (Published, Records, Permutation, Unchanged)):
            return False
        if getattr(promise, "unit", None):
            return False
        if isinstance(promise, Closeness) and promise.ground in MEASURED:
            return not self.of_kind("weight") and promise.distances is not None
        if isinstance(promise, (Closeness, Disclosure, Likeness)):
            return not self.of_kind("weight")
        return not (isinstance(promise, PopulationPromise) and promise.weighed)

    def against(self, promise: Promise, before: Cells) -> Promise | None:
        """A promise with what the original says to it; None where it says nothing.

        Nobody knows here which spellings mean the same, so columns with several say nothing.
        """
        if getattr(promise, "unit", None):
            return promise
        if isinstance(promise, (Closeness, Disclosure, Likeness)) and self.is_countable(promise):
            if isinstance(promise, Closeness) and promise.ground != "equal":
                return None  # its distances are between the values as the manifest writes them
            if promise.sensitive not in self.rewritten:
                return replace(promise, counts=self._counts(promise, before))
        return None

    def _counts(self, promise: SensitivePromise, before: Cells) -> Counts:
        """The distribution of a column of the original, without gaps that are to be left out."""
        numbers = self.of_kind(*NUMBERS)
        table = before.columns([promise.sensitive, *self.of_kind("count")], numbers)
        tally = _tally(replace(table.seen(promise.sensitive), counts=self.counts(table)))
        if self.columns[promise.sensitive].get("missing") != "suppress":
            return tally
        gaps = (None, *self.original_format.missing)
        return tuple(pair for pair in tally if pair[0] not in gaps)


KINDS = {
    name: one
    for name, one in vars(promises_room).items()
    if isinstance(one, type) and issubclass(one, Promise)
}
MEASURED = ("hierarchical", "semantic")
"""Ground distances that have to be given."""


def _promise(stated: Mapping[str, Any]) -> Promise:
    """A promise as a manifest states it."""
    kind: type[Promise] = KINDS[stated["promise"]["type"]]
    return kind(**{n: _tupled(one) for n, one in stated["promise"].items() if n != "type"})


def _tupled(value: Any) -> Any:
    return tuple(_tupled(one) for one in value) if isinstance(value, list) else value
