"""The study of rank swapping, on small tables made by code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ontomask as om
from studies import rank_swapping as study
from studies.data import small_data
from studies.page import svg, write_page
from studies.study import VERDICTS

PAIR = "diagnosis, procedure"


@pytest.fixture(scope="module")
def findings():
    return study.run(small_data(), small=True)


def outcome(error: float, difference: float) -> study.Outcome:
    errors = {"diagnosis": error, "procedure": error}
    return study.Outcome(errors, {PAIR: 0.5 - difference}, {PAIR: difference}, True, 2, {})


@pytest.fixture
def printed() -> dict[tuple[str, int], study.Outcome]:
    """Outcomes in the order that the paper reports."""
    base = {"dynamic": 0.1, "multivariate": 0.15, "fixed": 0.4, "distributional": 0.42}
    change = {"dynamic": 0.05, "multivariate": 0.01, "fixed": 0.2, "distributional": 0.25}
    found = {
        (variant, k): outcome(error + k / 1000, change[variant] + k / 10_000)
        for variant, error in base.items()
        for k in study.KS
    }
    return found | {("random", k): outcome(0.8, 0.4) for k in study.KS}


def verdicts(found) -> dict[str, str]:
    return {claim.claim: claim.verdict for claim in study.comparison_claims(found, 0.5)}


def test_the_page_is_written(findings, tmp_path):
    text = write_page(tmp_path, "rank_swapping", findings).read_text(encoding="utf-8")
    assert len(findings.claims) >= 25
    assert {claim.verdict for claim in findings.claims} <= set(VERDICTS)
    for number in range(1, 7):
        assert f"### Table {number}" in text
    for figure in findings.figures:
        assert svg(figure).startswith("<svg")
    for table in findings.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_permutations_keep_univariate_statistics(findings):
    found = {claim.claim: claim.verdict for claim in findings.claims}
    assert found["Semantic mean and semantic variance are perfectly preserved"] == "holds"
    assert found["The rank of two swapped values does not differ by more than k"] == "holds"


def test_what_the_paper_reports_is_judged_as_such(printed):
    assert set(verdicts(printed).values()) == {"holds"}


@pytest.mark.parametrize(
    ("variant", "changed", "claim"),
    [
        (
            "fixed",
            outcome(0.01, 0.2),
            "Algorithms 2 and 3 have significantly lower RMSE than Algorithm 1",
        ),
        (
            "dynamic",
            outcome(0.3, 0.05),
            "Algorithm 2 has slightly lower RMSE of single attributes than Algorithm 3",
        ),
        (
            "multivariate",
            outcome(0.15, 0.3),
            "The multivariate algorithm preserves correlation "
            "significantly better than the univariate ones",
        ),
        ("dynamic", outcome(0.1, 0.3), "Algorithm 2 reasonably preserves correlation"),
        ("fixed", outcome(0.4, 0.01), "Algorithm 1 gives poor correlation, also for low k"),
        (
            "distributional",
            outcome(0.9, 0.3),
            "Distributional rank swapping has significantly lower RMSE than random swapping",
        ),
        (
            "random",
            outcome(0.8, 0.01),
            "Both mechanisms without semantics keep correlation worse than Algorithm 1",
        ),
    ],
)
def test_altered_numbers_turn_a_verdict(printed, variant, changed, claim):
    altered = {key: changed if key[0] == variant else one for key, one in printed.items()}
    assert verdicts(altered)[claim] == "does not hold"


def test_a_falling_error_breaks_the_growth(printed):
    altered = {**printed, ("dynamic", 100): outcome(0.0, 0.06)}
    claim = "The larger k, the larger the RMSE: Algorithm 2 (dynamic)"
    assert verdicts(altered)[claim] == "partly"


def test_lost_statistics_are_noticed(printed):
    altered = {**printed, ("fixed", 2): replace(printed["fixed", 2], kept=False)}
    claim = "Semantic mean and semantic variance are perfectly preserved"
    assert verdicts(altered)[claim] == "partly"


def test_linkage_above_one_in_k_is_noticed(printed):
    safe = {
        ("multivariate", k): replace(printed["multivariate", k], risk={"semantic": 99 / k})
        for k in study.KS
    }
    risky = {
        **safe,
        ("multivariate", 2): replace(safe["multivariate", 2], risk={"semantic": 60.0}, rank=3),
    }
    for found, expected in ((safe, "holds"), (risky, "partly")):
        ranks, probability = study.privacy_claims({"Dataset1": found}, safe)
        assert ranks.verdict == probability.verdict == expected


def test_outcomes_are_those_of_the_release():
    frame = small_data()["claims"].drop_nulls(study.COLUMNS).select(study.COLUMNS[:2]).head(60)
    found = study.outcome(frame, "dynamic", 5, "all", 1)
    masked = om.protect(
        frame, study.schema_of(frame.columns), study.swap("dynamic", 5, "all"), seed=0
    ).frame
    icd9 = om.load_taxonomy("icd9cm")
    samples = [
        om.statistics.Sample.of([*one["dx_principal"]], icd9, "wu-palmer")
        for one in (frame, masked)
    ]
    distances = samples[0].matrix[samples[0].codes, samples[1].codes]
    assert found.rmse["diagnosis"] == pytest.approx(float(np.sqrt(np.mean(distances**2))))
    assert found.kept


def test_samples_of_frequent_combinations_hold_whole_groups():
    rows = [("a", "b", "c")] * 7 + [("a", "b", "d")] * 3 + [("x", "y", "z")] * 4 + [("r", "r", "r")]
    frame = pl.DataFrame(rows, schema=study.COLUMNS, orient="row")
    sample = study.frequent_sample(frame, 13, 3)
    counts = sample.group_by(study.COLUMNS).len()["len"].to_list()
    assert len(sample) == 13
    assert sorted(counts) == [3, 4, 6]
    assert "r" not in sample["procedure"].to_list()


def test_printed_tables_have_six_columns():
    for printed in study.PRINTED.values():
        assert {len(row) for row in printed.values()} == {len(study.KS)}
