"""Releases and figures do not depend on the processor, down to the last bit.

Libraries choose how to add up and how to compute functions by the processor; they can be told
to take another one than there is. And nothing in the package asks them in the first place.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as numpy_core

import ontomask

TESTS = Path(__file__).parent
FOUND = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
"""What this processor has, and NumPy makes use of, beyond what all have."""
PROCESSORS = {
    "newest": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "usual": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(FOUND[1:])},
    "oldest": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(FOUND)},
}


def answered_on(processor):
    if not FOUND and "NPY_DISABLE_CPU_FEATURES" in processor:
        processor = {name: processor[name] for name in processor if name.startswith("OPENBLAS")}
    places = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "processors.py")],
        env={**os.environ, **processor, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.compiled
def test_no_answer_depends_on_the_processor():
    answers = {name: answered_on(processor) for name, processor in PROCESSORS.items()}
    first, *others = answers.values()
    assert len(first) > 100
    for other in others:
        assert [name for name in first if first[name] != other[name]] == []


DEPENDING = {
    *("convolve", "corrcoef", "correlate", "cov", "dot", "einsum", "inner", "linalg", "matmul"),
    *("matvec", "polyfit", "tensordot", "vdot", "vecdot", "vecmat"),
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos"),
    *("cosh", "exp", "exp2", "expm1", "float_power", "geomspace", "hypot", "log", "log10"),
    *("log1p", "log2", "logaddexp", "logaddexp2", "logspace", "power", "sin", "sinh", "tan"),
    "tanh",
}
"""What NumPy computes by the processor: linear algebra, and functions of many numbers at once."""
COMPILED = {"rebuilding.py"}
"""Kernels in which a function of one number is that of the C library."""
PACKAGE = Path(ontomask.__file__).parent


def whole_or_square(node):
    """Whether a power has a whole base, or is one of 1, 2 and what kernels know as their power."""
    exponent = node.right if isinstance(node, ast.BinOp) else node.value
    base = node.left if isinstance(node, ast.BinOp) else None
    single = isinstance(base, ast.Call) and getattr(base.func, "id", "") == "float"
    return isinstance(base, ast.Constant) or single or getattr(exponent, "value", 0) == 2


SINGLE_POWERS = {
    ("grids.py", "number ** 0.5"),
    ("recoding.py", "current ** points.power"),
    ("from_data.py", "fanout ** level"),
    ("suggestions.py", "OTHER_SENSE ** rank"),
}
"""Powers of single numbers, which are Python's own."""


def depends(path, node, counted):
    """Whether a piece of code asks for what depends on the processor."""
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "np":
        return node.attr in DEPENDING and path.name not in COMPILED
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        return node not in counted
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
        return not whole_or_square(node) and (path.name, ast.unparse(node)) not in SINGLE_POWERS
    return False


def asked(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # products of whole numbers are exact
    counted = {
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "int" and node.args
    }
    nodes = [node for node in ast.walk(tree) if depends(path, node, counted)]
    return [f"{path.relative_to(PACKAGE)}: {ast.unparse(node)}" for node in nodes]


def test_nothing_is_asked_that_libraries_answer_by_the_processor():
    """See `ontomask.arithmetic`, which answers the same everywhere."""
    paths = sorted(PACKAGE.rglob("*.py"))
    assert len(paths) > 100
    assert [one for path in paths for one in asked(path)] == []


@pytest.mark.parametrize(
    "line", ["weights @ table", "np.log(x)", "np.linalg.eigh(x)", "x ** 1.5", "x **= y", "a @ b"]
)
def test_it_would_be_noticed(line):
    node = ast.parse(line)
    assert any(depends(TESTS / "some.py", one, set()) for one in ast.walk(node))
    assert not any(depends(TESTS / "some.py", one, set()) for one in ast.walk(ast.parse("x ** 2")))
