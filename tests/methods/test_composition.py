"""Permutation and perturbation methods as steps of a list."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import ontomask as om
from ontomask.methods.columns import DropColumns, Pseudonyms
from ontomask.methods.perturbation import Noise, Rounding, Sampling, TopBottomCoding
from ontomask.methods.pram import Pram
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.shuffling import Shuffling
from tables import mixed_columns, mixed_schema

SWAP = RankSwapping(k=3, columns=["age", "diagnosis"])

LISTS = [
    [SWAP, Sampling(share=0.5)],
    [Sampling(share=0.5), SWAP],
    [Noise(["age"], scale=0.5), SWAP],
    [SWAP, Noise(["age"], scale=0.5)],
    [SWAP, SWAP],
    [SWAP, Shuffling(["age", "charge"], given=["severity"])],
    [Shuffling(["age", "charge"], given=["severity"]), SWAP],
    [TopBottomCoding(["age"], top=50), Rounding(["age"], base=5), SWAP, DropColumns(["age"])],
    [Pram(columns=["diagnosis", "sex"]), SWAP, Pseudonyms(["sex"], key="a key that is long")],
    [SWAP, om.Microaggregation(3)],
    [om.Microaggregation(3), SWAP],
    [om.Suppression(1 + 1, how="star"), RankSwapping(k=3, variant="multivariate")],
]


@pytest.mark.parametrize("steps", LISTS, ids=lambda steps: "+".join(one.name for one in steps))
def test_lists_of_steps(steps):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), steps, 5)
    assert release.verification.kept
    again = om.protect(frame, mixed_schema(), steps, 5)
    assert release.frame.equals(again.frame)


def test_a_step_goes_on_from_what_the_one_before_left():
    frame = pl.DataFrame(mixed_columns())
    rounded = om.protect(frame, mixed_schema(), Rounding(["age"], base=10), 1).frame
    swapped = om.protect(frame, mixed_schema(), [Rounding(["age"], base=10), SWAP], 1).frame
    assert Counter(swapped["age"]) == Counter(rounded["age"])
    assert not swapped["age"].equals(rounded["age"])
