"""Three verdicts: kept and covered, kept but not covered, not kept."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

import ontomask as om
from ontomask.findings import Finding, Verification
from ontomask.promises import ClassSize, Diversity, Promise, Published, SensitivePromise, Unchanged
from ontomask.verdict import Verdict, judge

COLUMNS = ("age", "sex", "ill", "ward")


def found(*promises: Promise, kept: bool = True) -> Verification:
    shape = Finding(Published(COLUMNS), True, 4, "they are")
    return Verification((shape, *(Finding(one, kept, 1, "so") for one in promises)))


@pytest.mark.parametrize(
    ("promises", "verdict", "uncovered"),
    [
        ((ClassSize(COLUMNS, 5),), Verdict.COVERED, ()),
        ((ClassSize(("age", "sex"), 5),), Verdict.UNCOVERED, ("ill", "ward")),
        (
            (ClassSize(("age", "sex", "ward"), 5), Diversity(("age", "sex", "ward"), "ill", 2)),
            Verdict.COVERED,
            (),
        ),
        ((ClassSize(("age", "sex", "ward"), 5),), Verdict.UNCOVERED, ("ill",)),
        ((Unchanged(COLUMNS),), Verdict.UNCOVERED, COLUMNS),
        ((), Verdict.UNCOVERED, COLUMNS),
        # neither promise holds against those who know what both name
        (
            (ClassSize(("age", "sex", "ward"), 5), ClassSize(("ill",), 5)),
            Verdict.UNCOVERED,
            ("ill",),
        ),
    ],
)
def test_a_release_is_covered_where_a_promise_speaks_of_every_column(promises, verdict, uncovered):
    judgment = judge(found(*promises))
    assert (judgment.verdict, judgment.uncovered) == (verdict, uncovered)
    for name in uncovered or judgment.known:
        assert name in judgment.consequence


def test_a_broken_promise_outweighs_that_all_is_covered():
    judgment = judge(found(ClassSize(COLUMNS, 5), kept=False))
    assert judgment.verdict is Verdict.BROKEN
    assert str(judgment) == "A promise is not kept. Do not publish this table."


def test_a_promise_that_was_given_up_is_not_kept():
    given_up = Verification(found().findings, (ClassSize(COLUMNS, 5),))
    assert judge(given_up).verdict is Verdict.BROKEN


def test_columns_that_need_no_cover_can_be_left_aside():
    promise = ClassSize(("age", "sex"), 5)
    assert judge(found(promise), ("sex", "age")).verdict is Verdict.COVERED
    assert judge(found(promise), ("sex", "age", "ill")).uncovered == ("ill",)


def test_it_is_said_first_against_whom():
    diversity = Diversity(("age", "sex"), "ill", 2)
    judgment = judge(found(Unchanged(("ill",)), ClassSize(("age", "sex"), 5), diversity))
    assert [known for known, _ in judgment.promised] == [
        "against an intruder who knows age and sex of a person",
        "against an intruder who knows age and sex of a person",
        "of the table",
        "of the table",
    ]
    assert judgment.as_dict()["verdict"] == "kept, but not covered"
    assert judgment.as_dict()["uncovered"] == ["ward"]
    assert judgment.consequence.endswith(
        "those who know ward of a person: they can use it to find the record. So can those who "
        "already know ill: of what is sensitive it is promised that it is not learned."
    )


def test_no_two_verdicts_read_alike():
    titles = [
        judge(found(ClassSize(COLUMNS, 5))).title,
        judge(found(ClassSize(COLUMNS[:2], 5))).title,
        judge(found()).title,
        judge(found(ClassSize(COLUMNS, 5), kept=False)).title,
    ]
    assert all(one != other for one, other in itertools.combinations(titles, 2))
    assert not any("safe" in title for title in titles)


def test_every_promise_about_groups_covers_what_it_names():
    """A new kind of promise covers nothing before somebody says that it does."""

    class New(Promise):
        def describe(self) -> str:
            return "something new"

    assert New(("age",)).covers == ()

    class NewOfValues(New, SensitivePromise):
        pass

    assert NewOfValues(("age",), "ill").covers == ("age", "ill")


def test_a_plain_release_with_a_sensitive_column_is_not_called_covered():
    frame = pl.DataFrame({"age": [30, 31, 32, 60, 61, 62], "ill": list("abcabc")})
    schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    plain = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
    assert judge(plain.verification).uncovered == ("ill",)
    tens = {"age": om.knowledge.interval_hierarchy(frame["age"], (10,))}
    models = [om.privacy.KAnonymity(3), om.privacy.LDiversity(2)]
    diverse = om.protect(frame, schema, om.Generalization(models, hierarchies=tens), seed=1)
    assert judge(diverse.verification).verdict is Verdict.COVERED


def test_all_columns_are_named_however_many():
    many = tuple(f"c{number}" for number in range(12))
    judgment = judge(found(ClassSize(many, 5)), (*many, *(f"d{number}" for number in range(9))))
    assert all(name in judgment.promised[0][0] for name in many)
    assert all(f"d{number}" in judgment.consequence for number in range(9))
