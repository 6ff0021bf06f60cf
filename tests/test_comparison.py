import dataclasses
import os
import re

import polars as pl
import pytest

import ontomask as om
from ontomask import errors
from ontomask.comparison import METHOD_NAMES, Cell, Comparison
from ontomask.evaluation.classification import ClassificationTask
from ontomask.methods.presets import PRESETS
from ontomask.methods.registry import METHODS
from ontomask.report.alternatives import picture, render_comparison
from tables import DISEASES, mixed_columns, mixed_schema

FRAME = pl.DataFrame(mixed_columns(60))
SEXES = om.Taxonomy.from_parents({"sex": [], "m": ["sex"], "f": ["sex"]}, name="sexes")
UNNAMABLE = (
    "drop-columns",
    "noise",
    "pseudonyms",
    "rounding",
    "sampling",
    "shuffling",
    "top-bottom-coding",
    "private-generalization",
)
"""Methods that need more than a k."""


def cell(method, loss, risk, k=2):
    """A cell; loss and risk in percent."""
    loss, risk = loss / 100, risk / 100
    return Cell(method, k, 1, loss, loss, risk, risk, (loss + risk) / 2, 0, 0.1, 1.0)


def test_a_grid_in_processes_equals_the_grid_in_one():
    methods = {"clusters": om.Microaggregation(2), "recoded": lambda k: om.Recoding(k)}
    grids = [
        om.compare(FRAME, mixed_schema(), methods, k=[3, 4], seeds=[1], workers=workers)
        for workers in (1, 2)
    ]
    figures = [
        [(one.method, one.k, one.seed, one.loss, one.risk) for one in grid.cells] for grid in grids
    ]
    assert figures[0] == figures[1]
    assert [(one.method, one.k) for one in grids[0].cells] == [
        ("clusters", 3),
        ("clusters", 4),
        ("recoded", 3),
        ("recoded", 4),
    ]


def test_a_failing_cell_does_not_lose_the_rest():
    seen = []
    grid = om.compare(
        FRAME,
        mixed_schema(),
        ["sa-mdav"],
        k=[3, 600],
        workers=1,
        progress=lambda fraction, message: seen.append(fraction),
    )
    assert grid.cells[0].error == ""
    assert "only 60 records" in grid.cells[1].error
    assert grid.cells[1].loss is None
    assert seen == [0.5, 1.0]
    assert len(grid.rows()) == 2


def test_seeds_are_averaged():
    grid = om.compare(FRAME, mixed_schema(), [om.Resampling(3)], k=[3], seeds=[1, 2], workers=1)
    (mean,) = grid.means()
    assert mean.loss == pytest.approx(sum(one.loss for one in grid.cells) / 2)


def test_the_frontier_holds_what_nothing_beats():
    cells = [cell("a", 10, 5), cell("b", 5, 10), cell("c", 11, 6), cell("d", 10, 5, k=3)]
    grid = Comparison(tuple(cells))
    assert [(one.method, one.k) for one in grid.frontier()] == [("b", 2), ("a", 2), ("d", 3)]


def test_the_recommendation_has_least_loss_under_the_risk():
    grid = Comparison((cell("a", 10, 5), cell("b", 5, 10), cell("c", 20, 1)))
    assert grid.best(0.1).method == "b"
    assert grid.best(0.05).method == "a"
    assert grid.best(0.01).method == "c"
    with pytest.raises(errors.MethodError, match=r"at most 0\.5% \(the least reached is 1%\)"):
        grid.best(0.005)
    found = om.recommend(FRAME, mixed_schema(), ["sa-mdav"], max_risk=1, k=[3, 5], workers=1)
    assert found.cell.k == 3


def test_a_recommendation_can_be_run():
    schema, noise, agg = mixed_schema(), om.Rounding(["age"], base=5), om.Microaggregation
    methods = {"first": noise, "then": lambda k: [noise, agg(k)]}
    found = om.recommend(FRAME, schema, methods, max_risk=1, k=[3, 4], workers=1)
    expected = {("first", None): (noise,)}
    expected |= {("then", k): (noise, agg(k)) for k in (3, 4)}
    assert found.comparison.steps == expected
    assert found.steps == expected[found.cell.method, found.cell.k]
    release = found.protect(FRAME, seed=1)
    assert release.steps == found.steps
    assert release.frame.equals(om.protect(FRAME, schema, found.steps, seed=1).frame)
    assert str(found) in found._repr_html_()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"k": []}, "k must be"),
        ({"k": [1]}, "k must be"),
        ({"seeds": ["one"]}, "seeds must be"),
        ({"alpha": 2}, "alpha must be"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["sa-mdaw"]}, "Did you mean 'sa-mdav'"),
        ({"methods": [3]}, "3 is neither a method nor the name of one or of a preset"),
        ({"methods": {"x": [3]}}, "neither a method nor the name of one"),
        ({"methods": ["noise"]}, "noise cannot be made from its name alone; say what it needs"),
        ({"methods": ["sampling"]}, "sampling cannot be made from its name alone"),
        ({"target": "nowhere"}, "nowhere"),
        ({"distances": ["far"]}, "distances must be"),
    ],
)
def test_wrong_grids_are_refused(settings, sentence):
    methods = settings.pop("methods", ["sa-mdav"])
    with pytest.raises(errors.ParameterError, match=sentence):
        om.compare(FRAME, mixed_schema(), methods, **{"k": [3], **settings})


@pytest.mark.parametrize("method", [om.Suppression(2), om.RankSwapping(k=3)])
def test_classifiers_are_judged_where_records_are_lost_or_permuted(method):
    pytest.importorskip("sklearn")
    schema = om.Schema.of({**mixed_schema(), "severity": om.Flat(role="other")})
    frame = FRAME.filter(pl.col("severity").is_not_null())
    found = om.measuring.judge_classification(
        frame, schema, "severity", method, classifiers="tree", folds=2
    )
    assert found["tree"]


def test_classifiers_are_judged_on_any_method():
    pytest.importorskip("sklearn")
    schema = om.Schema.of({**mixed_schema(), "severity": om.Flat(role="other")})
    frame = FRAME.filter(pl.col("severity").is_not_null())
    found = om.measuring.judge_classification(
        frame, schema, "severity", om.Microaggregation(3), classifiers=["naive-bayes"], folds=3
    )
    assert "naive-bayes" in str(found)
    assert found == om.measuring.judge_classification(
        frame, schema, "severity", om.Microaggregation(3), classifiers=["naive-bayes"], folds=3
    )


def test_whole_chains_of_steps_are_compared_with_k_put_in():
    frame = pl.DataFrame(mixed_columns(60))
    chain = {"chain": [om.Microaggregation(3), om.DropColumns(["charge"])]}
    three, six = om.compare(frame, mixed_schema(), chain, k=(3, 6), workers=1).cells
    assert three.error == six.error == ""
    assert six.loss > three.loss


def test_the_k_of_a_privacy_model_is_put_in_too():
    frame = pl.DataFrame(mixed_columns(60)).select("diagnosis", "sex")
    schema = om.Schema(diagnosis=om.Nominal(DISEASES), sex=om.Flat(role="other"))
    general = {"general": om.Generalization([om.privacy.KAnonymity(2)], 0.2)}
    two, thirty = om.compare(frame, schema, general, k=(2, 30), workers=1).cells
    assert two.error == thirty.error == ""
    assert thirty.loss > two.loss


def test_a_machine_that_does_not_count_memory_compares_all_the_same(monkeypatch):
    monkeypatch.setattr("ontomask.comparison.resource", None)
    frame = pl.DataFrame(mixed_columns(40))
    found = om.compare(frame, mixed_schema(), ["recoding"], k=(3,), seeds=(1, 2), workers=1)
    assert [cell.memory for cell in (*found.cells, *found.means())] == [None] * 3
    assert found.best(1).loss is not None


def test_one_method_and_one_k_need_no_list():
    frame = pl.DataFrame(mixed_columns(40))
    found = om.compare(frame, mixed_schema(), "recoding", k=3, seeds=1, workers=1)
    assert [(cell.method, cell.k, cell.seed) for cell in found.cells] == [("recoding", 3, 1)]


def test_a_comparison_is_printed_as_a_table():
    cells = (
        Cell("sa-mdav", 5, 1, 0.0871, 0.1, 0.1508, 0.0, 0.119, 3, 0.75, 90.0, 1200),
        Cell("pram", None, 1, 0.01, 0.1, 0.2, 0.0, 0.105, 0, 0.01, 90.0, 0),
        Cell("recoding", 99, 1, error="k is 99, but there are only 40 records."),
    )
    assert str(Comparison(cells)).splitlines() == [
        "method      k   loss %  linkage %  score %  suppressed   stars  seconds",
        "sa-mdav     5     8.71      15.08    11.90           3    1200     0.75",
        "pram        –     1.00      20.00    10.50           0       0     0.01",
        "recoding   99  k is 99, but there are only 40 records.",
    ]
    judged = Comparison((dataclasses.replace(cells[0], accuracy=0.8125),), target="sex")
    assert str(judged).splitlines() == [
        "method     k   loss %  linkage %  score %  accuracy %  suppressed   stars  seconds",
        "sa-mdav    5     8.71      15.08    11.90       81.25           3    1200     0.75",
    ]


# Methods by name ------------------------------------------------------------------------------


def test_every_preset_and_method_has_a_name_to_be_compared_by():
    assert set(METHOD_NAMES) == {*PRESETS, *METHODS}
    frame = FRAME.select("diagnosis", "sex")
    schema = om.Schema(diagnosis=om.Nominal(DISEASES), sex=om.Nominal(SEXES))
    named = [name for name in METHOD_NAMES if name not in UNNAMABLE]
    grid = om.compare(frame, schema, named, k=3, workers=1)
    assert [cell.method for cell in grid.cells] == named
    assert {cell.error for cell in grid.cells} == {""}
    for name in UNNAMABLE:
        with pytest.raises(errors.ParameterError, match="from its name alone"):
            om.compare(frame, schema, [name], k=3, workers=1)


def test_what_has_no_k_is_run_once_for_every_seed():
    methods = [om.Pram(columns=["sex"]), om.RankSwapping(share=0.1), om.Recoding(2)]
    grid = om.compare(FRAME, mixed_schema(), methods, k=[3, 4], seeds=[1, 2], workers=1)
    assert [(cell.method, cell.k, cell.seed) for cell in grid.cells] == [
        ("pram", None, 1),
        ("pram", None, 2),
        ("rank-swapping", None, 1),
        ("rank-swapping", None, 2),
        *(("recoding", size, seed) for size in (3, 4) for seed in (1, 2)),
    ]
    assert {cell.error for cell in grid.cells} == {""}
    assert [cell.title for cell in grid.means()] == [
        "pram",
        "rank-swapping",
        "recoding, k = 3",
        "recoding, k = 4",
    ]
    assert grid.best(1).method


def test_a_step_without_k_keeps_its_parameters_beside_one_with_k():
    chain = {"chain": [om.Microaggregation(2), om.RankSwapping(share=0.5, columns=["charge"])]}
    (found,) = om.compare(FRAME, mixed_schema(), chain, k=5, workers=1).cells
    assert (found.k, found.error) == (5, "")


# What is counted ------------------------------------------------------------------------------


def test_stars_and_records_left_out_are_counted():
    table = {"town": ["a"] * 6 + ["b", "c", "*", None], "sex": ["m", "f"] * 5}
    frame, schema = pl.DataFrame(table), om.Schema(town=om.Flat(), sex=om.Flat())
    starred, dropped, kept = om.compare(
        frame,
        schema,
        {
            "stars": om.Suppression(2, outliers="star"),
            "drops": om.Suppression(2),
            "k": om.Recoding(2),
        },
        k=3,
        workers=1,
    ).cells
    # four records are alone with their town: two have both values to lose, two only the sex
    assert (starred.suppressed, starred.stars) == (4, 6)
    assert (dropped.suppressed, dropped.stars) == (4, 0)
    assert (kept.suppressed, kept.stars) == (0, 0)


def test_the_target_of_a_comparison_gives_accuracies():
    pytest.importorskip("sklearn")
    schema = om.Schema.of({**mixed_schema(), "severity": om.Flat(role="other")})
    frame = FRAME.filter(pl.col("severity").is_not_null())
    task = ClassificationTask(frame, schema, "severity", ("naive-bayes", "zero-r"), folds=3)
    for workers in (1, 2):
        grid = om.compare(frame, schema, ["sa-mdav"], k=[3, 6], target=task, workers=workers)
        assert grid.target == "severity"
        for cell in grid.cells:
            release = om.protect(frame, schema, om.Microaggregation(cell.k), cell.seed)
            found = task.judge(release)
            best = max(one.masked.accuracy for one in found.classifiers)
            assert cell.accuracy == pytest.approx(best)
            assert cell.baseline == pytest.approx(found.baseline.accuracy)
            assert cell.accuracy_before >= cell.baseline
    plain = om.compare(frame, schema, ["sa-mdav"], k=3, workers=1)
    assert (plain.target, plain.cells[0].accuracy) == ("", None)


def test_columns_and_distances_are_those_asked_for():
    settings = {"columns": ["age"], "distances": ["matching"]}
    (found,) = om.compare(FRAME, mixed_schema(), ["sa-mdav"], k=4, workers=1, **settings).cells
    release = om.protect(FRAME, mixed_schema(), om.Microaggregation(4), 1)
    expected = release.evaluate(FRAME, **settings)
    assert found.loss == pytest.approx(expected.loss.loss)
    assert found.risk == found.matching_risk == pytest.approx(expected.linkage[0].risk)
    everything = om.compare(FRAME, mixed_schema(), ["sa-mdav"], k=4, workers=1).cells[0]
    assert everything.loss != found.loss


# The page -------------------------------------------------------------------------------------

GRID = Comparison(
    (
        cell("a <b>", 10, 5),
        cell("a <b>", 12, 4, k=3),
        cell("worse", 20, 30),
        dataclasses.replace(cell("no k", 5, 40), k=None, stars=1234, suppressed=7),
        Cell("failed", 99, 1, error="k is 99 & that is <too> much."),
    ),
    records=5000,
)


def test_a_page_shows_every_release_and_its_frontier(tmp_path):
    path = GRID.report(tmp_path / "grid.html", title="people.csv", max_risk=0.06)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "INTERNAL: do not publish" in page
    assert "5,000 records, 4 methods, k = 2, 3 and 99" in page
    assert (
        "at most 6% of the records linked: a &lt;b&gt;, k = 2 (loss 10.00%, linkage 5.00%)." in page
    )
    assert "<b>" not in page
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td>(.*?)</td>(.*?)</tr>', page)
    assert [(name, mark) for name, mark, _ in rows] == [
        ("a &lt;b&gt;, k = 2", "●"),
        ("a &lt;b&gt;, k = 3", "●"),
        ("worse, k = 2", ""),
        ("no k", "●"),
        ("failed, k = 99", "k is 99 &amp; that is &lt;too&gt; much."),
    ]
    assert "<td>7</td><td>1,234</td>" in rows[3][2]
    assert "accuracy" not in page
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0


def test_the_picture_has_every_release_where_its_numbers_are():
    chart = picture(GRID)
    assert [(dot.series, dot.label, dot.x, dot.y, dot.best) for dot in chart.dots] == [
        ("a <b>", "2", 10, 5, True),
        ("a <b>", "3", 12, 4, True),
        ("worse", "2", 20, 30, False),
        ("no k", "", 5, 40, True),
    ]
    assert [dot.x for dot in chart.frontier] == [5, 10, 12]
    assert (
        GRID.chart().spec["data"]["values"][0]["told"] == "a <b>, k = 2: loss 10.00%, linkage 5.00%"
    )


def test_a_page_says_what_accuracy_is_to_be_compared_with(tmp_path):
    judged = dataclasses.replace(
        cell("a", 10, 5), accuracy=0.785, accuracy_before=0.8125, baseline=0.7
    )
    page = render_comparison(Comparison((judged,), target="severity"))
    assert "Correct predictions of severity by the best classifier" in page
    assert "From the original it is 81.2%, and 70.0% for always the most frequent value." in page
    assert "<td>78.50</td>" in page


@pytest.mark.parametrize("cells", [(), (Cell("failed", 3, 1, error="no"),)])
def test_a_page_without_releases_says_so(cells):
    page = render_comparison(Comparison(cells), max_risk=0.1)
    assert "No release could be made." in page
    assert "No release of the grid has a risk of at most 10% (none succeeded)" in page


def test_without_memory_for_the_picture_the_page_has_its_table(monkeypatch):
    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr("ontomask.report.document.draw", out_of_memory)
    page = render_comparison(GRID)
    assert page.count("not enough memory to draw this picture") == 2
    assert "a &lt;b&gt;, k = 2" in page
