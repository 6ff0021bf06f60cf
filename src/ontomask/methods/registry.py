"""All methods in one place, those of other packages too: importing this room fills the registry."""

from __future__ import annotations

from ontomask.extensions import declared_classes
from ontomask.methods import (
    columns,
    hybrid,
    microaggregation,
    perturbation,
    pram,
    rank_swapping,
    recoding,
    resampling,
    shuffling,
    suppression,
)
from ontomask.methods.base import METHODS, Method, register
from ontomask.methods.generalization import method as generalization
from ontomask.methods.generalization import private

__all__ = ["METHODS", "ROOMS"]

ROOMS = (
    columns,
    generalization,
    hybrid,
    microaggregation,
    perturbation,
    pram,
    private,
    rank_swapping,
    recoding,
    resampling,
    shuffling,
    suppression,
)

for _kind in declared_classes("methods", Method, METHODS):
    register(_kind)
