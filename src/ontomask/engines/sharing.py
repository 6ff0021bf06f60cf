"""Steps that draw for every record, on combinations: each is shared out among what it becomes.

Inside the steps there is a row for every record, of the columns that they look at, as codes alone.
What comes out is united again: a *part* is the records of one combination that all steps treated
alike. Parts with their counts are a table like any other, and which records of a combination belong
to which part is drawn when the table is rewritten.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ontomask import protection
from ontomask.arrays import Ints, Longs
from ontomask.data.encoding import encode
from ontomask.data.grouping import group_rows
from ontomask.data.masked import Masked, State
from ontomask.data.microdata import Microdata
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.engines.tables import RECORDS, ROWS, Shares
from ontomask.memory import require_memory
from ontomask.methods.base import Method, Progress
from ontomask.proof import Made
from ontomask.release import Release, digest_of, drawing
from ontomask.wording import plural

__all__ = ["Shared", "shared"]

BYTES = 64
"""What a record needs in memory while steps draw for it, besides twelve bytes for each column."""


@dataclass(frozen=True, eq=False)
class Shared:
    """Combinations that were shared out.

    Attributes
    ----------
    parts
        A row for each part: its combination, and how many rows it has.
    combinations
        For each part the number of its combination.
    release
        The account of the masking, with the parts as its records.
    generator
        What decides which records of a combination belong to which part.
    """

    parts: pl.DataFrame
    combinations: Longs
    release: Release
    generator: np.random.Generator

    def drawn(self) -> Shares:
        """Share out the records of each combination at random; those left out belong to none."""
        assert self.release.rows is not None
        sizes = self.parts[ROWS].to_numpy()
        numbers = np.full(sizes.size, -1, np.int32)
        numbers[self.release.rows] = np.arange(self.release.rows.size)
        order = np.argsort(self.combinations, kind="stable")
        owners = np.repeat(self.combinations[order], sizes[order])
        mixed = np.argsort(owners + deepcopy(self.generator).random(owners.size), kind="stable")
        starts = np.searchsorted(owners, np.arange(int(owners[-1]) + 1))
        return Shares(starts, np.repeat(numbers[order], sizes[order])[mixed])


def shared(
    before: pl.DataFrame,
    schema: Schema,
    steps: Sequence[Method],
    seed: int,
    least: int,
    progress: Progress,
) -> Shared:
    """Mask every record of some combinations by itself.

    Parameters
    ----------
    before
        The combinations, each with its number of rows.
    schema
        What its columns are.
    steps, seed, progress
        As in `protect`.
    least
        How many records must have a spelling of a concept before it is ever written.
    """
    started, rows = time.perf_counter(), int(before[ROWS].sum())
    require_memory(
        rows * (BYTES + 12 * before.width),
        f"Drawing for every one of {plural(rows, 'record')}",
        "use a method that changes combinations as wholes, such as microaggregation or recoding",
    )
    table = open_table(before)
    digest = digest_of(table, schema)
    start = State.start(table, encode(table, schema, least))
    owners, whole = _records(start)
    timings = {"encode": time.perf_counter() - started}
    sources = protection.generators(steps, seed, digest)
    made, end = protection.run_steps(tuple(steps), whole, sources, progress, timings)
    united = _United.of(owners, made, before)
    parts = open_table(united.frame(before))
    account = [Made(o.step, united.state(parts, o.before), united.masked(o)) for o in made]
    release = protection.released(
        tuple(steps), seed, digest_of(parts, schema), account, united.state(parts, end), timings
    )
    generator = drawing(seed, digest, (zlib.crc32(b"shares"),))
    return Shared(parts.given, united.combinations, release, generator)


def _records(start: State) -> tuple[Longs, State]:
    """The combination of each record, and the records of all combinations as they are encoded."""
    microdata = start.microdata
    counts = microdata.counts.astype(np.int64)
    owners = np.repeat(np.arange(counts.size), counts)
    records = replace(
        microdata,
        attributes={name: one.of(owners) for name, one in microdata.attributes.items()},
        counts=np.ones(owners.size),
        weights=(microdata.weights / microdata.counts)[owners],
        rows=np.arange(owners.size),
        read_identifier=lambda name: microdata.read_identifier(name).of(microdata.rows[owners]),
    )
    columns = {name: one.of(owners) for name, one in start.columns.items()}
    return owners, State(start.table, records, columns)


@dataclass(frozen=True, eq=False)
class _United:
    """Records of one combination that all steps treated alike, united.

    Attributes
    ----------
    firsts
        For each part that the steps saw one of its records.
    sizes
        How many records each part has; those of combinations that no step saw come last.
    combinations
        The combination of each part, by its row.
    """

    firsts: Longs
    sizes: Longs
    combinations: Longs

    @classmethod
    def of(cls, owners: Longs, made: Sequence[Made], before: pl.DataFrame) -> _United:
        """Unite the records."""
        start = made[0].before.microdata
        firsts, places = group_rows([owners], [int(owners[-1]) + 1])
        for codes, size in _treatments(made, owners.size):
            firsts, places = group_rows([places, codes], [firsts.size, size])
        unseen, seen = start.left_out, np.delete(np.arange(len(before)), start.left_out)
        return cls(
            firsts,
            np.append(np.bincount(places), before[ROWS].to_numpy()[unseen]),
            np.append(seen[owners[firsts]], unseen),
        )

    def frame(self, before: pl.DataFrame) -> pl.DataFrame:
        """The parts as a table."""
        sizes = pl.Series(self.sizes)
        return before[self.combinations].with_columns(sizes.alias(ROWS), sizes.alias(RECORDS))

    def state(self, parts: Table, state: State) -> State:
        """A state of the records as one of the parts."""
        there, places = self._places(state.microdata)
        own, sizes = state.microdata, self.sizes[there].astype(np.float64)
        united = replace(
            own,
            attributes={name: one.of(places) for name, one in own.attributes.items()},
            counts=sizes,
            weights=own.weights[places] * sizes,
            rows=there,
            left_out=np.arange(self.firsts.size, self.sizes.size),
        )
        columns = {name: one.of(places) for name, one in state.columns.items()}
        return State(parts, united, columns)

    def masked(self, made: Made) -> Masked:
        """What a step made of the parts."""
        _, places = self._places(made.before.microdata)
        kept = made.masked.kept
        return replace(
            made.masked,
            columns={name: one.of(places) for name, one in made.masked.columns.items()},
            clusters=None,
            kept=None if kept is None else kept[places],
        )

    def _places(self, microdata: Microdata) -> tuple[Longs, Longs]:
        """The parts that are still there, and the place of one record of each."""
        places = np.searchsorted(microdata.rows, self.firsts)
        there = np.flatnonzero(np.append(microdata.rows, -1)[places] == self.firsts)
        return there, places[there]


def _treatments(made: Sequence[Made], count: int) -> Iterator[tuple[Ints, int]]:
    """What each step did to each record, as codes below a size; 0 where it saw the record not."""
    for one in made:
        rows, kept = one.before.microdata.rows, one.masked.kept
        found = [(column.codes, column.size + 1) for column in one.masked.columns.values()]
        found += [] if kept is None else [(kept.astype(np.int32), 2)]
        for codes, size in found:
            whole = np.zeros(count, np.int32)
            whole[rows] = codes + 1
            yield whole, size + 1
