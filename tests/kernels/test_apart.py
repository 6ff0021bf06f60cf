"""Kernels that others call instead of copying: compiled, from disk, and from Python."""

import os
import subprocess
import sys

import pytest

from ontomask import kernels

pytestmark = pytest.mark.skipif(bool(kernels.SETTINGS.DISABLE_JIT), reason="nothing is compiled")

MODULE = """
from ontomask.kernels.compiling import apart, compiled

@apart
@compiled
def halved(number):
    if number > 10.0:
        raise ValueError("too large")
    return number / 2.0

@compiled
def total(number):
    return halved(number) + 1.0

@apart
@compiled
def positive(number):
    return number > 0.0

@compiled
def judged(number):
    return total(number) if positive(number) else -1.0
"""
PROGRAM = """
import summing
print(summing.judged(5.0))
kernels = (summing.judged, summing.total.inside, summing.halved.inside, summing.positive.inside)
print(*(len(one.stats.cache_misses) for one in kernels))
try:
    summing.judged(11.0)
except ValueError as error:
    print(error)
print(summing.halved(3.0))
"""


@pytest.fixture
def begin(tmp_path):
    """Begin to call the kernels in a process of its own."""
    (tmp_path / "summing.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path / "kept"), PYTHONPATH=path)
    program = [sys.executable, "-c", PROGRAM]
    return lambda: subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)


def _told(process):
    """What the kernels gave, and how many were compiled for it."""
    told, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return told.splitlines()


@pytest.fixture
def run(begin):
    return lambda: _told(begin())


def test_what_is_called_comes_with_its_caller_from_disk_or_is_compiled(begin, run, tmp_path):
    both = [_told(process) for process in [begin(), begin()]]
    assert [one[:1] + one[2:] for one in both] == [["3.5", "too large", "1.5"]] * 2
    # of two processes, one compiles a kernel
    compiled = zip(*(map(int, one[1].split()) for one in both), strict=True)
    assert [*map(sum, compiled)] == [1, 1, 1, 1]
    for name in ("halved", "judged"):
        for index in tmp_path.rglob(f"summing.{name}*.nbi"):
            index.unlink()
    # judged gets a copy of total, which is taken from disk, and has to know whom that calls
    assert run() == ["3.5", "1 0 1 0", "too large", "1.5"]
    assert run() == ["3.5", "0 0 0 0", "too large", "1.5"]


def test_with_another_numba_kernels_are_linked_as_it_does_it(tmp_path):
    (tmp_path / "summing.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path / "kept"), PYTHONPATH=path)
    unknown = "from ontomask.kernels import compiling\ncompiling.INSIDES_KNOWN = False\n"
    program = unknown + "import summing\nprint(summing.judged(5.0), summing.halved(3.0))\n"
    command = [sys.executable, "-c", program + "print(hasattr(summing.halved, 'inside'))"]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["3.5", "1.5", "False"]
