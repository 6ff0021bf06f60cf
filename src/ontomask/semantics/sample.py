"""A nominal column seen through a taxonomy: distinct concepts, frequencies, distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Floats, Ints, Longs
from ontomask.brevity import Brief
from ontomask.errors import ParameterError
from ontomask.kernels.products import summed_rows
from ontomask.memory import row_blocks
from ontomask.remembering import remembered
from ontomask.semantics.distances import ValueDistances
from ontomask.taxonomy.measures import Space
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Compared", "Sample", "Summing", "Values", "check_same_records"]


Summing = Callable[[Longs, Longs, Floats, int], Floats | None]


class Compared(Brief, ABC):
    """An attribute over n records whose distinct values have distances; others inherit from it."""

    codes: Longs
    weights: Floats | None

    def __len__(self) -> int:
        return self.codes.size

    @property
    @abstractmethod
    def distinct(self) -> int:
        """The number of distinct values."""

    @property
    @abstractmethod
    def distances(self) -> Floats:
        """Distances between the distinct values."""

    def distances_of(self, block: slice) -> Floats:
        """Distances of some distinct values to all."""
        return self.distances[block]

    def told_sums(self, _power: int) -> Floats | None:
        """For each distinct value the sum of its distances, raised to a power, to all records.

        None where nothing tells them without a look at all distances.
        """
        return None

    @remembered
    def sums(self) -> Floats:
        """For each distinct value the sum of its distances to all records."""
        told = self.told_sums(1)
        if told is not None:
            return told
        # distances that come in blocks are computed once for both: they take longer than squares
        return self._summed(1)[0] if self._is_one_block else self._both_sums[0]

    @remembered
    def _both_sums(self) -> tuple[Floats, Floats]:
        """The same of distances, and of their squares."""
        sums, squares = self._summed(1, 2)
        return sums, squares

    @property
    def _is_one_block(self) -> bool:
        """Whether all distances are there at once."""
        return len([*row_blocks(self.distinct, self.distinct)]) <= 1

    def _summed(self, *powers: int) -> list[Floats]:
        """The same of distances raised to each of some powers."""
        found: list[list[Floats]] = [[np.empty(0)] for _ in powers]
        for block in row_blocks(self.distinct, self.distinct):
            distances = self.distances_of(block)
            for parts, power in zip(found, powers, strict=True):
                parts.append(summed_rows(distances, self.counts, power))
            del distances  # before the next ones are there
        return [np.concatenate(parts) for parts in found]

    @remembered
    def means(self) -> Floats:
        """For each distinct value the mean of its distances to all records."""
        return self.sums / self.total

    @remembered
    def variance(self) -> float:
        """The distance variance: the covariance of the attribute with itself."""
        squared = self.told_sums(2)
        if squared is None:
            squared = self._summed(2)[0] if self._is_one_block else self._both_sums[1]
        products = summed_products(self.counts, squared)
        grand = summed_products(self.means, self.counts) / self.total
        squares = summed_products(self.means**2, self.counts)
        centered = products / self.total**2 - 2.0 * squares / self.total + grand**2
        return float(np.sqrt(max(centered, 0.0)))

    @remembered
    def counts(self) -> Floats:
        """The frequency of each distinct value, in people."""
        return np.bincount(self.codes, self.weights, minlength=self.distinct).astype(np.float64)

    @remembered
    def total(self) -> float:
        """How many people the records stand for."""
        return float(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Values(Compared):
    """The values of an attribute of any kind, with the distances between distinct ones.

    Attributes
    ----------
    between
        The distances from each of some values to each of others.
    numbers
        The distinct values as it wants them.
    codes, weights
        As in `Sample`.
    held
        Whether the distances are computed once and held, or computed whenever they are needed.
    summed
        What tells, where it can, the weighted sums of the distances from each of some values to
        others, raised to a power.
    """

    between: Callable[[Longs, Longs], Floats]
    numbers: Longs
    codes: Longs
    weights: Floats | None = None
    held: bool = True
    summed: Summing | None = None

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return self.numbers.size

    @property
    def distances(self) -> Floats:
        """The distances between them."""
        return self._distances if self.held else self.between(self.numbers, self.numbers)

    def told_sums(self, power: int) -> Floats | None:
        """The sums of distances to all records, where the values tell them."""
        if self.summed is None:
            return None
        return self.summed(self.numbers, self.numbers, self.counts, power)

    @remembered
    def _distances(self) -> Floats:
        return self.between(self.numbers, self.numbers)

    def distances_of(self, block: slice) -> Floats:
        """Distances of some distinct values to all."""
        if block == slice(0, self.distinct):
            return self.distances
        return self.between(self.numbers[block], self.numbers)


@dataclass(frozen=True, eq=False)
class Sample(Compared):
    """The values of one nominal attribute over n records.

    Statistics are functions of a sample (`marginality`, `nominal_variance`, `semantic_mean`, …).
    They work on the distinct concepts and their frequencies, so their cost does not depend on n.

    Attributes
    ----------
    space
        The taxonomy and the measure, made ready for these values.
    concepts
        The numbers of the distinct concepts, ascending (by depth, then id).
    codes
        For each record, the position of its concept in `concepts`.
    weights
        How many people each record stands for; 1 unless given.

    Examples
    --------
    >>> icd9 = om.load_taxonomy("icd9cm")
    >>> column = om.statistics.Sample.of(["250.00", "250.13", "428.0", "428.0"], icd9)
    >>> len(column.codes), column.distinct
    (4, 3)
    >>> om.statistics.semantic_mean(column)
    '428.0'
    """

    space: Space
    concepts: Ints
    codes: Longs
    weights: Floats | None = None

    @classmethod
    def of(
        cls,
        values: Sequence[object],
        taxonomy: Taxonomy,
        measure: str = "logsc",
        root: str = "attribute",
        *,
        overrides: Mapping[str, str] | str | Path | None = None,
        **options: Any,
    ) -> Sample:
        """Map a column's values to concepts and make the measure ready for them.

        Values without a concept, and missing ones, are an error.
        """
        mapping = taxonomy.map(values, overrides=overrides).require()
        if mapping.records_missing:
            raise ParameterError(
                f"The sample holds {mapping.records_missing} missing values; leave them out."
            )
        numbers = mapping.concepts[mapping.positions]
        return cls.from_numbers(numbers, taxonomy, measure, root, **options)

    @classmethod
    def from_numbers(
        cls,
        numbers: Ints,
        taxonomy: Taxonomy,
        measure: str = "logsc",
        root: str = "attribute",
        **options: Any,
    ) -> Sample:
        """Make a sample from concept numbers, one per record."""
        space = taxonomy.space(np.asarray(numbers, np.int32), measure, root, **options)
        concepts, codes = np.unique(space.values, return_inverse=True)
        return cls(space, concepts, codes)

    @classmethod
    def with_matrix(
        cls,
        space: Space,
        concepts: Ints,
        codes: Longs,
        matrix: Floats,
        weights: Floats | None = None,
    ) -> Sample:
        """Make a sample whose distances are known already; they are not computed again."""
        sample = cls(space, concepts, codes, weights)
        sample.__dict__["matrix"] = matrix  # where it is looked for first
        return sample

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that the concepts belong to."""
        return self.space.taxonomy

    @property
    def distinct(self) -> int:
        """The number of distinct concepts."""
        return self.concepts.size

    @remembered
    def matrix(self) -> Floats:
        """Distances between the distinct concepts."""
        return self.space.between(self.concepts, self.concepts)

    @property
    def distances(self) -> Floats:
        """Distances between the distinct concepts."""
        return self.matrix

    def told_sums(self, power: int) -> Floats | None:
        """The sums of distances to all records, where the taxonomy tells them."""
        concepts = self.concepts.astype(np.int64)
        return ValueDistances(self.space).summed(concepts, concepts, self.counts, power)

    def distances_of(self, block: slice) -> Floats:
        """Distances of some distinct concepts to all."""
        if block == slice(0, self.distinct):
            return self.matrix
        return self.space.between(self.concepts[block], self.concepts)


def check_same_records(first: Compared, second: Compared) -> None:
    """Refuse samples of different records."""
    if len(first) != len(second):
        raise ParameterError(
            f"The two attributes must describe the same records, but one has {len(first)} and the "
            f"other {len(second)}."
        )
