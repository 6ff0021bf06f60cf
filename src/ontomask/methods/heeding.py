"""Rules, heeded by methods that change records one by one, or exchange their values.

Nobody who was possible may become impossible. Where new values are drawn, such records draw anew;
where values are exchanged in pairs, they exchange back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.data.masked import Masked, joined
from ontomask.data.microdata import Attribute, Microdata
from ontomask.methods.base import Context

__all__ = ["redrawn", "returned"]

DRAWS = 40
"""So often values are drawn at most; who is impossible then is told, and nothing is released."""

Columns = dict[str, Attribute]


def redrawn(microdata: Microdata, draw: Callable[[Context], Columns], context: Context) -> Columns:
    """Draw new values, anew for records that a rule would exclude."""
    # where there are rules, the first half of the work is one draw, the other all that may follow
    first = 0.5 if microdata.schema.rules else 1.0
    columns = draw(context.part(0.0, first))
    left = _made_impossible(microdata, columns)
    if not left.any():
        return columns
    parts = [_part(columns, ~left)]
    for number in range(DRAWS):
        share = (1.0 - first) / DRAWS
        again = context.part(first + share * number, share)
        again.progress(0.0, "drawing anew for those whom rules exclude")
        columns = draw(again)
        wrong = left & _made_impossible(microdata, columns)
        if (left & ~wrong).any():
            parts.append(_part(columns, left & ~wrong))
        left = wrong
        if not left.any():
            break
    if left.any():
        parts.append(_part(columns, left))
    return dict(joined(parts, len(microdata)).columns)


def _part(columns: Columns, mask: Bools) -> tuple[Bools, Masked]:
    return mask, Masked({name: one.of(mask).trimmed() for name, one in columns.items()})


def returned(microdata: Microdata, partners: Mapping[str, Longs]) -> dict[str, Longs]:
    """Exchanges of values by which no record becomes impossible.

    `partners` tell for each column who exchanges with whom. A record that a rule would exclude
    exchanges back in one column, if both are possible then; where that does not help, whatever
    becomes of the other, in one column after the other.
    """
    found, names = dict(partners), sorted(_ruled(microdata) & partners.keys())
    for name in names:
        undone = _undone(found[name], _wrong(microdata, found))
        still = _wrong(microdata, {**found, name: undone})
        for own in (still, found[name][still]):  # these pairs are left as they were
            undone[own] = found[name][own]
        found[name] = undone
    for name in itertools.cycle(names):
        wrong = _wrong(microdata, found)
        if not wrong.size:
            break
        found[name] = _undone(found[name], wrong)
    return found


def _undone(partners: Longs, records: Longs) -> Longs:
    """The exchanges without those of some records."""
    result, others = partners.copy(), partners[records]
    result[records], result[others] = records, others
    return result


def _wrong(microdata: Microdata, partners: Mapping[str, Longs]) -> Longs:
    """The records that a rule would exclude."""
    columns = {
        name: replace(microdata[name], codes=microdata[name].codes[one])
        for name, one in partners.items()
    }
    return np.flatnonzero(_made_impossible(microdata, columns))


def _ruled(microdata: Microdata) -> set[str]:
    """The columns that rules name."""
    return {name for rule in microdata.schema.rules for name in rule.conditions}


def _made_impossible(microdata: Microdata, columns: Mapping[str, Attribute]) -> Bools:
    """Which records a rule excludes with these columns, and none excluded before."""
    if not microdata.schema.rules:
        return np.zeros(len(microdata), bool)
    columns = {name: columns[name] for name in _ruled(microdata) & columns.keys()}
    changed = replace(microdata, attributes={**microdata.attributes, **columns})
    before, after = (np.any(one.violations(), axis=0) for one in (microdata, changed))
    made: Bools = after & ~before
    return made
