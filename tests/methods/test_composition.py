"""Methods as steps of a list: what one promises, the next ones may not silently undo."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import ontomask as om
from tables import mixed_columns, mixed_schema

SWAP = om.RankSwapping(k=3, columns=["age", "diagnosis"])
GROUPS = om.Microaggregation(3)
SHUFFLE = om.Shuffling(["age", "charge"], given=["severity"])


LISTS = [
    [SWAP, om.Sampling(share=0.5)],
    [om.Sampling(share=0.5), SWAP],
    [om.Noise(["age"], scale=0.5), SWAP],
    [SWAP, SWAP],
    [SWAP, SHUFFLE],
    [SHUFFLE, SWAP],
    [
        om.TopBottomCoding(["age"], top=50),
        om.Rounding(["age"], base=5),
        SWAP,
        om.DropColumns(["age"]),
    ],
    [om.Pram(columns=["diagnosis", "sex"]), SWAP, om.Pseudonyms(["sex"], key="a key that is long")],
    [SWAP, om.Microaggregation(3, keeps=False)],
    [om.Sampling(share=0.5), GROUPS, om.DropColumns(["age"])],
    [GROUPS, om.DropColumns(["age"])],
    [GROUPS, om.Suppression(5)],
    [om.Noise(["age"]), GROUPS],
]


@pytest.mark.parametrize("steps", LISTS, ids=lambda steps: "+".join(one.name for one in steps))
def test_lists_of_steps(steps):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), steps, 5)
    assert release.verification.kept
    again = om.protect(frame, mixed_schema(), steps, 5)
    assert release.frame.equals(again.frame)


UNDOING = [
    om.Noise(["age"], scale=0.5),
    om.Pram(columns=["diagnosis", "sex"]),
    SWAP,
    om.Sampling(share=0.4),
    om.Hybrid(3),
]


@pytest.mark.parametrize("later", UNDOING, ids=lambda later: later.name)
def test_a_step_that_undoes_a_promise_is_refused_with_the_order_that_works(later):
    frame = pl.DataFrame(mixed_columns())
    with pytest.raises(om.errors.PromiseError) as caught:
        om.protect(frame, mixed_schema(), [GROUPS, later], 5)
    message = str(caught.value)
    assert f"{later.name} comes after microaggregation and undoes what it promises" in message
    assert f"put the steps in the order {later.name}, microaggregation" in message
    assert f"keeps=False (in a plan: keeps = false) at {later.name}" in message
    om.protect(frame, mixed_schema(), [later, om.Microaggregation(3, keeps=False)], 5)


def test_the_steps_of_the_audit():
    """Columns dropped and records sampled after grouping: unique people, certified."""
    frame = pl.DataFrame(mixed_columns())
    steps = [GROUPS, om.DropColumns(["age"]), om.Sampling(share=0.4)]
    with pytest.raises(om.errors.PromiseError, match="drop-columns, sampling, microaggregation"):
        om.protect(frame, mixed_schema(), steps, 5)


def test_what_is_meant_to_be_undone_is_given_up_and_not_certified():
    frame = pl.DataFrame(mixed_columns())
    noise = om.Noise(["age"], scale=0.5, keeps=False)
    release = om.protect(frame, mixed_schema(), [GROUPS, noise], 5)
    assert release.verification.k is None
    assert [one.describe() for one in release.given_up] == [
        "every combination of diagnosis, age, admitted, severity, sex is shared by at least 3"
    ]
    assert str(release.verification).startswith("given up: every combination of diagnosis")


def test_a_step_that_may_undo_but_does_not_leaves_the_promise_certified():
    frame = pl.DataFrame(mixed_columns())
    kept = om.protect(
        frame, mixed_schema(), [GROUPS, om.DropColumns(["age"], keeps=False)], 5
    ).verification
    assert kept.k == 3
    assert kept.given_up == ()


def test_a_permutation_is_compared_with_what_the_step_found():
    frame = pl.DataFrame(mixed_columns())
    steps = [om.Rounding(["age"], base=10), om.RankSwapping(k=3, columns=["age"])]
    rounded = om.protect(frame, mixed_schema(), steps[0], 1).frame
    release = om.protect(frame, mixed_schema(), steps, 1)
    assert Counter(release.frame["age"]) == Counter(rounded["age"])
    assert not release.frame["age"].equals(rounded["age"])
    assert "the same values" in str(release.verification)
    with pytest.raises(om.errors.PromiseError, match="the same values as in the original"):
        om.protect(frame, mixed_schema(), [*reversed(steps)], 1)


def test_spellings_that_a_permutation_unites_are_named():
    taxonomy = om.load_taxonomy("icd9cm")
    words = ["25000", "250.00", "25000", "4019", "4019", "486", "486", "25000"] * 2
    frame = pl.DataFrame({"dx": words})
    schema = om.Schema(dx=om.Nominal(taxonomy))
    release = om.protect(frame, schema, om.RankSwapping(k=3), 1)
    assert "by meaning, with one spelling for each concept: dx" in str(release.verification)
    assert Counter(release.frame["dx"])["25000"] == words.count("25000") + words.count("250.00")


def test_spellings_and_labels_of_columns_that_no_step_touches():
    taxonomy = om.load_taxonomy("icd9cm")
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "dx": ["25000", "250.00", "4019", "486"]})
    as_they_are = om.Schema(age=om.Numeric(), dx=om.Nominal(taxonomy, "other"))
    release = om.protect(frame, as_they_are, om.Suppression(2), 1)
    assert release.frame["dx"].to_list() == frame["dx"].to_list()
    labels = om.Schema(age=om.Numeric(), dx=om.Nominal(taxonomy, "other", output="label"))
    release = om.protect(frame, labels, om.Suppression(2), 1)
    assert release.frame["dx"].to_list()[2] == taxonomy.labels[taxonomy.ids.index("401.9")]
    assert "dx: unchanged (by meaning: dx)" in str(release.verification)


BY_MEANING = [
    *(
        (name, later)
        for name in ("age", "diagnosis", "severity")
        for later in (
            om.Microaggregation(3),
            om.Recoding(3),
            om.Resampling(3),
            om.Hybrid(3),
            om.RankSwapping(k=3),
            om.Shuffling([name]),
        )
    ),
    ("age", om.Noise(["age"])),
    ("age", om.Rounding(["age"], base=5)),
    ("age", om.TopBottomCoding(["age"], top_share=0.1)),
    ("diagnosis", om.Pram()),
]


@pytest.mark.parametrize(("name", "later"), BY_MEANING)
def test_a_step_that_needs_what_generalization_takes_away_is_told_to_come_first(name, later):
    """Names of groups have no numbers and, where a hierarchy was given, no concepts."""
    columns, whole = mixed_columns(gaps=False), mixed_schema()
    schema = om.Schema.of({name: whole[name], "charge": om.Numeric(role="other")})
    rows = [[str(value), "any"] for value in sorted(set(columns[name]))]
    first = om.Generalization([om.privacy.KAnonymity(60)], hierarchies={name: rows})
    with pytest.raises(om.errors.MethodError, match=f"'{name}' was generalized .* before that"):
        om.protect(pl.DataFrame(columns), schema, [first, later], 1)
