"""Post-randomization."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.methods import pram
from ontomask.methods.pram import Pram, drawn, drawn_words
from ontomask.semantics.distances import ValueDistances
from tables import DISEASES, LEAVES, mixed_columns, mixed_schema

NOMINAL = om.Schema(diagnosis=om.Nominal(DISEASES))


def patients(count: int = 7000) -> pl.DataFrame:
    return pl.DataFrame({"diagnosis": LEAVES * (count // len(LEAVES))})


def protected(method, frame=None, schema=NOMINAL, seed=3):
    return om.protect(patients() if frame is None else frame, schema, method, seed).frame


def shares(release: pl.DataFrame, frame: pl.DataFrame, value: str) -> dict[str, float]:
    new = release["diagnosis"].filter(frame["diagnosis"] == value)
    return {one: (new == one).mean() for one in LEAVES}


@pytest.mark.parametrize("retain", [0.5, 0.9])
def test_plain_values_stay_or_become_any_other(retain):
    frame = patients()
    found = shares(protected(Pram(retain=retain, algorithm="plain")), frame, "flu")
    assert found.pop("flu") == pytest.approx(retain, abs=0.05)
    np.testing.assert_allclose(list(found.values()), (1 - retain) / 6, atol=0.04)


def test_semantic_probabilities_fall_with_the_distance():
    """Siblings are nearer than cousins; the probabilities are exp(-distance / reach)."""
    frame = patients()
    found = shares(protected(Pram(retain=0.2, reach=0.3)), frame, "flu")
    others = [one for one in LEAVES if one != "flu"]
    weights = np.exp(-DISEASES.between(["flu"], others)[0] / 0.3)
    expected = 0.8 * weights / weights.sum()
    assert found["flu"] == pytest.approx(0.2, abs=0.05)
    np.testing.assert_allclose([found[one] for one in others], expected, atol=0.05)
    assert found["cold"] > 1.5 * found["skin cancer"]


def test_a_small_reach_stays_near_and_a_wide_one_is_plain():
    frame = patients()
    near = shares(protected(Pram(retain=0.0, reach=0.001)), frame, "flu")
    assert near["cold"] + near["covid"] == pytest.approx(1.0)
    wide = shares(protected(Pram(retain=0.0, reach=1e6)), frame, "flu")
    assert max(wide.values()) < 0.25


def test_own_matrix():
    frame = pl.DataFrame({"sex": ["f"] * 4000 + ["m"] * 4000})
    schema = om.Schema(sex=om.Flat())
    chosen = Pram(matrix=[[0.7, 0.3], [0.0, 1.0]], order=["m", "f"])
    found = protected(chosen, frame, schema)["sex"]
    assert (found[:4000] == "f").all()
    assert (found[4000:] == "f").mean() == pytest.approx(0.3, abs=0.03)


def test_own_matrix_may_name_values_that_do_not_occur_and_leave_gaps_alone():
    frame = pl.DataFrame({"sex": ["f", "m", None] * 100})
    schema = om.Schema(sex=om.Flat())
    matrix = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    found = protected(Pram(matrix=matrix, order=["f", "m", "x"]), frame, schema)
    assert found["sex"].to_list() == ["m", "f", None] * 100
    filled = protected(Pram(matrix=matrix, order=["f", "m", None]), frame, schema)
    assert filled["sex"].null_count() == 0


def test_all_kinds_of_categories_with_gaps():
    frame = pl.DataFrame(mixed_columns())
    names = ["diagnosis", "severity", "sex"]
    release = protected(Pram(retain=0.5, columns=names), frame, mixed_schema())
    for name in names:
        assert set(release[name]) <= set(frame[name])
        assert not release[name].equals(frame[name])
    rest = ["age", "admitted", "charge"]
    assert release.select(rest).equals(frame.select(rest))


def test_measure_and_seed_matter_and_full_retention_changes_nothing():
    frame = patients(700)
    plain = protected(Pram(retain=0.3), frame)
    assert plain.equals(protected(Pram(retain=0.3), frame))
    assert not plain.equals(protected(Pram(retain=0.3), frame, seed=4))
    assert not plain.equals(protected(Pram(retain=0.3, measure="path"), frame))
    assert protected(Pram(retain=1.0), frame).equals(frame)


def test_a_single_value_stays():
    frame = pl.DataFrame({"diagnosis": ["flu"] * 5})
    for variant in ("plain", "semantic"):
        assert protected(Pram(retain=0.0, algorithm=variant), frame).equals(frame)


def test_draws_follow_the_rows():
    codes = np.repeat([0, 1, 2], 1000).astype(np.int32)
    rows = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    found = drawn(codes, iter([(0, rows)]), np.random.default_rng(1).random(codes.size))
    assert (found[:1000] == 1).all()
    assert (found[2000:] == 2).all()
    assert np.bincount(found[1000:2000], minlength=3)[1] == 0
    assert np.bincount(found[1000:2000])[0] == pytest.approx(500, abs=60)


def rows_of_words(codes, retain):
    """The probabilities of every value, as they are for values of any kind."""
    kinds = int(codes.max()) + 1
    present = np.bincount(codes, minlength=kinds) > 0
    distances = ValueDistances().between(np.arange(kinds), np.arange(kinds))
    yield 0, Pram(retain=retain)._decreasing(distances, present, 0)


@pytest.mark.parametrize("retain", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("kinds", [1, 2, 3, 40, 700])
def test_words_are_drawn_as_values_of_any_kind(kinds, retain):
    rng = np.random.default_rng(kinds)
    codes = (2 * rng.integers(0, kinds, 3000)).astype(np.int32)  # not every code occurs
    others = np.unique(codes).size - 1
    edges = rng.integers(0, others + 1, 3000) * (1.0 - retain) / max(1, others)
    for uniforms in (rng.random(3000), edges, np.clip(edges + retain, 0.0, 1.0 - 2.0**-53)):
        expected = drawn(codes, rows_of_words(codes, retain), uniforms)
        np.testing.assert_array_equal(drawn_words(codes, retain, uniforms), expected)


def test_no_word_is_compared_with_all_others(monkeypatch):
    monkeypatch.setattr(ValueDistances, "between", None)
    looked = []
    place = pram._place
    monkeypatch.setattr(pram, "_place", lambda *given: (looked.append(1), place(*given))[1])
    frame = pl.DataFrame({"word": [f"w{place}" for place in range(20_000)]})
    for algorithm in ("semantic", "plain"):
        released = protected(Pram(algorithm=algorithm), frame, om.Schema(word=om.Flat()))
        assert 0.78 < (released["word"] == frame["word"]).mean() < 0.82
    assert len(looked) < 20
