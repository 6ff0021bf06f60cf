"""What is done so that memory is neither asked for in vain nor given back too soon."""

import platform
import subprocess
import sys
import tracemalloc

import numpy as np
import polars as pl
import pytest

import ontomask as om

PROGRAM = """
import resource
import numpy as np
from ontomask.memory import keep_freed

def asked():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(200_000) + np.ones(200_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

asked()
before = asked()
keep_freed()
asked()
print(before, asked())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries do as ever")
def test_memory_of_arrays_is_kept_for_those_that_follow():
    """The system is asked for no more pages: each would have to be emptied first."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    before, after = map(int, ran.stdout.split())
    assert after < before / 10


def test_arrays_around_a_search_take_half_the_memory_of_the_texts():
    """A text takes 16 bytes; what is held of a cell at most is its codes, and a little besides."""
    count, columns = 300_000, "abcdefghijkl"
    persons = np.random.default_rng(1).integers(0, 60, count)
    frame = pl.DataFrame(
        {
            name: pl.Series([f"{name}{place}" for place in range(4)])[(factor * persons) % 4]
            for factor, name in enumerate(columns, start=1)
        }
    )
    schema = om.Schema(**dict.fromkeys(columns, om.Flat()))
    method = om.Generalization([om.privacy.KAnonymity(5)], 0.02)
    om.protect(frame.head(1000), schema, method, seed=1)
    assert traced(lambda: om.protect(frame, schema, method, seed=1)) / count / len(columns) < 9


def traced(work):
    """The bytes of arrays that are held at most meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


NARROW = {
    "noise": (lambda: om.Noise(["a", "b", "c", "d"]), 70),
    "rank swapping": (lambda: om.RankSwapping(k=50), 200),
    "microaggregation": (lambda: om.Microaggregation(5), 65),
}


@pytest.mark.parametrize("name", NARROW)
def test_few_floats_are_held_of_short_numbers(name, monkeypatch):
    """Bytes for each record: a float takes 8, and the numbers of all columns together 8."""
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    count, (make, most) = 400_000, NARROW[name]
    generator = np.random.default_rng(1)
    kinds = {"a": (100, np.int8), "b": (1000, np.int16), "c": (5, np.int8), "d": (2000, np.int32)}
    frame = pl.DataFrame(
        {one: generator.integers(0, top, count).astype(kind) for one, (top, kind) in kinds.items()}
    )
    schema = om.Schema(**dict.fromkeys(kinds, om.Numeric()))
    if name == "microaggregation":
        schema = om.Schema(a=om.Numeric(), **{one: om.Flat(role="other") for one in "bcd"})
    om.protect(frame.head(1000), schema, make(), seed=1)
    assert traced(lambda: om.protect(frame, schema, make(), seed=1)) / count < most
