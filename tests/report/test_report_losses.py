"""What the first screen says about loss."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.report import figures, grids, losses
from ontomask.report.discretion import Discretion
from ontomask.report.document import render
from ontomask.report.facts import Run, gather

PUBLIC, INTERNAL = Discretion(5, internal=False), Discretion(5, internal=True)


def told(account, start, discretion=PUBLIC):
    return [one for one in losses.lost(account, discretion) if one.startswith(start)]


def test_the_column_that_lost_most_comes_with_its_figures(case):
    by_name = {one.name: one for one in case.evaluation.loss.columns}
    ordered = sorted(by_name, key=lambda name: by_name[name].semantic_loss)
    (said,) = told(case.account, "Most was lost in ")
    most, least = by_name[ordered[-1]], by_name[ordered[0]]
    changed = [PUBLIC.share(one.changed, 240) for one in (most, least)]
    assert said.startswith(f"Most was lost in {most.name}: {changed[0]} of its values")
    assert f"to the original is {PUBLIC.distance(most.semantic_loss, 240)}" in said
    assert f"Least in {least.name}: {changed[1]} changed, mean distance" in said


def test_distances_come_with_their_scale(remade):
    frame = pl.DataFrame({"age": list(range(40)), "town": ["Aa", "Bb"] * 20})
    number = remade(om.Noise(columns=["age"]), frame, om.Schema(age=om.Numeric(), town=om.Flat()))
    assert told(number.account, "Most was lost in age")[0].endswith(" standard deviations.")
    schema = om.Schema(age=om.Numeric(role="other"), town=om.Flat())
    word = remade(om.Pram(retain=0.5, algorithm="plain"), frame, schema)
    assert told(word.account, "Most was lost in town")[0].endswith("(0 = same, 1 = unrelated).")


@pytest.mark.parametrize("method", ["microaggregation", "rank swapping", "suppression"])
def test_loss_and_linkage_are_rounded_alike_everywhere(cases, method):
    account = cases[method].account
    loss = losses.loss_words(account.evaluation.released.loss)
    assert re.fullmatch(r"\d+\.\d%|0%", loss)
    assert f" is {loss}, an average" in losses.lost(account, PUBLIC)[0]
    assert grids.loss_grid(account, PUBLIC).rows[0][1] == loss
    page = render(account)
    assert f'<dt>information loss</dt><dd class="number">{loss}</dd>' in page
    linked = max(
        figures.linkage(account, PUBLIC).grid.rows, key=lambda row: int(row[2].strip("<%"))
    )[2]
    words = linked.replace("<", "&lt;")
    assert f'<dt>of records linked correctly</dt><dd class="number">{words}</dd>' in page
    assert f"{linked.replace('<', 'fewer than ').rstrip('%')} of 100 cases" in page


# Distributions --------------------------------------------------------------------------------


def test_a_distribution_that_shifted_is_named_with_its_largest_change(remade):
    frame = pl.DataFrame({"town": ["Aa"] * 60 + ["Bb"] * 40, "sex": ["m", "f"] * 50})
    schema = om.Schema(town=om.Flat(), sex=om.Flat())
    case = remade(om.Suppression(k=2), frame, schema)
    masked = frame.with_columns(town=pl.Series(["Aa"] * 75 + ["Bb"] * 25))
    evaluation = om.evaluate(frame, masked, schema)
    account = gather(frame, masked, schema, Run(evaluation=evaluation))
    assert told(account, "Distributions") == ["Distributions shifted: town (“Aa”: 60% → 75%)."]
    assert told(case.account, "Distributions") == []


def test_of_many_shifts_the_strongest_are_told(remade):
    generator = np.random.default_rng(2)
    columns = {f"c{place}": generator.integers(0, 4, 60) for place in range(9)}
    schema = om.Schema.of({name: om.Numeric() for name in columns})
    account = remade(om.Microaggregation(k=20), pl.DataFrame(columns), schema).account
    (said,) = told(account, "Distributions")
    assert said.count("→") == losses.NAMED
    assert re.search(r"and \d more\.$", said)


def test_ranges_are_no_shift(cases):
    account = cases["generalization"].account
    assert told(account, "Distributions") == []


# Missing values -------------------------------------------------------------------------------


def made_missing(filled, added, records=200):
    """A table in which a masking filled some missing values and added others."""
    before: list[str | None] = ["a", "b"] * (records // 2)
    after = list(before)
    before[:filled] = [None] * filled
    after[filled : filled + added] = [None] * added
    frame, masked = (pl.DataFrame({"job": side}) for side in (before, after))
    schema = om.Schema(job=om.Flat())
    run = Run(evaluation=om.evaluate(frame, masked, schema))
    return gather(frame, masked, schema, run)


@pytest.mark.parametrize(
    ("filled", "added", "public", "internal"),
    [
        (0, 0, [], []),
        (17, 0, ["15 to 19 filled"], ["17 filled"]),
        (0, 123, ["120 to 124 added"], ["123 added"]),
        (57, 2, ["55 to 59 filled and fewer than 5 added"], ["57 filled and 2 added"]),
    ],
)
def test_missing_values_that_were_filled_or_added(filled, added, public, internal):
    account = made_missing(filled, added)
    for discretion, said in ((PUBLIC, public), (INTERNAL, internal)):
        expected = [f"Missing values: {one} in job." for one in said]
        assert told(account, "Missing values", discretion) == expected


def test_records_left_out_neither_fill_nor_add(remade):
    frame = pl.DataFrame({"age": [1, 2, None, *[3] * 20, *[None] * 10]})
    account = remade(om.Suppression(k=3), frame, om.Schema(age=om.Numeric())).account
    assert account.records < account.original_records
    assert told(account, "Missing values") == []


# Relations ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outlier(remade):
    """A correlation of nearly 1 that a single record makes up, and one that all make up."""
    generator = np.random.default_rng(3)
    pay, tax, age = generator.normal(50, 5, (3, 200))
    pay[0] = tax[0] = 987654.0
    frame = pl.DataFrame({"pay": pay, "tax": tax, "age": age, "size": age + tax / 1e6})
    schema = om.Schema.of({name: om.Numeric() for name in frame.columns})
    return remade(om.Noise(columns=frame.columns, scale=0.5), frame, schema).account


def test_a_correlation_that_one_record_makes_up_is_not_public(outlier):
    public, internal = (figures.relations(outlier, one) for one in (PUBLIC, INTERNAL))
    assert [row[0] for row in public.grid.rows] == ["age – size"]
    assert [row[0] for row in internal.grid.rows][:2] == ["pay – tax", "age – size"]
    assert public.note.endswith("leaving out those that few records make up")
    assert "leaving out" not in internal.note
    assert not re.search("pay – |tax – | – pay| – tax", render(outlier))
    assert "pay – tax" in render(outlier, internal=True)
    assert told(outlier, "The correlation of age and size changed by ")
    assert told(outlier, "Correlations between published columns changed", INTERNAL)


def test_words_are_never_dominated_by_their_lack_of_numbers(remade, case):
    schema = om.Schema.of({**case.schema, "other": case.schema["diagnosis"]})
    frame = case.frame.with_columns(other=case.frame["diagnosis"].reverse())
    account = remade(om.Microaggregation(k=5), frame, schema).account
    kinds = {row[1] for row in figures.relations(account, PUBLIC).grid.rows}
    assert "semantic" in kinds


# Combinations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (om.Microaggregation(k=5), True),
        (om.Resampling(k=5), True),
        (om.Hybrid(k=5), True),
        (om.Recoding(k=5), False),
        (om.Suppression(k=5), False),
        (om.RankSwapping(k=5), False),
    ],
)
def test_new_combinations_are_spoken_of_where_they_are_made(remade, method, said):
    generator = np.random.default_rng(1)
    ages = generator.integers(20, 24, 80)
    frame = pl.DataFrame({"age": ages, "town": generator.choice(["Aa", "Bb"], 80)})
    schema = om.Schema(age=om.Numeric(), town=om.Flat())
    account = remade(method, frame, schema).account
    assert ("New values are made column by column" in render(account)) == said
    alone = om.Schema(age=om.Numeric(), town=om.Flat(role="other"))
    assert not told(remade(method, frame, alone).account, "New values are made")


# Words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["microaggregation", "rank swapping", "generalization"])
def test_the_report_says_group(cases, method):
    texts = re.findall(
        r">([^<]+)<", render(cases[method].account, internal=True).split("<body>")[1]
    )
    found = [one for one in texts if re.search(r"\bclass(es)?\b", one)]
    assert found == ["group (equivalence class)"]
