"""Loops in which the compiler counts who holds arrays take several times as long."""

import ast
from pathlib import Path

from ontomask import kernels

SLOW_STEPS = {
    "kept_at_most",
    "least_cost",
    "swap_coded",
    "swap_ordered",
}
"""Each turn of their loops does so much that counting does not show."""


def functions():
    """Every kernel, and how it is compiled."""
    for path in sorted(Path(kernels.__file__).parent.glob("*.py")):
        for one in ast.parse(path.read_text()).body:
            if isinstance(one, ast.FunctionDef):
                yield one, {getattr(mark, "id", "") for mark in one.decorator_list}


def written_out(kernel, parts):
    """The parts that are written out inside a loop of a kernel."""
    loops = [one for one in ast.walk(kernel) if isinstance(one, ast.For | ast.While)]
    calls = [call.func for one in loops for call in ast.walk(one) if isinstance(call, ast.Call)]
    return {getattr(called, "id", "") for called in calls} & parts


def test_loops_over_many_are_kernels_that_make_no_arrays():
    """A part that is written out names every array anew, and each name counts as a holder."""
    parts = {one.name for one, marks in functions() if "part" in marks}
    found = {
        one.name for one, marks in functions() if "allocating" in marks and written_out(one, parts)
    }
    assert found <= SLOW_STEPS
    assert {"number_keys", "fill_leaves"} <= {
        one.name for one, marks in functions() if "allocating" in marks
    }
