"""Who is alone by the columns that are published as they are.

Masking protects the quasi-identifiers. Whoever knows enough of the other columns finds a person
whatever k is, if nobody else in the release has the same values there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats, Ints
from ontomask.brevity import Brief
from ontomask.data.encoding import record_counts
from ontomask.data.grouping import group_sizes
from ontomask.data.schema import Schema
from ontomask.data.tables import Table
from ontomask.evaluation.pairing import Paired
from ontomask.wording import percent

__all__ = ["MOSTLY", "NOTHING_UNCHANGED", "UnchangedRisk", "unchanged_in_table", "unchanged_risk"]

MOSTLY = 0.5
"""A column counts as unchanged unless more than this share of its values was changed."""
NAMED = 3


@dataclass(frozen=True)
class UnchangedRisk(Brief):
    """How many records the columns that are published as they are single out.

    Attributes
    ----------
    columns
        The published columns that are not quasi-identifiers and of which at least half of the
        values are the original ones.
    alone
        The share of records that share their values of all these columns with no other record.
    single
        For each of them the share of records that are alone by this column.
    """

    columns: tuple[str, ...]
    alone: float
    single: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        if not self.columns:
            return ""
        many = len(self.columns) > NAMED
        shown = f"{len(self.columns)} columns" if many else ", ".join(self.columns)
        worst = sorted((one for one in self.single if one[1] > 0), key=lambda one: -one[1])[:NAMED]
        by_one = ", ".join(f"by {name} alone {percent(share, 1)}" for name, share in worst)
        if not self.alone:
            return f"No record is alone with what is published unchanged ({shown})."
        alone = percent(self.alone, 1).capitalize()
        return (
            f"{alone} of the records are alone with what is published unchanged ({shown}"
            f"{f'; {by_one}' if by_one else ''}): whoever knows these values of a person finds the "
            "record, whatever k is."
        )


NOTHING_UNCHANGED = UnchangedRisk((), 0.0, ())


def unchanged_risk(paired: Paired) -> UnchangedRisk:
    """The records of a release that its unchanged columns single out."""
    columns = [
        one
        for one in paired.columns.values()
        if one.column.role != "quasi" and np.average(one.changed, weights=paired.counts) <= MOSTLY
    ]
    names, codes = [one.name for one in columns], [one.new for one in columns]
    return _risk(names, codes, [one.sides.released_size + 1 for one in columns], paired.counts)


def unchanged_in_table(table: Table, schema: Schema, names: Sequence[str]) -> UnchangedRisk:
    """The records of a table that some of its columns single out."""
    found = [table.distinct(name) for name in names]
    codes = [np.where(one < 0, len(values), one).astype(np.int32) for one, values in found]
    sizes = [len(values) + 1 for _, values in found]
    return _risk(names, codes, sizes, record_counts(table, schema))


def _risk(
    names: Sequence[str], codes: Sequence[Ints], sizes: Sequence[int], counts: Floats
) -> UnchangedRisk:
    each = zip(names, codes, sizes, strict=True)
    single = tuple((name, _alone([one], [size], counts)) for name, one, size in each)
    return UnchangedRisk(tuple(names), _alone(codes, sizes, counts), single)


def _alone(codes: Sequence[Ints], sizes: Sequence[int], counts: Floats) -> float:
    """The share of records that are alone with their codes; nobody is where there are none."""
    if not codes:
        return 0.0
    people = group_sizes(codes, sizes, counts)
    return float(np.count_nonzero(people == 1) / counts.sum())
