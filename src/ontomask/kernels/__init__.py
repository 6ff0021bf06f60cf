"""Compiled loops: arrays in, arrays out. Nothing here knows tables, names or files."""

from __future__ import annotations

from ontomask.kernels.cache import ensure_folder

ensure_folder()
