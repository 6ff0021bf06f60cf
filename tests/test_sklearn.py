"""Masking inside scikit-learn's pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError, MethodError

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ontomask.sklearn import Masker
from tables import DISEASES, mixed_columns, mixed_schema

CONSTANT = "ignore:.*:UserWarning"


@pytest.mark.filterwarnings(CONSTANT)
@parametrize_with_checks([Masker(random_state=1)])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def people(library=pl.DataFrame):
    columns = mixed_columns(120)
    return library(columns)


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_frames_come_back_as_frames_with_the_published_columns(library):
    frame = people(library)
    masker = Masker(om.Microaggregation(5), mixed_schema(), random_state=1).fit(frame)
    masked = masker.transform(frame)
    assert isinstance(masked, library)
    assert "patient" not in masked.columns
    assert list(masker.get_feature_names_out()) == list(masked.columns)
    assert masker.release_.verification.kept
    assert len(masked) == len(frame)


def test_what_a_record_becomes_does_not_depend_on_the_others():
    frame = people()
    masker = Masker(om.Microaggregation(5), mixed_schema(), random_state=1).fit(frame)
    together = masker.transform(frame)
    assert masker.transform(frame[17:18]).equals(together[17:18])
    released = set(masker.release_.frame.select("diagnosis", "age").iter_rows())
    assert set(together.select("diagnosis", "age").iter_rows()) <= released


def test_classifiers_are_judged_on_what_a_release_would_show():
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"age": generator.integers(20, 90, 300), "sex": ["m", "f"] * 150})
    grown = (frame["age"] > 55).map({True: "retired", False: "working"})
    encode = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")

    def accuracy(k):
        masker = Masker(om.Microaggregation(k), random_state=1)
        model = make_pipeline(masker, encode, DecisionTreeClassifier(random_state=1))
        return cross_val_score(model, frame, grown, cv=3).mean()

    assert accuracy(5) > 0.9
    assert accuracy(100) < accuracy(5)


def test_arrays_of_words_and_gaps_are_taken_too():
    array = np.array([["a", 1.0], ["a", 2.0], ["b", np.nan], ["b", 9.0]] * 3, object)
    masked = Masker(om.Microaggregation(3), random_state=1).fit_transform(array)
    assert masked.shape == (12, 2)
    assert set(masked[:, 0]) == {"a", "b"}
    numbers = Masker(om.Microaggregation(3), random_state=1).fit_transform(np.eye(12))
    assert numbers.dtype == np.float64


def test_a_taxonomy_is_not_copied_with_the_estimator():
    schema = om.Schema(diagnosis=om.Nominal(DISEASES))
    assert clone(Masker(schema=schema)).schema["diagnosis"].taxonomy is DISEASES


@pytest.mark.parametrize(
    ("method", "error", "sentence"),
    [
        (om.RankSwapping(k=2), MethodError, "no scheme"),
        (om.Suppression(2), DataError, "keeps every record"),
    ],
)
def test_methods_that_cannot_stand_in_a_pipeline_say_so(method, error, sentence):
    frame = pl.DataFrame({"age": [*range(20), 1, 2, 3]})
    with pytest.raises(error, match=sentence):
        Masker(method, random_state=1).fit_transform(frame)


def test_names_that_are_not_those_of_the_fit_are_refused():
    masker = Masker(random_state=1).fit(pd.DataFrame({"age": range(10), "stay": range(10)}))
    with pytest.raises(ValueError, match="feature names"):
        masker.transform(pd.DataFrame({"stay": range(10), "age": range(10)}))
    with pytest.raises(ValueError, match="input_features"):
        masker.get_feature_names_out(["one"])
