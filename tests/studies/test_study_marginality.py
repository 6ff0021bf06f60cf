"""The study of marginality, on small tables made by code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ontomask as om
from studies import marginality as study
from studies.data import small_data
from studies.page import svg, write_page
from studies.study import VERDICTS


@pytest.fixture(scope="module")
def findings():
    return study.run(small_data(), small=True)


@pytest.fixture(scope="module")
def losses():
    """Figures like the printed ones: the same for numbers, less for the diagnosis."""
    ks = study.KS
    flat = tuple(100.0 * k for k in ks)
    classic = {**dict.fromkeys(study.NUMBERS, flat), "dx": flat, "dx alone": flat}
    reductions = np.linspace(0.08, 0.16, len(ks))
    better = tuple(float(old * (1 - one)) for old, one in zip(flat, reductions, strict=True))
    marginal = {**classic, "dx": better, "dx alone": tuple(one / 4 for one in flat)}
    sse = {"classic": classic, "marginality": marginal, "any concept": marginal}
    return study.Losses(ks, 1000, sse, {})


def verdicts(known) -> dict[str, str]:
    return {claim.claim: claim.verdict for claim in study.loss_claims(known)}


def test_the_page_is_written(findings, tmp_path):
    text = write_page(tmp_path, "marginality", findings).read_text(encoding="utf-8")
    assert len(findings.claims) >= 20
    assert {claim.verdict for claim in findings.claims} <= set(VERDICTS)
    assert "SSE, neoplasm" in text
    for figure in findings.figures:
        assert svg(figure).startswith("<svg")


def test_tables_are_rectangular(findings):
    for table in findings.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_sse_is_the_sum_of_squared_distances():
    frame = study.prepared(small_data(), "neoplasm").head(40)
    schema = study.schema_of((*study.NUMBERS, study.DIAGNOSIS))
    method = om.Microaggregation(4, algorithm="mdav", operators="marginality", metric="s-distance")
    masked = om.protect(frame, schema, method, seed=1).frame
    found = study.sse_of(frame, schema, "marginality", 4)
    ages = (frame["age"] - masked["age"]).to_numpy().astype(float)
    assert found["age"] == pytest.approx(float(ages @ ages))
    icd9 = om.load_taxonomy("icd9cm")
    pairs = zip(frame[study.DIAGNOSIS], masked[study.DIAGNOSIS], strict=True)
    squares = [icd9.distance(one, other) ** 2 for one, other in pairs]
    assert found[study.DIAGNOSIS] == pytest.approx(sum(squares))


def test_verdicts_follow_the_losses(losses):
    known = {"neoplasm": losses, "digestive": losses}
    found = verdicts(known)
    identical = "Mixed data, digestive: the SSE of numbers is identical for both algorithms"
    lower = "Mixed data, neoplasm: marginality reduces the SSE of the diagnosis"
    grows = "Mixed data, neoplasm: the reduction tends to grow with k"
    assert found[identical] == found[lower] == found[grows] == "holds"

    worse = dict(losses.sse)
    raised = tuple(1.5 * one for one in losses.sse["classic"]["dx"])
    ages = tuple(1.2 * one for one in losses.sse["classic"]["age"])
    worse["marginality"] = {**losses.sse["marginality"], "dx": raised, "age": ages}
    changed = verdicts({**known, "neoplasm": replace(losses, sse=worse)})
    assert changed[lower] == "does not hold"
    assert (
        changed["Mixed data, neoplasm: the SSE of numbers is almost identical for both algorithms"]
        == "partly"
    )
    assert changed[identical] == "holds"

    falling = {**losses.sse["marginality"], "dx": tuple(reversed_gain(losses))}
    turned = replace(losses, sse={**losses.sse, "marginality": falling})
    assert verdicts({**known, "neoplasm": turned})[grows] == "does not hold"


def reversed_gain(losses):
    gains = losses.reduction("dx")[::-1]
    return [old * (1 - one) for old, one in zip(losses.sse["classic"]["dx"], gains, strict=True)]


def test_reductions_are_shares(losses):
    assert losses.reduction("dx alone") == pytest.approx([0.75] * len(study.KS))
    assert losses.at("dx", 2) == pytest.approx(0.08)
    assert losses.at("dx", 20) == pytest.approx(0.16)


def test_printed_percentages_follow_from_the_printed_tables():
    assert study._printed_reduction("neoplasm", "dx", 4) == pytest.approx(10.1, abs=0.05)
    assert study._printed_reduction("neoplasm", "dx alone", 20) == pytest.approx(75.5, abs=0.05)
    assert study._printed_reduction("digestive", "dx", 20) == pytest.approx(17.9, abs=0.05)
    assert study._printed_reduction("digestive", "dx alone", 4) == pytest.approx(33.5, abs=0.05)


def test_the_share_of_the_diagnosis_is_one_in_so_many_records():
    frame = study.prepared(small_data(), "neoplasm")
    expected = (1 / len(frame)) / (3 + 1 / len(frame))
    assert study.share_of_diagnosis(frame) == pytest.approx(expected)


def test_uniqueness_decides_the_claims_on_the_tables():
    one = study.profile(study.prepared(small_data(), "neoplasm"))
    many, few = replace(one, unique_diagnoses=90), replace(one, unique_diagnoses=2)
    by_name = [
        [claim.verdict for claim in study.table_claims({"neoplasm": a, "digestive": b})]
        for a, b in ((many, few), (few, many))
    ]
    assert by_name[0][1] == "holds"
    assert by_name[1][1] == "does not hold"


def test_records_without_a_payment_are_left_out():
    data = small_data()
    unpaid = data["neoplasm"].with_columns(payment=pl.lit(0))
    data = replace(data, readers={**data.readers, "neoplasm": lambda: unpaid})
    assert study.prepared(data, "neoplasm").is_empty()


def test_a_matrix_that_is_no_distance_is_found_out():
    good = 1.0 - np.eye(3)
    broken = good.copy()
    broken[0, 1] = broken[1, 0] = 5.0
    assert study._is_metric(good) == [True] * 4
    assert study._is_metric(broken) == [True, True, True, False]
    assert study._breaches(broken) == 2
