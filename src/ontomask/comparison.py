"""Many releases side by side: a grid of methods, k and seeds, its frontier, a recommendation."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ontomask.brevity import abridged
from ontomask.cards import card, table
from ontomask.checks import Choice, Integer, ListOf, Real, check
from ontomask.cores import available_cores
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.engines.measuring import collected
from ontomask.errors import MethodError, OntomaskError, ParameterError
from ontomask.evaluation import classification
from ontomask.evaluation.classification import ClassificationReport, ClassificationTask
from ontomask.evaluation.evaluation import Settings
from ontomask.methods.base import Method, Progress, silent
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.presets import PRESETS, preset
from ontomask.methods.registry import METHODS
from ontomask.privacy import KAnonymity
from ontomask.protection import protect, steps_of
from ontomask.release import Release
from ontomask.writing import write_new

try:
    import resource
except ImportError:  # pragma: no cover - Windows does not count memory in this way
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from ontomask.report.pictures import Picture

__all__ = [
    "Cell",
    "Comparison",
    "compare",
    "judge_classification",
]

Steps = Method | Sequence[Method]
Made = str | Steps | Callable[[int], Steps]
Methods = Mapping[str, Made] | Sequence[str | Method] | str | Method
METHOD_NAMES = (*PRESETS, *(name for name in METHODS if name not in PRESETS))
"""The names under which presets and methods are compared."""


@dataclass(frozen=True)
class Cell:
    """One release of the grid.

    Attributes
    ----------
    method, k, seed
        What made it; k is None where the method has none.
    loss, risk, matching_risk
        Information loss, and the shares of records linked by meaning and by exact match.
    semantic_loss
        The mean distance of original and masked values.
    score
        Loss and risk weighed by alpha.
    accuracy, accuracy_before, baseline
        Where there is a target, shares of correct predictions: of the best classifier trained
        on the release, of that trained on the original, and of always the most frequent value.
    suppressed, left_out, starred
        The number of records left out or starred, left out, and starred.
    stars
        The number of values starred or removed in the records that are there.
    seconds, memory
        How long the masking took, and the most memory (MiB) that the process has used.
    error
        Why there is no release.
    """

    method: str
    k: int | None
    seed: int
    loss: float | None = None
    semantic_loss: float | None = None
    risk: float | None = None
    matching_risk: float | None = None
    score: float | None = None
    suppressed: int | None = None
    seconds: float | None = None
    memory: float | None = None
    stars: int | None = None
    accuracy: float | None = None
    accuracy_before: float | None = None
    baseline: float | None = None
    left_out: int | None = None
    starred: int | None = None
    error: str = ""

    @property
    def title(self) -> str:
        """What made it, in words."""
        return self.method if self.k is None else f"{self.method}, k = {self.k}"


@dataclass(frozen=True)
class Comparison:
    """The outcome of a grid, one cell per method, k and seed.

    Attributes
    ----------
    cells
        The releases.
    alpha
        The weight of loss against risk in the score.
    target
        The column whose prediction was judged, if any.
    records
        How many records the table has.
    steps
        The steps of each method and k, to run them again.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52, 70, 71, 72]})
    >>> schema = om.Schema(age=om.Numeric())
    >>> grid = om.compare(frame, schema, ["sa-mdav"], k=[2, 3], workers=1)
    >>> [cell.k for cell in grid.frontier()]  # nothing beats these in loss and risk
    [3, 2]
    >>> grid.best(max_risk=0.4).k
    3
    """

    cells: tuple[Cell, ...]
    alpha: float = 0.5
    target: str = ""
    records: int = 0
    steps: Mapping[tuple[str, int | None], tuple[Method, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __repr__(self) -> str:
        failed = sum(bool(cell.error) for cell in self.cells)
        return f"Comparison({len(self.cells):,} releases, {failed:,} failed)"

    def __str__(self) -> str:
        cells = self.means()
        width = max((len(cell.method) for cell in cells), default=0)
        accuracy = "  accuracy %" if self.target else ""
        head = f"{'method':{width}}    k   loss %  linkage %  score %{accuracy}  suppressed   stars"
        lines = [f"{cell.method:{width}}{_line(cell)}" for cell in cells]
        return abridged([f"{head}  seconds", *lines], "comparison.rows() has them all")

    def rows(self) -> list[dict[str, Any]]:
        """The cells as dictionaries: a tidy table."""
        return [dataclasses.asdict(cell) for cell in self.cells]

    def means(self) -> tuple[Cell, ...]:
        """One cell per method and k, averaged over the seeds that succeeded."""
        groups: dict[tuple[str, int | None], list[Cell]] = {}
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

    def report(
        self, path: str | os.PathLike[str], *, title: str = "", max_risk: float | None = None
    ) -> Path:
        """Write loss and risk of all releases as a picture with its table: one HTML file.

        It tells more than a public report may, so only its owner may read it.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.
        title
            What to call the table.
        max_risk
            A linkage that is not to be exceeded.
        """
        from ontomask.report.alternatives import render_comparison

        target = Path(path)
        page = render_comparison(self, title=title, max_risk=max_risk)
        write_new(target, page, force=True, private=True)
        return target

    def chart(self, max_risk: float | None = None) -> Picture:
        """The picture of loss and risk, for notebooks; `max_risk` draws a line."""
        from ontomask.report.alternatives import described, picture
        from ontomask.report.pictures import Picture

        return Picture("Loss and risk", described(self), picture(self, max_risk))

    def _repr_html_(self) -> str:
        accuracy = ["accuracy %"] if self.target else []
        head = ["release", "loss %", "linkage %", "score %", *accuracy, "suppressed", "seconds"]
        names = ["loss", "risk", "score", *(["accuracy"] if self.target else [])]
        rows = [
            (cell.title, cell.error)
            if cell.error
            else (cell.title, *_percents(cell, names), cell.suppressed, cell.seconds)
            for cell in self.means()
        ]
        facts = [("records", f"{self.records:,}"), ("target", self.target)]
        shown = [one for one in facts if one[1]]
        return card("Comparison of releases", shown, table(head, rows))

    def best(self, max_risk: float) -> Cell:
        """The cell with least loss whose linkage risk stays at or under a threshold."""
        check("max_risk", max_risk, Real(0, 1))
        good = [cell for cell in self.means() if not cell.error and cell.risk is not None]
        allowed = [cell for cell in good if cell.risk is not None and cell.risk <= max_risk]
        if not allowed:
            least = min((cell.risk for cell in good if cell.risk is not None), default=None)
            reached = (
                "none succeeded" if least is None else f"the least reached is {100 * least:.3g}%"
            )
            raise MethodError(
                f"No release of the grid has a risk of at most {100 * max_risk:g}% ({reached}); "
                "try a larger k or other methods."
            )
        return min(allowed, key=lambda cell: (cell.loss, cell.risk, cell.k or 0))


def _percents(cell: Cell, names: Sequence[str]) -> list[float]:
    """Shares of a cell as they are shown."""
    return [100.0 * (getattr(cell, name) or 0.0) for name in names]


def _line(cell: Cell) -> str:
    k = "–" if cell.k is None else cell.k
    if cell.error:
        return f"{k:>5}  {cell.error}"
    names = ["loss", "risk", "score", *([] if cell.accuracy is None else ["accuracy"])]
    shares = zip(_percents(cell, names), (9, 11, 9, 12), strict=False)
    shown = "".join(f"{share:{wide}.2f}" for share, wide in shares)
    counts = f"{cell.suppressed or 0:12.0f}{cell.stars or 0:8.0f}"
    return f"{k:>5}{shown}{counts}{cell.seconds or 0:9.2f}"


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
    kept = ("method", "k", "seed", "error")
    figures = [one.name for one in dataclasses.fields(Cell) if one.name not in kept]
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
    columns: Sequence[str] | None = None,
    distances: Sequence[str] = ("semantic", "matching"),
    target: str | ClassificationTask | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Run every method for every k and seed, in parallel processes, and evaluate each release.

    Parameters
    ----------
    methods
        Names of presets or methods, methods (their k is replaced), or a mapping from names to any
        of these, to lists of steps, or to functions that make either for a k. What has no k is run
        once.
    k, seeds
        The grid.
    alpha
        The weight of loss against risk in the score.
    columns, distances
        What is measured, as in `evaluate`.
    target
        A column that classifiers shall predict from each release.
    workers
        Processes; by default one per core, at most one per cell.
    progress
        Called after each cell. A cell that fails keeps its error and does not stop the others.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52, 70, 71, 72]})
    >>> schema = om.Schema(age=om.Numeric())
    >>> grid = om.compare(frame, schema, ["sa-mdav"], k=[2, 3], workers=1)
    >>> [(cell.method, cell.k, round(cell.risk, 3)) for cell in grid.cells]
    [('sa-mdav', 2, 0.296), ('sa-mdav', 3, 0.333)]
    """
    check("k", _several(k), ListOf(Integer(2), empty=False))
    check("seeds", _several(seeds), ListOf(Integer(0), empty=False))
    settings = Settings(columns=columns, distances=distances, alpha=alpha)
    Schema.require(schema).require_decided()
    frame = collected(frame, schema)
    if isinstance(target, str):
        target = ClassificationTask(frame, schema, target)
    bench = _Bench(frame, schema, settings, target)
    grid = [
        (name, steps, size, seed)
        for name, method in _named(methods).items()
        for size, steps in _versions(method, _several(k))
        for seed in _several(seeds)
    ]
    count = min(workers or available_cores(), len(grid))
    if count > 1:
        outcomes = _in_processes(bench, grid, count)
    else:
        outcomes = enumerate(bench.cell(task) for task in grid)
    cells: list[Cell | None] = [None] * len(grid)
    for done, (place, cell) in enumerate(outcomes, start=1):
        cells[place] = cell
        progress(done / len(grid), cell.title)
    found = tuple(cell for cell in cells if cell is not None)
    return Comparison(
        found,
        alpha,
        target.target if target else "",
        len(open_table(frame)),
        {(name, size): steps_of(steps) for name, steps, size, _ in grid},
    )


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

    Examples
    --------
    >>> ages, statuses = [30, 31, 32, 70, 71, 72] * 5, ["home", "home", "died"] * 10
    >>> frame = pl.DataFrame({"age": ages, "status": statuses})
    >>> schema = om.Schema(age=om.Numeric(), status=om.Flat(role="sensitive"))
    >>> judged = om.measuring.judge_classification(
    ...     frame, schema, "status", om.Microaggregation(k=3), classifiers="zero-r"
    ... )
    >>> judged.classes, judged.trained
    (('died', 'home'), 30)
    >>> round(judged.baseline.accuracy, 3)  # what the other classifiers have to beat
    0.667
    """

    def masked(table: object) -> Release:
        return protect(table, schema, method, seed)

    return classification.judge_classification(frame, schema, target, masked, seed=seed, **settings)


# What is to be run ----------------------------------------------------------------------------

Task = tuple[str, Steps, int | None, int]


def _several(numbers: int | Sequence[int]) -> list[int]:
    """One number, or several."""
    return list(numbers) if isinstance(numbers, Iterable) else [numbers]


def _named(methods: Methods) -> dict[str, Any]:
    if isinstance(methods, (str, Method)):
        methods = [methods]
    if isinstance(methods, Mapping):
        return dict(methods)
    named: dict[str, Any] = {}
    for one in methods:
        named[_title(one, named) if isinstance(one, Method) else str(one)] = one
    if not named:
        raise ParameterError("methods is empty; name at least one.")
    return named


def _title(method: Method, taken: Mapping[str, object]) -> str:
    """The method's name, numbered where several settings of one method are compared."""
    name, number = method.name, 2
    while name in taken:
        name, number = f"{method.name} ({number})", number + 1
    return name


def _versions(method: Any, sizes: Sequence[int]) -> list[tuple[int | None, Steps]]:
    """The steps of a method for each k; once, if it has none."""
    if isinstance(method, str):
        method = _by_name(method)
    if callable(method):
        return [(size, method(size)) for size in sizes]
    steps = [method] if isinstance(method, Method) else method
    if not isinstance(steps, (list, tuple)) or not all(isinstance(one, Method) for one in steps):
        raise ParameterError(f"{method!r} is neither a method nor the name of one or of a preset.")
    if not any(_has_k(step) for step in steps):
        return [(None, steps)]
    return [(size, [_with_k(step, size) for step in steps]) for size in sizes]


def _by_name(name: str) -> Method | Callable[[int], Steps]:
    """A preset, or a method that can be made from nothing but a k."""
    check("methods", name, Choice(*METHOD_NAMES))
    if name in PRESETS:
        return functools.partial(preset, name)
    kind = METHODS[name]
    if "k" in (one.name for one in dataclasses.fields(kind)):
        return functools.partial(_made, kind)
    try:
        return kind()
    except (TypeError, ParameterError):  # what is missing has no default
        raise ParameterError(
            f"{name} cannot be made from its name alone; say what it needs in a plan or in Python."
        ) from None


def _made(kind: Any, k: int) -> Method:
    made: Method = kind(k=k)
    return made


def _has_k(method: Method) -> bool:
    if isinstance(method, Generalization):
        return any(isinstance(model, KAnonymity) for model in method.models)
    return getattr(method, "k", None) is not None


def _with_k(method: Method, k: int) -> Method:
    """A method with another k, also where its k is in a privacy model."""
    if not _has_k(method):
        return method
    changes: dict[str, Any] = {"k": k}
    if isinstance(method, Generalization):
        others = [model for model in method.privacy if not isinstance(model, KAnonymity)]
        changes["privacy"] = others
    return dataclasses.replace(method, **changes)


# Running it -----------------------------------------------------------------------------------


def _peak_memory() -> float | None:
    """The most memory that this process has used so far, in MiB; None where nobody counts it."""
    if resource is None:
        return None
    unit = 2.0**20 if sys.platform == "darwin" else 2.0**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@dataclass(frozen=True, eq=False)
class _Bench:
    """A table with what is to be measured of its releases."""

    frame: Any
    schema: Schema
    settings: Settings
    target: ClassificationTask | None

    def cell(self, task: Task) -> Cell:
        """Run and evaluate one release; a failure becomes part of the result."""
        name, method, k, seed = task
        started = time.perf_counter()
        try:
            release = protect(self.frame, self.schema, method, seed)
            seconds = time.perf_counter() - started
            figures = self._figures(release)
        except (OntomaskError, ValueError, MemoryError) as error:
            return Cell(name, k, seed, error=str(error) or type(error).__name__)
        return Cell(name, k, seed, **figures, seconds=seconds, memory=_peak_memory())

    def _figures(self, release: Release) -> dict[str, Any]:
        settings, frame = self.settings, self.frame
        found = release.evaluate(
            frame, columns=settings.columns, distances=settings.distances, alpha=settings.alpha
        )
        risks = {one.distance: one.risk for one in found.linkage}
        return {
            "loss": found.loss.loss,
            "semantic_loss": found.loss.semantic_loss,
            "risk": risks.get("semantic", found.risk),
            "matching_risk": risks.get("matching"),
            "score": found.score,
            "suppressed": found.loss.suppressed,
            "left_out": found.loss.left_out,
            "starred": found.loss.starred,
            "stars": _stars(frame, release),
            **self._accuracies(release),
        }

    def _accuracies(self, release: Release) -> dict[str, float]:
        if self.target is None:
            return {}
        report = self.target.judge(release)
        return {
            "accuracy": max(one.masked.accuracy for one in report.classifiers),
            "accuracy_before": max(one.original.accuracy for one in report.classifiers),
            "baseline": report.baseline.accuracy,
        }


def _stars(frame: object, release: Release) -> int:
    """How many values that are known the release stars or lacks."""
    paired = release.paired(frame)
    lost = (
        one.sides.tells_nothing[one.new] & (one.old < one.sides.size)
        for one in paired.columns.values()
    )
    return sum(int(np.count_nonzero(one)) for one in lost)


_SHARED: dict[str, _Bench] = {}
"""What the worker processes are given once, when they start."""


def _share(bench: _Bench, threads: int) -> None:
    os.environ["ONTOMASK_THREADS"] = str(threads)
    _SHARED["bench"] = bench


def _shared_cell(task: Task) -> Cell:
    return _SHARED["bench"].cell(task)


def _in_processes(bench: _Bench, grid: list[Task], workers: int) -> Iterator[tuple[int, Cell]]:
    threads = max(1, available_cores() // workers)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _share, (bench, threads)) as pool:
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
