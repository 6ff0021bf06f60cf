"""The words of the first screen."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.tables import open_table
from ontomask.findings import Claim, Verification
from ontomask.methods.base import METHODS
from ontomask.promises import (
    ClassPromise,
    ClassSize,
    Closeness,
    Diversity,
    Permutation,
    PopulationPromise,
    Promise,
    SensitivePromise,
    Unchanged,
)
from ontomask.quality import QUALITIES
from ontomask.report import grids, losses, sentences
from ontomask.report.discretion import Discretion
from ontomask.report.document import render
from ontomask.report.facts import UNCHANGED, Limit, Run, gather
from ontomask.report.promised import in_words
from ontomask.report.sentences import judged
from ontomask.report.steps import UNTOLD, describe_step
from ontomask.report.words import bucket, percent
from ontomask.verify import verify

PUBLIC = Discretion(5, internal=False)
FRAME = pl.DataFrame({"age": [1, 1, 2, 2], "sex": list("mmff"), "ill": list("abab")})


def read(*promises):
    before = {name: open_table(FRAME).seen(name) for name in FRAME.columns}
    claims = [Claim(one, before) for one in promises]
    return in_words(verify(FRAME, claims, published=tuple(FRAME.columns), records=4))


@pytest.mark.parametrize(
    ("promise", "kind", "said", "measured"),
    [
        (
            ClassSize(("age", "sex"), 2),
            "group size",
            "Every combination of age and sex occurs at least 2 times.",
            "the smallest group has 2 records",
        ),
        (
            Diversity(("age",), "ill", 2),
            "diversity",
            "In every group, ill has at least 2 different values.",
            "the least varied group has 2 values of ill",
        ),
        (
            Diversity(("age",), "ill", 1.5, "entropy"),
            "diversity",
            "In every group, ill is as mixed as 1.5 equally frequent values (entropy).",
            "the least mixed group reaches 2",
        ),
        (
            Diversity(("age",), "ill", 2, "recursive", 3.0),
            "diversity",
            "In no group, ill is dominated by its most frequent value (recursive 2-diversity, "
            "with c = 3).",
            "every group was checked",
        ),
        (
            Closeness(("age",), "ill", 0.1, (("a", 2.0), ("b", 2.0))),
            "closeness",
            "In every group, ill is distributed as in the whole table, up to a distance of 0.1.",
            "the group farthest off is at 0",
        ),
        (
            Permutation(("age", "sex")),
            "permutation",
            "Exactly the original values, each as often as before, only with other people: age "
            "and sex.",
            "every value was counted before and after",
        ),
        (
            Unchanged(("ill",)),
            "unchanged",
            "Unchanged, record by record: ill.",
            "the unchanged columns were compared record by record",
        ),
    ],
)
def test_every_promise_that_is_recounted_has_its_sentence(promise, kind, said, measured):
    found = next(one for one in read(promise).findings if one.kind != "shape")
    assert (found.kind, found.promise, found.measured, found.kept) == (kind, said, measured, True)


def kinds_of(promise):
    below = [one for kind in promise.__subclasses__() for one in kinds_of(kind)]
    return [promise, *below]


def test_every_kind_of_promise_has_words_of_its_own():
    for kind in set(kinds_of(Promise)) - {
        Promise,
        ClassPromise,
        PopulationPromise,
        SensitivePromise,
    }:
        assert in_words.__globals__["_kept"].dispatch(kind).__name__ != "_kept", kind


def test_a_column_name_with_a_line_break_hides_no_threshold(remade):
    """What a promise is about is never read from its sentence."""
    name = "age\n(years)"
    frame = pl.DataFrame({name: list(range(60))})
    account = remade(om.Microaggregation(k=20), frame, om.Schema.of({name: om.Numeric()})).account
    assert account.promised.k == 20
    assert account.threshold == 20


def test_what_was_given_up_comes_first(remade):
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({"age": generator.normal(50, 9, 40), "income": generator.normal(0, 1, 40)})
    schema = om.Schema(age=om.Numeric(), income=om.Numeric(role="sensitive"))
    steps = [om.Microaggregation(k=5), om.Noise(["age"], keeps=False)]
    account = remade(steps, frame, schema).account
    said = sentences.headline(account, PUBLIC)
    assert (said.tone, said.title) == ("bad", "Given up by a later step")
    assert "Every combination of age is shared by at least 5." in said.text
    assert sentences.promised(account) == {}
    assert "k-anonymity" not in [one.badge for one in account.promised.findings]


def test_the_shape_of_the_table_is_said_in_words():
    found = read()
    assert [one.promise for one in found.findings] == [
        "The table has these columns and no others: age, sex and ill.",
        "There are 4 records.",
    ]
    assert [one.measured for one in found.findings] == ["these and no others", "4 were counted"]


def test_k_is_that_of_the_promise_not_of_the_method(cases):
    assert cases["microaggregation"].account.promised.k == 5
    assert cases["generalization"].account.threshold == 4
    assert cases["rank swapping"].account.promised.k is None


# Verdicts -------------------------------------------------------------------------------------


def test_a_kept_promise(case):
    """A sensitive column that no promise speaks of keeps the verdict from being green."""
    said = sentences.headline(case.account, PUBLIC)
    title = "Kept, but 1 published column is not covered"
    assert (said.tone, said.mark, said.title) == ("warning", "!", title)
    assert said.text.startswith("No promise holds against those who know charge of a person")
    ((known, promises),) = sentences.promised(case.account).items()
    assert known == (
        "against an intruder who knows age, diagnosis, town, severity and admitted of a person"
    )
    assert promises[0].startswith("Every combination of age, diagnosis")
    assert sentences.kept(case.account, PUBLIC)[0].startswith("Kept: the smallest group has ")
    page = render(case.account)
    assert "Left out, since they name people: person." in page
    assert page.index(known) < page.index(title) < page.index("Was it kept?")
    assert "good" not in [one.tone for one in sentences.badges(case.account, PUBLIC)]
    assert "1 column not covered" in [one.text for one in sentences.badges(case.account, PUBLIC)]


def test_green_is_only_what_is_covered(case, remade):
    schema = om.Schema.of({**case.schema, "charge": om.Numeric()})
    account = remade(om.Microaggregation(k=5), case.frame, schema).account
    said = sentences.headline(account, PUBLIC)
    assert (said.tone, said.mark) == ("good", "✓")
    assert said.title == "Kept, and every published column is covered"
    assert 'class="verdict good"' in render(account)


def test_a_column_of_counts_needs_no_cover(remade):
    frame = pl.DataFrame({"age": [30, 31, 60, 61], "n": [3, 4, 5, 6]})
    schema = om.Schema(age=om.Numeric(), n=om.Count())
    account = remade(om.Microaggregation(k=5), frame, schema).account
    assert sentences.headline(account, PUBLIC).tone == "good"


def test_a_broken_promise_comes_before_everything(case):
    findings = list(case.release.verification.findings)
    findings[2] = dataclasses.replace(findings[2], kept=False)
    account = case.gathered(
        verification=Verification(tuple(findings)), limits=[Limit("record linkage", 0.12, 0.1)]
    )
    assert sentences.headline(account, PUBLIC).title == "A promise is not kept"
    assert any(one.text.endswith("NOT kept") for one in sentences.badges(account, PUBLIC))
    assert sentences.kept(account, PUBLIC)[0].startswith("NOT KEPT: ")
    assert 'class="no"' in render(account)


def test_an_exceeded_limit_is_said_loudly(case):
    account = case.gathered(
        limits=[Limit("record linkage", 0.1234, 0.1), Limit("information loss", 0.2, 0.2)]
    )
    said = sentences.headline(account, PUBLIC)
    assert (said.tone, said.title) == ("bad", "1 limit of the plan exceeded")
    assert said.text.startswith("Record linkage: 12%, the plan allows 10%. Kept, but 1 published")
    tones = {one.text: one.tone for one in sentences.badges(account, PUBLIC)}
    assert tones["record linkage above the limit"] == "bad"
    assert tones["information loss within the limit"] == "plain"


def test_a_method_without_guarantee_says_so(cases):
    account = cases["rank swapping"].account
    said = sentences.headline(account, PUBLIC)
    assert said.title == "Kept, but nothing is promised against an intruder"
    assert said.tone == "warning"
    page = render(account)
    assert "no guarantee of k-anonymity" in page
    assert "measure of the risk" in page
    assert "k-anonymity kept" not in page


def test_a_table_masked_elsewhere_has_no_promise(case):
    account = gather(case.frame, case.release.frame, case.schema, Run(evaluation=case.evaluation))
    assert account.promised is None
    assert sentences.headline(account, PUBLIC).title == "Nothing was promised"
    page = render(account)
    assert "masked elsewhere" in page
    assert "kept" not in [one.text for one in sentences.badges(account, PUBLIC)]


def test_local_recoding_says_that_values_can_be_narrowed_down(case):
    for search, said in (("mondrian", True), ("optimal", False)):
        step = om.Generalization([om.privacy.KAnonymity(2)], algorithm=search)
        page = render(case.gathered(steps=[step], details=[{}]))
        assert ("<b>Downcoding.</b>" in page) is said
        assert "<b>Differencing.</b>" in page


def test_minimality_is_a_threat_to_promises_about_values(cases, case):
    assert "<b>Minimality.</b>" in render(cases["generalization"].account)
    step = om.Generalization([om.privacy.KAnonymity(2)])
    assert "<b>Minimality.</b>" not in render(case.gathered(steps=[step], details=[{}]))


def test_whom_unchanged_columns_single_out_is_on_the_first_screen(case):
    """Counted here by hand: nearly every charge is another."""
    counts = case.frame["charge"].value_counts()["count"]
    alone = (counts == 1).sum() / len(case.frame)
    account = case.gathered(limits=[Limit(UNCHANGED, alone, 0.1)])
    first = render(account).partition("<nav")[0]
    assert f"{percent(alone, 1)} of the records are alone with what is published unchanged" in first
    assert "of records alone by unchanged columns" in first
    assert "the plan allows 10%" in first
    assert "the plan sets no limit" in render(case.account)


def test_the_threats_that_the_report_names_are_on_their_page():
    page = (Path(__file__).parents[2] / "docs" / "threats.md").read_text(encoding="utf-8")
    assert "{ #downcoding }" in page
    for heading in (
        "Columns declared harmless",
        "Homogeneous classes",
        "Downcoding",
        "Minimality",
        "Differencing",
        "Several records",
    ):
        assert f"## {heading}" in page


# Loss and risk --------------------------------------------------------------------------------


def test_what_was_lost_and_what_is_at_risk(case):
    public = Discretion(5, internal=False)
    lost, risk = losses.lost(case.account, public), sentences.risk(case.account, public)
    assert re.match(r"Information loss is [\d.]+%, an average over columns: 0% is the ", lost[0])
    assert lost[1].endswith("No record was left out.")
    assert risk[0].startswith("Records that are unique by age, diagnosis, town")
    assert risk[0].endswith("none after.")
    assert "of 100 cases" in risk[1]


def test_suppressed_records_are_a_range_in_public_and_a_count_inside(cases):
    case = cases["suppression"]
    gone = case.account.original_records - case.account.records
    assert gone > 5
    public = losses.lost(case.account, Discretion(3, internal=False))
    inside = losses.lost(case.account, Discretion(3, internal=True))
    first, last = bucket(gone, 3)
    assert public[1].endswith(f"Records left out: {first} to {last}.")
    assert "Information loss of the records released is 0%," in public[0]
    assert re.match(r"Information loss is [1-9][\d.]+%,", inside[0])
    assert any(f"({gone})" in one for one in inside)


def test_a_group_with_one_sensitive_value_is_a_warning(remade):
    frame = pl.DataFrame(
        {"age": [1] * 5 + [2] * 5, "ill": ["flu"] * 5 + ["flu", "cold"] * 2 + ["flu"]}
    )
    schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    account = remade(om.Microaggregation(k=5), frame, schema).account
    assert sentences.beyond(account).homogeneous == (("ill", "50%"),)
    assert "All records of the group have the same ill (for 50% of the records)" in render(account)


def test_a_table_without_quasi_identifiers_has_no_risk_to_measure(remade):
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({"pay": generator.normal(10, 2, 50), "age": generator.normal(40, 9, 50)})
    schema = om.Schema(pay=om.Numeric(role="sensitive"), age=om.Numeric(role="other"))
    account = remade(om.Noise(columns=["pay"]), frame, schema).account
    assert "no risk could be measured" in sentences.risk(account, Discretion(3, internal=False))[0]
    assert "no risk could be measured" in render(account)


def test_many_columns_are_not_all_named(remade):
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({f"c{place:02d}": generator.normal(0, 1, 40) for place in range(20)})
    schema = om.Schema.of({name: om.Numeric() for name in frame.columns})
    account = remade(om.Microaggregation(k=5), frame, schema).account
    risk = sentences.risk(account, Discretion(5, internal=False))[0]
    assert risk.startswith("Records that are unique by their 20 quasi-identifiers: 100% before")


def test_a_promise_names_every_column(remade):
    generator = np.random.default_rng(2)
    frame = pl.DataFrame({f"c{place:02d}": generator.normal(0, 1, 40) for place in range(20)})
    schema = om.Schema.of({name: om.Numeric() for name in frame.columns})
    account = remade(om.Microaggregation(k=5), frame, schema).account
    every = f"{', '.join(frame.columns[:-1])} and c19"
    assert f"combination of {every} occurs" in account.promised.findings[0].promise
    assert account.promised.findings[1].promise.endswith(f"no others: {every}.")
    assert sum(every in " ".join(row) for row in grids.findings_grid(account, PUBLIC).rows) == 2


@pytest.mark.parametrize(
    ("risk", "said"),
    [(0, "0"), (0.005, "fewer than 1"), (0.123, "12"), (0.995, "more than 99"), (1, "100")],
)
def test_cases_of_a_hundred(risk, said):
    assert sentences.cases(risk) == said


def test_the_two_figures_of_risk_are_told_apart(cases, case):
    linked = sentences.cases(case.evaluation.risk)
    page = render(case.account)
    assert "the highest risk, 20%, is the most" in page
    assert f"That {linked} of 100 records" in page
    assert sentences.two_risks(cases["rank swapping"].account) is None


@pytest.mark.parametrize(("shuffled", "said"), [(None, False), (True, False), (False, True)])
def test_the_order_of_the_records_is_a_risk_if_it_is_kept(case, shuffled, said):
    page = render(case.gathered(shuffled=shuffled))
    assert ("The records keep their order" in page) == said


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit("record linkage", 0.1234, 0.2), "12%"),
        (Limit("record linkage", 0.203, 0.2), "20.3%"),
        (Limit("record linkage", 0.1996, 0.2), "20%"),
        (Limit("highest risk", 0.333333, 0.3333), "33.333%"),
        (Limit("information loss", 0.1234, 0.2), "12.3%"),
        (Limit("information loss", 0.0001, 0.2), "less than 0.1%"),
    ],
)
def test_a_measured_limit_is_as_exact_as_its_verdict_needs(case, limit, said):
    (one,) = judged(case.gathered(limits=[limit]), PUBLIC)
    assert (one.measured, one.exceeded) == (said, limit.exceeded)


# Steps ----------------------------------------------------------------------------------------


def test_every_method_has_an_idea_in_words():
    from ontomask.methods import registry  # noqa: F401 - fills the registry

    for kind in METHODS.values():
        facts = describe_step(_made(kind), {}, ["a"])
        assert facts.idea.endswith((".", ":")), kind
        named = {one.name for one in dataclasses.fields(kind)}
        assert {one.name for one in facts.parameters} == named


def _made(kind):
    given = {
        "k": 5,
        "columns": ["a"],
        "key": "0123456789abcdef",
        "confidential": ["a"],
        "base": 5.0,
        "privacy": [om.privacy.KAnonymity(5)],
        "share": 0.5,
        "top": 90.0,
        "epsilon": 1.0,
        "delta": 1e-6,
        "schemes": [{"a": 1}],
    }
    taken = {one.name for one in dataclasses.fields(kind)}
    taken -= {"share"} if "k" in taken else set()
    needed = {name: value for name, value in given.items() if name in taken}
    return kind(**needed)


def test_parameters_are_explained_by_the_method_s_own_documentation():
    facts = describe_step(om.Recoding(k=3), {}, [])
    meanings = {one.name: one.meaning for one in facts.parameters}
    assert meanings["k"] == "The least number of records of a tuple."
    assert meanings["strata"] == "Columns whose values are masked apart from each other."


def test_secrets_values_and_paths_stay_out_of_parameters():
    steps = (
        om.Pseudonyms(columns=["a"], key="a secret word of mine"),
        om.Pram(columns=["a"], order=["flu", "plague"], matrix=[[1, 0], [0, 1]]),
        om.Generalization([om.privacy.KAnonymity(5)], hierarchies={"a": "/home/clerk/a.csv"}),
    )
    public = [one.value for step in steps for one in describe_step(step, {}, ["a"]).parameters]
    full = [one.full for step in steps for one in describe_step(step, {}, ["a"]).parameters]
    for word in ("secret word", "plague", "clerk"):
        assert not any(word in value for value in public)
    assert any("plague" in value for value in full)
    assert not any("secret word" in value for value in full)
    assert "k-anonymity (k = 5)" in public


def test_what_a_method_chose_itself_is_shown_once():
    facts = describe_step(om.Microaggregation(k=3), {"metric": "euclidean"}, ["a"])
    values = {one.name: (one.value, one.given) for one in facts.parameters}
    assert values["metric"] == ("euclidean", True)
    assert not values["measure"][1]
    assert facts.public_details == facts.details == ()
    chosen = describe_step(om.Microaggregation(k=3, metric="mean"), {"metric": "mean"}, ["a"])
    assert chosen.details == ()


def test_steps_speak_to_readers_not_to_programmers():
    from ontomask.methods import registry  # noqa: F401 - fills the registry

    for kind in METHODS.values():
        facts = describe_step(_made(kind), {}, ["a"])
        said = [
            facts.idea,
            *(word for one in facts.parameters for word in (one.value, one.meaning)),
        ]
        for word in ("ontomask.", "None", "class", "not set", "see `"):
            assert not any(word in one for one in said), kind


def test_of_a_step_s_own_report_only_some_is_public():
    levels = {
        "levels": {"a": 2},
        "generalized": {"a": "intervals of 10 (level 2 of 3)"},
        "generalized_public": {"a": "intervals of 10 (level 2)"},
    }
    details = {**levels, "suppressed": 7, "quality": 0.105542, "quality_model": "loss"}
    facts = describe_step(om.Suppression(k=3), details, ["a"])
    meant = "the mean share of its domain that a value covers: 0 is the original, 1 a star"
    assert facts.public_details == (
        ("generalized", "a: intervals of 10 (level 2)"),
        ("quality model", f"loss: {meant}"),
    )
    inside = dict(facts.details)
    assert inside["suppressed"] == "7"
    assert inside["loss by the quality model"] == f"0.106, {meant}"
    assert inside["generalized"] == "a: intervals of 10 (level 2 of 3)"
    assert "levels" not in inside


def test_every_quality_model_says_what_its_figure_is():
    assert all(": " in one.measures or "added up" in one.measures for one in QUALITIES.values())


def test_what_would_tell_how_many_were_left_out_is_no_public_parameter():
    generalization = om.Generalization([om.privacy.KAnonymity(5)], suppression_limit=0.05)
    steps = (
        (om.Sampling(share=0.9), "share", "0.9"),
        (om.Sampling(size=80), "size", "80"),
        (generalization, "suppression_limit", "0.05"),
        (om.RankSwapping(share=0.1), "k", "24"),
    )
    for step, name, full in steps:
        facts = describe_step(step, {"k": 24} if name == "k" else {}, [])
        shown = next(one for one in facts.parameters if one.name == name)
        assert shown.full == full
        assert shown.value in (UNTOLD, "chosen by the method")
    none = describe_step(om.Generalization([om.privacy.KAnonymity(5)]), {}, []).parameters
    assert next(one for one in none if one.name == "suppression_limit").value == "0"
