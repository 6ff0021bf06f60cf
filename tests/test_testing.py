"""The contract of models, measures and readers: ours keep it, and broken ones are caught."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.extending import Measure, PrivacyModel, Reader
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.readers import readers
from ontomask.testing import (
    check_measure,
    check_privacy_model,
    check_quality_model,
    check_reader,
    example_columns,
)

PEOPLE = pl.concat([pl.DataFrame(example_columns())] * 2)
PRIVACY = [
    om.privacy.KAnonymity(4),
    om.privacy.LDiversity(3),
    om.privacy.TCloseness(0.5),
    om.privacy.BetaLikeness(3.0),
    om.privacy.DeltaDisclosure(2.0),
    om.privacy.AverageRisk(0.2),
    om.privacy.SampleUniqueness(0.05),
]
QUALITY = [
    om.quality.Loss(),
    om.quality.Precision(),
    om.quality.Height(),
    om.quality.Discernibility(),
    om.quality.AverageClassSize(),
    om.quality.EntropyLoss(),
    om.quality.NonUniformEntropy(),
    om.quality.KLDivergence(),
    om.quality.Ambiguity(),
]


@pytest.mark.parametrize("model", PRIVACY, ids=lambda one: type(one).__name__)
def test_privacy_models_keep_the_contract(model):
    check_privacy_model(model)


def test_models_of_a_population_keep_the_contract():
    check_privacy_model(om.privacy.KMap(6), population=PEOPLE)


@pytest.mark.parametrize("model", QUALITY, ids=lambda one: one.name)
def test_quality_models_keep_the_contract(model):
    check_quality_model(model)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda one: one.name)
def test_measures_keep_the_contract(measure):
    check_measure(measure)


def test_readers_keep_the_contract(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text("child,parent\ncat,pet\ndog,pet\nbeagle,dog\n", encoding="utf-8")
    check_reader(readers()["edges"], path)
    with pytest.raises(AssertionError, match="claimed"):
        check_reader(Reader("all", lambda path, beginning: True, readers()["edges"].read), path)
    with pytest.raises(AssertionError, match=r"pets\.csv is not recognized"):
        check_reader(Reader("none", lambda path, beginning: False, readers()["edges"].read), path)


@dataclass(frozen=True)
class OddSizes(PrivacyModel):
    """Classes with an odd number of records: two of them make an even one."""

    name: ClassVar[str] = "odd-sizes"

    def holds(self, classes):
        return (classes.sizes % 2 == 1) & (classes.sizes > 2)

    @property
    def monotone_with_suppression(self):
        return True


@dataclass(frozen=True)
class Backwards(om.quality.Precision):
    """What is lost, with its sign turned."""

    name: ClassVar[str] = "backwards"

    def prepare(self, facts):
        measure = super().prepare(facts)
        return replace(measure, kept=-measure.kept)


def test_models_that_say_what_is_not_so_are_caught():
    with pytest.raises(AssertionError, match="a search finds a loss of"):
        check_privacy_model(OddSizes())
    with pytest.raises(AssertionError, match="loses less than the original"):
        check_quality_model(Backwards())
    with pytest.raises(AssertionError, match="is a class below"):
        check_quality_model(OddSizes())


@pytest.mark.parametrize(
    ("compute", "problem"),
    [
        (lambda space, pairs: (pairs.concepts[0] != pairs.concepts[1]) * 2.0, "larger than 1"),
        (lambda space, pairs: (pairs.concepts[0] < pairs.concepts[1]) * 1.0, "direction"),
        (lambda space, pairs: np.ones(pairs.concepts[0].size), "apart from itself"),
        (lambda space, pairs: np.full(pairs.concepts[0].size, np.nan), "no number"),
    ],
)
def test_measures_that_are_no_distance_are_caught(compute, problem):
    with pytest.raises(AssertionError, match=problem):
        check_measure(Measure("wrong", "wrong", "a test", compute))
