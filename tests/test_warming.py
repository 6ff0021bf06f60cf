"""What is compiled ahead is what runs ask for; a second process begins at the other end."""

import os

import numba
import polars as pl
import pytest

import ontomask as om
from ontomask import kernels, warming
from ontomask.kernels import centroids, clusters, compiling, containment, index, neighbors
from ontomask.taxonomy.taxonomy import Taxonomy

LATE = {
    centroids: ("_fill_centroids", "_fill_costs"),
    neighbors: ("_link_references", "_fill_pairs"),
    containment: ("_cover",),
}
EARLY = {clusters: ("_form_clusters",), index: ("_shape",)}


@pytest.fixture
def asked(monkeypatch):
    """The types of arguments that kernels were called with; a kernel is compiled for each."""
    found = {}
    for room, names in (LATE | EARLY).items():
        for name in names:
            monkeypatch.setattr(room, name, _noted(getattr(room, name), name, found))
    return found


def _noted(kernel, name, found):
    def noted(*arguments):
        types = tuple(numba.typeof(one) for one in arguments)
        found.setdefault(name, set()).add(types)
        return kernel(*arguments)

    return noted


def test_what_is_compiled_late_is_what_a_run_asks_for(asked):
    assert warming.compile_late() == "evaluation"
    ahead = dict(asked)
    asked.clear()
    frame = pl.DataFrame({"job": [*"abcb"] * 2, "age": [31, 46, 71, 69] * 2})
    schema = om.Schema(job=om.Flat(), age=om.Numeric())
    om.protect(frame, schema, om.Microaggregation(2), seed=1).evaluate()
    assert {*asked} >= {"_fill_centroids", "_link_references"}
    late = [name for names in LATE.values() for name in names]
    assert not [name for name in late if asked.get(name, set()) - ahead[name]]


def test_what_is_compiled_without_words_is_what_runs_with_words_ask_for(asked, monkeypatch):
    warming.compile_for(0)
    wanted = dict(asked)
    asked.clear()
    monkeypatch.delattr(Taxonomy, "from_parents")  # its kernels are for the other process
    assert warming.compile_plain(warming.METHODS[0]) == "microaggregation"
    assert {*asked} >= {"_form_clusters", "_shape"}
    assert asked.items() <= wanted.items()


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
        (False, 2, [(warming._help, True), "start", "run", "terminate", "join"]),
    ],
)
def test_a_first_run_is_helped(before, cores, noted, monkeypatch):
    context = Context()
    monkeypatch.setattr(warming, "compiled_before", lambda: before)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(warming.multiprocessing, "get_context", lambda _way: context)
    with warming.helped():
        context.noted += ["run"] if noted else []
    assert context.noted == noted


def test_whether_anything_was_compiled_is_seen_in_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "FOLDER", tmp_path)
    assert not kernels.compiled_before()
    (tmp_path / "one.nbi").write_bytes(b"")
    assert kernels.compiled_before()
    monkeypatch.setattr(kernels, "FOLDER", None)
    assert kernels.compiled_before()
