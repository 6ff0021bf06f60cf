"""Compile the kernels ahead of time: the first use of a method costs seconds, later ones none.

Numba keeps what it compiled beside the package or in the user's cache folder. It compiles one
kernel at a time, so several are compiled by processes; what one has compiled the others find there.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from typing import Any

import numba
import numpy as np

from ontomask.cores import available_cores
from ontomask.data.domains import Concepts, Labels, Numbers, Vocabulary
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Flat, Nominal, Numeric, Schema
from ontomask.kernels import centroids, chains, formulas, index, reaching
from ontomask.kernels.ahead import compile_works
from ontomask.kernels.concept_swapping import swap_concepts
from ontomask.kernels.ranking import farthest_from_center, new_ranking
from ontomask.kernels.records import Points, nearest_references, pack_points
from ontomask.kernels.refinement import Look, Refinement
from ontomask.kernels.shrinking import new_shrinking, take_out
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
from ontomask.semantics.distances import ValueDistances, column_space
from ontomask.semantics.operators import Comparison
from ontomask.taxonomy.pairs import AncestorSets
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["METHODS", "compile_ahead", "compile_beside", "compile_for", "warm"]

_type_of: Any = numba.typeof  # which has no types of its own

METHODS: tuple[Method, ...] = (
    Microaggregation(2),
    RankSwapping(k=2),
    Microaggregation(2, refine="thorough", rounds=1, block_size=2),
    RankSwapping(k=2, algorithm="multivariate"),
    *(Microaggregation(2, privacy=[TCloseness(0.1, "semantic")], privacy_by=way) for way in WAYS),
    Recoding(2),
    Hybrid(2),
    Microaggregation(2, centers="medoid"),
    Resampling(2),
)
"""What most others build on first, then something of its own, then what needs most."""
PLAIN = ("flat", "number")
"""Columns that need nothing of what words do: while one process begins with the kernels of
taxonomies, the other does with those of points."""
PROCESSES = 2
"""More would mostly wait for each other's kernels."""
LATE = (
    formulas.add_differing,
    reaching.add_to_rows,
    reaching.fill_leaves,
    formulas.formed,
    formulas.move_leaves,
    formulas.weight_at,
)
"""What computes distances without a table, compiled by the first run that needs it."""


def warm() -> Iterator[tuple[float, str]]:
    """Compile the kernels of every method, several at a time; yields the share done and of what."""
    workers = min(PROCESSES, available_cores())
    spawning = multiprocessing.get_context("spawn")
    # they end soon, so nothing need be looked for that could be thrown away
    with ProcessPoolExecutor(workers, spawning, initializer=gc.disable) as pool:
        first, *others = range(len(METHODS))
        waiting = [pool.submit(compile_for, first), pool.submit(compile_beside)]
        waiting += [pool.submit(compile_for, place) for place in others]
        waiting.append(pool.submit(compile_ahead))
        for done, one in enumerate(as_completed(waiting), start=1):
            yield done / len(waiting), one.result()


def compile_beside() -> str:
    """Compile what a first run needs late while another process compiles what it needs first.

    That begins with words and with the index. So here come centers and searches, which can be
    compiled without either, what comes after them, and then the evaluation.
    """
    points = _points(_tiny_table(PLAIN))
    found = centroids.centroids(points, np.zeros(points.sizes.size, np.int32), 1, np.zeros(1))
    _compile(_searches(points))
    nearest_references(points, np.zeros(1, np.int64), *found)
    _evaluate(_tiny_table())
    return "evaluation"


def _compile(wanted: list[tuple[Any, tuple[Any, ...]]]) -> None:
    """Compile kernels as others call them, for the types of some arguments."""
    for kernel, arguments in wanted:
        types = tuple(_type_of(one) for one in arguments)
        getattr(kernel, "inside", kernel).compile(types)


def compile_ahead() -> str:
    """Compile what large tables need: works of other threads, and distances without a table."""
    points = _points(_tiny_table())
    labels = np.zeros(points.sizes.size, np.int32)
    with ThreadPoolExecutor(1) as pool:
        Look(Refinement.of(points, labels, 2.0, 1), 0, 1, pool).found()
    every, same = np.arange(points.sizes.size), np.zeros(points.sizes.size)
    searched = index.build_index(points, every, points.factors, same, index.LEAF)
    _compile(compile_works(points, searched))
    for kernel in LATE:
        for late in getattr(kernel, "addresses", ()):
            kernel.inside.compile(late.arguments)
    _swap_concepts()
    _write_shades()
    _draw_along()
    return "refinement"


def _draw_along() -> None:
    """Draw among concepts that are too many to be compared, as if there were such."""
    one, whole = np.zeros(1, np.int64), np.ones(1)
    laid = chains.laid_along(one, one + 1, one, 2, np.zeros((1, 1, 2)))
    codes, amounts = np.zeros(1, np.int32), np.ones((1, 2))
    chains.drawn_along(laid, codes, 0, amounts, whole, whole - 1.0)
    widths = chains.widths_along(laid, codes, np.arange(2), one)
    chains.drawn_near(laid, codes, 0, widths, amounts, whole - 1.0)


def _write_shades() -> None:
    """Write which of a few distances pairs have, as if there were many pairs."""
    _, words = _words("word")
    taxonomy, one = words.vocabulary.taxonomy, np.zeros(3, np.int64)
    sets = AncestorSets.of(taxonomy, taxonomy.depths, words.concepts, words.concepts)
    curve, room = np.zeros((1, 1, 4), np.int16), np.empty((3, 3), np.int16)
    sets.rectangle(slice(0, 3)).write_on_curve(curve, one, one, room)


def _swap_concepts() -> None:
    """Swap a column of concepts that are too many for a table, as if there were such."""
    _, words = _words("word")
    values, every = words.concepts.astype(np.int64), np.arange(3)
    space = column_space(words.vocabulary.taxonomy, words.concepts, "logsc", "attribute", {})
    attribute = Comparison(ValueDistances(space)).attribute(values, values)
    codes, ones, nothing = every[None].astype(np.int32), np.ones(3), np.empty((0, 3))
    points = pack_points([attribute], codes, nothing, ones, ones, ones, nothing[:, 0], 1)
    draws = np.stack([every, every]), np.zeros((3, 4)), np.zeros(2, np.int64)
    swap_concepts(points, codes[0], 0, 1, False, *draws)


def _searches(points: Points) -> list[tuple[Any, tuple[Any, ...]]]:
    """What clusterings call, in that order, with arguments of the types that they give to it."""
    lists, tables = np.empty(0, np.int32), np.empty((0, 0), np.int32)
    numbers, roots, reference = np.empty((0, 0)), np.empty(0, np.int64), np.empty(0)
    nothing = index.Index(lists, tables, numbers, tables, numbers, roots, tables, tables)
    finds, ranking = index.new_finds(nothing, 1), new_ranking(points, roots)
    tally = centroids.new_tally(points)
    return [
        (farthest_from_center, (points, ranking, lists, reference, 0)),
        (index.search, (points, nothing, finds, reference, index.NEAREST, 1)),
        (take_out, (points, tally, new_shrinking(points), 0)),
        (centroids.count_point, (points, tally, 0)),
    ]


def _evaluate(table: Microdata) -> None:
    columns = {"word": [*"abcabc"], "flat": [*"xyzxyz"], "number": [1.0, 2.0, 3.0] * 2}
    schema = Schema(**{name: table.schema.column(name) for name in columns})
    protect(columns, schema, Noise(["number"]), seed=0).evaluate(columns)


def _points(table: Microdata) -> Points:
    return quasi_layout(table, Microaggregation(2)).points(table.tuples())


def compile_for(place: int) -> str:
    """Run one of the methods on a tiny table; its name."""
    method = METHODS[place]
    method.run(_tiny_table(), Context(np.random.default_rng(0)))
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
