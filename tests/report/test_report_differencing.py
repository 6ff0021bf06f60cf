"""Nobody who has the release and its public report can find out about people who were left out.

First by attack: an intruder subtracts what the release shows from what the report says. Then by
principle: the public report is the same, byte for byte, whoever was left out, as long as it is
about as many; so running the software on a guess tells nothing either.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.evaluation.evaluation import Settings, evaluate_paired
from ontomask.evaluation.pairing import pair_tables
from ontomask.plan import Plan
from ontomask.report.discretion import public_plan
from ontomask.report.document import render
from ontomask.report.facts import LOSS, SUPPRESSED, Limit, Run, gather
from ontomask.report.promised import in_words
from ontomask.report.words import STEPS, bucket, coarse, percent, step

K = 5
ILLS = ("flu", "cold", "burn", "cut")
COLUMNS = ("age", "town", "ill", "stay")


# The tables -----------------------------------------------------------------------------------


def kept_people(seed: int, count: int) -> list[tuple[Any, ...]]:
    """People of whom always more than k look the same."""
    generator = np.random.default_rng(seed)
    looks = list(itertools.product((20, 30, 40), ("Aa", "Bb")))
    return [
        (*looks[place % len(looks)], str(generator.choice(ILLS)), int(generator.integers(1, 9)))
        for place in range(count)
    ]


def outliers(seed: int, count: int) -> list[tuple[Any, ...]]:
    """People of whom no two look the same."""
    generator = np.random.default_rng(1000 + seed)
    return [
        (61 + place, "Aa", str(generator.choice(ILLS)), int(generator.integers(1, 9)))
        for place in range(count)
    ]


def without_town(people: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(age % 30 + 20, None, *rest) for age, _, *rest in people]


def frame_of(people: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=list(COLUMNS), orient="row")


SCHEMA = om.Schema(
    age=om.Numeric(),
    town=om.Flat(),
    ill=om.Flat(role="sensitive"),
    stay=om.Numeric(role="sensitive"),
)
SUPPRESSING = om.Schema.of({**SCHEMA, "town": om.Flat(missing="suppress")})
HIERARCHIES = {
    "age": [[str(age), f"{age // 20 * 20}s", "*"] for age in (20, 30, 40, *range(61, 81))],
    "town": [["Aa", "*"], ["Bb", "*"]],
}


def generalization(*more: Any, **parameters: Any) -> om.Generalization:
    return om.Generalization(
        [om.privacy.KAnonymity(K), *more],
        suppression_limit=0.2,
        hierarchies=HIERARCHIES,
        **parameters,
    )


SAME = {
    "suppression": (SCHEMA, om.Suppression(k=K), outliers),
    "generalization": (SCHEMA, generalization(outliers="drop"), outliers),
    "too few to star": (SCHEMA, generalization(), outliers),
    "diversity": (SCHEMA, generalization(om.privacy.LDiversity(2, column="ill")), outliers),
    "closeness": (SCHEMA, generalization(om.privacy.TCloseness(0.6, column="ill")), outliers),
    "missing": (SUPPRESSING, om.Microaggregation(k=K), lambda *a: without_town(outliers(*a))),
    "then microaggregation": (
        SCHEMA,
        [om.Suppression(k=K), om.Microaggregation(k=7)],
        outliers,
    ),
    "then rounding": (SCHEMA, [om.Suppression(k=K), om.Rounding(("stay",), base=2)], outliers),
}
"""Ways to leave out whoever stands out; the rest of the release does not depend on them."""


def made(way: str, gone: list[tuple[Any, ...]], people: list[tuple[Any, ...]]) -> tuple[Any, str]:
    """The release and the public report of some people, of whom the last ones stand out."""
    schema, method, _ = SAME[way]
    frame = frame_of([*people, *gone])
    release = om.protect(frame, schema, method, seed=7)
    return release, render(release.account(frame))


# What an intruder reads -----------------------------------------------------------------------


class _Tables(HTMLParser):
    """The tables of a page, by caption: label of a row, then its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, dict[str, list[str]]] = {}
        self.caption, self.row, self.text, self.inside = "", [""], "", False

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.caption = ""
        elif tag == "tr":
            self.row = []
        elif tag in ("th", "td", "caption"):
            self.text, self.inside = "", True

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption = self.text
        elif tag in ("th", "td"):
            self.row.append(self.text)
        elif tag == "tr" and self.row:
            self.found.setdefault(self.caption, {})[self.row[0]] = self.row[1:]
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.text += data


def tables_of(page: str) -> dict[str, dict[str, list[str]]]:
    reader = _Tables()
    reader.feed(page)
    return reader.found


def subtracted(page: str, released: pl.DataFrame) -> tuple[str, ...]:
    """The sensitive values of the people left out, as far as bars before and after tell them.

    Every choice of up to k - 1 values is tried; the smallest one with which the release would have
    the bars before is taken.
    """
    bars = {label: cells[0] for label, cells in tables_of(page)["ill"].items() if label in ILLS}
    counts = Counter(released["ill"].to_list())
    guesses = (
        guess for size in range(K) for guess in itertools.combinations_with_replacement(ILLS, size)
    )
    return next(guess for guess in guesses if _fits(bars, counts, guess))


def _fits(bars: dict[str, str], counts: Counter[str], guess: tuple[str, ...]) -> bool:
    before = counts + Counter(guess)
    return all(text == percent(before[label] / before.total()) for label, text in bars.items())


@pytest.mark.parametrize("way", ["suppression", "generalization", "too few to star", "missing"])
def test_subtracting_the_release_from_the_report_leaves_nothing(way):
    for seed in range(3):
        count = 1 + seed % (K - 1)
        gone = SAME[way][2](seed, count)
        release, page = made(way, gone, kept_people(seed, 100 - count))
        assert len(release.frame) == 100 - count
        assert subtracted(page, release.frame) == ()


def test_the_intruder_would_succeed_if_bars_spoke_of_everybody():
    """The attack is a good one: on bars of the whole original it finds the value."""
    hits = 0
    for seed in range(25):
        everyone = Counter(one[2] for one in [*kept_people(seed, 99), *outliers(seed, 1)])
        cells = "".join(
            f"<tr><th>{ill}</th><td>{percent(everyone[ill] / 100)}</td></tr>" for ill in ILLS
        )
        page = f"<table><caption>ill</caption>{cells}</table>"
        hits += subtracted(page, frame_of(kept_people(seed, 99))) == (outliers(seed, 1)[0][2],)
    assert hits == 25


# The same report whoever was left out ---------------------------------------------------------


@pytest.mark.parametrize("way", SAME)
def test_the_report_is_the_same_whoever_was_left_out(way):
    """Other values, another number in the same range, none at all: not a byte differs."""
    people, make = kept_people(3, 96), SAME[way][2]
    release, page = made(way, make(3, 2), people)
    assert 0 < len(release.frame) == len(people)
    others = [("zzz", 1), ("cut", 8)]
    guesses = {
        "other values": [(*one[:2], *other) for one, other in zip(make(3, 2), others, strict=True)],
        "another number": make(4, K - 1),
        "other looks": [(one[0] + 9, "Bb" if one[1] else None, *one[2:]) for one in make(3, 2)],
        "none": [],
    }
    for what, gone in guesses.items():
        other, again = made(way, gone, people)
        assert other.frame.equals(release.frame), what
        assert again == page, what


STEPWISE = {
    "sampling": (SCHEMA, om.Sampling(size=80)),
    "share": (SCHEMA, om.Sampling(share=0.9)),
    "sampling, then microaggregation": (SCHEMA, [om.Sampling(size=80), om.Microaggregation(k=K)]),
    "rank swapping, then sampling": (SCHEMA, [om.RankSwapping(share=1), om.Sampling(size=80)]),
    "suppression, then rank swapping": (SCHEMA, [om.Suppression(k=K), om.RankSwapping(share=0.2)]),
    "noise, then sampling": (SCHEMA, [om.Noise(("stay",)), om.Sampling(size=80)]),
    "sampling, then stars": (SCHEMA, [om.Sampling(size=80), om.Suppression(k=K, outliers="star")]),
}
"""Ways in which the release does depend on everybody: another original is made up for it."""


def changed_counts(value: object) -> object:
    """What a step would report of itself, had it seen a few records more."""
    if isinstance(value, dict):
        return {key: changed_counts(one) for key, one in value.items() if key != "levels"}
    return value + 3 if isinstance(value, (int, float)) else value


def report_on(release: om.Release, original: pl.DataFrame, rows: Any, **more: Any) -> str:
    paired = pair_tables(original, release.frame, release.schema, rows=rows)
    evaluation = evaluate_paired(paired, Settings(k=K))
    details, seed = more.pop("details", release.details), more.pop("seed", None)
    run = Run(evaluation=evaluation, verification=release.verification, **more)
    told = {"rows": rows, "steps": release.steps, "details": details, "seed": seed}
    return render(gather(original, release.frame, release.schema, run, **told))


def with_others(frame: pl.DataFrame, rows: Any, gone: list[tuple[Any, ...]]) -> tuple[Any, Any]:
    """A table with the same people in the release, and others, up to the front, who are not."""
    return pl.concat([frame_of(gone), frame[rows]]), np.arange(len(gone), len(gone) + len(rows))


@pytest.mark.parametrize("way", STEPWISE)
def test_the_report_is_the_same_whatever_the_others_were(way):
    schema, method = STEPWISE[way]
    frame = frame_of([*kept_people(5, 94), *outliers(5, 6)])
    release = om.protect(frame, schema, method, seed=11)
    page = report_on(release, frame, release.rows, seed=1, timings={"encode": 1.0})
    count = len(frame) - len(release.frame)
    first, last = bucket(count, K if "micro" in way or "stars" in way else 3)
    for number in {first or 1, count, last}:
        gone = [(99, "Zz", "zzz", 77), *outliers(8, number - 1)]
        original, rows = with_others(frame, release.rows, gone)
        details = [changed_counts(dict(one)) for one in release.details]
        again = report_on(release, original, rows, details=details, seed=2, timings={"encode": 2.0})
        assert again == page, number


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_the_report_is_the_same_for_every_kind_of_frame(kind):
    people = [*kept_people(2, 97), *outliers(2, 3)]
    frames = [frame_of(people), getattr(frame_of(people), f"to_{kind}")()]
    pages = []
    for frame in frames:
        release = om.protect(frame, SCHEMA, om.Suppression(k=K), seed=1)
        pages.append(re.sub('"digest">[^<]+<', "", render(release.account(frame))))
    assert pages[0] == pages[1]


def test_meanings_are_measured_without_the_words_of_others():
    """Some distances depend on which concepts a column holds; some columns weigh their records."""
    parents = {"top": [], "near": ["top"], "far": ["top"]}
    parents |= {name: ["near"] for name in ("flu", "cold", "cut")}
    parents |= {f"far{place}": [f"far{place - 1}" if place else "far"] for place in range(5)}
    taxonomy = om.Taxonomy.from_parents(parents, name="depths")
    schema = om.Schema.of(
        {
            "ill": om.Nominal(taxonomy, measure="weighted-path"),
            "age": om.Numeric(),
            "weight": om.Weight(),
        }
    )
    generator = np.random.default_rng(1)
    people = {
        "ill": generator.choice(["flu", "cold", "cut"], 90).tolist(),
        "age": generator.choice([20.0, 30.0], 90).tolist(),
        "weight": generator.choice([1.0, 2.5], 90).tolist(),
    }
    pages = []
    for gone in (["flu", "flu"], ["far4", "far4"], ["near"]):
        more = {"ill": gone, "age": [71.0 + place for place, _ in enumerate(gone)]}
        more["weight"] = [9.0 / len(gone)] * len(gone)
        frame = pl.DataFrame({name: [*people[name], *more[name]] for name in people})
        steps = [om.Suppression(k=K), om.Microaggregation(k=7)]
        release = om.protect(frame, schema, steps, seed=1)
        assert len(release.frame) == 90
        limits = [Limit(LOSS, release.evaluate().loss.loss, 0.99)]
        pages.append(render(release.account(frame, limits=limits)))
    assert len(set(pages)) == 1
    assert "information loss: not told here" in pages[0], "what the others weighed is not known"


def test_promises_do_not_tell_of_those_left_out_afterwards():
    """Neither that there are any, nor that they wrote their values otherwise."""
    taxonomy = om.Taxonomy.from_parents({"ill": [], **{name: ["ill"] for name in ILLS}}, name="i")
    towns = om.Taxonomy.from_parents({"top": [], "Aa": ["top"], "Bb": ["top"]}, name="t")
    schema = om.Schema.of(
        {**SCHEMA, "ill": om.Nominal(taxonomy, role="sensitive"), "town": om.Nominal(towns)}
    )
    people, swap = kept_people(1, 96), om.RankSwapping(k=9, columns=("ill",))
    others = [[], [(70, "Aa", "flu", 1)], [(70, "AA", "Flu", 1), (71, "bb", "CUT", 2)]]
    for steps in ([swap, om.Suppression(k=K)], [swap, generalization(outliers="drop")]):
        told = set()
        for gone in others:
            release = om.protect(frame_of([*people, *gone]), schema, steps, seed=1)
            assert len(release.frame) == 96
            told.add(in_words(release.verification))
        assert len(told) == 1


# Whole runs -----------------------------------------------------------------------------------

PLAN = """
seed = 5
[input]
path = "people.csv"
[columns.age]
kind = "numeric"
[columns.town]
kind = "flat"
[columns.ill]
kind = "flat"
role = "sensitive"
[columns.stay]
kind = "numeric"
role = "sensitive"
[[steps]]
method = "generalization"
suppression_limit = 0.05
outliers = "drop"
[[steps.privacy]]
model = "k-anonymity"
k = 5
[[steps.privacy]]
model = "t-closeness"
t = 0.6
column = "ill"
[steps.hierarchies]
age = "ages.csv"
town = [["Aa", "*"], ["Bb", "*"]]
[evaluation]
target = "ill"
features = ["age", "town", "stay"]
classifiers = ["zero-r", "tree"]
folds = 3
clustering = true
[limits]
max_suppressed = 1.5
max_loss = 1
max_linkage = 50
"""
MADE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def run(folder: Any, people: list[tuple[Any, ...]]) -> tuple[Any, str]:
    pytest.importorskip("sklearn")
    folder.mkdir()
    frame_of(people).write_csv(folder / "people.csv")
    rows = "".join(f"{','.join(row)}\n" for row in HIERARCHIES["age"])
    (folder / "ages.csv").write_text(rows, encoding="utf-8")
    outcome = Plan.parse(PLAN, folder=folder).run()
    return outcome, MADE.sub("", outcome.report.read_text(encoding="utf-8"))


def test_the_report_of_a_run_is_the_same_whoever_was_left_out(tmp_path):
    """With limits that some of the guesses exceed and others do not, and with classifiers."""
    people = kept_people(3, 96)
    variants = [outliers(3, 1), outliers(9, 1), outliers(4, 3), []]
    runs = [run(tmp_path / str(n), [*people, *gone]) for n, gone in enumerate(variants)]
    assert len({len(outcome.exceeded) for outcome, _ in runs}) > 1
    assert len({outcome.table.read_bytes() for outcome, _ in runs}) == 1
    assert len({page for _, page in runs}) == 1
    page = runs[0][1]
    assert "What classifiers still learn" in page
    assert "suppressed records</th><td>fewer than 5</td><td>1.5%</td><td>– not told" in page
    assert "the answer would tell of the few records that were left out" in page
    assert "0.05" not in page


# Limits ---------------------------------------------------------------------------------------


@given(
    count=st.integers(0, 60),
    allowed=st.sampled_from([0.0, 0.004, 0.01, 0.03, 0.055, 0.1, 0.2]),
    name=st.sampled_from([SUPPRESSED, LOSS]),
    loss=st.floats(0.0, 30.0),
)
def test_a_limit_is_judged_alike_for_all_counts_that_are_not_told_apart(
    case, count, allowed, name, loss
):
    from ontomask.report.discretion import Discretion
    from ontomask.report.sentences import judged

    def told(gone: int) -> Any:
        figures = {"sse": loss, "sst": 50.0, "loss": loss / 50.0}
        released = dataclasses.replace(case.evaluation.released, **figures)
        measured = gone / (case.account.records + gone)
        if name == LOSS:
            measured = (loss + gone) / (50.0 + gone)
        account = dataclasses.replace(
            case.account,
            evaluation=dataclasses.replace(case.evaluation, released=released),
            original_records=case.account.records + gone,
            left_out=bucket(gone, K),
            limits=(Limit(name, measured, allowed),),
        )
        (one,) = judged(account, Discretion(K, internal=False))
        assert one.exceeded in (None, measured > allowed)
        return one

    first, last = bucket(count, K)
    assert len({told(gone) for gone in range(first, last + 1)}) == 1


# How many -------------------------------------------------------------------------------------


@given(st.integers(0, 10**7), st.integers(3, 50))
def test_a_number_is_told_as_a_range_of_at_least_k(count, least):
    first, last = bucket(count, least)
    assert first <= count <= last
    assert last - first + 1 >= least
    assert bucket(first, least) == bucket(last, least) == (first, last)
    assert bucket(last + 1, least)[0] == last + 1
    assert (last - first + 1) <= max(least, 0.11 * max(count, 1))


@given(st.integers(3, 50), st.integers(1, 5000))
def test_a_share_is_told_in_steps_of_at_least_k_records(least, records):
    width = step(least, records)
    assert width * records >= least or width == STEPS[-1]
    told = [coarse(count / records, least, records) for count in range(records + 1)]
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    if width > STEPS[0] and records > 2 * least:
        inner = Counter(round(100 * one) for one in told[1:-1])
        assert all(times >= least // 2 for times in inner.values())
        assert 0 not in inner
        assert 100 not in inner


def test_the_plan_does_not_tell_how_many_were_left_out():
    text = """
[[steps]]
method = "sampling"
share = 0.9
[[steps]]
method = "sampling"
size = 80
[[steps]]
method = "generalization"
suppression_limit = 0.015
[[steps]]
method = "generalization"
suppression_limit = 0
[columns.size]
kind = "numeric"
"""
    shown = public_plan(text, ["size"])
    assert shown.count('"(not shown)"') == 3
    assert "suppression_limit = 0\n" in shown
    assert "[columns.size]" in shown
    for number in ("0.9", "80", "0.015"):
        assert number not in shown


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (om.Microaggregation(k=K), "No record was left out."),
        (om.Suppression(k=K, outliers="star"), "No record was left out."),
        (
            generalization(algorithm="tuple").__class__(
                [om.privacy.KAnonymity(K)], hierarchies=HIERARCHIES
            ),
            "",
        ),
        (om.Suppression(k=K), "Records left out: fewer than 5, or none."),
        (generalization(), "Records left out: fewer than 5, or none."),
    ],
)
def test_none_is_said_only_where_nobody_can_be_left_out(method, said):
    frame = frame_of(kept_people(1, 96))
    release = om.protect(frame, SCHEMA, method, seed=1)
    assert len(release.frame) == 96
    assert (said or "No record was left out.") in render(release.account(frame))


# Values that became stars ---------------------------------------------------------------------


def starred(seed: int, count: int) -> tuple[om.Release, pl.DataFrame]:
    frame = frame_of([*kept_people(seed, 100 - count), *outliers(seed, count)])
    return om.protect(frame, SCHEMA, om.Suppression(k=K, outliers="star"), seed=1), frame


def section(page: str, title: str) -> str:
    return page.partition(f">{title}</h2>")[2].partition("</section>")[0]


def test_what_became_of_stars_is_in_no_bar_and_in_no_mean():
    """The others are unchanged, so that any difference of before and after would be theirs."""
    release, frame = starred(1, 7)
    assert release.frame["age"].null_count() == 7
    page = render(release.account(frame))
    for column in ("age", "town"):
        bars = tables_of(page)[column]
        del bars[column]
        assert len(bars) > 2
        for label, (before, after) in bars.items():
            assert before == after, label
    statistics = tables_of(page)["Means and spreads"]
    assert {name: before == after for name, (before, after) in statistics.items() if name} == {
        "age, mean": True,
        "age, standard deviation": True,
    }


def test_other_values_under_the_stars_change_no_bar_and_no_mean():
    release, frame = starred(2, 7)
    values = np.arange(7)
    other = frame.with_columns(
        age=pl.concat([frame["age"][:93], pl.Series(values + 90, dtype=frame["age"].dtype)])
    )
    pages = [report_on(release, one, np.arange(100)) for one in (frame, other)]
    for title in ("Distributions before and after", "Statistics before and after"):
        first, second = (section(page, title) for page in pages)
        assert "age" in first
        assert first == second


def test_a_few_changed_values_are_not_told_by_means_bars_or_losses():
    """A single number is cut off: mean times records, before less after, would be what it was."""
    people = kept_people(6, 100)
    frame, pages = frame_of(people), {}
    for cut in (40.0, 30.5):
        stays = [float(one[3]) for one in people[1:]]
        original = frame.with_columns(stay=pl.Series([cut, *stays]))
        method = om.TopBottomCoding(("stay",), top=9)
        release = om.protect(original, SCHEMA, method, seed=1)
        assert release.frame["stay"].max() == 9
        loss = Limit(LOSS, release.evaluate().loss.loss, 0.01)
        pages[cut] = render(release.account(original, limits=[loss]))
    assert pages[40] == pages[30.5]
    found = tables_of(pages[40])
    assert found["Means and spreads"]["stay, mean"][0] == "made up by few records"
    assert "stay" not in found["Information loss per column"]
    assert "No information loss is told" in pages[40]
    assert "fewer than 5 changed" in re.sub(r"fewer than \d", "fewer than 5", pages[40])


def test_rare_values_cannot_be_counted_by_what_is_missing_from_the_rest():
    """Bars of the original add up to all: they are rounded so that the rest stays a guess."""
    generator = np.random.default_rng(4)
    for rare in (1, 2, 4):
        towns = ["Aa"] * 60 + ["Bb"] * (40 - rare) + [f"z{place}" for place in range(rare)]
        ages = generator.integers(20, 60, 100).tolist()
        frame = pl.DataFrame({"town": towns, "age": ages})
        schema = om.Schema(town=om.Flat(), age=om.Numeric())
        release = om.protect(frame, schema, om.Microaggregation(k=K), seed=1)
        bars = tables_of(render(release.account(frame)))["town"]
        told = [int(bars[label][0].rstrip("%")) for label in ("Aa", "Bb")]
        assert [one % 5 for one in told] == [0, 0]
        assert bars["other values"][0] == "fewer than 5 records"


def test_how_deep_a_taxonomy_goes_for_those_left_out_is_not_told():
    """The height of a hierarchy made of the column's values depends on all of them."""
    deep = om.Taxonomy.from_parents(
        {
            **{"ill": [], "infection": ["ill"], "flu": ["infection"], "cold": ["infection"]},
            **{"odd": ["ill"], "odder": ["odd"], "oddest": ["odder"], "most": ["oddest"]},
        }
    )
    pages, heights = {}, set()
    for last in ("odder", "most"):
        frame = pl.DataFrame({"ill": ["flu"] * 3 + ["cold"] * 3 + [last]})
        method = om.Generalization(
            [om.privacy.KAnonymity(5)], suppression_limit=0.2, outliers="drop"
        )
        release = om.protect(frame, om.Schema(ill=om.Nominal(deep)), method, seed=1)
        assert release.frame["ill"].to_list() == ["infection"] * 6
        heights.add(release.generalized["ill"])
        pages[last] = render(release.account(frame))
    assert len(heights) == 2
    assert pages["odder"] == pages["most"]
