import polars as pl
import pytest

import ontomask as om
from ontomask import errors
from ontomask.comparison import Cell, Comparison
from tables import DISEASES, mixed_columns, mixed_schema

FRAME = pl.DataFrame(mixed_columns(60))


def cell(method, loss, risk, k=2):
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
    assert grid.best(10).method == "b"
    assert grid.best(5).method == "a"
    assert grid.best(1).method == "c"
    with pytest.raises(errors.MethodError, match=r"at most 0\.5 % \(the least reached is 1 %\)"):
        grid.best(0.5)
    found = om.recommend(FRAME, mixed_schema(), ["sa-mdav"], max_risk=100, k=[3, 5], workers=1)
    assert found.k == 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"k": []}, "k must be"),
        ({"k": [1]}, "k must be"),
        ({"seeds": ["one"]}, "seeds must be"),
        ({"alpha": 2}, "alpha must be"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["sa-mdaw"]}, "Did you mean 'sa-mdav'"),
        ({"methods": [3]}, "neither a method nor the name of a preset"),
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
    found = om.judge_classification(frame, schema, "severity", method, classifiers="tree", folds=2)
    assert found["tree"]


def test_classifiers_are_judged_on_any_method():
    pytest.importorskip("sklearn")
    schema = om.Schema.of({**mixed_schema(), "severity": om.Flat(role="other")})
    frame = FRAME.filter(pl.col("severity").is_not_null())
    found = om.judge_classification(
        frame, schema, "severity", om.Microaggregation(3), classifiers=["naive-bayes"], folds=3
    )
    assert "naive-bayes" in str(found)
    assert found == om.judge_classification(
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
    general = {"general": om.Generalization([om.KAnonymity(2)], 0.2)}
    two, thirty = om.compare(frame, schema, general, k=(2, 30), workers=1).cells
    assert two.error == thirty.error == ""
    assert thirty.loss > two.loss


def test_a_machine_that_does_not_count_memory_compares_all_the_same(monkeypatch):
    monkeypatch.setattr("ontomask.comparison.resource", None)
    frame = pl.DataFrame(mixed_columns(40))
    found = om.compare(frame, mixed_schema(), ["recoding"], k=(3,), seeds=(1, 2), workers=1)
    assert [cell.memory for cell in (*found.cells, *found.means())] == [None] * 3
    assert found.best(100).loss is not None


def test_one_method_and_one_k_need_no_list():
    frame = pl.DataFrame(mixed_columns(40))
    found = om.compare(frame, mixed_schema(), "recoding", k=3, seeds=1, workers=1)
    assert [(cell.method, cell.k, cell.seed) for cell in found.cells] == [("recoding", 3, 1)]


def test_a_comparison_is_printed_as_a_table():
    cells = (
        Cell("sa-mdav", 5, 1, 8.71, 0.1, 15.08, 0.0, 11.9, 0, 0.75, 90.0),
        Cell("recoding", 99, 1, error="k is 99, but there are only 40 records."),
    )
    assert str(Comparison(cells)).splitlines() == [
        "method      k   loss %  linkage %   score  seconds",
        "sa-mdav     5     8.71      15.08   11.90     0.75",
        "recoding   99  k is 99, but there are only 40 records.",
    ]
