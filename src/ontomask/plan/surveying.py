"""Seeing whether a plan fits a table that is too large for memory, by what its engine answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.data.schema import AnyColumn, Column
from ontomask.data.tables import Table, open_table
from ontomask.engines.files import LargeSource
from ontomask.engines.libraries import DuckDB
from ontomask.engines.measuring import condensed, file_risk
from ontomask.engines.protecting import by_value
from ontomask.engines.suitability import groups_of, require_suitable
from ontomask.engines.tables import RECORDS, Amounts, LargeTable, Summary
from ontomask.evaluation.unchanged import UnchangedRisk
from ontomask.plan.examination import (
    Examination,
    Examined,
    Reading,
    as_they_are,
    examine,
    exceeded,
    extras_of,
    mapped_how,
    misfit,
    notes_on,
    too_few,
    unfit_steps,
)
from ontomask.plan.large import engine_of, repeated_in
from ontomask.plan.lines import Place
from ontomask.plan.problems import missing_column, refuse_at
from ontomask.plan.reading import Contents

__all__ = ["survey"]

NUMBERED = re.compile(r" \([^()]*records? \d[^()]*\)")
"""Which records are wrong: of a domain these are no records of the table."""


def survey(contents: Contents, folder: Path, name: str, text: str, reading: Reading) -> Examination:
    """Compare a plan with its table, in memory or where the table is too large for that."""
    found = _surveyed(contents, folder, name, text, reading)
    most = contents.limits.max_unique_unchanged
    return replace(found, exceeded=exceeded(found.unchanged, most))


def _surveyed(
    contents: Contents, folder: Path, name: str, text: str, reading: Reading
) -> Examination:
    with engine_of(contents, folder) as engine:
        if engine is None:
            return examine(contents, folder, name, text, reading)
        relation, _ = engine.table()
        table = LargeTable.of(relation, DuckDB())
        absent = [one for one in contents.schema if one not in table.names]
        refuse_at(
            name, text, [(("columns", one), missing_column(one, table.names)) for one in absent]
        )
        require_suitable(contents.steps, contents.schema.decided())
        found = _Survey.of(table, relation, contents)
        refuse_at(name, text, [*found.misfits(), *too_few(contents, found.people)])
        refuse_at(name, text, found.unfit_steps())
        source = LargeSource.of("", contents.input, relation, found.records)
        repeated = repeated_in(relation, contents.schema)
        return Examination(
            records=found.records,
            columns=tuple(found.examined()),
            risk=file_risk(relation, contents.schema) if contents.schema.quasi else None,
            unchanged=found.unchanged(),
            undecided=dict.fromkeys(contents.schema.undecided, ""),
            notes=(*engine.notes, *notes_on(source, contents, repeated), *extras_of(contents)),
            repeated=repeated,
        )


@dataclass(frozen=True, eq=False)
class _Survey:
    """A large table and what was asked of its columns at once."""

    table: LargeTable
    relation: Any
    contents: Contents
    summaries: dict[str, Summary]
    records: int
    people: int

    @classmethod
    def of(cls, table: LargeTable, relation: Any, contents: Contents) -> _Survey:
        schema = contents.schema
        summaries = table.summaries(list(schema))
        records, people = table.size(schema.count)
        return cls(table, relation, contents, summaries, records, people)

    def _domain(self, name: str) -> Table:
        """What a column's kind is told by: all its values, or its extremes."""
        if self._by_value(name):
            return open_table(self.table.tuples([name], Amounts()))
        return open_table(self.summaries[name].extremes)

    def _by_value(self, name: str) -> bool:
        schema = self.contents.schema
        return schema[name].role == "quasi" or by_value(self.table, schema, name)

    def misfits(self) -> Iterator[tuple[Place, str]]:
        """Columns that do not hold what they are said to hold."""
        for name, column in self.contents.schema.items():
            if isinstance(column, Column):
                for place, sentence in misfit(self._domain(name), name, column):
                    yield place, NUMBERED.sub("", sentence)

    def unfit_steps(self) -> Iterator[tuple[Place, str]]:
        """What keeps steps from being run."""
        schema = self.contents.schema.decided()
        groups = groups_of(self.contents.steps, schema, self.table.names)
        if not groups:
            return
        frame, known = condensed(self.relation, DuckDB(), schema, groups[0].columns)
        yield from unfit_steps(replace(self.contents, schema=known), open_table(frame))

    def examined(self) -> Iterator[Examined]:
        """What was found in each declared column."""
        distinct = self.table.distinct(list(self.contents.schema))
        for name, column in self.contents.schema.items():
            missing, mapped = self.summaries[name].missing, self._mapped(name, column)
            look = _span(self.summaries[name]) if column.kind in ("numeric", "date") else ""
            yield Examined(name, column.kind, column.role, distinct[name], missing, mapped, look)

    def _mapped(self, name: str, column: AnyColumn) -> str:
        if column.kind != "nominal":
            return ""
        known = self.table.tuples([name], Amounts()).drop_nulls(name)
        return mapped_how(column, known[name].to_list(), known[RECORDS].to_list())

    def unchanged(self) -> UnchangedRisk:
        """Whom the columns that no step changes single out."""
        names, count = as_they_are(self.contents), self.contents.schema.count
        return self.table.alone_by(names, count)


def _span(found: Summary) -> str:
    low, high = found.extremes.to_series()[:2]
    return "" if low is None else f"{low} to {high}"
