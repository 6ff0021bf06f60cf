from __future__ import annotations

import itertools
import os
from concurrent.futures import wait

import numba
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import settings

import ontomask as om
from ontomask.methods import base

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("guarantees", "random tables in tests/guarantees")
    group.addoption("--guarantee-runs", type=int, help="runs of each option and pair of steps")
    group.addoption("--guarantee-seed", type=int, help="make this run only, to see it again")


WRAPS_AROUND = "ignore:overflow encountered in scalar:RuntimeWarning"
"""Hashes overflow on purpose; plain NumPy warns of it."""
NOWHERE = "ignore:invalid value encountered in scalar:RuntimeWarning"
"""A box without numbers is infinitely far away; what is computed of it is not used."""


LONGEST = ("test_wheel.py", "test_single_steps.py", "test_recount.py", "test_every_engine.py")
"""Files that take long; begun last, one of them would run on alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, and leave out what is too large for kernels in plain Python."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items if numba.config.DISABLE_JIT else ():
        if item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.skip("too large for kernels that are not compiled"))
        for warning in (WRAPS_AROUND, NOWHERE):
            item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's cache folder."""
    monkeypatch.setenv("ONTOMASK_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def icd9() -> om.Taxonomy:
    return om.load_taxonomy("icd9cm")


@pytest.fixture(scope="session")
def wordnet() -> om.Taxonomy:
    return om.load_taxonomy("wordnet")


@pytest.fixture(params=FRAMES)
def make_frame(request):
    """Make a frame of each known kind from a dictionary of columns."""
    return FRAMES[request.param]


@pytest.fixture
def long_moments(monkeypatch):
    """Tell progress as if every moment were long.

    When works that run beside are asked for first, none has ended; then all have.
    """
    turns = itertools.count()
    monkeypatch.setattr(base, "POLLED_EVERY", 0.0)
    monkeypatch.setattr(
        base,
        "wait",
        lambda running, _seconds: wait(running) if next(turns) % 2 else (set(), set(running)),
    )
