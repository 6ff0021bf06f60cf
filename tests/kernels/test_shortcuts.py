"""Ways around what Numba does over and over: the same program, and only while ours is compiled."""

import numpy as np
import pytest
from numba import njit, types
from numba.core import postproc
from numba.core.types import functions

from ontomask import kernels
from ontomask.kernels import shortcuts
from ontomask.kernels.compiling import part

pytestmark = pytest.mark.skipif(
    bool(kernels.SETTINGS.DISABLE_JIT) or not shortcuts.INSIDES_KNOWN, reason="nothing is replaced"
)


@part
def step(total, value, weight):
    if value != value:
        return total
    return total + weight * value / 3.0


def running(values, weight):
    totals = np.empty(values.size)
    total = 0.0
    for place in range(values.size):
        total = step(total, values[place], weight)
        totals[place] = min(total, 1.0) if place % 2 else total
    return totals


def test_what_is_compiled_by_shortcuts_computes_the_same():
    values = np.random.default_rng(1).normal(size=1000)
    values[7] = np.nan
    plain, quick = njit(running), njit(running)
    with shortcuts.shortcuts():
        quick(values, 0.1)
    assert plain(values, 0.1).tobytes() == quick(values, 0.1).tobytes()
    assert plain.nopython_signatures == quick.nopython_signatures


def counted(values):
    for place in range(values.size):
        if values[place] > 0.0:
            yield place


@njit
def last(values):
    found = -1
    for place in counted_quickly(values):
        found = place
    return found


counted_quickly = njit(counted)


def test_who_asks_is_told_which_variables_live_where_a_block_begins(monkeypatch):
    """Generators do, and work."""
    asked, compute = [], postproc.analysis.compute_live_variables
    monkeypatch.setattr(
        postproc.analysis,
        "compute_live_variables",
        lambda *given: asked.append(0) or compute(*given),
    )
    values = np.array([1.0, -1.0, 2.0, -3.0])
    with shortcuts.shortcuts():
        njit(running)(values, 0.1)
        assert not asked
        assert last(values) == 2
        assert asked


def _insides():
    return [getattr(owner, name) for owner, name, _ in shortcuts.WAYS]


def _failing():
    with shortcuts.shortcuts(), shortcuts.shortcuts():
        assert _insides() == [other for _, _, other in shortcuts.WAYS]
        raise ZeroDivisionError


def test_numba_is_itself_again_afterwards():
    before = _insides()
    with pytest.raises(ZeroDivisionError):
        _failing()
    assert _insides() == before
    assert not any(other in before for _, _, other in shortcuts.WAYS)


def test_types_are_resolved_once():
    asked = []

    def resolve(function, _context, arguments, _named):
        asked.append(arguments)
        signature = types.float64(*arguments)
        function._impl_keys[signature.args] = f"found {len(asked)}"
        return signature

    remembering, context = shortcuts._remembering(resolve), object()
    first, second = (functions.Function.__new__(functions.Function) for _ in range(2))
    first._impl_keys, second._impl_keys = {}, {}
    wholes, floats = (types.int64, types.int64), (types.int64, types.float64)
    for function, arguments in [(first, wholes), (first, floats), (second, wholes)] * 2:
        assert remembering(function, context, arguments, {}).args == arguments
    assert asked == [wholes, floats, wholes]
    # whoever resolved the same types with other options left something else there
    first._impl_keys[wholes] = "other"
    remembering(first, context, wholes, {})
    assert first._impl_keys[wholes] == "found 1"
