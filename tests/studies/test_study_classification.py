"""The study of classification, on small tables and on numbers made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ontomask as om
from studies.classification import (
    BAYES,
    DIVERGENCE,
    ENTROPY,
    GRANULARITY,
    OWN,
    STUDY,
    Judged,
    Outcome,
    classification_claims,
)
from studies.data import small_data
from studies.lattice import Lattice, judge_nodes
from studies.page import write_page
from studies.study import VERDICTS, Claim, Findings


@pytest.fixture(scope="module")
def findings() -> Findings:
    return STUDY.run(small_data(), True)


def test_every_claim_has_a_place_and_a_verdict(findings: Findings) -> None:
    assert len(findings.claims) == 14
    assert all(
        claim.where and claim.figure and claim.verdict in VERDICTS for claim in findings.claims
    )


def test_counting_says_the_same_as_the_library(findings: Findings) -> None:
    table = next(one for one in findings.tables if one.name == "library")
    naive = next(row for row in table.rows if row[0] == BAYES)
    assert naive[4] == pytest.approx(naive[5], abs=1e-9)
    levels = table.note.split("finds levels ")[1].split(";")[0]
    assert levels == table.note.rsplit("levels ", 1)[1].rstrip(".")


def test_the_page_is_written(findings: Findings, tmp_path: Path) -> None:
    page = write_page(tmp_path, "classification", findings)
    text = page.read_text(encoding="utf-8")
    assert "| granularity | 5 to 20 % |" in text
    assert (tmp_path / "classification" / "scores.svg").read_text().startswith("<svg")
    assert (tmp_path / "classification" / "picks.csv").read_text().startswith("limit,")


# Verdicts follow the numbers ------------------------------------------------------------------

BEST, GOOD, BAD = 2, 1, 0


def outcome(own_pick: int = BEST, noise: tuple[float, float] = (0.4, 0.6)) -> Outcome:
    """Three nodes with relative accuracies 0.1, 0.5 and 0.9; the other models pick the worst."""
    accuracy = np.array([[0.1, 0.1], [0.5, 0.4], [0.9, 0.8]])
    others = np.array([0.1, 0.6, 0.9])
    own = 1.0 - 0.5 * accuracy[:, 0]
    own[own_pick] = 0.0
    losses = {GRANULARITY: others, ENTROPY: others, DIVERGENCE: others, OWN: own}
    levels = np.array([[0, 0], [0, 1], [1, 1]], np.int32)
    return Outcome(levels, np.array([0, 1, 2]), losses, 10, accuracy, np.arange(3), accuracy, noise)


JUDGED = Judged((1, 1), 5, {}, {})


def verdict(claims: tuple[Claim, ...], start: str) -> str:
    return next(claim.verdict for claim in claims if claim.claim.startswith(start))


def test_the_papers_pattern_holds_and_its_opposite_does_not() -> None:
    as_printed = classification_claims(outcome(), JUDGED, 20.0)
    opposite = classification_claims(outcome(own_pick=BAD), JUDGED, 20.0)
    assert verdict(as_printed, "The node that granularity") == "holds"
    assert verdict(as_printed, "The node that the classification model") == "holds"
    assert verdict(as_printed, "It is the best node") == "holds"
    assert verdict(as_printed, "The score of the classification model") == "holds"
    assert verdict(opposite, "The node that the classification model") == "does not hold"
    assert verdict(opposite, "It is the best node") == "does not hold"
    assert verdict(opposite, "It gives a better classifier") == "does not hold"


def test_a_pick_in_between_gives_a_verdict_in_between() -> None:
    claims = classification_claims(outcome(own_pick=GOOD), JUDGED, 20.0)
    assert verdict(claims, "It gives a better classifier") == "holds"
    assert verdict(claims, "The node that the classification model") == "does not hold"


def test_side_claims_follow_their_numbers() -> None:
    claims = classification_claims(outcome(noise=(0.6, 0.4)), replace(JUDGED, smallest=4), 31.0)
    assert verdict(claims, "Suppressed records") == "does not hold"
    assert verdict(claims, "With k = 5") == "does not hold"
    assert verdict(claims, "Assessing") == "does not hold"


def test_picks_respect_the_limit() -> None:
    found = outcome()
    assert found.picks(1.0)[OWN] == BEST
    assert found.picks(0.1)[OWN] == GOOD  # node 2 suppresses 2 of 10


# The lattice ----------------------------------------------------------------------------------


def tiny() -> Lattice:
    """One column that tells the class, and two folds of eight records."""
    hierarchy = om.Hierarchy.from_rows([["a", "*"], ["b", "*"], ["c", "*"]])
    codes = hierarchy.encode([*"aaaabbbbc"]).astype(np.int64)[None, :]
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    return Lattice((hierarchy,), codes, labels, np.array([0, 1, 0, 1, 0, 1, 0, 1, 0]), 2)


@pytest.mark.parametrize("classifier", ["naive-bayes", "logistic"])
def test_accuracy_by_hand(classifier: str) -> None:
    found = judge_nodes(tiny(), classifier, np.array([[0], [1]], np.int32), 1)
    # level 0: a and b are learned; c is suppressed, and the others' majority says b's class
    assert found[0, 1] == pytest.approx(8 / 9 + tiny().baseline[8] / 9)
    # level 1: nothing is left to learn from
    assert found[1].tolist() == pytest.approx([tiny().baseline.mean()] * 2)


def test_small_classes_are_suppressed() -> None:
    lattice = tiny()
    assert lattice.kept(*lattice.values([0])).tolist() == [True] * 8 + [False]
    assert lattice.kept(*lattice.values([1])).all()
