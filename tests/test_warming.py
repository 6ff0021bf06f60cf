"""What is compiled ahead is what runs ask for; a second process begins at the other end."""

import ast
import subprocess
import sys
from pathlib import Path

import numba
import polars as pl
import pytest
from numba.core import event

import ontomask as om
from ontomask import helping, kernels, warming
from ontomask.kernels import (
    ahead,
    centroids,
    clusters,
    compiling,
    containment,
    index,
    neighbors,
    ranking,
    records,
    shrinking,
    turns,
)
from ontomask.samples import discharges
from ontomask.taxonomy.taxonomy import Taxonomy

LATE = {
    centroids: ("_fill_centroids",),
    neighbors: ("_link_references", "_fill_pairs"),
    containment: ("_cover",),
    records: ("_find_nearest",),
}
compiled = pytest.mark.skipif(
    bool(kernels.SETTINGS.DISABLE_JIT) or not compiling.INSIDES_KNOWN, reason="nothing is compiled"
)


@pytest.fixture
def asked(monkeypatch):
    """The types of arguments that kernels were called with; a kernel is compiled for each."""
    found = {}
    for room, names in LATE.items():
        for name in names:
            monkeypatch.setattr(room, name, _noted(getattr(room, name), name, found))
    return found


def _noted(kernel, name, found):
    def noted(*arguments):
        types = tuple(numba.typeof(one) for one in arguments)
        found.setdefault(name, set()).add(types)
        return kernel(*arguments)

    return noted


def test_what_is_compiled_beside_a_run_is_what_it_asks_for(asked, monkeypatch):
    monkeypatch.setattr(warming, "_searches", lambda _points: [])
    assert warming.compile_beside() == "evaluation"
    ahead = dict(asked)
    asked.clear()
    frame = pl.DataFrame({"job": [*"abcb"] * 2, "age": [31, 46, 71, 69] * 2})
    schema = om.Schema(job=om.Flat(), age=om.Numeric())
    om.protect(frame, schema, om.Microaggregation(2), seed=1).evaluate()
    assert {*asked} >= {"_fill_centroids", "_link_references"}
    assert not [name for name in asked if asked[name] - ahead[name]]


@compiled
def test_searches_are_compiled_for_the_types_that_clusterings_give_to_them(monkeypatch):
    warming.compile_for(0)
    wanted = {one: {*one.inside.overloads} for one in (index.search, ranking.farthest_from_center)}
    # these are not loaded, but lie inside those who call them
    formed = [*clusters._form_clusters.overloads]
    wanted[shrinking.take_out] = {(one[0], *one[5:7], numba.int64) for one in formed}
    wanted[centroids.count_point] = {(one[0], one[5], numba.int64) for one in formed}
    assert all(wanted.values())
    monkeypatch.delattr(Taxonomy, "from_parents")  # its kernels are for the other process
    points = warming._points(warming._tiny_table(warming.PLAIN))
    for kernel, arguments in warming._searches(points):
        assert tuple(numba.typeof(one) for one in arguments) in wanted[kernel]


@compiled
@pytest.mark.skipif(not compiling.REACHES_FAR, reason="everything is compiled at once")
def test_what_few_runs_need_is_compiled_when_it_is_called_or_by_warm():
    """In a process of its own, for here others may have called it."""
    program = "from ontomask import warming\nwarming.compile_for(0)\n"
    shown = "print(*{len(one.inside.overloads) for one in warming.LATE})\n"
    program += f"{shown}warming.compile_ahead()\n{shown}"
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ran.stdout.splitlines() == ["0", "1"]


def test_a_demonstration_compiles_nothing_that_only_large_tables_need():
    assert len(discharges()["age"]) < ahead.LARGE


FIRST_RUN = """
import sys
from ontomask import warming
warming.compile_for(0)
warming.compile_beside()
rooms = [room for name, room in sys.modules.items() if name.startswith("ontomask.kernels.")]
everything = {id(one): one for room in rooms for one in vars(room).values()}.values()
for one in everything:
    if hasattr(one, "py_func") and hasattr(one, "inside"):
        for unit in (one, one.inside):
            if unit.overloads:
                print(unit.py_func.__qualname__, len(unit.overloads))
"""


@compiled
def test_a_first_run_needs_few_kernels_each_for_one_kind_of_arguments():
    """Each costs up to a second: 20 are what clusters, centers, linkage and taxonomies need."""
    program = [sys.executable, "-c", FIRST_RUN]
    told = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    units = dict(line.split() for line in told.splitlines())
    assert {"_form_clusters", "search.inside"} <= {*units}
    assert len(units) <= 20, sorted(units)
    assert {*units.values()} == {"1"}, units


CHEAP = {
    *("arange", "argsort", "empty", "empty_like", "flatnonzero", "full", "ones", "zeros"),
    *("int64", "uint64", "log", "sqrt"),
}


def test_kernels_call_only_what_is_compiled_quickly_of_numpy():
    """`np.partition` in a kernel, say, is sixty functions that are compiled with it."""
    called = set()
    for room in Path(kernels.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(room.read_text(encoding="utf-8"))):
            ways = {ast.unparse(one) for one in getattr(function, "decorator_list", [])}
            if ways & {"compiled", "allocating", "part"}:
                calls = [one.func for one in ast.walk(function) if isinstance(one, ast.Call)]
                called |= {name for name in map(ast.unparse, calls) if name.startswith("np.")}
    assert "np.empty" in called
    assert called <= {f"np.{name}" for name in CHEAP}


def test_whoever_waits_for_another_process_is_told():
    told = []
    with compiling.compiling(told.append), event.trigger_event(turns.WAITING):
        assert told == [True]
    assert told == [True, False]


@pytest.mark.parametrize("collects", [True, False])
def test_nothing_is_collected_while_a_kernel_is_compiled(collects, monkeypatch):
    monkeypatch.setattr(compiling.gc, "isenabled", lambda: collects)
    told = []
    for act in ("disable", "enable"):
        monkeypatch.setattr(compiling.gc, act, lambda act=act: told.append(act))
    watch = compiling.Compiling(told.append)
    for act in (watch.on_start, watch.on_start, watch.on_end, watch.on_end):
        act(None)
    assert told == ["disable", True, *(["enable"] if collects else []), False]


class Context:
    """Processes that only note what becomes of them."""

    def __init__(self):
        self.noted = []

    def Process(self, target, daemon):  # noqa: N802 - as it is called there
        self.noted.append((target, daemon))
        return self

    def __getattr__(self, name):
        return lambda: self.noted.append(name)


@pytest.mark.parametrize(
    ("before", "cores", "noted"),
    [
        (True, 2, []),
        (False, 1, []),
        (False, 2, [(helping._help, True), "start", "run", "terminate", "join"]),
    ],
)
def test_a_first_run_is_helped(before, cores, noted, monkeypatch):
    context = Context()
    monkeypatch.setattr(helping, "compiled_before", lambda: before)
    monkeypatch.setattr(helping, "available_cores", lambda: cores)
    monkeypatch.setattr(helping.multiprocessing, "get_context", lambda _way: context)
    with helping.helped():
        context.noted += ["run"] if noted else []
    assert context.noted == noted


def test_whether_anything_was_compiled_is_seen_in_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "FOLDER", tmp_path)
    assert not kernels.compiled_before()
    (tmp_path / "one.nbi").write_bytes(b"")
    assert kernels.compiled_before()
    monkeypatch.setattr(kernels, "FOLDER", None)
    assert kernels.compiled_before()
