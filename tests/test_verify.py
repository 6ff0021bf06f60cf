import polars as pl
import pytest

from ontomask import errors
from ontomask.promises import ClassSize, Closeness, Diversity, Permutation, Unchanged
from ontomask.verify import verify

FRAME = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 1, 2, 2]})
ORIGINAL = {"a": ["x", "y", "x", "y"], "b": [1, 1, 2, 2]}


def recount(*promises, frame=FRAME, **changes):
    settings = {"published": ("a", "b"), "records": 4, "original": ORIGINAL, **changes}
    return verify(frame, promises, **settings)


def test_kept_promises():
    found = recount(ClassSize(("a", "b"), 2), Permutation(("a",)), Unchanged(("b",)))
    assert found.kept
    assert found.require() is found
    assert "at least 2" in str(found)


@pytest.mark.parametrize("k", [2, 3])
def test_the_threshold_decides(k):
    assert recount(ClassSize(("a",), k)).kept == (k == 2)


def test_broken_promises_are_named_with_what_was_measured():
    frame = pl.DataFrame({"a": ["x", "x", "y", "z"], "b": [1, 1, 2, 3]})
    found = recount(ClassSize(("a",), 2), Permutation(("a",)), Unchanged(("b",)), frame=frame)
    assert [finding.kept for finding in found.findings] == [True, True, False, False, False]
    with pytest.raises(errors.PromiseError) as caught:
        found.require()
    assert "shared by at least 2 (at least 1)" in str(caught.value)


def test_a_column_too_many_or_a_record_too_few_is_noticed():
    with pytest.raises(errors.PromiseError, match="the columns are exactly a"):
        recount(published=("a",)).require()
    with pytest.raises(errors.PromiseError, match="there are 5 records"):
        recount(records=5).require()


def test_weights_count_people_and_missing_values_are_one_value():
    frame = pl.DataFrame({"a": [None, None, "y", "y"], "b": [1.0, 1.0, None, float("nan")]})
    assert recount(ClassSize(("a", "b"), 2), frame=frame).kept
    assert recount(ClassSize(("a", "b"), 5), frame=frame, weights=[4, 1, 2, 3]).kept
    assert not recount(ClassSize(("a", "b"), 6), frame=frame, weights=[4, 1, 2, 3]).kept


SENSITIVE = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 2, "b": [1, 1, 2, 3, 1, 2]})


@pytest.mark.parametrize(
    ("promise", "kept"),
    [
        # Class x has 1, 1, 2, 3 and class y 1, 2.
        (Diversity(("a",), "b", 2), True),
        (Diversity(("a",), "b", 3), False),
        (Diversity(("a",), "b", 2.0, "entropy"), True),  # exp of the entropy: 2.83 and 2
        (Diversity(("a",), "b", 2.1, "entropy"), False),
        (Diversity(("a",), "b", 2, "recursive", 1.5), True),  # 2 < 1.5 (1 + 1) and 1 < 1.5
        (Diversity(("a",), "b", 2, "recursive", 1.0), False),
        # Shares in the whole 1/2, 1/3, 1/6; class x 1/2, 1/4, 1/4: 1/12; class y: 1/6.
        (Closeness(("a",), "b", 0.17, ((1, 3), (2, 2), (3, 1))), True),
        (Closeness(("a",), "b", 0.16, ((1, 3), (2, 2), (3, 1))), False),
        # Suppressed records of the whole table count: half of it had the value 4.
        (Closeness(("a",), "b", 0.4, ((1, 3), (2, 2), (3, 1), (4, 6))), False),
    ],
)
def test_diversity_and_closeness_by_hand(promise, kept):
    assert recount(promise, frame=SENSITIVE, records=6).kept is kept
