"""The counters themselves, on groups small enough to be counted by hand."""

import inspect
import math

import pytest

from guarantees import counting
from guarantees.counting import Text

TABLE = Text.read('sex,age,n,flu\nf,30,1,y\nf,30,2,n\n"m",30,1,y\nf,31.0,1,y\nf,31,1,y\n')


def test_texts_are_read_as_they_are():
    assert TABLE.names == ("sex", "age", "n", "flu")
    assert Text.read('"a\nb","c,d"\n"say ""x""",\n').rows == (('say "x"', ""),)
    with pytest.raises(AssertionError):
        Text.read("a,b\n1\n")


def test_classes_are_counted_by_text_and_by_counts():
    assert counting.smallest_class(TABLE, ["sex"]) == 1
    assert sorted(counting.sizes(TABLE, ["sex", "age"], None)) == [1, 1, 1, 2]  # 31 is not 31.0
    assert sorted(counting.sizes(TABLE, ["sex", "age"], "n")) == [1, 1, 1, 3]
    assert counting.smallest_class(TABLE, ["gone"]) == 5  # a column that is left out tells nothing
    assert counting.average_risk(TABLE, ["sex"], "n") == pytest.approx(2 / 6)
    assert counting.share_of_uniques(TABLE, ["sex", "age"]) == pytest.approx(3 / 5)


def test_diversity():
    even, odd = {"a": 2, "b": 2}, {"a": 3, "b": 1}
    assert counting.is_distinct_diverse(odd, 2)
    assert not counting.is_distinct_diverse(odd, 2.5)
    assert counting.is_entropy_diverse(even, 2)
    assert not counting.is_entropy_diverse(odd, 2)
    assert counting.is_entropy_diverse(
        odd, math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    )
    assert counting.is_recursively_diverse({"a": 3, "b": 2, "c": 2}, 2, 1)  # 3 < 2 + 2
    assert not counting.is_recursively_diverse({"a": 4, "b": 2, "c": 2}, 2, 1)
    assert not counting.is_recursively_diverse({"a": 3}, 2, 100)


def test_the_corrected_entropy_is_larger():
    # G(2) = G(3) = 2 + G(1) and G(4) = 2 + 2/3 + G(1): G(4) - G(2) = 2/3, less than ln 2
    assert counting.is_grassberger_diverse({"a": 2, "b": 2}, math.exp(2 / 3 - 1e-9))
    assert not counting.is_grassberger_diverse({"a": 2, "b": 2}, 2)
    # G(4) - (3 G(3) + 1 G(1)) / 4 = 8/3 - 3/2 = 7/6
    assert counting.is_grassberger_diverse({"a": 3, "b": 1}, 2)
    assert not counting.is_grassberger_diverse({"a": 3, "b": 1}, 3)  # 7/6 > ln 3, but two values


def test_disclosure_and_likeness():
    p, q = {"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.75}
    assert counting.is_delta_disclosing(p, q, 0.99)  # log2(0.5 / 0.25) = 1
    assert not counting.is_delta_disclosing(p, q, 1.01)
    assert counting.is_beta_like(p, q, 1.0, enhanced=False)  # (0.5 - 0.25) / 0.25 = 1
    assert not counting.is_beta_like(p, q, 0.9, enhanced=False)
    assert counting.is_beta_like(p, q, 5.0, enhanced=True)  # -ln 0.25 = 1.39
    assert not counting.is_beta_like({"a": 0.9, "b": 0.1}, q, 5.0, enhanced=True)


def test_the_earth_mover_of_the_paper_on_t_closeness():
    """Li, Li and Venkatasubramanian (2007): salaries from 3k to 11k."""
    salaries = [f"{one}k" for one in range(3, 12)]
    q = dict.fromkeys(salaries, 1 / 9)
    ground = counting.ordered_ground(salaries)
    low, spread = (
        dict.fromkeys(["3k", "4k", "5k"], 1 / 3),
        dict.fromkeys(["6k", "8k", "11k"], 1 / 3),
    )
    assert counting.earth_mover(low, q, ground) == pytest.approx(0.375)
    assert counting.earth_mover(spread, q, ground) == pytest.approx(1 / 6)
    assert counting.earth_mover(low, q, counting.equal_ground) == pytest.approx(6 / 9)


def test_the_earth_mover_over_a_hierarchy_and_a_taxonomy():
    rows = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "c1", "*"]]
    ground = counting.hierarchical_ground(rows)
    assert [ground("a", "b"), ground("a", "c"), ground("a", ""), ground("", "")] == [0.5, 1, 1, 0]
    assert counting.earth_mover({"a": 1.0}, {"a": 0.5, "b": 0.5}, ground) == pytest.approx(0.25)
    above = counting.semantic_ground({"r": [], "x": ["r"], "y": ["r"], "z": ["x", "y"]})
    assert above("x", "y") == pytest.approx(math.log2(1 + 2 / 3))
    assert above("x", "z") == pytest.approx(math.log2(1 + 2 / 4))


def test_the_counters_know_nothing_of_the_package():
    assert "ontomask" not in inspect.getsource(counting)
