"""What a clustering method leaves for records not seen: the release's values and distances only."""

from __future__ import annotations

import dataclasses
import datetime
import pickle
import struct

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.microdata import Attribute
from ontomask.taxonomy.taxonomy import Taxonomy
from tables import DISEASES, LEAVES, mixed_columns, mixed_schema

COUNT = 61
METHODS = {
    "sa-mdav": om.Microaggregation(5),
    "refined": om.Microaggregation(5, refine=True, metric="s-distance"),
    "path": om.Microaggregation(5, measure="weighted-path", operators="marginality"),
    "content": om.Microaggregation(5, measure="lin"),
    "mdav": om.Microaggregation(5, algorithm="mdav", operators="equality"),
    "v-mdav": om.Microaggregation(5, algorithm="v-mdav"),
    "recoding": om.Recoding(5),
    "resampling": om.Resampling(5),
    "suppression": om.Suppression(2),
}
every_scheme = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
DAY = datetime.date(1931, 5, 17)
RARE = {
    "diagnosis": "skin cancer",
    "age": 107,
    "admitted": DAY,
    "sex": "of the far village",
}


def people() -> pl.DataFrame:
    """Records among which one has rare values; those of the ordinal column are in the schema."""
    columns = mixed_columns(COUNT)
    columns["diagnosis"] = [None if one == "skin cancer" else one for one in columns["diagnosis"]]
    for name, value in RARE.items():
        columns[name][10] = value
    return pl.DataFrame(columns)


def held(thing: object, seen: set[int] | None = None) -> list[object]:
    """Everything that an object holds, taxonomies and what is as long as they are left out."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, Taxonomy):
        return []
    seen.add(id(thing))
    inner: list[object] = []
    if dataclasses.is_dataclass(thing) or hasattr(thing, "__dict__"):
        inner = list(vars(thing).values())
    elif isinstance(thing, dict):
        inner = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner = list(thing)
    found = [thing]
    for one in inner:
        found += held(one, seen)
    return found


@every_scheme
def test_a_scheme_holds_no_records_and_no_value_that_is_not_released(method):
    frame = people()
    release = om.protect(frame, mixed_schema(), method, seed=1)
    released = {value for row in release.frame.iter_rows() for value in row}
    assert not set(RARE.values()) & released
    scheme = pickle.loads(pickle.dumps(release.scheme.schemes))  # noqa: S301 - our own bytes
    things = held(scheme)
    places = {id(one.codes) for one in things if isinstance(one, Attribute)}
    arrays = [one for one in things if isinstance(one, np.ndarray) and id(one) not in places]
    for array in arrays:
        assert COUNT not in array.shape
        assert (
            array.size == len(DISEASES)
            or not np.isin(
                [RARE["age"], DAY.toordinal(), DISEASES.index_of("skin cancer")], array
            ).any()
        )
    plain = [one for one in things if isinstance(one, (str, int, float, datetime.date))]
    assert not set(RARE.values()) & set(plain)
    assert len(things) > 3


@every_scheme
def test_the_bytes_of_a_scheme_hold_no_rare_value(method):
    release = om.protect(people(), mixed_schema(), method, seed=1)
    stored = pickle.dumps(release.scheme.schemes)
    for number in (107.0, float(DAY.toordinal())):
        assert struct.pack("<d", number) not in stored
    assert b"far village" not in stored


@every_scheme
def test_a_scheme_survives_its_file_and_takes_records_one_by_one(method):
    frame = people()
    scheme = om.protect(frame, mixed_schema(), method, seed=1).scheme
    again = pickle.loads(pickle.dumps(scheme))  # noqa: S301 - our own bytes
    together = scheme.apply(frame)
    assert again.apply(frame).equals(together)
    some = range(0, COUNT, 3)
    assert any(None in frame.row(place) for place in some)
    alone = [scheme.apply(frame[place]) for place in some]
    assert sum(map(len, alone)) >= (len(some) if len(together) == COUNT else 1)
    if len(together) == COUNT:
        assert pl.concat(alone).equals(together[some])


@every_scheme
def test_a_scheme_needs_the_quasi_identifiers_only_and_takes_an_empty_batch(method):
    frame, schema = people(), mixed_schema()
    scheme = om.protect(frame, schema, method, seed=1).scheme
    quasi = list(schema.with_role("quasi"))
    assert scheme.apply(frame.select(quasi)).equals(scheme.apply(frame).select(quasi))
    assert tuple(scheme.apply(frame.clear()).columns) == scheme.published
    with pytest.raises(om.errors.SchemaError, match="'age'"):
        scheme.apply(frame.drop("age"))


TWO = om.Schema(one=om.Nominal(DISEASES), other=om.Nominal(DISEASES, measure="path"))


def space(values, measure):
    options = {"scaled": True} if measure in ("path", "weighted-path") else {}
    return DISEASES.space(DISEASES.indices_of(sorted(set(values))), measure, **options)


@pytest.mark.parametrize("measure", [None, *(one.name for one in om.knowledge.measures())])
@pytest.mark.parametrize("method", [om.Microaggregation, om.Recoding])
def test_records_of_the_table_go_to_the_nearest_released_combination(measure, method):
    generator = np.random.default_rng(4)
    frame = pl.DataFrame({name: generator.choice(LEAVES, 60).tolist() for name in ("one", "other")})
    release = om.protect(frame, TWO, method(4, measure=measure), seed=1)
    combinations = sorted(set(release.frame.iter_rows()))
    total = np.zeros((len(combinations), 60))
    for place, (name, own) in enumerate((("one", "logsc"), ("other", "path"))):
        rows = DISEASES.indices_of([one[place] for one in combinations])
        columns = DISEASES.indices_of(frame[name].to_list())
        total += space(frame[name].to_list(), measure or own).between(rows, columns)
    applied = list(release.scheme.apply(frame).iter_rows())
    assert set(applied) <= set(combinations)
    chosen = [combinations.index(row) for row in applied]
    nearest = total.min(axis=0)
    assert total[chosen, np.arange(60)].tolist() == pytest.approx(nearest.tolist(), abs=1e-12)


def test_numbers_gaps_and_strange_values_go_to_the_nearest_centroid():
    frame = pl.DataFrame(
        {"n": [1.0, 1.5, 2.0, 9.0, 9.5, None], "s": ["a", "a", "a", "b", "b", "b"]}
    )
    schema = om.Schema(n=om.Numeric(), s=om.Flat())
    scheme = om.protect(frame, schema, om.Microaggregation(3), seed=1).scheme
    new = pl.DataFrame({"n": [0.0, 40.0, None], "s": ["a", "never seen", None]})
    assert scheme.apply(new)["s"].to_list() == ["a", "b", "b"]
    assert scheme.apply(new)["n"].to_list() == pytest.approx([1.5, 9.25, 9.25])


def test_suppression_knows_a_combination_however_it_is_written():
    frame = pl.DataFrame({"d": ["flu"] * 3 + ["cold"]})
    schema = om.Schema(d=om.Nominal(DISEASES))
    scheme = om.protect(frame, schema, om.Suppression(2), seed=1).scheme
    assert scheme.apply(pl.DataFrame({"d": ["FLU", "cold", "asthma"]}))["d"].to_list() == ["flu"]
