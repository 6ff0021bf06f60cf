"""All methods in one place: importing this room fills the registry."""

from __future__ import annotations

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
from ontomask.methods.base import METHODS
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
