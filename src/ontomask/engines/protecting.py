"""`protect` for tables of any size: condense, mask the combinations, rewrite, recount."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import polars as pl

from ontomask import protection as in_memory
from ontomask.arrays import Longs
from ontomask.data.encoding import LEAST, encode, record_counts, survey_weights
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata
from ontomask.data.schema import Column, Count, Flat, Schema, Weight
from ontomask.data.tables import open_table
from ontomask.engines.libraries import Library
from ontomask.engines.sharing import Shared, shared
from ontomask.engines.suitability import Group, groups_of, require_suitable
from ontomask.engines.tables import MARK, PEOPLE, RECORDS, Amounts, LargeTable, Rewriting
from ontomask.errors import DataError, MethodError
from ontomask.methods.base import Context, Method, Progress, silent, sizes_asked
from ontomask.methods.columns import DropColumns, Pseudonyms
from ontomask.release import Release
from ontomask.wording import plural

__all__ = ["Prepared", "by_value", "condensed_schema", "prepare"]

KEPT = "ontomask kept"
"""A column that is missing in rows that a rule for missing values leaves out."""


@dataclass(frozen=True)
class _Nothing(Method):
    """What is done to columns that no step concerns: they are written and accounted for as others.

    The release of the whole table does not name it.
    """

    name: ClassVar[str] = "nothing"

    def mask(self, microdata: Microdata, context: Context) -> Masked:  # noqa: ARG002 - no need
        """Leave everything as it is."""
        return Masked({})


@dataclass(frozen=True, eq=False)
class Condensed:
    """The combinations of some columns before and after masking.

    Attributes
    ----------
    group
        The columns that were looked at, with the steps that concern them.
    keys
        The columns whose values make up a combination.
    before
        The combinations, with what they stand for.
    after
        What replaces those that are kept, row by row.
    kept
        Which are kept, by position.
    release
        The account of the masking.
    seconds
        How long the table took to count them.
    beside
        The columns of whose values `before` holds digests: those that nothing changes.
    shared
        How the records of each combination were shared out, where they may become different ones;
        `before` then holds their parts.
    mark
        The digest of all that stands beside combinations that were shared out.
    """

    group: Group
    keys: tuple[str, ...]
    before: pl.DataFrame
    after: pl.DataFrame
    kept: Longs
    release: Release
    seconds: float
    beside: tuple[str, ...] = ()
    shared: Shared | None = None
    mark: int | None = None

    @property
    def rewriting(self) -> Rewriting:
        """The combinations as they are joined with the table."""
        if self.shared is None:
            return Rewriting(self.before[self.kept].select(self.keys), self.after)
        combinations = np.unique(self.shared.combinations, return_index=True)[1]
        old = self.before[combinations].select(self.keys)
        return Rewriting(old, self.after, self.shared.drawn())

    @property
    def changes(self) -> bool:
        """Whether any value is written in another way, or any left out."""
        same = self.before.select(self.after.columns)
        return len(self.kept) < len(self.before) or not same.equals(self.after)

    @property
    def left_out(self) -> pl.DataFrame:
        """The combinations that are not kept."""
        mask = np.ones(len(self.before), bool)
        mask[self.kept] = False
        return self.before.filter(pl.Series(mask))

    @property
    def details(self) -> dict[int, Mapping[str, object]]:
        """What the steps report of themselves, by their number."""
        return dict(zip(self.group.parts, self.release.details, strict=bool(self.group.parts)))

    def total(self, amount: str) -> int:
        """How many rows or records the kept combinations stand for."""
        return int(self.before[self.kept][amount].sum())


@dataclass(frozen=True, eq=False)
class Prepared:
    """A masking that is ready to be written: everything but the rewriting itself.

    Attributes
    ----------
    table
        The table, with the rows to be left out marked.
    schema, steps, seed
        What was asked for.
    main
        The combinations of the quasi-identifiers.
    lone
        Those of columns that are rewritten by themselves.
    published
        The columns of the release, in order.
    """

    table: LargeTable
    schema: Schema
    steps: tuple[Method, ...]
    seed: int
    main: Condensed
    lone: tuple[Condensed, ...]
    published: tuple[str, ...]

    def rewritten(self) -> Any:
        """The release as the library holds it: a query that has not been run."""
        changing = [one.rewriting for one in self.lone if one.changes]
        return self.table.rewritten([self.main.rewriting, *changing], self.published)


def prepare(
    native: object,
    library: Library,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Ask for the combinations of a table and mask them.

    Parameters
    ----------
    native, library
        The table, and what holds it.
    schema, method, seed, progress
        As in `protect`.
    """
    steps, chosen = in_memory.steps_of(method), in_memory.seed_of(seed)
    Schema.require(schema).require_decided()
    require_suitable(steps, schema)
    table = LargeTable.of(native, library)
    table.require(list(schema))
    published = _published(steps, schema, table)
    main, *others = groups_of(steps, schema, table.names) or [Group(published[:1], {})]
    grouped = {name for one in [main, *others] for name in one.columns}
    rest = [name for name in published if name not in grouped and name != schema.count]
    progress(0.0, "looking at columns")
    _check_amounts(table, schema)
    _check_summaries(table, schema, [name for name in rest if not by_value(table, schema, name)])
    understood = [Group((name,), {}) for name in rest if by_value(table, schema, name)]
    asking = _Asking(table, schema, chosen, max([LEAST, *sizes_asked(steps)]))
    lone = [asking.condensed(group, group.columns) for group in [*others, *understood]]
    alone = [name for one in others for name in one.columns]
    marked = _marked(table, [asking.left_out(name) for name in [*alone, *rest]])
    progress(0.1, "counting combinations")
    asking = replace(asking, table=marked)
    keys = [*main.columns, *marked.names[len(table.names) :]]
    rewritten = {
        *main.columns,
        *(name for one in lone if one.changes for name in one.after.columns),
    }
    beside = [one for one in published if one not in rewritten and table.markable(one)]
    first = asking.condensed(
        main, keys, lambda part, said: progress(0.2 + 0.8 * part, said), beside
    )
    return Prepared(marked, schema, steps, chosen, first, tuple(lone), published)


@dataclass(frozen=True, eq=False)
class _Asking:
    """What is the same for all questions about a table."""

    table: LargeTable
    schema: Schema
    seed: int
    least: int

    def condensed(
        self,
        group: Group,
        keys: Sequence[str],
        progress: Progress = silent,
        beside: Sequence[str] = (),
    ) -> Condensed:
        """The combinations of a group's columns (and of marks beside them), masked."""
        started = time.perf_counter()
        before = self.table.tuples(keys, Amounts.of(self.schema), beside=beside)
        counted = time.perf_counter() - started
        schema, shown = condensed_schema(self.schema, keys), [*group.columns]
        part, mark = None, None
        if group.draws:
            mark = int(before[MARK].sum()) if beside else None
            combinations = before.drop(MARK, strict=False)
            part = shared(combinations, schema, group.steps, self.seed, self.least, progress)
            before, release = part.parts, part.release
        else:
            steps = group.steps or [_Nothing()]
            release = in_memory.protect(before, schema, steps, self.seed, progress=progress)
        after = release.frame.select(name for name in shown if name in release.frame.columns)
        assert release.rows is not None
        known = tuple(beside) if mark is None or not release.left_out else ()
        account = (after, release.rows, release, counted, known, part, mark)
        return Condensed(group, tuple(keys), before, *account)

    def left_out(self, name: str) -> nw.Expr | None:
        """Which rows the rule of a column for missing values leaves out; None if it has none."""
        column = self.schema[name]
        if not isinstance(column, Column) or column.missing != "suppress":
            return None
        own = self.table.column(name)
        if not by_value(self.table, self.schema, name):
            return own.is_null()
        found = self.condensed(Group((name,), {}), (name,))
        values = found.left_out[name].drop_nulls().to_list()
        return own.is_null() | own.is_in(values) if values else own.is_null()


def condensed_schema(schema: Schema, keys: Sequence[str]) -> Schema:
    """What the columns of a condensed table are."""
    mark = Flat(role="other", missing="suppress")
    columns = {name: schema.get(name, mark) for name in keys}
    weights = {} if schema.weight is None else {PEOPLE: Weight()}
    return Schema.of({**columns, RECORDS: Count(), **weights})


def by_value(table: LargeTable, schema: Schema, name: str) -> bool:
    """Whether every value of a column has to be understood: it has a meaning, an order or a day."""
    kind = schema[name].kind
    return kind in ("nominal", "ordinal") or (kind == "date" and table.types[name] == nw.String)


def _published(steps: Sequence[Method], schema: Schema, table: LargeTable) -> tuple[str, ...]:
    """The columns of the release, in the order of the table."""
    dropped = {name for one in steps if isinstance(one, DropColumns) for name in one.columns}
    named = {name for one in steps if isinstance(one, Pseudonyms) for name in one.columns}
    shown = {*schema.published, *named} - dropped
    published = tuple(name for name in table.names if name in shown)
    if not published:
        raise MethodError("Nothing would be published: every column is an identifier or dropped.")
    return published


def _check_amounts(table: LargeTable, schema: Schema) -> None:
    """Refuse counts that are none, and weights that are none, as in memory."""
    if schema.count is not None:
        domain = table.tuples([schema.count], Amounts())
        record_counts(open_table(domain), Schema.of({schema.count: Count()}))
    if schema.weight is not None:
        extremes = table.summaries([schema.weight])[schema.weight].extremes
        survey_weights(open_table(extremes), Schema.of({schema.weight: Weight()}))


def _check_summaries(table: LargeTable, schema: Schema, names: Sequence[str]) -> None:
    """Refuse columns that do not hold what they are said to hold, by their extremes."""
    for name, found in table.summaries(names).items():
        column = schema.column(name)
        encode(
            open_table(found.extremes), Schema.of({name: replace(column, missing="own-category")})
        )
        if found.missing and column.missing == "error":
            raise DataError(
                f"Column {name!r} has {plural(found.missing, 'missing value')}, which its rule "
                "missing='error' forbids; fill them, or say missing='own-category' or 'suppress'."
            )


def _marked(table: LargeTable, conditions: Sequence[nw.Expr | None]) -> LargeTable:
    """The table with a column that is missing in the rows to be left out, if there may be any."""
    given = [one for one in conditions if one is not None]
    if not given:
        return table
    return table.with_column(
        KEPT, nw.when(~nw.any_horizontal(*given, ignore_nulls=True)).then(nw.lit(True))
    )
