"""Tables in blocks: every promise holds, for any number of threads the same, at little loss."""

from __future__ import annotations

import functools
import threading
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import MethodError
from ontomask.kernels import refinement
from ontomask.kernels.blocks import in_blocks
from ontomask.methods import blocks as rules
from ontomask.methods import microaggregation
from ontomask.methods.base import Context, Method, watched_parts
from tables import mixed_columns, mixed_schema

K = 4
METHODS = {
    "sa-mdav": om.Microaggregation(K),
    "mdav": om.Microaggregation(K, algorithm="mdav"),
    "v-mdav": om.Microaggregation(K, algorithm="v-mdav", gamma=2.0),
    "refined": om.Microaggregation(K, refine=True),
    "medoids": om.Microaggregation(K, centers="medoid", weighting="frequency"),
    "merged": om.Microaggregation(K, privacy=[om.privacy.LDiversity(2, column="charge")]),
    "recoding": om.Recoding(K),
    "hybrid": om.Hybrid(K),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def table(count: int = 240) -> pl.DataFrame:
    return pl.DataFrame(mixed_columns(count))


def schema_for(method: Method) -> om.Schema:
    if not getattr(method, "privacy", ()):
        return mixed_schema()
    return om.Schema.of({**mixed_schema(), "charge": om.Numeric(role="sensitive")})


def masked(method: Method, frame: pl.DataFrame | None = None) -> om.Release:
    frame = table() if frame is None else frame
    return om.protect(frame, schema_for(method), method, seed=1)


@every_method
def test_blocks_keep_the_promise_and_are_told(method):
    release = masked(replace(method, block_size=40))
    assert release.details[0]["block_size"] == 40
    assert release.details[0]["blocks"] >= 4
    assert release.verification.kept
    if method.name != "hybrid":
        assert min(release.class_sizes) >= K
    whole = masked(method)
    assert "blocks" not in whole.details[0]
    assert not whole.frame.equals(release.frame)


@every_method
def test_the_number_of_threads_changes_nothing(method, monkeypatch):
    frames = []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        frames.append(masked(replace(method, block_size=40)).frame)
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


@every_method
def test_a_block_for_everything_is_the_whole(method):
    assert masked(replace(method, block_size=240)).frame.equals(masked(method).frame)


def test_persons_are_counted_in_blocks():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"person": rng.integers(0, 60, 300).astype(str), "age": rng.integers(20, 80, 300)}
    )
    schema = om.Schema(person=om.Identifier(unit=True), age=om.Numeric())
    for method in (om.Microaggregation(K, "mdav", block_size=30), om.Recoding(K, block_size=10)):
        release = om.protect(frame, schema, method, seed=1)
        assert release.details[0]["blocks"] > 1
        whose = pl.DataFrame(
            {"person": frame["person"].gather(release.rows), "age": release.frame["age"]}
        )
        assert whose.group_by("age").n_unique()["person"].min() >= K


def grouped(size: int = 600) -> pl.DataFrame:
    """Far groups, so that there are good places to cut."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 6, size)
    return pl.DataFrame(
        {
            "age": 20.0 + 10 * group + rng.normal(size=size),
            "weight": 50.0 + 20 * (group % 3) + rng.normal(size=size),
            "height": rng.random(size),
        }
    )


def squares(frame: pl.DataFrame, method: Method) -> float:
    """What is lost, in standard deviations; NumPy alone."""
    schema = om.Schema.of({name: om.Numeric() for name in frame.columns})
    release = om.protect(frame, schema, method, seed=1).frame
    scale = frame.to_numpy().std(axis=0)
    return float((((frame.to_numpy() - release.to_numpy()) / scale) ** 2).sum())


@pytest.mark.parametrize("options", [{}, {"algorithm": "mdav"}, {"refine": True}])
def test_blocks_lose_little(options):
    whole, parts = (
        squares(grouped(), om.Microaggregation(K, block_size=size, **options))
        for size in (None, 150)
    )
    assert parts <= 1.03 * whole
    # cut anywhere, the same blocks lose far more
    apart = [squares(grouped()[start::4], om.Microaggregation(K, **options)) for start in range(4)]
    assert sum(apart) > 1.3 * whole


def test_refinement_looks_over_the_seams(monkeypatch):
    """Clusters of one block may get points of another, also where nothing is built anew."""
    monkeypatch.setattr("ontomask.methods.microaggregation.BRIEF_UP_TO", 0)
    frame = pl.DataFrame(np.random.default_rng(4).random((600, 2)), schema=["a", "b"])
    method = om.Microaggregation(K, block_size=80)
    plain, refined = squares(frame, method), squares(frame, replace(method, refine=True))
    monkeypatch.setattr(
        "ontomask.methods.microaggregation.around_clusters", lambda points, labels, parts: parts
    )
    inside = squares(frame, replace(method, refine=True))
    assert refined < 0.995 * inside
    assert inside < 0.95 * plain


def test_large_tables_are_cut_by_themselves(monkeypatch):
    monkeypatch.setattr(rules, "WHOLE_UP_TO", 100)
    monkeypatch.setattr(rules, "USUAL", 50)
    assert "blocks" not in masked(om.Microaggregation(K)).details[0]  # two hundred clusters
    monkeypatch.setattr(rules, "CLUSTERS", 10)
    details = masked(om.Microaggregation(K)).details[0]
    assert details["block_size"] == 50
    assert details["blocks"] > 1
    assert "blocks" not in masked(om.Microaggregation(K), table(90)).details[0]
    assert "blocks" not in masked(om.Microaggregation(K, block_size=1000)).details[0]
    assert "blocks" not in masked(om.Recoding(K, algorithm="discernibility")).details[0]


def test_very_large_tables_are_cut_into_pieces_first(monkeypatch):
    monkeypatch.setattr(rules, "WHOLE_UP_TO", 100)
    monkeypatch.setattr(rules, "PIECES", 3)
    own, cut = rules.cut_points, []

    def noted(points, parts, most, least):
        cut.append(([part.size for part in parts], most))
        return own(points, parts, most, least)

    monkeypatch.setattr(rules, "cut_points", noted)
    frames = []
    for threads in ("1", "3"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        frames.append(masked(om.Microaggregation(K, block_size=20)).frame)
    assert frames[0].equals(frames[1])
    assert cut[:2] == cut[2:]
    (whole, first), (pieces, second) = cut[:2]
    assert (whole, first, second) == ([sum(pieces)], whole[0] // 3, 20)
    blocks = masked(om.Microaggregation(K, block_size=20)).details[0]["blocks"]
    assert blocks >= whole[0] / 20 > len(pieces) >= 3


def test_the_longest_work_begins_first_and_answers_keep_their_order(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    begun = []

    def work(place, signal):
        begun.append(place)
        return place

    works = [functools.partial(work, place) for place in range(4)]
    for efforts, order in ((None, [3, 0, 1, 2]), ([1.0, 9.0, 3.0, 9.0], [1, 3, 2, 0])):
        begun.clear()
        given = {"context": context(lambda *_: None), "message": "", "efforts": efforts}
        assert watched_parts(works, totals=[2.0, 2.0, 1.0, 5.0], **given) == [0, 1, 2, 3]
        assert begun == order


@pytest.mark.parametrize("refine", [True, "thorough"])
def test_who_is_near_whom_is_found_beside_the_clustering_and_only_once(monkeypatch, refine):
    method = om.Microaggregation(K, refine=refine, rounds=2)
    with monkeypatch.context() as apart:
        # the refinement looks for them itself
        apart.setattr(microaggregation, "_neighbors_of", lambda _: (32, [lambda signal: None]))
        expected = masked(method).frame

    def again(*_):
        raise AssertionError("found again")

    monkeypatch.setattr(refinement, "nearest_points", again)
    for threads in ("1", "2"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        assert masked(method).frame.equals(expected)


def test_blocks_that_would_do_nothing_are_refused():
    with pytest.raises(MethodError, match="leave out block_size, or use algorithm='semantic'"):
        om.Recoding(3, algorithm="random", block_size=50)
    for kind in (om.Microaggregation, om.Hybrid):
        with pytest.raises(MethodError, match="leave out block_size, or use privacy_by='merge'"):
            kind(3, privacy=[om.privacy.TCloseness(0.2)], privacy_by="t-first", block_size=50)


def context(progress) -> Context:
    return Context(np.random.default_rng(0), progress)


def test_what_goes_wrong_in_a_part_stops_the_others(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")

    def failing(signal):
        raise ValueError("the first part")

    def waiting(signal):
        while signal[1] == 0:
            pass

    with pytest.raises(ValueError, match="the first part"):
        watched_parts(
            [failing, waiting, waiting],
            totals=[1.0] * 3,
            context=context(lambda fraction, message: None),
            message="",
        )


def test_a_stop_reaches_every_part(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    begun, stopped = threading.Barrier(3), []

    def waiting(signal):
        begun.wait(10)
        while signal[1] == 0:
            pass
        stopped.append(True)

    def progress(fraction, message):
        begun.wait(10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched_parts([waiting] * 2, totals=[1.0] * 2, context=context(progress), message="")
    assert stopped == [True, True]


def test_progress_ends_at_one_and_never_falls(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    told = []

    def work(signal):
        signal[0] = 3  # an early end counts as all

    watched_parts(
        [work] * 9,
        totals=[10.0] * 9,
        context=context(lambda fraction, message: told.append((fraction, message))),
        message="counting",
    )
    assert told[-1] == (1.0, "counting")
    assert told == sorted(told)


def test_loops_inside_parts_start_no_more_threads(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "3")
    calls = []

    def work(signal):
        in_blocks(lambda first, last: calls.append((first, last)), 100)

    watched_parts([work] * 2, totals=[1.0] * 2, context=context(lambda *_: None), message="")
    assert calls == [(0, 100)] * 2
    calls.clear()
    watched_parts([work], totals=[1.0], context=context(lambda *_: None), message="")
    assert len(calls) == 12
