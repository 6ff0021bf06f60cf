"""Information content of concepts: from the structure, a corpus or the column itself."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ontomask.arithmetic import log
from ontomask.arrays import Floats, Ints
from ontomask.errors import FormatError, ParameterError
from ontomask.taxonomy.readers.sources import numbered_lines
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["IC_KINDS", "INTRINSIC", "InformationContent"]

IC_KINDS = ("seco", "sanchez", "corpus", "column")

Counts = Mapping[str, float] | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class InformationContent:
    """The information content of every concept of a taxonomy, and its largest value.

    * ``seco``: 1 - log(hyponyms + 1) / log(N) (Seco, Veale and Hayes 2004).
    * ``sanchez``: -log((leaves / subsumers + 1) / (all leaves + 1)) (Sánchez et al. 2011).
    * ``corpus``: -log p, p the share of the counts at or below the concept, each concept's own
      count raised by one so that none is impossible (Resnik 1995).
    * ``column``: the same with the frequencies of the attribute's own values.
    """

    values: Floats
    maximum: float

    @classmethod
    def of(
        cls, taxonomy: Taxonomy, kind: str, counts: Counts | None, values: Ints
    ) -> InformationContent:
        """Compute the information content of every concept."""
        if (counts is not None) != (kind == "corpus"):
            raise ParameterError(
                "ic='corpus' needs counts (a mapping from concept ids to frequencies, or a file "
                f"with them), and the other kinds take none; ic is {kind!r}, counts "
                f"{'given' if counts is not None else 'missing'}."
            )
        if kind in INTRINSIC:
            content = INTRINSIC[kind](taxonomy)
        elif counts is None:
            own = np.bincount(values, minlength=len(taxonomy)).astype(np.float64)
            content = _smoothed(taxonomy, own)
        else:
            content = _smoothed(taxonomy, _frequencies(taxonomy, counts))
        # a taxonomy of one concept has the maximum 1 to divide by
        return cls(content, float(content.max()) or 1.0)


def _seco(taxonomy: Taxonomy) -> Floats:
    if len(taxonomy) == 1:
        return np.zeros(1)
    content: Floats = 1.0 - log(taxonomy.hyponym_counts + 1.0) / math.log(len(taxonomy))
    return content


def _sanchez(taxonomy: Taxonomy) -> Floats:
    leaves, subsumers = taxonomy.leaf_counts, taxonomy.subsumer_counts
    everything = float(np.count_nonzero(taxonomy.leaf_mask))
    return -log((leaves / subsumers + 1.0) / (everything + 1.0))


INTRINSIC = {"seco": _seco, "sanchez": _sanchez}
"""Kinds that depend on the taxonomy alone."""


def _smoothed(taxonomy: Taxonomy, frequencies: Floats) -> Floats:
    totals = taxonomy.totals(frequencies + 1.0)
    content: Floats = math.log(totals[0]) - log(totals)
    return content


def _frequencies(taxonomy: Taxonomy, counts: Counts) -> Floats:
    table = counts if isinstance(counts, Mapping) else _read_counts(Path(counts))
    frequencies = np.zeros(len(taxonomy))
    for identifier, count in table.items():
        if not count >= 0:
            raise ParameterError(
                f"The count of concept {identifier!r} is {count!r}; counts are at least 0."
            )
        frequencies[taxonomy.index_of(identifier)] += count
    return frequencies


def _read_counts(path: Path) -> dict[str, float]:
    """Read lines of a concept id and its count, separated by a comma, semicolon, tab or space."""
    table: dict[str, float] = {}
    for line, text in numbered_lines(path):
        if not text.strip() or text.startswith("#"):
            continue
        identifier, _, count = text.strip().translate(_SEPARATORS).rpartition("\t")
        try:
            table[identifier.strip()] = table.get(identifier.strip(), 0.0) + float(count)
        except ValueError:
            if line == 1:
                continue  # a header
            raise FormatError(
                f"{path}, line {line}: {count!r} is not a count; write lines such as '250.00,17'."
            ) from None
    return table


_SEPARATORS = str.maketrans(",; ", "\t\t\t")
