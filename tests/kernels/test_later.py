"""Kernels that are compiled when they are first called, from whatever kernel and thread."""

import os
import subprocess
import sys

import pytest

from ontomask import kernels
from ontomask.kernels import compiling

pytestmark = pytest.mark.skipif(
    bool(kernels.SETTINGS.DISABLE_JIT) or not compiling.INSIDES_KNOWN or not compiling.REACHES_FAR,
    reason="nothing is compiled later",
)

MODULE = """
from __future__ import annotations
from ontomask.kernels.compiling import compiled, later

@later
@compiled
def halved(number: float) -> float:
    if number > 10.0:
        raise ValueError("too large")
    return number / 2.0

@compiled
def total(number):
    return halved(number) + 1.0

@later
@compiled
def noted(numbers, place: int) -> None:
    numbers[place] = halved(numbers[place])

@compiled
def judged(number, numbers):
    if number < 3.0:
        return 0.0
    noted(numbers, 0)
    return total(number) + halved(number) + numbers[0]
"""
PROGRAM = """
import threading
import numpy as np
import rarely

def told(gave):
    late = (rarely.judged, rarely.total.inside, rarely.halved.inside, rarely.noted.inside)
    print(gave, *(len(one.overloads) for one in late), end=" ")
    print(*(len(one.stats.cache_misses) for one in late))

numbers = np.array([8.0])
told(rarely.judged(1.0, numbers))
given = [numbers.copy() for _ in range(4)]
threads = [threading.Thread(target=rarely.judged, args=(5.0, one)) for one in given]
for one in threads:
    one.start()
for one in threads:
    one.join()
print({float(one[0]) for one in given})
told(rarely.judged(5.0, numbers))
try:
    rarely.judged(11.0, numbers)
except ValueError as error:
    print(error)
print(rarely.halved(3.0))
"""
INTERRUPTED = """
import numpy as np
import rarely

def interrupt(types):
    raise KeyboardInterrupt

compile_for, rarely.halved.inside.compile = rarely.halved.inside.compile, interrupt
try:
    rarely.judged(5.0, np.array([8.0]))
except KeyboardInterrupt:
    print("interrupted")
rarely.halved.inside.compile = compile_for
print(rarely.judged(5.0, np.array([8.0])))
"""
FAILING = """
import pickle
import numpy as np
import rarely
from ontomask.errors import MethodError

compile_for = rarely.noted.inside.compile
for reason in (OSError("no room left\\non the disk"), MemoryError()):
    def fail(types):
        raise reason

    rarely.noted.inside.compile = fail
    try:
        rarely.judged(5.0, np.array([8.0]))
    except MethodError as error:
        print(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
rarely.noted.inside.compile = compile_for
print(rarely.judged(5.0, np.array([8.0])))
"""


NEAR = "from ontomask.kernels import compiling\ncompiling.REACHES_FAR = False\n"


@pytest.fixture
def run(tmp_path):
    """Run a program beside the kernels; what it says."""
    (tmp_path / "rarely.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path / "kept"), PYTHONPATH=path)

    def run_(program):
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        assert not ran.stderr
        return ran.stdout.splitlines()

    return run_


def test_what_is_called_rarely_is_compiled_when_it_is_called_and_kept_on_disk(run):
    rest = ["too large", "1.5"]
    # how many are there, and how many of them were not on disk
    first = ["0.0 1 1 0 0 1 1 0 0", "{4.0}", "10.0 1 1 1 1 1 1 1 1", *rest]
    assert run(PROGRAM) == first
    assert run(PROGRAM) == ["0.0 1 0 0 0 0 0 0 0", "{4.0}", "10.0 1 0 1 1 0 0 0 0", *rest]


def test_where_data_must_lie_near_everything_is_compiled_at_once(run):
    told = run(NEAR + PROGRAM)
    assert told == ["0.0 1 1 1 1 1 1 1 1", "{4.0}", "10.0 1 1 1 1 1 1 1 1", "too large", "1.5"]


def test_who_interrupts_what_is_compiled_meanwhile_interrupts_the_kernel(run):
    assert run(INTERRUPTED) == ["interrupted", "10.0"]


def test_what_cannot_be_compiled_is_told_in_a_sentence(run):
    sentence = (
        "A part of this step (noted) could not be compiled on this machine ({}); make sure that "
        "there is room in memory and on the disk, and run it again."
    )
    reasons = ["OSError: no room left", "MemoryError"]
    assert run(FAILING) == [*map(sentence.format, reasons), "10.0"]
