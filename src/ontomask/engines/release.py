"""The release of a large table, and its recount on what the library itself reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from ontomask import protection as in_memory
from ontomask.data.libraries import Framed
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.engines.files import opened_paths
from ontomask.engines.libraries import Library, library_of
from ontomask.engines.protecting import Condensed, Prepared, prepare
from ontomask.engines.storing import place_for
from ontomask.engines.tables import MARK, RECORDS, ROWS, Amounts, LargeTable
from ontomask.errors import DataError, MethodError, ParameterError
from ontomask.evaluation.evaluation import Evaluation
from ontomask.evaluation.unchanged import MOSTLY, UnchangedRisk
from ontomask.findings import DEFECT, Finding, Verification
from ontomask.methods.base import Method, Progress, silent
from ontomask.promises import Permutation, Promise, Published, Records, Unchanged
from ontomask.release import Frame, Release
from ontomask.verify import shape, verify

if TYPE_CHECKING:
    from ontomask.report.facts import Account

__all__ = ["LargeRelease", "protect", "recounted", "released"]

MASKING = 0.7
"""The share of counting and masking in the time that `protect` takes."""

CHANGED = (
    "The table changed between counting its combinations and rewriting them ({what}), so nothing "
    "is released; keep it as it is (a copy, a snapshot) and run it again."
)


@dataclass(frozen=True, eq=False)
class LargeRelease(Release):
    """A release of a table of any size.

    `frame` is a query of the library that held the table; it was recounted as it is. Figures are
    those of the distinct combinations with their counts, so they are exact.

    Attributes
    ----------
    records
        How many rows the release has.
    combinations
        The masked combinations of the quasi-identifiers, as a release of their own.
    names
        The columns, in order.
    """

    records: int = 0
    combinations: Release | None = None
    names: tuple[str, ...] = ()
    _prepared: Prepared | None = field(repr=False, default=None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table and what is known of the original behind."""
        return {**super().__getstate__(), "frame": None, "_prepared": None}

    def evaluate(
        self,
        original: object = None,  # noqa: ARG002 - its combinations are known
        *,
        progress: Progress = silent,
        **settings: Any,
    ) -> Evaluation:
        """Account for what was lost and what is still at risk, by the combinations."""
        combinations, before = self._masked
        found = combinations.evaluate(before, progress=progress, **settings)
        return replace(found, unchanged=self._unchanged())

    def _unchanged(self) -> UnchangedRisk:
        """Who is alone by the columns that are published as they are."""
        names = [name for name, share in self.changed.items() if share <= MOSTLY]
        others = [n for n in names if n in self.names and n not in self.schema.quasi]
        assert self._prepared is not None
        table = self._prepared.table
        if self.left_out:
            table = LargeTable.of(self.frame, table.library)
        return table.alone_by(others, self.schema.count)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.names

    @property
    def _masked(self) -> tuple[Release, pl.DataFrame]:
        """The masked combinations, and what they were."""
        if self.combinations is None or self._prepared is None:
            raise MethodError(
                "This release comes from a pickle, which leaves the original behind, so it cannot "
                "be evaluated; protect the table again."
            )
        return self.combinations, self._prepared.main.before

    def recounted(self, native: Any, library: Library) -> Verification:
        """Recount the release on what was read back from where it was written."""
        assert self._prepared is not None
        return recounted(self._prepared, native, library)

    def account(
        self,
        original: object = None,  # noqa: ARG002 - its combinations are known
        evaluation: Evaluation | None = None,
        **more: Any,
    ) -> Account:
        """Gather what a report shows, by the combinations."""
        known = {
            "digests": self.digests,
            "timings": self.timings,
            "verification": self.verification,
        }
        combinations, before = self._masked
        whole = replace(combinations, steps=self.steps, details=self.details)
        return whole.account(before, evaluation, **{**known, **more})

    def __repr__(self) -> str:
        names = " → ".join(step.name for step in self.steps)
        return (
            f"LargeRelease({names}, {self.records:,} records, "
            f"smallest class {min(self.class_sizes, default=0)}, {self.suppressed:,} suppressed)"
        )


def recounted(prepared: Prepared, native: Any, library: Library) -> Verification:
    """Recount a release as the library reads it: columns, rows, and every promise of classes.

    The combinations are counted anew on what is there; what was written in their place is only
    looked at to see whether the table has changed meanwhile.
    """
    table = LargeTable.of(native, library)
    expected = prepared.main.after.columns
    promises = [one for one in _promises(prepared) if set(one.needs) <= set(table.names)]
    names = list(dict.fromkeys([*expected, *(name for one in promises for name in one.needs)]))
    found = table.tuples(
        [name for name in table.names if name in names],
        Amounts(prepared.schema.count),
        as_seen=True,
        beside=[name for name in prepared.main.beside if name in table.names],
    )
    rows, wanted = int(found[ROWS].sum()), prepared.main.total(ROWS)
    _require_rows(rows, wanted)
    everyone = int(prepared.main.before[ROWS].sum())
    if everyone > wanted:  # whoever is left out is not in the release to be missed there
        _require_rows(prepared.table.size(None)[0], everyone)
    marks = [MARK] if MARK in found.columns else []
    _require_same(prepared, found.select(*expected, ROWS, *marks))
    counted = verify(
        found.select(names),
        promises,
        published=names,
        records=len(found),
        counts=found[RECORDS].to_numpy().astype(float),
    )
    compared = (
        *shape(table.names, rows, prepared.published, wanted),
        *_unchanged(prepared.main),
        *_permuted(prepared, table),
    )
    made = [one.release for one in (prepared.main, *prepared.lone)]
    given_up = tuple(promise for one in made for promise in one.given_up)
    return Verification((*compared, *counted.findings[2:]), given_up).require(DEFECT)


def _require_rows(found: int, wanted: int) -> None:
    if found != wanted:
        raise DataError(CHANGED.format(what=f"{found:,} rows instead of {wanted:,}"))


def _unchanged(main: Condensed) -> Iterator[Finding]:
    """What `_require_same` found of the columns that nothing changes; else nothing is released."""
    if main.beside:
        said = "by a digest of the values of every class"
        shared = "by a digest of all their values"
        yield Finding(Unchanged(main.beside), True, 0, said if main.mark is None else shared)


def _permuted(prepared: Prepared, table: LargeTable) -> Iterator[Finding]:
    """The columns whose values changed places, by how often each value is there.

    `_require_same` has found those of the quasi-identifiers.
    """
    partly = prepared.main.release.left_out > 0
    for one in (prepared.main, *prepared.lone):
        if one.shared is not None and one is not prepared.main:
            _require_frequencies(one, table, partly=partly)
        for promise in one.release.promises:
            if isinstance(promise, Permutation):
                said = replace(promise, partly=promise.partly or partly)
                yield Finding(said, True, 0, "by the frequency of every value")


def _require_frequencies(one: Condensed, table: LargeTable, *, partly: bool) -> None:
    """Refuse values that are not as frequent as they were drawn, or more frequent."""
    names = one.after.columns
    found = table.tuples(names, Amounts(), as_seen=True).select(*names, ROWS)
    drawn = pl.concat([one.after, one.before[one.kept].select(ROWS)], how="horizontal")
    known = drawn.group_by(names).agg(pl.col(ROWS).sum().alias(RECORDS))
    both = found.join(known, on=names, how="full", nulls_equal=True).fill_null(0)
    less = both.select((pl.col(ROWS) < pl.col(RECORDS)).any()).item()
    if both.select((pl.col(ROWS) > pl.col(RECORDS)).any()).item() or (less and not partly):
        raise DataError(CHANGED.format(what=f"other values of {', '.join(names)}"))


def _promises(prepared: Prepared) -> list[Promise]:
    """What the steps promise of the table itself, not of what it was before."""
    made = [one.release for one in (prepared.main, *prepared.lone)]
    compared = (Published, Records, Permutation, Unchanged)
    return [one for release in made for one in release.promises if not isinstance(one, compared)]


def _require_same(prepared: Prepared, found: pl.DataFrame) -> None:
    """Refuse a release whose combinations are not as frequent as they were counted.

    Nor may what stands beside them have changed: its digests add up to what they were.
    """
    main = prepared.main
    if main.beside and main.mark not in (None, found[MARK].sum()):
        raise DataError(CHANGED.format(what="other values beside them"))
    found = found if main.mark is None else found.drop(MARK, strict=False)
    sums = [name for name in (ROWS, MARK) if name in found.columns]
    names = [name for name in found.columns if name not in sums]
    known = pl.concat([main.after, main.before[main.kept].select(sums)], how="horizontal")
    tallies = [
        one.group_by(names).agg(pl.col(sums).sum()).sort(names, nulls_last=True)
        for one in (known.select(found.columns), found)
    ]
    for what, left in (("other combinations", MARK), ("other values beside them", "")):
        first, second = (one.drop(left, strict=False) for one in tallies)
        if not first.equals(second):
            raise DataError(CHANGED.format(what=what))


def released(prepared: Prepared, native: Any, verification: Verification) -> LargeRelease:
    """The release of a masking that was written or can be asked for, and was recounted."""
    main = prepared.main
    made = [one.release for one in (main, *prepared.lone)]
    changed = {name: share for one in made for name, share in one.changed.items()}
    columns = [name for name in prepared.schema.published if name != prepared.schema.count]
    return LargeRelease(
        frame=native,
        schema=prepared.schema,
        steps=prepared.steps,
        seed=prepared.seed,
        clusters=None,
        class_sizes=dict(main.release.class_sizes),
        changed={name: changed.get(name, 0.0) for name in columns},
        left_out=int(main.before[ROWS].sum()) - main.total(ROWS),
        starred=main.release.starred,
        details=_details(prepared),
        verification=verification,
        timings=_timings([main, *prepared.lone]),
        digests=_digests(main),
        records=main.total(ROWS),
        combinations=main.release,
        names=prepared.published,
        _prepared=prepared,
    )


def _details(prepared: Prepared) -> tuple[Mapping[str, object], ...]:
    """What each step reports of itself, put together from the groups of columns it concerned."""
    details: list[dict[str, object]] = [{} for _ in prepared.steps]
    for one in (*prepared.lone, prepared.main):
        for number, reported in one.details.items():
            details[number] |= reported
    return tuple(details)


def _timings(parts: Sequence[Condensed]) -> dict[str, float]:
    asked = {"count combinations": sum(one.seconds for one in parts)}
    made = [one.release.timings for one in reversed(parts) if one.group.steps]
    return asked | {name: seconds for one in made for name, seconds in one.items()}


def _digests(main: Condensed) -> dict[str, str]:
    """Digests of the combinations, which do not depend on the order of the records."""
    before = main.before.drop(MARK, strict=False)
    return {"input": open_table(before).digest(), "output": open_table(main.after).digest()}


@overload
def protect(
    frame: str | os.PathLike[str] | Mapping[str, Any] | Framed,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    *,
    keep_index: bool = False,
    target: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Release[Any]: ...


@overload
def protect(
    frame: Frame,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    *,
    keep_index: bool = False,
    target: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Release[Frame]: ...


def protect(
    frame: Any,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    *,
    keep_index: bool = False,
    target: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Release[Any]:
    """Protect a table: apply one method or a list of them, verify, and return the release.

    Parameters
    ----------
    frame
        A pandas, Polars or PyArrow data frame; or a DuckDB relation, a frame of PySpark or a lazy
        frame of Polars, which may be larger than memory: their distinct combinations are masked,
        and `Release.frame` is a query of the same kind. Or the path of a table file: what is too
        large for memory, a folder of Parquet files or a pattern is left to DuckDB. It is not
        changed.
    schema
        What its columns are. Columns that the schema does not name are not published; one whose
        role is `undecided` is refused.
    method
        A method, or a list of steps that are applied in order.
    seed
        A number that fixes all random choices; by default a new one is drawn (a fixed default
        would let an intruder repeat them) and noted in the release.
    keep_index
        Whether a pandas frame comes back with the index of its records, to put it beside the
        original; it is not for publication. By default the index is new.
    target
        For a table that may be larger than memory: where its library writes the release, as a
        Parquet file, Spark as a folder of them. What was written is read back, recounted, and only
        then given that name, and `Release.frame` reads it. By default nothing is written, and the
        query itself is recounted, which whoever writes it then asks a second time.
    progress
        Called with the fraction done and a message; it may raise to stop the run.

    Examples
    --------
    >>> frame = pl.DataFrame({"patient": ["Ann", "Bob", "Cy", "Di"], "age": [34, 36, 71, 69]})
    >>> schema = om.Schema(patient=om.Identifier(), age=om.Numeric())
    >>> release = om.protect(frame, schema, om.Microaggregation(k=2), seed=1)
    >>> release.frame.to_dict(as_series=False)
    {'age': [35, 35, 70, 70]}
    >>> release.verification.kept
    True
    """
    kinds = {name: one.kind for name, one in Schema.require(schema).items()}
    (frame,) = opened_paths([frame], kinds)
    library = library_of(frame)
    if library is None or keep_index:
        if target is not None:
            raise ParameterError(
                "target is for tables that may be larger than memory; write the frame of the "
                "release instead, as its library does."
            )
        return in_memory.protect(
            frame, schema, method, seed, keep_index=keep_index, progress=progress
        )

    def masking(fraction: float, message: str) -> None:
        progress(MASKING * fraction, message)

    place = None if target is None else place_for(frame, library.name, target)
    prepared = prepare(frame, library, schema, method, seed, masking)
    native = prepared.rewritten()
    progress(MASKING, "recounting" if place is None else "writing and recounting")
    if place is None:
        verification = recounted(prepared, native, library)
    else:
        native, verification = place.stored(native, lambda back: recounted(prepared, back, library))
    progress(1.0, "recounting")
    return released(prepared, native, verification)
