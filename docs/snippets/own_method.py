from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import polars as pl

import ontomask as om
from ontomask.extending import Integer, ListOf, Masked, Method, Text, check_columns
from ontomask.testing import check_method


@dataclass(frozen=True)
class CommonValue(Method):
    """Replace values that few records have by the most frequent one."""

    name: ClassVar[str] = "common-value"

    columns: Annotated[tuple[str, ...], ListOf(Text(), empty=False), "Whose values."]
    least: Annotated[int, Integer(2), "Values of fewer records are replaced."] = 5

    def mask(self, microdata, context):
        check_columns(self.columns, microdata, "columns")
        masked = {}
        for name in self.columns:
            column = microdata[name]
            counts = np.bincount(column.codes, microdata.counts, column.cardinality)
            rare = counts[column.codes] < self.least
            codes = np.where(rare, counts.argmax(), column.codes)
            masked[name] = replace(column, codes=codes.astype(np.int32))
        return Masked(masked)


frame = pl.DataFrame({"town": ["Ulm"] * 6 + ["Bonn"] * 5 + ["Alp"]})
release = om.protect(frame, om.Schema(town=om.Flat()), CommonValue(("town",)), seed=1)
print(sorted(release.frame["town"].unique()))
print(release.verification.kept)

check_method(CommonValue(("sex", "severity")))  # repeats itself, tells progress, refuses nonsense
