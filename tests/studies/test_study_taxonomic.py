"""The study of taxonomic microdata, on small tables made by code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studies import taxonomic as study
from studies.data import small_data
from studies.page import svg, write_page
from studies.study import VERDICTS


@pytest.fixture(scope="module")
def findings():
    return study.run(small_data(), small=True)


@pytest.fixture(scope="module")
def frame():
    return small_data()["neoplasm"].select(study.COLUMNS)


def filled(printed) -> dict[str, dict[study.Key, float]]:
    return {
        method: {key: value or 0.0 for key, value in row.items()} for method, row in printed.items()
    }


@pytest.fixture
def printed() -> study.Comparison:
    """What the paper printed, as if it had been found."""
    risks = {method: (risk,) * 20 for method, risk in study.PRINTED_RISK.items()}
    return study.Comparison(
        study.PRINTED_RECORDS,
        600,
        risks,
        filled(study.PRINTED_WHOLE),
        filled(study.PRINTED_SAMPLES),
    )


def verdicts(claims) -> dict[str, str]:
    return {claim.claim: claim.verdict for claim in claims}


def test_the_page_is_written(findings, tmp_path):
    text = write_page(tmp_path, "taxonomic", findings).read_text(encoding="utf-8")
    assert len(findings.claims) >= 20
    assert {claim.verdict for claim in findings.claims} <= set(VERDICTS)
    assert "### Table 1" in text
    assert "### Table 2" in text
    for figure in findings.figures:
        assert svg(figure).startswith("<svg")
    for table in findings.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_printed_tables_are_judged_as_the_paper_says(printed):
    found = verdicts(study.whole_claims(printed))
    for claim in (
        "Shuffling keeps means and variances of all six attributes exactly",
        "Shuffling performs even better than multiple imputation in most cases",
        "Multiple imputation beats shuffling only in the covariances of age with length of stay "
        "and with charge",
        "MicroHybrid is somewhat worse than both shuffling and multiple imputation",
        "There is a k for which the risk of MicroHybrid is comparable to that of the others",
    ):
        assert found[claim] == "holds", claim
    sampled = verdicts(study.sample_claims(printed))
    assert sampled["On samples none of the three methods wins for all statistics"] == "holds"
    # the paper says four, its table has five
    four = "On samples MicroHybrid has quite large variations for four statistics"
    assert sampled[four] == "does not hold"


def test_altered_numbers_turn_verdicts(printed):
    worse = dict.fromkeys(study.KEYS, 9.0)
    altered = replace(printed, whole={**printed.whole, "shuffling": worse})
    found = verdicts(study.whole_claims(altered))
    assert found["Shuffling keeps means and variances of all six attributes exactly"] == (
        "does not hold"
    )
    assert found["Shuffling performs even better than multiple imputation in most cases"] == (
        "does not hold"
    )
    best = dict.fromkeys(study.KEYS, 0.0)
    altered = replace(printed, samples={**printed.samples, "shuffling": best})
    sampled = verdicts(study.sample_claims(altered))
    assert sampled["On samples none of the three methods wins for all statistics"] == (
        "does not hold"
    )
    assert sampled["On samples shuffling no longer keeps means and variances exactly"] == (
        "does not hold"
    )


def test_risks_within_luck_are_no_difference(printed):
    claim = "Shuffling has a lower disclosure risk than multiple imputation"
    chance = printed.chance
    near = {"imputation": (1.3 * chance,) * 20, "shuffling": (chance,) * 20}
    far = {"imputation": (3 * chance,) * 20, "shuffling": (chance,) * 20}
    for risks, verdict in ((near, "does not hold"), (far, "holds")):
        compared = replace(printed, risks={**printed.risks, **risks})
        assert verdicts(study.whole_claims(compared))[claim] == verdict


def test_statistics_by_hand(frame):
    view = study.Domain.of(frame).view(frame)
    found = view.statistics()
    ages = frame["age"].to_numpy()
    assert found["mean", "age"] == pytest.approx(ages.mean())
    assert found["covariance", "age, los"] == pytest.approx(
        np.cov(ages, frame["los"].to_numpy())[0, 1]
    )
    # two values of a tree of one level are two links of weight 1 apart
    men = int((frame["sex"] == "M").sum())
    women = len(frame) - men
    assert found["mean", "sex"] == 2 * min(men, women)
    assert found["variance", "sex"] == pytest.approx(4 * men * women / len(frame))


def test_variation_is_relative(frame):
    domain = study.Domain.of(frame)
    original = domain.view(frame)
    older = domain.view(frame.with_columns(age=2 * frame["age"]))
    found = study.variation(original, older)
    assert found["mean", "age"] == pytest.approx(1.0)
    assert found["variance", "age"] == pytest.approx(3.0)
    assert found["mean", "sex"] == found["covariance", "los, payment"] == 0.0


def test_shuffling_keeps_the_values_and_samples_do_not(frame):
    domain = study.Domain.of(frame)
    original, masked = domain.view(frame), domain.view(study.shuffle(frame, 1))
    whole = study.variation(original, masked)
    assert all(whole[key] == 0 for key in study.KEYS if key[0] != "covariance")
    assert study.sampled_variation(original, masked, 5, 1)["mean", "age"] > 0


def test_imputed_tables_keep_to_what_was_observed(frame):
    imputed = study.impute(frame, 1)
    assert imputed.columns == frame.columns
    assert imputed.height == frame.height
    for name in (*study.FLAT, study.DIAGNOSIS):
        assert set(imputed[name]) <= set(frame[name])
    for name in study.NUMBERS:
        values = frame[name].to_numpy()
        assert values.min() <= imputed[name].to_numpy().min()
        assert imputed[name].to_numpy().max() <= values.max()
    assert imputed.equals(study.impute(frame, 1))
    assert not imputed.equals(study.impute(frame, 2))


def test_the_smallest_k_within_the_limit_is_chosen():
    scan = study.Scan({10: 5.0, 20: 0.9, 30: 0.4, 40: 0.8}, {})
    assert scan.chosen(1.0) == 20
    assert scan.chosen(0.1) == 30


def test_growing_variation_is_what_the_claim_on_k_needs():
    rising = {k: dict.fromkeys(study.KEYS, k / 10) for k in (10, 20, 30)}
    falling = {k: dict.fromkeys(study.KEYS, 10 / k) for k in (10, 20, 30)}
    assert study.size_claim(study.Scan({}, rising)).verdict == "holds"
    assert study.size_claim(study.Scan({}, falling)).verdict == "does not hold"


def test_differences_that_do_not_vanish_fail_the_claim_on_ranks():
    assert study.rank_claim({500: 0.04, 2000: 0.02, 8000: 0.01}).verdict == "holds"
    assert study.rank_claim({500: 0.04, 2000: 0.05, 8000: 0.06}).verdict == "does not hold"
