"""Statistics of nominal columns, by the meaning of their values."""

from ontomask.semantics.dependence import (
    semantic_correlation,
    semantic_covariance,
    semantic_mean,
    semantic_variance,
)
from ontomask.semantics.marginality import (
    marginality,
    nominal_covariance,
    nominal_mean,
    nominal_variance,
    s_distance,
)
from ontomask.semantics.sample import Sample

__all__ = [
    "Sample",
    "marginality",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "s_distance",
    "semantic_correlation",
    "semantic_covariance",
    "semantic_mean",
    "semantic_variance",
]
