"""What a public report must not say."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.schema import Flat
from ontomask.report import grids
from ontomask.report.discretion import LEAST, Discretion, internal_plan, public_plan, threshold
from ontomask.report.distributions import View, category_bars
from ontomask.report.document import render
from ontomask.report.facts import SUPPRESSED, Limit

METHODS = ("microaggregation", "rank swapping", "suppression", "generalization")
# what each planted value would look like on a page
PLANTED = {
    "age": r"\b113\b",
    "diagnosis": "zanzibar|rarity",
    "town": "Quuxville",
    "severity": "catastrophic",
    "admitted": "1931",
    "charge": r"987,?654",
}
PLAN = """
# the oldest is 113, from Quuxville
seed = 918273645
[input]
path = "/home/clerk/Quuxville/people.csv"
missing = ["NA"]
[columns.severity]
kind = "ordinal"
order = ["mild", "grave", "catastrophic"]
[columns.diagnosis]
kind = "nominal"
[columns.diagnosis.overrides]
"zanzibar fieber" = "zanzibar fever"
[[steps]]
method = "microaggregation"
k = 5
strata = ["town"]
[[steps]]
method = "pseudonyms"
key = "a secret of Quuxville"
"""


class _Words(HTMLParser):
    """Everything a reader can come across: texts, and attributes that are words, not places."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.styles = False

    def handle_starttag(self, tag, attributes):
        self.styles = tag == "style"
        places = (
            "d",
            "transform",
            "viewbox",
            "x",
            "y",
            "x2",
            "y2",
            "x1",
            "y1",
            "cx",
            "cy",
            "r",
            "width",
        )
        places += ("height",)
        self.words += [value or "" for name, value in attributes if name not in places]

    def handle_data(self, data):
        if not self.styles:
            self.words.append(data)


def words_of(page: str) -> str:
    reader = _Words()
    reader.feed(page)
    return "\n".join(reader.words)


@pytest.mark.parametrize("method", METHODS)
def test_no_planted_value_is_in_a_public_report(cases, method):
    public = words_of(render(cases[method].gathered(plan=PLAN)))
    internal = words_of(render(cases[method].account, internal=True))
    for column, planted in PLANTED.items():
        assert not re.search(planted, public), column
        assert re.search(planted, internal), column


def test_the_seed_and_timings_are_internal(case):
    assert "918273645" not in render(case.account)
    assert "918273645" in render(case.account, internal=True)
    assert "verify" not in words_of(render(case.account)).split()
    assert "verify: " in words_of(render(case.account, internal=True))


def test_an_internal_report_is_marked_on_screen_and_on_every_printed_page(case):
    internal, public = render(case.account, internal=True), render(case.account)
    assert '<div class="internal" role="note">INTERNAL: do not publish</div>' in internal
    assert '@top-center { content: "INTERNAL: do not publish"' in internal
    assert "INTERNAL" not in public


def test_the_threshold_is_k_but_at_least_three():
    assert [threshold(k) for k in (None, 2, 3, 50)] == [LEAST, LEAST, 3, 50]


def test_a_larger_k_merges_more(remade):
    small, large = (remade(om.Microaggregation(k=k)).account for k in (3, 40))
    bars = [account.columns[0].distribution.public for account in (small, large)]
    assert len(bars[0]) > len(bars[1]) > 1
    assert min(bar.before_count for bar in bars[0]) >= 3
    assert min(bar.before_count for bar in bars[1]) >= 40


@pytest.mark.parametrize("method", METHODS)
def test_every_public_bar_holds_enough_original_records(cases, method):
    account = cases[method].account
    shown = [one.distribution for one in account.columns if one.distribution is not None]
    assert shown
    for distribution in shown:
        for bar in distribution.public:
            few = 0 < bar.before_count < account.threshold
            assert few == (bar.before is None)
            assert not few or bar.label in ("missing or suppressed", "other values", "other groups")


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=120),
    st.lists(st.integers(0, 40), min_size=1, max_size=120),
    st.integers(3, 12),
)
def test_categories_never_show_a_rare_value(before, after, least):
    sides = [
        (
            np.unique(side, return_inverse=True)[1].astype(np.int32),
            [f"v{v:02d}" for v in np.unique(side)],
        )
        for side in (before, after)
    ]
    weights = tuple(np.ones(len(side)) for side in (before, after))
    public = category_bars(Flat(), *sides, weights, View.public(least, rounded=True))
    rare = {f"v{v:02d}" for v in set(before) if before.count(v) < least}
    assert not rare & {bar.label for bar in public}
    assert len(public) <= 12
    assert sum(bar.before_count for bar in public) == len(before)
    assert sum(bar.after for bar in public) == pytest.approx(1.0)
    few = [bar for bar in public if 0 < bar.before_count < least]
    assert all((bar.label, bar.before) == ("other values", None) for bar in few)


def test_a_new_value_that_names_a_rare_one_is_counted_among_the_others():
    before = (np.zeros(20, np.int32), ["flu"])
    before[0][0] = 1
    before[1].append("plague")
    after = (np.zeros(20, np.int32), ["{flu, plague}"])
    weights = (np.ones(20), np.ones(20))
    public, full = View.public(3, rounded=True), View.full(3)
    bars = [category_bars(Flat(), before, after, weights, view) for view in (public, full)]
    assert not any("plague" in bar.label for bar in bars[0])
    assert any("plague" in bar.label for bar in bars[1])


def test_small_counts_become_words_and_charts_are_as_coarse_as_the_words():
    public, internal = Discretion(5, internal=False), Discretion(5, internal=True)
    assert public.share(3 / 50, 50) == "fewer than 5"
    assert public.share(5 / 50, 50) == "10%"
    assert public.share(7 / 50, 50) == "10%"
    assert public.share(49 / 50, 50) == "more than 90%"
    assert public.percent(1 / 50, 50) == "less than 10%"
    assert public.share(123 / 1000, 1000) == "12%"
    assert (public.distance(0.123, 50), public.distance(0.123, 1000)) == ("0.10", "0.12")
    assert (public.distance(0.04, 50), internal.distance(0.123, 50)) == ("<0.10", "0.12")
    assert public.share(0.0, 50) == "none"
    assert internal.share(3 / 50, 50) == "6.0% (3)"
    assert (public.drawn(0.12345), internal.drawn(0.12345)) == (12.0, 12.35)
    assert (public.drawn(0.12345, 50), internal.drawn(0.12345, 50)) == (10.0, 12.35)
    assert public.drawn(None) is None
    assert (public.size(4), public.size(1234), internal.size(4)) == (
        "fewer than 5",
        "1,200 to 1,249",
        "4",
    )


def test_a_limit_does_not_count_the_few_records_left_out(case):
    gone = Limit(SUPPRESSED, 2 / case.account.records, 0.005)
    account = case.gathered(limits=[gone])
    public, internal = words_of(render(account)), words_of(render(account, internal=True))
    assert "Suppressed records: fewer than 5, the plan allows 0.5%." in public
    assert "0.833" not in public
    assert "Suppressed records: 0.8% (2), the plan allows 0.5%." in internal
    assert grids.limits_grid(account, Discretion(5, internal=False)).rows == (
        ("suppressed records", "fewer than 5", "0.5%", "✗ exceeded"),
    )


def test_groups_of_few_original_records_are_not_spoken_of(remade):
    schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    for rare in (1, 5):
        ages = [20] * (20 - rare) + [60] * rare
        frame = pl.DataFrame({"age": ages, "ill": ["flu"] * (20 - rare) + ["plague"] * rare})
        account = remade(om.Microaggregation(k=5), frame, schema).account
        (public,) = grids.sensitive_grid(account, Discretion(5, internal=False)).rows
        (internal,) = grids.sensitive_grid(account, Discretion(5, internal=True)).rows
        assert ("→" in public[-1]) == (rare >= 5)
        assert internal[-1].startswith(f"{1 - rare / 20:.2f} → ")
        assert internal[-1].endswith(public[-1])


@pytest.mark.parametrize("original", ["input", "original"])
def test_the_digest_of_the_original_is_internal(case, original):
    account = case.gathered(digests={original: "0a1b2c", "output": "3d4e5f"})
    assert "0a1b2c" not in render(account)
    assert "3d4e5f" in render(account)
    assert "0a1b2c" in render(account, internal=True)


def test_a_public_plan_keeps_what_matters_and_nothing_else():
    shown = tomllib.loads(public_plan(PLAN, ["severity", "diagnosis", "town"]))
    assert shown == {
        "input": {"path": "people.csv", "missing": ["NA"]},
        "columns": {
            "severity": {"kind": "ordinal", "order": "(not shown)"},
            "diagnosis": {"kind": "nominal", "overrides": "(not shown)"},
        },
        "steps": [
            {"method": "microaggregation", "k": 5, "strata": ["town"]},
            {"method": "pseudonyms"},
        ],
    }


def test_an_internal_plan_is_the_whole_plan_but_for_secrets(case):
    harmless = PLAN.replace('key = "a secret of Quuxville"', "length = 20")
    assert internal_plan(harmless) == harmless
    shown = tomllib.loads(internal_plan(PLAN))
    assert (shown["seed"], shown["steps"][1]) == (918273645, {"method": "pseudonyms"})
    assert shown["columns"]["severity"]["order"] == ["mild", "grave", "catastrophic"]
    assert "a secret of" not in render(case.gathered(plan=PLAN), internal=True)
    column = '[columns.key]\nkind = "flat"\n'
    assert "[columns.key]" in internal_plan(PLAN + column)


def test_a_plan_that_cannot_be_read_is_not_shown(case):
    assert public_plan("this is = = no plan", []) == ""
    account = case.gathered(plan="Quuxville = = broken")
    assert "Quuxville" not in render(account)
    assert "<h3>Plan</h3>" not in render(account)


def test_a_plan_in_other_writings_survives():
    text = """
name = 'a "quoted" name'
day = 2024-01-31
flag = true
rate = 0.25
["a b".c]
x = 1
[[steps]]
[[steps.privacy]]
model = "k-anonymity"
"""
    assert tomllib.loads(public_plan(text, [])) == tomllib.loads(text)
