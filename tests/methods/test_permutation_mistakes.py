"""Mistakes with permutation and perturbation methods, and the sentences they earn."""

from __future__ import annotations

import polars as pl
import pytest

import ontomask as om
from ontomask.methods.columns import DropColumns, Pseudonyms
from ontomask.methods.perturbation import Noise, Rounding, Sampling, TopBottomCoding
from ontomask.methods.pram import Pram
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.shuffling import Shuffling
from tables import mixed_columns, mixed_schema

HALF = [[0.5, 0.5], [0.5, 0.5]]

CREATED = [
    (lambda: RankSwapping(), "give either k (records) or share (of all records), not both"),
    (lambda: RankSwapping(k=3, share=0.05), "give either k (records) or share"),
    (lambda: RankSwapping(k=1), "k must be a whole number of at least 2, or None, not 1"),
    (
        lambda: RankSwapping(share=0),
        "share must be a number from 0 to 1, 0 excluded, or None, not 0",
    ),
    (lambda: RankSwapping(share=1.01), "share must be a number from 0 to 1"),
    (lambda: RankSwapping(k=3, algorithm="dynamics"), "Did you mean 'dynamic'?"),
    (lambda: RankSwapping(k=3, pool="some"), "pool must be one of 'unswapped', 'all'"),
    (lambda: RankSwapping(k=3, algorithm="random"), "without any limit; leave k and share out"),
    (lambda: Shuffling([]), "confidential must be a list that is not empty"),
    (lambda: Shuffling("age"), "confidential must be a list"),
    (
        lambda: Shuffling(["age", "sex"], given=["sex"]),
        "'sex' is named both as confidential and as given",
    ),
    (lambda: Pram(retain=1.5), "retain must be a number from 0 to 1, not 1.5"),
    (lambda: Pram(matrix=HALF), "matrix and order belong together"),
    (
        lambda: Pram(matrix=HALF, order=["f", "m", "x"]),
        "The PRAM matrix is 2 x 2, but order names 3 values",
    ),
    (
        lambda: Pram(matrix=[[0.5, 0.5], [1.0]], order=["f", "m"]),
        "The PRAM matrix is 2 x 1/2, but order names 2 values",
    ),
    (
        lambda: Pram(matrix=[[0.5, 0.5], [0.5, 0.4]], order=["f", "m"]),
        "Row 2 of the PRAM matrix sums to 0.9; every row holds the probabilities of one value",
    ),
    (
        lambda: Pram(matrix=[[1.5, -0.5], [0, 1]], order=["f", "m"]),
        "entries that are no probabilities",
    ),
    (lambda: Pram(matrix=HALF, order=["f", "f"]), "order names a value twice"),
    (lambda: Noise(["age"], scale=0), "scale must be a number of at least 0, 0 excluded"),
    (lambda: TopBottomCoding(["age"]), "needs a limit"),
    (lambda: TopBottomCoding(["age"], top=9, top_share=0.01), "either top or top_share, not both"),
    (lambda: TopBottomCoding(["age"], top=9, bottom=10), "bottom (10) must not exceed top (9)"),
    (lambda: Rounding(["age"], base=0), "base must be a number of at least 0, 0 excluded"),
    (lambda: Sampling(), "give either share or size, not both"),
    (lambda: Sampling(share=0.1, size=3), "give either share or size, not both"),
    (lambda: Sampling(share=1.0), "share must be a number from 0 to 1, 0 and 1 excluded"),
    (lambda: Pseudonyms(["sex"], key="short"), "key must have at least 16 characters"),
    (lambda: DropColumns([]), "columns must be a list that is not empty"),
]


@pytest.mark.parametrize(("make", "sentence"), CREATED, ids=[one for _, one in CREATED])
def test_mistakes_when_a_method_is_made(make, sentence):
    with pytest.raises(om.errors.ParameterError) as caught:
        make()
    assert sentence in str(caught.value)


APPLIED = [
    (
        RankSwapping(k=60),
        "k is 60, but there are only 60 records; the swapping interval must be smaller than the "
        "table: choose k of at most 59.",
    ),
    (RankSwapping(k=99, algorithm="multivariate"), "choose k of at most 59."),
    (
        RankSwapping(share=0.01),
        "share = 0.01 of 60 records makes an interval of 0; at least 2 are needed: choose a share "
        "of at least 0.0333.",
    ),
    (
        RankSwapping(k=3, columns=["patient"]),
        "columns names 'patient', which the schema declares as identifier: it is not published and "
        "cannot be masked; leave it out of the list.",
    ),
    (
        RankSwapping(k=3, columns=["diagnoses"]),
        "columns names 'diagnoses', which is not a published column. Did you mean 'diagnosis'?",
    ),
    (RankSwapping(k=3, columns=["age", "age"]), "columns names 'age' twice"),
    (RankSwapping(k=20, strata=("severity",)), "Stratum severity = "),
    (
        Shuffling(["patient"]),
        "confidential names 'patient', which the schema declares as identifier",
    ),
    (Shuffling(["age"], given=["patient"]), "given names 'patient', which the schema declares as"),
    (
        Shuffling(["age"], given=["ward"]),
        "The given column 'ward' has one value only, so nothing can depend on it; leave it out of "
        "given.",
    ),
    (
        Noise(["age", "diagnosis"]),
        "Column 'diagnosis' is nominal, and noise is for numeric or date columns only; leave it "
        "out, or use rank swapping or PRAM for it.",
    ),
    (TopBottomCoding(["sex"], top=3), "Column 'sex' is flat, and top and bottom coding is for"),
    (Rounding(["admitted"], base=3), "Column 'admitted' is date, and rounding is for numeric"),
    (Rounding(["age"], base=2.5), "cannot be multiples of 2.5; choose a whole base"),
    (Sampling(size=61), "size is 61, but there are only 60 records; choose a smaller size."),
    (Pram(columns=["age"]), "Column 'age' is numeric, and PRAM is for categories only"),
    (Pram(matrix=HALF, order=["f", "m"]), "The matrix is for a single column, but diagnosis, age,"),
    (
        Pram(matrix=HALF, order=["f", "x"], columns=["sex"]),
        "order lacks a value of column 'sex' (1 in all); it must name every value that occurs.",
    ),
    (
        Pram(matrix=[[1, 0, 0], [0, 1, 0], [1, 0, 0]], order=["f", "m", "n"], columns=["severity"]),
        "order lacks a value of column 'severity' (3 in all)",
    ),
    (
        Pram(matrix=[[0.8, 0, 0.2], [0, 1, 0], [1, 0, 0]], order=["f", "m", "n"], columns=["sex"]),
        "The PRAM matrix leads to 'n', which is not a value of column 'sex'.",
    ),
    (DropColumns(["patient"]), "columns names 'patient', which the schema declares as identifier"),
    (
        Pseudonyms(["age"], key="a key that is long"),
        "Column 'age' is numeric, and a pseudonym would be read as such by later steps",
    ),
    (
        DropColumns(["diagnosis", "age", "admitted", "severity", "sex", "charge", "ward"]),
        "Nothing would be published",
    ),
    (Noise(["lonely"], correlated=True), "at least two records without missing values"),
]


@pytest.mark.parametrize(("method", "sentence"), APPLIED, ids=[one for _, one in APPLIED])
def test_mistakes_when_a_method_meets_a_table(method, sentence):
    columns = {**mixed_columns(), "ward": ["east"] * 60}
    schema = om.Schema.of({**mixed_schema(), "ward": om.Flat(role="other")})
    if "lonely" in (getattr(method, "columns", None) or ()):
        columns["lonely"] = [1.0, *[None] * 59]
        schema = om.Schema.of({**schema, "lonely": om.Numeric(role="other")})
    with pytest.raises(om.errors.OntomaskError) as caught:
        om.protect(pl.DataFrame(columns), schema, method, 1)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", [RankSwapping(k=3), Shuffling(["age"], given=["charge"])])
def test_rows_of_several_records_cannot_be_permuted(method):
    columns = {**mixed_columns(), "people": [2] * 60}
    schema = om.Schema.of({**mixed_schema(), "people": om.Count()})
    with pytest.raises(om.errors.MethodError, match="repeat each row as often as its count"):
        om.protect(pl.DataFrame(columns), schema, method, 1)
    with_ones = pl.DataFrame({**columns, "people": [1] * 60})
    assert len(om.protect(with_ones, schema, method, 1).frame) == 60


def test_no_column_to_swap():
    frame = pl.DataFrame({"age": [1, 2, 3, 4]})
    with pytest.raises(om.errors.MethodError, match="No column has the role 'quasi'"):
        om.protect(frame, om.Schema(age=om.Numeric(role="other")), RankSwapping(k=2), 1)


def test_permutations_have_no_scheme_for_further_records():
    release = om.protect(pl.DataFrame(mixed_columns()), mixed_schema(), RankSwapping(k=3), 1)
    with pytest.raises(om.errors.MethodError, match="no scheme for further records"):
        _ = release.scheme
