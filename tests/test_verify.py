"""Every recount, against arithmetic done by hand or by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import ontomask.promises as promises_room
from ontomask import errors, transport
from ontomask.data.tables import open_table
from ontomask.findings import Claim
from ontomask.promises import (
    AverageRiskLimit,
    ClassPromise,
    ClassSize,
    Closeness,
    Disclosure,
    Diversity,
    Likeness,
    MapSize,
    Permutation,
    PopulationPromise,
    Presence,
    Promise,
    SensitivePromise,
    Unchanged,
    UniquenessLimit,
)
from ontomask.verify import _recount, verify

FRAME = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 1, 2, 2]})
ORIGINAL = open_table(pl.DataFrame({"a": ["x", "y", "x", "y"], "b": [1, 1, 2, 2]}))


def recount(*promises, frame=FRAME, **changes):
    settings = {"published": tuple(frame.columns), "records": len(frame), **changes}
    claims = [
        Claim(one, {name: ORIGINAL.seen(name) for name in one.columns})
        if isinstance(one, (Permutation, Unchanged))
        else one
        for one in promises
    ]
    return verify(frame, claims, **settings)


def test_kept_promises():
    found = recount(ClassSize(("a", "b"), 2), Permutation(("a",)), Unchanged(("b",)))
    assert found.kept
    assert found.require() is found
    assert found.k == 2
    assert "at least 2" in str(found)


@pytest.mark.parametrize("k", [2, 3])
def test_the_threshold_decides(k):
    assert recount(ClassSize(("a",), k)).kept == (k == 2)


def test_broken_promises_are_named_with_what_was_measured():
    frame = pl.DataFrame({"a": ["x", "x", "y", "z"], "b": [1, 1, 2, 3]})
    found = recount(ClassSize(("a",), 2), Permutation(("a",)), Unchanged(("b",)), frame=frame)
    assert [finding.kept for finding in found.findings] == [True, True, False, False, False]
    assert [finding.figure for finding in found.findings[2:]] == [1, 2, 1]
    with pytest.raises(errors.PromiseError) as caught:
        found.require()
    assert "shared by at least 2 (at least 1)" in str(caught.value)


def test_a_column_too_many_or_a_record_too_few_is_noticed():
    with pytest.raises(errors.PromiseError, match="the columns are exactly a"):
        recount(published=("a",)).require()
    with pytest.raises(errors.PromiseError, match="there are 5 records"):
        recount(records=5).require()


def test_counts_count_records_and_weights_do_not():
    counts = np.array([4.0, 1.0, 2.0, 3.0])
    assert recount(ClassSize(("a", "b"), 5), counts=counts).kept
    assert not recount(ClassSize(("a", "b"), 6), counts=counts).kept
    assert not recount(ClassSize(("a", "b"), 5), weights=counts).kept
    assert recount(MapSize(("a", "b"), 5), weights=counts).kept


@pytest.mark.parametrize(
    "apart", [[0.0, 0.0, -0.0, -0.0], [None, None, float("nan"), float("nan")]]
)
def test_what_a_reader_sees_apart_is_counted_apart(apart):
    frame = pl.DataFrame({"a": pl.Series(apart, dtype=pl.Float64)})
    assert recount(ClassSize(("a",), 2), frame=frame).kept
    assert not recount(ClassSize(("a",), 3), frame=frame).kept


def test_a_permutation_of_fewer_records_may_lack_values_but_invents_none():
    fewer = pl.DataFrame({"a": ["x", "y"], "b": [1, 1]})
    assert not recount(Permutation(("a",)), frame=fewer).kept
    assert recount(Permutation(("a",), partly=True), frame=fewer).kept
    assert not recount(
        Permutation(("a",), partly=True), frame=pl.DataFrame({"a": ["x", "x", "x"], "b": 1})
    ).kept


@pytest.mark.parametrize(
    ("after", "permuted", "unchanged"),
    [
        ([0.1, 0.2, 0.2], True, True),
        ([0.2, 0.1, 0.2], True, False),
        ([0.1, 0.1, 0.2], False, False),
    ],
)
def test_numbers_that_are_listed_alike_are_counted_all_the_same(after, permuted, unchanged):
    before = {"a": open_table(pl.DataFrame({"a": [0.1, 0.2, 0.2]})).seen("a")}
    claims = [Claim(Permutation(("a",)), before), Claim(Unchanged(("a",)), before)]
    found = verify(pl.DataFrame({"a": after}), claims, published=["a"], records=3)
    assert [one.kept for one in found.findings[2:]] == [permuted, unchanged]


SENSITIVE = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 2, "b": [1, 1, 2, 3, 1, 2]})
WHOLE = ((1, 3), (2, 2), (3, 1))
POPULATION = ((("x",), 8.0), (("y",), 3.0))


@pytest.mark.parametrize(
    ("promise", "kept"),
    [
        # Class x has 1, 1, 2, 3 and class y 1, 2.
        (Diversity(("a",), "b", 2), True),
        (Diversity(("a",), "b", 3), False),
        (Diversity(("a",), "b", 2.0, "entropy"), True),  # exp of the entropy: 2.83 and 2
        (Diversity(("a",), "b", 2.1, "entropy"), False),
        # Grassberger: y: G(2) - 2 G(1) / 2 = 2, exp 7.4; x: G(4) - (2 G(2) + 2 G(1)) / 4 = 5/3
        (Diversity(("a",), "b", 2.0, "entropy", estimator="grassberger"), True),
        (Diversity(("a",), "b", 2.5, "entropy", estimator="grassberger"), False),  # two values
        (Diversity(("a",), "b", 2, "recursive", 1.5), True),  # 2 < 1.5 (1 + 1) and 1 < 1.5
        (Diversity(("a",), "b", 2, "recursive", 1.0), False),
        # Shares in the whole 1/2, 1/3, 1/6; class x 1/2, 1/4, 1/4: 1/12; class y: 1/6.
        (Closeness(("a",), "b", 0.17, WHOLE), True),
        (Closeness(("a",), "b", 0.16, WHOLE), False),
        # Left-out records of the whole table count: half of it had the value 4.
        (Closeness(("a",), "b", 0.4, (*WHOLE, (4, 6))), False),
        # Ordered: class y (1/2, 1/2, 0): |0| + |1/6| + 0 over 2 = 1/12; x: |0| + |-1/12| over 2.
        (Closeness(("a",), "b", 0.084, WHOLE, "ordered"), True),
        (Closeness(("a",), "b", 0.083, WHOLE, "ordered"), False),
        # Hierarchical ((1 2) 3): class y moves 1/6 from 3 to 2, up two levels of two: 1/6.
        (Closeness(("a",), "b", 0.167, WHOLE, "hierarchical", [[0, 0, 1], [0, 0, 0]]), True),
        (Closeness(("a",), "b", 0.166, WHOLE, "hierarchical", [[0, 0, 1], [0, 0, 0]]), False),
        # In class x value 3 is 1/4 : 1/6 = 2^.585 as frequent, in class y 2 is 1/2 : 1/3 as well.
        (Disclosure(("a",), "b", 0.59, WHOLE), True),
        (Disclosure(("a",), "b", 0.58, WHOLE), False),
        (Likeness(("a",), "b", 0.5, WHOLE), True),
        (Likeness(("a",), "b", 0.49, WHOLE), False),
        # Enhanced: for value 1 (q = 1/2) the bound is ln 2, and nothing gains as much.
        (Likeness(("a",), "b", 0.5, WHOLE, "enhanced"), True),
        (AverageRiskLimit(("a",), 1 / 3), True),  # two classes of six records
        (AverageRiskLimit(("a",), 0.33), False),
        (UniquenessLimit(("a", "b"), 4 / 6), True),  # (x, 2), (x, 3), (y, 1), (y, 2)
        (UniquenessLimit(("a", "b"), 0.66), False),
        (MapSize(("a",), 3, population=POPULATION), True),
        (MapSize(("a",), 4, population=POPULATION), False),
        (Presence(("a",), 0.5, 0.67, population=POPULATION), True),  # 4 of 8 and 2 of 3
        (Presence(("a",), 0.51, 0.67, population=POPULATION), False),
        (Presence(("a",), 0.5, 0.66, population=POPULATION), False),
        # Of a class that the release does not have, nobody is present.
        (Presence(("a",), 0.5, 0.67, population=(*POPULATION, (("z",), 1.0))), False),
        (Presence(("a",), 0.0, 0.67, population=(*POPULATION, (("z",), 1.0))), True),
    ],
)
def test_classes_by_hand(promise, kept):
    assert recount(promise, frame=SENSITIVE).kept is kept


def test_every_promise_has_a_recount():
    made = {
        one
        for one in vars(promises_room).values()
        if isinstance(one, type) and issubclass(one, Promise)
    }
    shapes = {promises_room.Published, promises_room.Records}  # part of every recount
    for kind in made - {Promise, ClassPromise, PopulationPromise, SensitivePromise} - shapes:
        assert _recount.dispatch(kind) is not _recount.dispatch(Promise), kind


def brute_transport(distances, first, second):
    """The earth mover's distance as a linear program over all pairs of values."""
    size = len(first)
    rows = [
        [1.0 if pair[side] == place else 0.0 for pair in itertools.product(range(size), repeat=2)]
        for side in (0, 1)
        for place in range(size)
    ]
    solved = linprog(np.ravel(distances), A_eq=rows, b_eq=[*first, *second])
    return solved.fun


@pytest.mark.parametrize("seed", range(8))
def test_semantic_closeness_is_the_earth_movers_distance(seed):
    generator = np.random.default_rng(seed)
    places = generator.random((5, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) / 2
    values = generator.integers(0, 5, 24)
    frame = pl.DataFrame({"a": np.repeat(["x", "y", "z"], 8), "b": values})
    counts = tuple((value, float((values == value).sum())) for value in range(5))
    shares = np.array([count for _, count in counts]) / 24
    farthest = max(
        brute_transport(distances, np.bincount(part, minlength=5) / 8, shares)
        for part in values.reshape(3, 8)
    )
    for t, kept in ((farthest + 1e-6, True), (farthest - 1e-6, False)):
        promise = Closeness(("a",), "b", t, counts, "semantic", distances)
        found = recount(promise, frame=frame).findings[-1]
        assert found.kept is kept
        assert found.figure >= farthest - 1e-9


def test_costs_of_many_classes_are_those_of_each(monkeypatch):
    generator = np.random.default_rng(5)
    places = generator.random((12, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    shares = generator.dirichlet(np.full(12, 0.5), 9)
    excesses, least = shares - shares.mean(axis=0), []
    monkeypatch.setattr(transport, "CELLS", 24)
    monkeypatch.setattr(transport, "AT_A_TIME", 5)
    for one in shares:
        least.append(brute_transport(distances, one, shares.mean(axis=0)))
        single = transport.costs_of_moving(distances, iter([one - shares.mean(axis=0)]), 0.0)
        assert single == pytest.approx(least[-1])
    found = transport.costs_of_moving(distances, iter(excesses), 0.0)
    assert found == pytest.approx(least)
    # a plan that is good enough is one that can be carried out
    assert max(least) <= transport.costs_of_moving(distances, iter(excesses), 9.0).max() < 1.2


def test_weights_shape_distributions():
    # By weights class x is 3 : 1 and class y 1 : 3, by records both are 1 : 1.
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2]})
    promise = Closeness(("a",), "b", 0.2, ((1, 4), (2, 4)))
    assert recount(promise, frame=frame).kept
    found = recount(promise, frame=frame, weights=np.array([3.0, 1.0, 1.0, 3.0])).findings[-1]
    assert not found.kept
    assert found.figure == pytest.approx(0.25)


def test_promises_about_columns_that_are_not_published():
    assert ClassSize(("a", "b"), 3).left(["b", "c"]) == ClassSize(("b",), 3)
    assert ClassSize(("a",), 3).left(["b"]) is None
    assert Diversity(("a",), "b", 2).left(["b"]) == Diversity((), "b", 2)
    assert Diversity(("a",), "b", 2).left(["a"]) is None
    assert recount(Diversity((), "b", 3), frame=SENSITIVE).kept


def test_without_a_column_classes_of_the_population_are_one():
    population = ((("x", "m"), 2.0), (("x", "f"), 1.0), (("y", "m"), 5.0))
    promise = MapSize(("a", "sex"), 3, population=population)
    left = promise.left(["a"])
    assert left.columns == ("a",)
    assert dict(left.population) == {("x",): 3.0, ("y",): 5.0}
    assert promise.left(["b"]) is None
    assert MapSize(("a", "sex"), 3).left(["a"]).population is None


def test_classes_of_many_columns_are_told_apart():
    """Twelve columns of fifty values: far more combinations than numbers, a few of them in use."""
    generator = np.random.default_rng(5)
    kinds = generator.integers(0, 50, (40, 12))
    kinds[1:20] = kinds[0]
    kinds[np.arange(1, 13), np.arange(12)] += 1  # alike but for one column
    chosen = generator.integers(0, 40, 2_000)
    frame = pl.DataFrame({f"c{place}": kinds[chosen, place] for place in range(12)})
    sizes = frame.group_by(frame.columns).len()["len"]
    (finding,) = recount(ClassSize(tuple(frame.columns), 2), frame=frame).findings[2:]
    assert finding.figure == sizes.min()
    (average,) = recount(AverageRiskLimit(tuple(frame.columns), 0.5), frame=frame).findings[2:]
    assert average.figure == len(sizes) / 2_000


def test_persons_are_counted_once_in_each_class():
    units = np.array([7, 7, 3, 7])
    (finding,) = recount(ClassSize(("a",), 2, "person"), units=units).findings[2:]
    assert (finding.figure, finding.kept) == (1.0, False)
    (finding,) = recount(ClassSize(("a",), 2, "person"), units=np.array([7, 1, 3, 7])).findings[2:]
    assert (finding.figure, finding.kept) == (2.0, True)
