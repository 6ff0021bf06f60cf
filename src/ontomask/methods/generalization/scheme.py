"""What a global generalization does with records that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata
from ontomask.methods.generalization.encoding import EncodedColumn
from ontomask.methods.generalization.problem import distinct_rows

__all__ = ["Levels"]


@dataclass(frozen=True, eq=False)
class Levels:
    """The scheme of a global generalization.

    Attributes
    ----------
    levels
        The level of each column.
    columns
        The hierarchies, and how their values are written.
    classes
        The generalized values of each class of the release, by code (classes x columns).
    star
        Whether the release has a class of stars.
    """

    levels: Mapping[str, int]
    columns: Mapping[str, EncodedColumn]
    classes: Ints
    star: bool

    def apply(self, microdata: Microdata) -> Masked:
        """Generalize records not seen; those that no class of the release fits stand out.

        They are starred if the release has stars to hide among, otherwise left out.
        """
        known = self._known(microdata)
        masked = self._generalized(microdata, np.zeros_like(known) if not self.star else ~known)
        return masked if self.star or known.all() else Masked(masked.columns, kept=known)

    def transform(self, microdata: Microdata) -> Masked:
        """Generalize all records, as a classifier's test records must be; not for a release."""
        return self._generalized(microdata, np.zeros(len(microdata), bool))

    def _generalized(self, microdata: Microdata, suppressed: Bools) -> Masked:
        return Masked(
            {
                name: column.recode(microdata[name], self.levels[name], suppressed)
                for name, column in self.columns.items()
            }
        )

    def _known(self, microdata: Microdata) -> Bools:
        """Whether the release has a class with the generalized values of each record."""
        codes = np.array(
            [
                column.hierarchy.levels[self.levels[name], column.rows(microdata[name])]
                for name, column in self.columns.items()
            ]
        )
        widths = [
            int(column.hierarchy.widths[self.levels[name]]) for name, column in self.columns.items()
        ]
        places = distinct_rows(np.concatenate([self.classes.T, codes], axis=1), widths)[1]
        # places are numbered by first appearance, those of the classes come first
        known: Bools = places[len(self.classes) :] < len(self.classes)
        return known
