"""All methods in one place: importing this room fills the registry."""

from __future__ import annotations

from ontomask.methods import hybrid, microaggregation, recoding, resampling, suppression
from ontomask.methods.base import METHODS

__all__ = ["METHODS", "ROOMS"]

ROOMS = (hybrid, microaggregation, recoding, resampling, suppression)
