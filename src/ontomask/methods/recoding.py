"""Recoding: rare tuples take the values of the nearest tuple of the table.

After Martínez, Sánchez, Valls and Batet, "Privacy protection of textual attributes through a
semantic-based masking method" (2012). No new value appears: every output tuple was in the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.checks import Integer
from ontomask.data.masked import Masked
from ontomask.data.microdata import Microdata, Tuples
from ontomask.errors import MethodError
from ontomask.kernels.recoding import recode
from ontomask.kernels.records import select_points
from ontomask.methods.base import (
    Context,
    Measure,
    Method,
    Metric,
    Operators,
    Strata,
    check_k,
    register,
)
from ontomask.methods.blocks import BlockSize, blocks_of, in_every
from ontomask.methods.disclosure import Demands, Privacy, check_privacy
from ontomask.methods.nearest import NearestCentroid
from ontomask.methods.points import Layout, quasi_layout

__all__ = ["GUIDES", "Recoding"]

Guide = Literal["semantic", "discernibility", "random"]
GUIDES = get_args(Guide)
Order = Literal["smallest-first", "any"]
ORDERS = get_args(Order)


@register
@dataclass(frozen=True)
class Recoding(Method):
    """Let every tuple that is shared by fewer than k take the values of another one.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 32, 58, 58, 57]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.Recoding(k=3), seed=1)
    >>> release.frame["age"].to_list()
    [31, 31, 31, 58, 58, 58]
    """

    name: ClassVar[str] = "recoding"

    k: Annotated[int, Integer(2), "The least number of records of a tuple."]
    algorithm: Annotated[
        Guide,
        "Which tuple is taken: the semantically nearest (`semantic`), the one that raises the "
        "sum of squared class sizes least (`discernibility`), or any (`random`).",
    ] = "semantic"
    order: Annotated[
        Order,
        "Whether the rarest tuples are recoded first (`smallest-first`) or in the table's order.",
    ] = "smallest-first"
    weighting: Annotated[
        Literal["none", "frequency"],
        "Whether distances are multiplied by the frequency of the tuple taken.",
    ] = "none"
    operators: Operators = "semantic"
    metric: Metric = None
    measure: Measure = None
    strata: Strata = ()
    privacy: Privacy = ()
    block_size: BlockSize = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_privacy(self.privacy, self.strata)
        if self.block_size is not None and self.algorithm != "semantic":
            raise MethodError(
                f"algorithm={self.algorithm!r} compares no tuples, so blocks would save nothing; "
                "leave out block_size, or use algorithm='semantic'."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Recode rare tuples."""
        check_k(self.k, microdata)
        demands = Demands.of(microdata, self.k, self.privacy)
        layout = quasi_layout(microdata, self)
        tuples = microdata.tuples()
        details: dict[str, object] = {"metric": layout.metric, "tuples_before": len(tuples)}
        targets = self._targets(layout, tuples, details, context)
        labels = np.unique(targets, return_inverse=True)[1].astype(np.int32)
        labels = demands.merged(layout.points(tuples), tuples.places, labels, context)
        taken = _most_frequent(targets, labels, tuples.counts)
        clusters: Longs = labels[tuples.places].astype(np.int64)
        tuples_taken = layout.own(tuples, taken)
        return Masked(
            {name: one.of(clusters) for name, one in tuples_taken.items()},
            demands.promises(),
            clusters,
            scheme=NearestCentroid.of(layout, tuples_taken),
            details={**details, "tuples_after": taken.size},
        )

    def _targets(
        self, layout: Layout, tuples: Tuples, details: dict[str, object], context: Context
    ) -> Longs:
        points, uniforms = layout.points(tuples), context.generator.random(len(tuples))
        blocks = [np.arange(len(tuples))]
        if self.algorithm == "semantic":
            blocks = blocks_of(points, blocks, self.k, self.block_size, details)

        def work(members: Longs, signal: Longs) -> Longs:
            chosen = select_points(points, members)
            guide, order = GUIDES.index(self.algorithm), ORDERS.index(self.order)
            by_size, own = self.weighting == "frequency", uniforms[members]
            return members[recode(chosen, float(self.k), guide, order, by_size, own, signal)]

        targets = np.empty(len(tuples), np.int64)
        targets[np.concatenate(blocks)] = np.concatenate(
            in_every(blocks, work, None, context, "recoding")
        )
        return targets


def _most_frequent(targets: Longs, labels: Ints, counts: Floats) -> Longs:
    """For each cluster the target that most of its records had, of equals the first."""
    records = np.bincount(targets, weights=counts, minlength=targets.size)
    order = np.lexsort((targets, -records[targets], labels))
    firsts = np.unique(labels[order], return_index=True)[1]
    return targets[order[firsts]]
