"""One or two columns before and after masking: the shares of records by groups of their values.

For the owner of the table only: nothing is merged or rounded to hide single records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.data.schema import Nominal, Ordinal
from ontomask.evaluation.pairing import PairedColumn
from ontomask.evaluation.sides import CodedSides
from ontomask.report.distributions import (
    interval_places,
    level_places,
    original_concepts,
    released_concepts,
)
from ontomask.report.groups import MOST, group_name
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Axis", "axis_of", "shares_of"]

OTHERS, MISSING = "others", "missing or suppressed"
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Axis:
    """The groups of a column, and the group of each record before and after masking.

    Attributes
    ----------
    names
        What the groups are called, if need be with others and missing values as the last ones.
    places
        Where the groups, but for those, are among all that there are.
    concepts
        For a nominal column the number of the concept at each place.
    within
        The concept whose specializations are the groups, -1 where there is none.
    """

    names: tuple[str, ...]
    before: Longs
    after: Longs
    places: Longs
    concepts: tuple[int, ...] = ()
    within: int = -1


def axis_of(column: PairedColumn, within: int | None = None) -> Axis:
    """The groups of a column, at most 12 and others.

    Parameters
    ----------
    column
        The column before and after.
    within
        For a nominal column, the concept whose children are the groups; by default that which all
        original values have in common.
    """
    ordered = column.is_numeric or isinstance(column.column, Ordinal)
    if column.stands_for_several.any():
        return _axis(*level_places(column, 1), ordered=ordered)
    if column.is_numeric:
        labels, before, after = interval_places(column, column, 1)
        return _axis([label for label, _ in labels], before, after, ordered=True)
    if isinstance(column.column, Nominal) and column.column.taxonomy is not None:
        return _concept_axis(column, column.column.taxonomy, within)
    assert isinstance(column.sides, CodedSides)
    return _axis(column.sides.names, column.old, column.sides.own[column.new], ordered=ordered)


def _concept_axis(column: PairedColumn, taxonomy: Taxonomy, within: int | None) -> Axis:
    """A concept itself and its children; a value below two of them is counted in the first."""
    before, after = original_concepts(column), released_concepts(column)
    if within is None or not 0 <= within < len(taxonomy):
        original = np.unique(before[before >= 0]).astype(np.int32)
        within = taxonomy.lcs_number(original) if original.size else 0
    groups = [within, *map(taxonomy.index_of, taxonomy.children(taxonomy.ids[within]))]
    places = np.full(len(taxonomy) + 1, -1, np.int64)
    for place, group in reversed(list(enumerate(groups))[1:]):
        places[taxonomy.indices_of(taxonomy.subtree(taxonomy.ids[group]))] = place
    places[within] = 0
    names = [group_name(taxonomy, group) for group in groups]
    axis = _axis(names, places[before], places[after])
    concepts = tuple(groups[place] for place in axis.places.tolist())
    return replace(axis, concepts=concepts, within=within)


def _axis(
    names: Sequence[str], before: Longs | Ints, after: Longs, *, ordered: bool = False
) -> Axis:
    """The largest groups, in their order or the largest first; the rest are others or missing."""
    size = len(names)
    old, new = (np.where((one < 0) | (one >= size), size, one) for one in (before, after))
    counts = (np.bincount(old, minlength=size + 1) + np.bincount(new, minlength=size + 1))[:size]
    largest = np.argsort(-counts, kind="stable")[:MOST]
    largest = largest[counts[largest] > 0]
    shown = np.sort(largest) if ordered else largest
    others = int(np.count_nonzero(counts) > shown.size)
    places = np.full(size + 1, shown.size, np.int64)
    places[shown], places[size] = np.arange(shown.size), shown.size + others
    labels = [*(str(names[place]) for place in shown.tolist()), *[OTHERS] * others]
    if (old == size).any() or (new == size).any():
        labels.append(MISSING)
    return Axis(tuple(labels), places[old], places[new], shown)


def shares_of(first: Axis, second: Axis | None, weights: Floats) -> tuple[Floats, Floats]:
    """The share of each group, or of each pair of groups, before and after masking."""
    size = [len(one.names) for one in (first, second) if one is not None]
    sides = [(first.before, first.after)]
    if second is not None:
        sides.append((second.before, second.after))
    before, after = (
        np.bincount(np.ravel_multi_index(places, size), weights, math.prod(size)).reshape(size)
        for places in zip(*sides, strict=True)
    )
    return before / max(float(before.sum()), TINY), after / max(float(after.sum()), TINY)
