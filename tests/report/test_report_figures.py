"""Charts as data, and the tables beside them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.evaluation.classification import judge_classification
from ontomask.report import figures, grids
from ontomask.report.discretion import Discretion
from ontomask.report.document import render

PUBLIC, INTERNAL = Discretion(5, internal=False), Discretion(5, internal=True)


def values(figure):
    return figure.spec["data"]["values"]


def test_group_sizes_add_up_and_show_the_promise(case):
    figure = figures.class_sizes(case.account, INTERNAL)
    assert sum(one["before"] for one in values(figure)) == pytest.approx(100, abs=0.1)
    assert sum(one["after"] for one in values(figure)) == pytest.approx(100, abs=0.1)
    small = [one for one in values(figure) if one["label"] in ("1", "2", "3–4")]
    assert small
    assert all(one["after"] == 0 for one in small)


def test_few_records_of_a_size_are_not_counted_in_public(remade):
    frame = pl.DataFrame({"age": [1] * 30 + [2] * 30 + [3, 4]})
    account = remade(om.Microaggregation(k=5), frame, om.Schema(age=om.Numeric())).account
    public = figures.class_sizes(account, PUBLIC)
    assert values(public)[0]["before"] is None
    assert public.grid.rows[0][1] == "fewer than 5"
    assert figures.class_sizes(account, INTERNAL).grid.rows[0][1] == "3.2% (2)"
    rows = {row[0]: row for row in grids.risk_grid(account, PUBLIC).rows}
    assert rows["smallest group"][1] == "fewer than 5"
    assert rows["unique records"][1] == "fewer than 5"
    assert rows["highest risk of a record"][1] == "more than 20%"
    inside = {row[0]: row for row in grids.risk_grid(account, INTERNAL).rows}
    assert inside["smallest group"][1] == "1"
    assert inside["highest risk of a record"][1] == "100%"


def test_distributions_of_every_kind_of_column(case):
    shapes = {
        one.name: figures.distribution(one, PUBLIC, 240)
        for one in case.account.columns
        if one.distribution is not None
    }
    assert set(shapes) == {"age", "diagnosis", "town", "severity", "admitted", "charge"}
    assert [row[0] for row in shapes["severity"].grid.rows][:2] == ["mild", "grave"]
    assert "grouped by illnesses" in shapes["diagnosis"].note
    assert shapes["charge"].note == "sensitive · number · unchanged"
    for figure in shapes.values():
        assert sum(one["after"] for one in values(figure)) == pytest.approx(100, abs=4)
        assert all(float(one["after"]).is_integer() for one in values(figure))


def test_internal_figures_tell_extremes_rare_values_and_counts(case):
    by_name = {one.name: one for one in case.account.columns}
    age = figures.distribution(by_name["age"], INTERNAL, 240)
    assert age.detail.startswith("original values from 20 to 113")
    assert age.grid.head == ("age", "before", "records", "after", "records")
    town = figures.distribution(by_name["town"], INTERNAL, 240)
    assert "rare original values: Quuxville (1)" in town.detail
    assert figures.distribution(by_name["age"], PUBLIC, 240).detail == ""


def test_suppressed_records_count_in_the_distribution_before(cases):
    account = cases["suppression"].account
    town = next(one for one in account.columns if one.name == "town")
    assert sum(bar.before_count for bar in town.distribution.full) == account.original_records
    assert sum(bar.after_count for bar in town.distribution.full) == account.records


def test_missing_values_have_a_bar_of_their_own(remade):
    frame = pl.DataFrame({"age": [None] * 10 + list(range(50)), "sex": ["m", None] * 30})
    schema = om.Schema(age=om.Numeric(), sex=om.Flat())
    account = remade(om.Microaggregation(k=5), frame, schema).account
    for column, count in zip(account.columns, (10, 30), strict=True):
        last = column.distribution.public[-1]
        assert (last.label, last.before_count) == ("missing or suppressed", count)
        assert column.missing.original == count


def test_linkage_compares_with_the_table_as_it_was(case):
    figure = figures.linkage(case.account, PUBLIC)
    before = 100 * case.evaluation.risk_before.average_risk
    assert all(one["before"] == pytest.approx(before, abs=0.5) for one in values(figure))
    risks = [100 * one.risk for one in case.evaluation.linkage]
    assert [one["after"] for one in values(figure)] == pytest.approx(risks, abs=0.5)


def test_losses_come_largest_first(case):
    numbers = [one["after"] for one in values(figures.column_losses(case.account, PUBLIC))]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == len(case.evaluation.loss.columns)


def test_relations_are_those_of_the_evaluation(case):
    figure = figures.relations(case.account, INTERNAL)
    pairs = {one["label"] for one in values(figure)}
    assert "age – admitted" in pairs
    assert {row[1] for row in figure.grid.rows} == {"Pearson", "distance"}


def test_of_a_semantic_mean_only_the_shift_is_public(case):
    statistic = next(one for one in case.evaluation.statistics if one.name == "semantic mean")
    changed = dataclasses.replace(
        statistic, original="zanzibar fever", masked="flu", difference=0.4
    )
    evaluation = dataclasses.replace(case.evaluation, statistics=(changed,))
    account = dataclasses.replace(
        case.account, evaluation=evaluation, statistics=evaluation.statistics
    )
    assert grids.statistics_grid(account, PUBLIC).rows == (
        ("diagnosis, semantic mean", "", "moved by 0.40"),
    )
    assert "zanzibar fever" in grids.statistics_grid(account, INTERNAL).rows[0]


def test_a_mean_made_up_by_few_records_is_not_public(remade):
    generator = np.random.default_rng(3)
    usual = generator.normal(50, 5, 99).round(1).tolist()
    schema = om.Schema(pay=om.Numeric(), age=om.Numeric())
    frame = pl.DataFrame({"pay": [*usual, 987654.0], "age": [*usual, 50.0]})
    account = remade(om.Microaggregation(k=5), frame, schema).account
    assert [one.dominated for one in account.columns] == [True, False]
    public = {row[0]: row[1] for row in grids.statistics_grid(account, PUBLIC).rows}
    inside = {row[0]: row[1] for row in grids.statistics_grid(account, INTERNAL).rows}
    assert public["pay, mean"] == public["pay, standard deviation"] == "made up by few records"
    assert public["age, mean"] == inside["age, mean"]
    assert inside["pay, mean"] == "9,930"


def test_numbers_that_nearly_all_differ_are_not_counted_in_groups(case, remade):
    assert grids.sensitive_grid(case.account, PUBLIC).rows == (("charge", "–", "–", "–"),)
    assert "nearly all numbers of the column are different" in render(case.account)
    frame = pl.DataFrame({"age": list(range(60)), "stay": [1, 2, 3, 4] * 15})
    schema = om.Schema(age=om.Numeric(), stay=om.Numeric(role="sensitive"))
    few = remade(om.Microaggregation(k=5), frame, schema).account
    ((name, *figures_of_it),) = grids.sensitive_grid(few, PUBLIC).rows
    assert name == "stay"
    assert int(figures_of_it[0]) >= 2
    assert "nearly all numbers" not in render(few)


def test_ranges_in_place_of_numbers_are_said_to_be_drawn_at_their_middle(cases):
    columns = {one.name: one for one in cases["generalization"].account.columns}
    assert [name for name, one in columns.items() if one.ranges] == ["age"]
    assert figures.distribution(columns["age"], PUBLIC, 240).note.endswith("drawn at their middle")


def test_dates_have_no_mean_and_no_nearness(case):
    statistics = grids.statistics_grid(case.account, PUBLIC)
    assert not any(row[0].startswith("admitted") for row in statistics.rows)
    assert [row[0] for row in grids.intervals_grid(case.account, PUBLIC).rows] == ["age"]


def test_classification_shows_baseline_original_and_masked(case, remade):
    schema = om.Schema.of({**case.schema, "town": om.Flat(role="sensitive")})
    case = remade(om.Microaggregation(k=5), schema=schema)
    report = judge_classification(
        case.frame, case.schema, "town", lambda _: case.release, classifiers=["zero-r"], folds=2
    )
    account = case.gathered(classification=report)
    figure = figures.classification(account, PUBLIC)
    assert figure.title == "Predicting town"
    assert figure.grid.rows[0][0] == "most frequent value"
    page = render(account)
    assert "What classifiers still learn" in page
    assert "Quuxville" not in page
    assert "What classifiers still learn" not in render(case.account)


def test_every_column_is_accounted_for(case, remade):
    rows = {row[0]: row[1:] for row in grids.columns_grid(case.account, PUBLIC).rows}
    assert rows["person"] == ("identifier", "identifier", "left out")
    assert rows["charge"] == ("number", "sensitive", "unchanged")
    assert rows["age"][2].endswith("of the values changed")
    steps = [om.Pseudonyms(columns=["person"], key="0123456789abcdef"), om.Microaggregation(k=5)]
    account = remade(steps).account
    replaced = ("person", "identifier", "identifier", "replaced")
    assert replaced in grids.columns_grid(account, PUBLIC).rows


def test_every_figure_has_a_definition(case):
    glossary = render(case.account).partition('<dl class="glossary">')[2].partition("</dl>")[0]
    entries = re.findall(r"<dt>(.*?)</dt><dd>(.*?)(<span.*?</span>)?</dd>", glossary, re.DOTALL)
    names = [name for name, _, _ in entries]
    assert len(set(names)) == len(names) == glossary.count("<dt>")
    for name in ("information loss", "record linkage", "k-anonymity", "unique records"):
        assert name in names
    for name, plain, formula in entries:
        assert plain.endswith("."), name
        shown = formula.replace('class="formula"', "").replace("classif", "")
        assert "class" not in plain + shown, name


def test_a_column_of_nothing_but_stars_has_no_chart_and_breaks_none(remade):
    generator = np.random.default_rng(3)
    frame = pl.DataFrame({"age": np.arange(40), "town": generator.choice(["Aa", "Bb"], 40)})
    schema = om.Schema(age=om.Numeric(), town=om.Flat())
    built = {"age": {"intervals": [5]}, "town": {"star": True}}
    account = remade(
        om.Generalization([om.privacy.KAnonymity(15)], hierarchies=built), frame, schema
    ).account
    columns = {one.name: one for one in account.columns}
    assert figures.distribution(columns["age"], PUBLIC, 40) is None
    assert figures.distribution(columns["town"], PUBLIC, 40) is not None
    assert "Without a chart: age." in render(account)
