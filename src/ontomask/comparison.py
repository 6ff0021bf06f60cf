"""Many releases side by side: a grid of methods, k and seeds, its frontier, a recommendation."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ontomask.checks import Integer, ListOf, Real, check
from ontomask.data.schema import Schema
from ontomask.errors import MethodError, OntomaskError, ParameterError
from ontomask.evaluation import classification
from ontomask.evaluation.classification import ClassificationReport
from ontomask.methods.base import Method, Progress, silent
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.presets import preset
from ontomask.privacy import KAnonymity, PrivacyModel
from ontomask.release import Release, protect

try:
    import resource
except ImportError:  # pragma: no cover - Windows does not count memory in this way
    resource = None  # type: ignore[assignment]

__all__ = ["Cell", "Comparison", "compare", "judge_classification", "recommend"]

Steps = Method | Sequence[Method]
Methods = Mapping[str, Steps | Callable[[int], Steps]] | Sequence[str | Method] | Method


@dataclass(frozen=True)
class Cell:
    """One release of the grid; `error` says why there is none."""

    method: str
    k: int
    seed: int
    loss: float | None = None
    semantic_loss: float | None = None
    risk: float | None = None
    matching_risk: float | None = None
    score: float | None = None
    suppressed: int | None = None
    seconds: float | None = None
    memory: float | None = None
    error: str = ""


@dataclass(frozen=True)
class Comparison:
    """The outcome of a grid, one cell per method, k and seed."""

    cells: tuple[Cell, ...]
    alpha: float = 0.5

    def __str__(self) -> str:
        cells = self.means()
        width = max((len(cell.method) for cell in cells), default=0)
        head = f"{'method':{width}}    k   loss %  linkage %   score  seconds"
        return "\n".join([head, *(f"{cell.method:{width}}{_line(cell)}" for cell in cells)])

    def rows(self) -> list[dict[str, Any]]:
        """The cells as dictionaries: a tidy table."""
        return [dataclasses.asdict(cell) for cell in self.cells]

    def means(self) -> tuple[Cell, ...]:
        """One cell per method and k, averaged over the seeds that succeeded."""
        groups: dict[tuple[str, int], list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault((cell.method, cell.k), []).append(cell)
        return tuple(_mean(cells) for cells in groups.values())

    def frontier(self) -> tuple[Cell, ...]:
        """The cells that no other beats in both loss and risk, by rising loss."""
        good = [cell for cell in self.means() if not cell.error]
        return tuple(
            sorted(
                (one for one in good if not any(_beats(other, one) for other in good)),
                key=lambda cell: (cell.loss, cell.risk),
            )
        )

    def best(self, max_risk: float) -> Cell:
        """The cell with least loss whose linkage risk stays at or under a threshold, in percent."""
        check("max_risk", max_risk, Real(0, 100))
        good = [cell for cell in self.means() if not cell.error and cell.risk is not None]
        allowed = [cell for cell in good if cell.risk is not None and cell.risk <= max_risk]
        if not allowed:
            least = min((cell.risk for cell in good if cell.risk is not None), default=None)
            reached = "none succeeded" if least is None else f"the least reached is {least:.3g} %"
            raise MethodError(
                f"No release of the grid has a risk of at most {max_risk:g} % ({reached}); try a "
                "larger k or other methods."
            )
        return min(allowed, key=lambda cell: (cell.loss, cell.risk, cell.k))


def _line(cell: Cell) -> str:
    if cell.error:
        return f"{cell.k:5}  {cell.error}"
    figures = (cell.loss, cell.risk, cell.score, cell.seconds)
    loss, risk, score, seconds = (0.0 if value is None else value for value in figures)
    return f"{cell.k:5}{loss:9.2f}{risk:11.2f}{score:8.2f}{seconds:9.2f}"


def _beats(one: Cell, other: Cell) -> bool:
    assert one.loss is not None
    assert one.risk is not None
    assert other.loss is not None
    assert other.risk is not None
    no_worse = one.loss <= other.loss and one.risk <= other.risk
    return no_worse and (one.loss < other.loss or one.risk < other.risk)


def _mean(cells: list[Cell]) -> Cell:
    good = [cell for cell in cells if not cell.error]
    if not good:
        return cells[0]
    figures = [
        "loss",
        "semantic_loss",
        "risk",
        "matching_risk",
        "score",
        "suppressed",
        "seconds",
        "memory",
    ]
    known = {name: [getattr(cell, name) for cell in good] for name in figures}
    means: dict[str, Any] = {
        name: None if None in values else float(np.mean(values)) for name, values in known.items()
    }
    return dataclasses.replace(good[0], seed=-1, **means)


def compare(
    frame: object,
    schema: Schema,
    methods: Methods,
    *,
    k: int | Sequence[int] = (2, 3, 5, 10),
    seeds: int | Sequence[int] = (1,),
    alpha: float = 0.5,
    workers: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Run every method for every k and seed, in parallel processes, and evaluate each release.

    Parameters
    ----------
    methods
        Names of presets, methods (their k is replaced), or a mapping from names to methods, lists
        of steps, or functions that make either for a k. A method without k is run once for every k.
    k, seeds
        The grid.
    alpha
        The weight of loss against risk in the score.
    workers
        Processes; by default one per core, at most one per cell.
    progress
        Called after each cell. A cell that fails keeps its error and does not stop the others.
    """
    check("k", _several(k), ListOf(Integer(2), empty=False))
    check("seeds", _several(seeds), ListOf(Integer(0), empty=False))
    check("alpha", alpha, Real(0, 1))
    Schema.require(schema).require_decided()
    grid = [
        (name, one, size, seed)
        for name, make in _named(methods).items()
        for size in _several(k)
        for one in [make(size)]
        for seed in _several(seeds)
    ]
    count = min(workers or os.cpu_count() or 1, len(grid))
    if count > 1:
        outcomes = _in_processes(frame, schema, grid, alpha, count)
    else:
        outcomes = enumerate(_cell(frame, schema, task, alpha) for task in grid)
    cells: list[Cell | None] = [None] * len(grid)
    for done, (place, cell) in enumerate(outcomes, start=1):
        cells[place] = cell
        progress(done / len(grid), f"{cell.method}, k = {cell.k}")
    return Comparison(tuple(cell for cell in cells if cell is not None), alpha)


def recommend(
    frame: object, schema: Schema, methods: Methods, *, max_risk: float, **settings: Any
) -> Cell:
    """Compare, and return the cell with least loss whose risk stays under `max_risk` percent."""
    check("max_risk", max_risk, Real(0, 100))
    return compare(frame, schema, methods, **settings).best(max_risk)


def judge_classification(
    frame: object,
    schema: Schema,
    target: str,
    method: Method | Sequence[Method],
    seed: int = 0,
    **settings: Any,
) -> ClassificationReport:
    """Tell what classifiers still learn from a table masked by a method.

    Interwoven cross-validation: train on masked records, predict original ones after the same
    transformation. The settings (classifiers, features, folds, masking, intervals) are those of
    `ontomask.evaluation.classification.judge_classification`.
    """

    def masked(table: object) -> Release:
        return protect(table, schema, method, seed)

    return classification.judge_classification(frame, schema, target, masked, seed=seed, **settings)


Task = tuple[str, Steps, int, int]


def _several(numbers: int | Sequence[int]) -> list[int]:
    """One number, or several."""
    return list(numbers) if isinstance(numbers, Iterable) else [numbers]


def _named(methods: Methods) -> dict[str, Callable[[int], Steps]]:
    if isinstance(methods, (str, Method)):
        methods = [methods]
    if isinstance(methods, Mapping):
        return {name: _maker(one) for name, one in methods.items()}
    named: dict[str, Callable[[int], Steps]] = {}
    for one in methods:
        if not isinstance(one, (str, Method)):
            raise ParameterError(f"{one!r} is neither a method nor the name of a preset.")
        name = one if isinstance(one, str) else _title(one, named)
        named[name] = _maker(one)
    if not named:
        raise ParameterError("methods is empty; name at least one.")
    return named


def _title(method: Method, taken: Mapping[str, object]) -> str:
    """The method's name, numbered where several settings of one method are compared."""
    name, number = method.name, 2
    while name in taken:
        name, number = f"{method.name} ({number})", number + 1
    return name


def _maker(method: str | Steps | Callable[[int], Steps]) -> Callable[[int], Steps]:
    if isinstance(method, str):
        chosen = method
        return lambda k: preset(chosen, k)
    if isinstance(method, Method):
        fixed = method
        return lambda k: _with_k(fixed, k)
    if isinstance(method, (list, tuple)):
        steps: tuple[Method, ...] = tuple(method)
        return lambda k: [_with_k(step, k) for step in steps]
    if callable(method):
        return method
    raise ParameterError(f"{method!r} is neither a method nor the name of a preset.")


def _with_k(method: Method, k: int) -> Method:
    """A method with another k, also where its k is in a privacy model."""
    changes: dict[str, Any] = {"k": k} if hasattr(method, "k") else {}
    if isinstance(method, Generalization):
        changes = {"privacy": [_model_with_k(model, k) for model in method.privacy]}
    return dataclasses.replace(method, **changes)


def _model_with_k(model: PrivacyModel, k: int) -> PrivacyModel:
    return dataclasses.replace(model, k=k) if isinstance(model, KAnonymity) else model


def _peak_memory() -> float | None:
    """The most memory that this process has used so far, in MiB; None where nobody counts it."""
    if resource is None:
        return None
    unit = 2.0**20 if sys.platform == "darwin" else 2.0**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _cell(frame: object, schema: Schema, task: Task, alpha: float) -> Cell:
    """Run and evaluate one release; a failure becomes part of the result."""
    name, method, k, seed = task
    started = time.perf_counter()
    try:
        release = protect(frame, schema, method, seed)
        seconds = time.perf_counter() - started
        found = release.evaluate(frame, alpha=alpha)
    except (OntomaskError, ValueError, MemoryError) as error:
        return Cell(name, k, seed, error=str(error) or type(error).__name__)
    risks = {one.distance: one.risk for one in found.linkage}
    return Cell(
        name,
        k,
        seed,
        found.loss.loss,
        found.loss.semantic_loss,
        risks["semantic"],
        risks["matching"],
        found.score,
        release.suppressed,
        seconds,
        _peak_memory(),
    )


_SHARED: dict[str, Any] = {}
"""What the worker processes are given once, when they start."""


def _share(frame: object, schema: Schema, alpha: float, threads: int) -> None:
    os.environ["ONTOMASK_THREADS"] = str(threads)
    _SHARED.update(frame=frame, schema=schema, alpha=alpha)


def _shared_cell(task: Task) -> Cell:
    return _cell(_SHARED["frame"], _SHARED["schema"], task, _SHARED["alpha"])


def _in_processes(
    frame: object, schema: Schema, grid: list[Task], alpha: float, workers: int
) -> Iterator[tuple[int, Cell]]:
    threads = max(1, (os.cpu_count() or 1) // workers)
    context = multiprocessing.get_context("spawn")
    shared = (frame, schema, alpha, threads)
    with ProcessPoolExecutor(workers, context, _share, shared) as pool:
        with _without_main():
            futures = {pool.submit(_shared_cell, task): place for place, task in enumerate(grid)}
        for future in as_completed(futures):
            place = futures[future]
            error = future.exception()
            if error is None:
                yield place, future.result()
            else:
                name, _, k, seed = grid[place]
                yield place, Cell(name, k, seed, error=f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Start processes without running the user's script in them again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
