"""How often random tables are tried: `--guarantee-runs` of each kind, or one run again."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from guarantees.running import Trial

RUNS = 2
"""More are made by hand: among 800 options and pairs of steps, even one would find most."""


@pytest.fixture
def trial(request: pytest.FixtureRequest) -> Callable[..., Trial]:
    """Make the trial of a test."""
    wanted = request.config.getoption("--guarantee-runs") or os.environ.get("GUARANTEE_RUNS", RUNS)
    only = request.config.getoption("--guarantee-seed")
    return lambda **more: Trial(request.node.nodeid, int(wanted), only, **more)
