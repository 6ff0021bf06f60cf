"""Tables of very many columns: what is counted for every pair of them is bounded, and told."""

import cProfile
import pstats

import numpy as np
import polars as pl

import ontomask as om
from ontomask.evaluation.statistics import MOST_COLUMNS
from ontomask.plan.proposal import propose

WIDE = 60


def evaluated(**settings):
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{place}": generator.integers(0, 9, 30) for place in range(WIDE)})
    roles = {f"c{place}": om.Numeric("quasi" if place > 56 else "other") for place in range(WIDE)}
    release = om.protect(frame, om.Schema.of(roles), om.Microaggregation(k=3), seed=1)
    return release.evaluate(**settings)


def related(evaluation) -> set[str]:
    return {
        name for one in evaluation.statistics if one.name == "correlation" for name in one.columns
    }


def test_relations_are_measured_of_some_columns_masked_ones_first():
    evaluation = evaluated()
    expected = {"c57", "c58", "c59", *(f"c{place}" for place in range(MOST_COLUMNS - 3))}
    assert related(evaluation) == expected
    assert any(f"{MOST_COLUMNS} of the {WIDE} columns" in note for note in evaluation.notes)


def test_wide_things_print_in_few_characters():
    schema = om.Schema.of({f"column {place}": om.Numeric() for place in range(2000)})
    assert repr(schema).endswith("column 19=numeric (quasi), and 1,980 more)")
    frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52] * 5})
    grid = om.compare(frame, om.Schema(age=om.Numeric()), ["recoding"], k=[2, 3], workers=1)
    assert repr(grid) == "Comparison(2 releases, 0 failed)"
    assert max(len(repr(one)) for one in (schema, grid, evaluated())) < 1000


def test_columns_that_are_named_are_all_compared():
    evaluation = evaluated(columns=[f"c{place}" for place in range(MOST_COLUMNS + 2)])
    assert len(related(evaluation)) == MOST_COLUMNS + 2
    assert not any("Relations" in note for note in evaluation.notes)


def calls(columns: int, folder) -> dict[str, int]:
    """How many functions each step calls: what is quadratic calls four times as many for twice."""
    generator = np.random.default_rng(1)
    words = np.array([f"word {place}" for place in range(9)])
    drawn = {f"c{place}": generator.integers(0, 9, 20) for place in range(columns)}
    odd = {name: words[one] for name, one in drawn.items() if int(name[1:]) % 2}
    frame = pl.DataFrame(drawn | odd)
    roles = {name: "quasi" if int(name[1:]) < 3 else "other" for name in drawn}
    kinds = {name: (om.Flat if name in odd else om.Numeric)(one) for name, one in roles.items()}
    schema, counted, path = om.Schema.of(kinds), {}, folder / "wide.csv"
    frame.write_csv(path)

    def count(name: str, step):
        profile = cProfile.Profile()
        result = profile.runcall(step)
        counted[name] = pstats.Stats(profile).total_calls
        return result

    count("infer", lambda: om.Schema.infer(frame))
    method = om.Microaggregation(k=3)
    release = count("protect", lambda: om.protect(frame, schema, method, seed=1))
    count("evaluate", release.evaluate)
    count("report", lambda: release.report(folder / "report.html"))
    count("risk", lambda: om.file_risk(frame, schema))
    plan = count("plan", lambda: om.Plan.of(schema, method, path, folder=folder))
    count("check", plan.check)
    count("propose", lambda: propose(path, folder / "plan.toml"))
    return counted


def test_twice_the_columns_are_twice_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("ontomask.evaluation.statistics.MOST_COLUMNS", 10)
    monkeypatch.setattr("ontomask.plan.proposal.MOST_COMPARED", 10)
    calls(2, tmp_path)  # what is done once
    some, twice = calls(40, tmp_path), calls(80, tmp_path)
    assert {name: twice[name] / some[name] for name in some if twice[name] > 2.2 * some[name]} == {}
