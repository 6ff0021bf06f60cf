"""Quality models: what generalization and suppression cost, to be minimized.

A model is a frozen description. Made ready for a table (`prepare`) it becomes a `Measure`, which
says what a partition of the records costs. Costs are vectors, with an entry per attribute for
models that treat attributes apart and a single entry for the others; `scalar` combines them.

For searches a measure also gives bounds. `floor` never falls when classes are united or values
generalized further; `surplus` is what records add to it that are suppressed here and therefore at
all finer levels. For levels x between `low` and `high` the loss is at least
``floor(low) + surplus(high)``.
"""

from __future__ import annotations

from ontomask.quality.facts import AttributeFacts, Facts, Partition, Recoded
from ontomask.quality.measures import AGGREGATES, Measure
from ontomask.quality.models import (
    QUALITIES,
    Ambiguity,
    AverageClassSize,
    Classification,
    Discernibility,
    EntropyLoss,
    Height,
    KLDivergence,
    Loss,
    NonUniformEntropy,
    Precision,
    Quality,
    Semantic,
    quality_model,
)

__all__ = [
    "AGGREGATES",
    "QUALITIES",
    "Ambiguity",
    "AttributeFacts",
    "AverageClassSize",
    "Classification",
    "Discernibility",
    "EntropyLoss",
    "Facts",
    "Height",
    "KLDivergence",
    "Loss",
    "Measure",
    "NonUniformEntropy",
    "Partition",
    "Precision",
    "Quality",
    "Recoded",
    "Semantic",
    "quality_model",
]


def __dir__() -> list[str]:
    """The models; the rest is for other rooms."""
    return sorted(kind.__name__ for kind in QUALITIES.values())
