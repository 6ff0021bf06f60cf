"""Compile the kernels ahead of time: the first use of a method costs seconds, later ones none.

Numba keeps what it compiled beside the package or in the user's cache folder. It compiles one
kernel at a time, so several are compiled by processes; what one has compiled the others find there.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

from ontomask.data.domains import Concepts, Labels, Numbers, Vocabulary
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Flat, Nominal, Numeric, Schema
from ontomask.kernels import centroids, compiled_before
from ontomask.methods.base import Context, Method
from ontomask.methods.disclosure import WAYS
from ontomask.methods.hybrid import Hybrid
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.perturbation import Noise
from ontomask.methods.points import quasi_layout
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.recoding import Recoding
from ontomask.methods.resampling import Resampling
from ontomask.privacy import TCloseness
from ontomask.protection import protect
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["METHODS", "compile_for", "compile_late", "compile_plain", "helped", "warm"]

METHODS: tuple[Method, ...] = (
    Microaggregation(2),
    RankSwapping(k=2, algorithm="multivariate"),
    Microaggregation(2, refine="thorough", rounds=1, block_size=2),
    RankSwapping(k=2),
    Recoding(2),
    *(Microaggregation(2, privacy=[TCloseness(0.1, "semantic")], privacy_by=way) for way in WAYS),
    Resampling(2),
    Hybrid(2),
    Microaggregation(2, centers="medoid"),
)
"""What needs most first."""
THOROUGH = METHODS[2]
PLAIN = ("flat", "number")
"""Columns that need nothing of what words do: while one process begins with the kernels of
taxonomies, the other does with those of points."""
PROCESSES = 2
"""More would mostly compile the same parts of different kernels."""


def warm() -> Iterator[tuple[float, str]]:
    """Compile the kernels of every method, several at a time; yields the share done and of what."""
    workers = min(PROCESSES, os.cpu_count() or 1)
    spawning = multiprocessing.get_context("spawn")
    # they end soon, so nothing need be looked for that could be thrown away
    with ProcessPoolExecutor(workers, spawning, initializer=gc.disable) as pool:
        first, *others = range(len(METHODS))
        waiting = [pool.submit(compile_for, first), pool.submit(compile_plain, THOROUGH)]
        waiting += [pool.submit(compile_for, place) for place in others]
        waiting.append(pool.submit(compile_late))
        for done, one in enumerate(as_completed(waiting), start=1):
            yield done / len(waiting), one.result()


@contextlib.contextmanager
def helped() -> Iterator[None]:
    """Let another process compile what a run needs later while it compiles what it needs first.

    Only where nothing was compiled on this machine yet, and there is a core for it.
    """
    if compiled_before() or (os.cpu_count() or 1) < PROCESSES:
        yield
        return
    helper = multiprocessing.get_context("spawn").Process(target=_help, daemon=True)
    helper.start()
    try:
        yield
    finally:
        helper.terminate()
        helper.join()


def _help() -> None:
    """Compile in silence: a help that fails is none, and who interrupts the run speaks to that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with contextlib.suppress(Exception):
        compile_late()
        compile_plain(METHODS[0])


def compile_late() -> str:
    """Compile what a run needs late: the centers of clusters, then the evaluation."""
    table = _tiny_table()
    points = quasi_layout(table, Microaggregation(2)).points(table.tuples())
    centroids.loss(points, np.zeros(points.sizes.size, np.int32), 1)
    columns = {"word": [*"abcabc"], "flat": [*"xyzxyz"], "number": [1.0, 2.0, 3.0] * 2}
    schema = Schema(**{name: table.schema.column(name) for name in columns})
    protect(columns, schema, Noise(["number"]), seed=0).evaluate(columns)
    return "evaluation"


def compile_for(place: int) -> str:
    """Run one of the methods on a tiny table; its name."""
    return _run(METHODS[place], _tiny_table())


def compile_plain(method: Method) -> str:
    """Run a method on a tiny table without words; its name."""
    return _run(method, _tiny_table(PLAIN))


def _run(method: Method, table: Microdata) -> str:
    method.run(table, Context(np.random.default_rng(0)))
    return method.name


def _tiny_table(names: tuple[str, ...] = ("word", *PLAIN, "secret")) -> Microdata:
    columns = {name: _words(name) for name in names if name not in PLAIN} | {
        "flat": (Flat(), Labels(("x", "y", "z"))),
        "number": (Numeric(), Numbers((1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0]))),
    }
    schema = Schema(**{name: columns[name][0] for name in names})
    codes = np.array([0, 1, 2, 0, 1, 2], np.int32)
    attributes = {
        name: Attribute(name, schema.column(name), codes, columns[name][1]) for name in names
    }
    nothing = np.empty(0, np.int64)
    return Microdata(
        schema, attributes, np.ones(6), np.ones(6), np.arange(6), nothing, attributes.__getitem__
    )


def _words(name: str) -> tuple[Nominal, Concepts]:
    """A column of words, and its values."""
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    words = Concepts.of(taxonomy.indices_of(["a", "b", "c"]), Vocabulary(taxonomy))
    return Nominal(taxonomy, role="quasi" if name == "word" else "sensitive"), words
