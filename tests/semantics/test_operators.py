"""The operator sets on the literature's examples: one cluster of everything."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.operators import Comparison

EXAMPLES = json.loads((Path(__file__).parents[1] / "golden/worked_examples.json").read_text())
SYMPTOMS = om.Taxonomy.from_parents(EXAMPLES["symptoms_path"]["parents"])
TREATMENTS = om.Taxonomy.from_parents(EXAMPLES["treatments_path"]["parents"])


def centroid(records: list[tuple], operators: str, **taxonomies) -> tuple:
    """What every record of a single cluster becomes."""
    frame = pl.DataFrame(records, schema=list(taxonomies), orient="row")
    schema = om.Schema.of(
        {name: om.Nominal(one, measure="path") for name, one in taxonomies.items()}
    )
    method = om.Microaggregation(len(frame), operators=operators)
    (row,) = set(om.protect(frame, schema, method, seed=1).frame.iter_rows())
    return row


BIVARIATE = [
    (symptom, treatment)
    for symptom, treatment, count in EXAMPLES["bivariate"]["records"]
    for _ in range(count)
]


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        ("semantic", ("ache", "medication")),
        ("lcs", ("symptom", "medical_care")),
        # Codeine and rehabilitation tie, both as modes (3 each) and in marginality (29 each): the
        # shallower one counts.
        ("equality", ("lumbago", "rehabilitation")),
        ("mode", ("lumbago", "rehabilitation")),
        ("marginality", ("lumbago", "rehabilitation")),
    ],
)
def test_centroids_of_the_bivariate_example(operators, expected):
    assert centroid(BIVARIATE, operators, symptom=SYMPTOMS, treatment=TREATMENTS) == expected


@pytest.mark.parametrize(("values", "expected"), [("V1", "ache"), ("V2", "pain")])
def test_centroids_of_the_symptoms(values, expected):
    example = EXAMPLES["symptoms_path"]
    records = [(value,) for value, count in example[values].items() for _ in range(count)]
    assert centroid(records, "semantic", symptom=SYMPTOMS) == (expected,)


def test_consensus_prefers_what_is_not_wrong():
    # Replacing by an ancestor confuses nobody going up; pain as a value is above lumbago.
    records = [("pain",), ("lumbago",), ("colic",)]
    assert centroid(records, "consensus", symptom=SYMPTOMS) == ("lumbago",)


def test_the_random_centroid_is_a_value_of_the_cluster():
    records = [("lumbago",), ("colic",), ("gastritis",)]
    (found,) = centroid(records, "random", symptom=SYMPTOMS)
    assert (found,) in records


def test_distances_that_contribute_what_they_are_need_no_other_table():
    plain, values = np.array([[0.0, 1.0], [1.0, 0.0]]), np.arange(2)
    comparison = Comparison(ValueDistances())
    assert comparison.contributions(plain, values, values) is plain
    halved = Comparison(ValueDistances(), importance=0.5)
    assert halved.contributions(plain, values, values).tolist() == [[0.0, 0.5], [0.5, 0.0]]
