"""The distinct tuples of a table before and after masking, and which of them lie in which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.grouping import group_rows
from ontomask.evaluation.pairing import PairedColumn, tuple_groups
from ontomask.kernels.containment import covered
from ontomask.sparse import SparseRows

__all__ = ["PairedTuples"]


@dataclass(frozen=True, eq=False)
class PairedTuples:
    """The distinct original and masked tuples of some columns.

    Attributes
    ----------
    firsts, masked_firsts
        A record of each original and of each masked tuple.
    places, masked_places
        The tuple of each record.
    people, masked_people
        How many records, or people, have it.
    """

    columns: Sequence[PairedColumn]
    firsts: Longs
    masked_firsts: Longs
    places: Longs
    masked_places: Longs
    people: Floats
    masked_people: Floats

    @classmethod
    def of(
        cls, columns: Sequence[PairedColumn], amounts: Floats, masked_amounts: Floats | None = None
    ) -> PairedTuples:
        """The tuples of records that are so many each."""
        firsts, places = tuple_groups(columns, "old")
        masked_firsts, masked_places = tuple_groups(columns, "new")
        after = amounts if masked_amounts is None else masked_amounts
        return cls(
            columns,
            firsts,
            masked_firsts,
            places,
            masked_places,
            np.bincount(places, amounts, firsts.size).astype(np.float64),
            np.bincount(masked_places, after, masked_firsts.size).astype(np.float64),
        )

    def covered(self, by: str) -> Floats:
        """How many of the masked records each original tuple lies in.

        Parameters
        ----------
        by
            `members`: a masked record counts 1 for every tuple that lies in it; `shares`: it is
            spread over them, in each column by how often the values occur.
        """
        plain = [one for one in self.columns if not _has_sets(one)]
        groups, starts, order = self._groups(plain)
        wide = [one for one in self.columns if _has_sets(one)]
        held = [_holding(one, by) for one in wide]
        entries = np.cumsum([0, *(one.amounts.size for one in held)])
        # the sets of all columns are numbered one after the other
        before = np.cumsum([0, *(one.width for one in held)])[:-1].tolist()
        pairs = [(one.sides, one.new[self.masked_firsts]) for one in wide]
        sets = [
            np.where(sides.sets < 0, -1, sides.sets + first)[codes]
            for (sides, codes), first in zip(pairs, before, strict=True)
        ]
        return covered(
            groups,
            starts,
            order,
            _stacked([one.old[self.firsts] for one in wide], self.firsts.size),
            _stacked([sides.own[codes] for sides, codes in pairs], self.masked_firsts.size),
            _stacked(sets, self.masked_firsts.size),
            np.cumsum([0, *(one.starts.size for one in held)])[:-1].astype(np.int64),
            _flat([one.starts + first for one, first in zip(held, entries, strict=False)]),
            _flat([one.columns + first for one, first in zip(held, before, strict=True)]),
            np.concatenate([np.empty(0), *(one.amounts for one in held)]),
            self.masked_people,
        )

    def lies_in(self, records: Longs, masked: Longs) -> Bools:
        """Whether the original values of some records lie in the masked values of others."""
        inside = np.ones(records.size, bool)
        for one in self.columns:
            old, new = one.old[records], one.new[masked]
            in_set = one.sides.released.holds(one.sides.sets[new], old)
            inside &= in_set | (one.sides.own[new] == old)
        return inside

    def _groups(self, columns: Sequence[PairedColumn]) -> tuple[Longs, Longs, Longs]:
        """Groups of tuples that agree in columns without sets: only those need be compared."""
        count = self.firsts.size
        keys = np.zeros(count + self.masked_firsts.size, np.int64)
        if columns:
            codes = [
                np.concatenate([one.old[self.firsts], one.sides.own[one.new[self.masked_firsts]]])
                for one in columns
            ]
            sizes = [one.sides.size + 2 for one in columns]
            # what is no original value is -1, and equal to none: it takes the code behind the last
            both = zip(codes, sizes, strict=True)
            keys = group_rows([np.where(one < 0, size - 1, one) for one, size in both], sizes)[1]
        order = np.argsort(keys[count:], kind="stable")
        starts = np.searchsorted(keys[count:][order], np.arange(int(keys.max()) + 2))
        return keys[:count], starts, order


def _has_sets(column: PairedColumn) -> bool:
    """Whether a released value in use stands for several."""
    used = np.unique(column.new)
    return bool(((column.sides.sets[used] >= 0) & (column.sides.own[used] < 0)).any())


def _holding(column: PairedColumn, by: str) -> SparseRows:
    """For each original code the sets that hold it, and what the kernel multiplies."""
    sides = column.sides
    return (sides.shares if by == "shares" else sides.released.members).turned()


def _flat(parts: Sequence[Longs]) -> Longs:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _stacked(rows: Sequence[Any], width: int) -> Any:
    return np.array(rows, np.int32).reshape(len(rows), width)
