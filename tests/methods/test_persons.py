"""Persons with several records: k counts persons, and what is constant stays so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.schema import Column
from ontomask.errors import DataError, MethodError, OntomaskError, SchemaError
from ontomask.methods.base import Method
from ontomask.promises import ClassSize
from tables import DISEASES, LEAVES

K = 4
QUASI = ("sex", "age", "diagnosis")
HIERARCHIES = {
    "sex": [["f", "*"], ["m", "*"]],
    "age": [[str(age), str(age // 10), str(age // 30), "*"] for age in range(100)],
}


def visits(persons: int = 60, seed: int = 0, *, alike: bool = True) -> pl.DataFrame:
    """Persons with one to six visits; many of one person are alike, so that records mislead."""
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(persons):
        sex, age = str(generator.choice(["f", "m"])), int(generator.integers(20, 90))
        diagnosis = str(generator.choice(LEAVES))
        for _ in range(int(generator.integers(1, 7))):
            if not alike or generator.random() < 0.3:
                diagnosis = str(generator.choice(LEAVES))
            rows.append((f"p{person}", sex, age, diagnosis, float(generator.normal())))
    generator.shuffle(rows)
    return pl.DataFrame(rows, schema=["person", *QUASI, "charge"], orient="row")


def declared(**more: Column) -> om.Schema:
    return om.Schema(
        person=om.Identifier(unit=True),
        **{
            "sex": om.Flat(),
            "age": om.Numeric(),
            "diagnosis": om.Nominal(DISEASES),
            "charge": om.Numeric(role="other"),
            **more,
        },
    )


def persons_in_classes(frame: pl.DataFrame, release: om.Release) -> list[int]:
    """How many persons share each combination, counted by hand."""
    whose = frame["person"].to_list()
    classes = defaultdict(set)
    for row, values in zip(
        release.rows, release.frame.select(release.schema.quasi).rows(), strict=True
    ):
        classes[values].add(whose[row])
    return [len(one) for one in classes.values()]


METHODS = {
    "sa-mdav": om.Microaggregation(k=K),
    "static": om.Microaggregation(k=K, dynamic=False, weighting="frequency"),
    "mdav": om.Microaggregation(k=K, algorithm="mdav"),
    "v-mdav": om.Microaggregation(k=K, algorithm="v-mdav", gamma=2.0),
    "refined": om.Microaggregation(k=K, refine=True),
    "thorough": om.Microaggregation(k=K, refine="thorough", rounds=2),
    "refined mdav": om.Microaggregation(k=K, algorithm="mdav", refine=True),
    "merged": om.Microaggregation(k=K, privacy=[om.privacy.KAnonymity(K + 3)]),
    "strata": om.Microaggregation(k=K, strata=("sex",)),
    "blocks": om.Microaggregation(k=K, block_size=12),
    "refined blocks": om.Microaggregation(k=K, algorithm="mdav", refine=True, block_size=12),
    "recoding": om.Recoding(k=K),
    "recoding by frequency": om.Recoding(k=K, weighting="frequency", order="any"),
    "discernibility": om.Recoding(k=K, algorithm="discernibility"),
    "random": om.Recoding(k=K, algorithm="random"),
    "star": om.Suppression(k=K, outliers="star"),
    "local suppression": om.LocalSuppression(k=K),
    **{
        search: om.Generalization(
            privacy=[om.privacy.KAnonymity(K)],
            algorithm=search,
            suppression_limit=0.1,
            hierarchies=HIERARCHIES,
            steps=50 if search == "best-effort" else None,
        )
        for search in ("optimal", "best-effort", "local", "mondrian", "tuple")
    },
    "resampling": om.Resampling(k=K),
    "resampling in strata": om.Resampling(k=K, strata=("sex",)),
    "tuples in strata": om.Generalization(
        privacy=[om.privacy.KAnonymity(K)],
        algorithm="tuple",
        hierarchies=HIERARCHIES,
        strata=("sex",),
    ),
    "no attack": om.Generalization(
        privacy=[om.privacy.NoAttack(adversary_gain=K - 0.5, adversary_cost=1)],
        suppression_limit=0.1,
        hierarchies=HIERARCHIES,
    ),
    **{
        way: om.Microaggregation(
            k=K, privacy=[om.privacy.TCloseness(0.4, ground="ordered")], privacy_by=way
        )
        for way in ("t-first", "k-first")
    },
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_every_class_has_k_persons(method: Method, seed: int) -> None:
    """Though many classes of the table have k records of fewer persons."""
    frame = visits(seed=seed)
    schema = declared(age=om.Numeric(role="other")) if method.name == "suppression" else declared()
    if any(isinstance(model, om.privacy.TCloseness) for model in getattr(method, "privacy", ())):
        schema = declared(charge=om.Numeric(role="sensitive"))
    release = om.protect(frame, schema, method, seed=seed)
    assert min(persons_in_classes(frame, release)) >= K
    assert min(release.class_sizes) == min(persons_in_classes(frame, release))
    promise = next(one for one in release.promises if isinstance(one, ClassSize))
    assert promise.unit == "person"
    assert f"at least {promise.k} persons (different person)" in promise.describe()


@pytest.mark.parametrize(
    "name",
    ["sa-mdav", "mdav", "recoding", "refined", "optimal", "resampling", "tuple", "no attack"],
)
def test_counting_records_is_not_enough(name: str) -> None:
    """Without a unit, some class is of fewer persons: the tests above can fail."""
    frame = visits(seed=1)
    schema = om.Schema.of({**declared(), "person": om.Identifier()})
    release = om.protect(frame, schema, METHODS[name], seed=1)
    assert min(persons_in_classes(frame, release)) < K


@pytest.mark.parametrize("name", ["sa-mdav", "mdav", "v-mdav", "refined", "optimal"])
def test_what_is_constant_within_persons_stays_so(name: str) -> None:
    """Sex and age are, the diagnosis is not: nobody appears with two sexes."""
    frame, method = visits(persons=200, seed=3), METHODS[name]
    if name == "optimal":  # stars are set record by record
        method = replace(method, suppression_limit=0.0)
    release = om.protect(frame, declared(age=om.Numeric(weight=5.0)), method, seed=3)
    values = defaultdict(set)
    for person, *rest in zip(
        frame["person"], release.frame["sex"], release.frame["age"], strict=True
    ):
        values[person].add(tuple(rest))
    assert {len(one) for one in values.values()} == {1}
    if name != "optimal":
        assert release.frame["age"].n_unique() > 1
        assert release.details[0]["once_per_person"] == ["sex", "age"]
        assert release.frame.unique(QUASI).height > release.frame.unique(["sex", "age"]).height


@pytest.mark.parametrize("name", ["sa-mdav", "mdav", "v-mdav", "refined", "recoding"])
def test_persons_are_clustered_where_everything_is_constant(name: str) -> None:
    """The release is the same as that of a table with one record for each person."""
    frame = visits(persons=120, seed=5)
    schema = declared(diagnosis=om.Nominal(DISEASES, role="other"))
    release = om.protect(frame, schema, METHODS[name], seed=5)
    persons = defaultdict(set)
    for person, *rest in zip(
        frame["person"], release.frame["sex"], release.frame["age"], strict=True
    ):
        persons[person].add(tuple(rest))
    assert {len(one) for one in persons.values()} == {1}
    assert min(persons_in_classes(frame, release)) >= K


def test_mdav_takes_the_k_nearest_persons() -> None:
    """On a line: the records of person 0 are three, so its cluster is larger than k records."""
    places = [0.0, 0.1, 0.2, 1.0, 2.0, 10.0, 11.0, 12.0]
    whose = [0, 0, 0, 1, 2, 3, 4, 5]
    frame = pl.DataFrame({"who": whose, "where": places})
    schema = om.Schema(who=om.Identifier(unit=True), where=om.Numeric())
    release = om.protect(frame, schema, om.Microaggregation(k=3, algorithm="mdav"), seed=0)
    assert release.frame["where"].to_list() == pytest.approx([3.3 / 5] * 5 + [11.0] * 3)


class TestMistakes:
    """What is answered to a mistake."""

    def test_a_record_of_nobody(self) -> None:
        frame = visits(9).with_columns(person=pl.when(pl.col("age") > 50).then("person"))
        with pytest.raises(DataError, match="says whose record it is, but has no value in records"):
            om.protect(frame, declared(), om.Microaggregation(k=2))

    def test_a_number_that_is_none(self) -> None:
        frame = (
            visits(9).with_columns(person=pl.Series([float("nan")] * len(visits(9)))).to_pandas()
        )
        with pytest.raises(DataError, match="says whose record it is, but has no value in records"):
            om.protect(frame, declared(), om.Microaggregation(k=2))

    @pytest.mark.parametrize("name", ["sa-mdav", "resampling", "tuple", "recoding", "star"])
    def test_one_person(self, name: str) -> None:
        frame = visits(9).with_columns(person=pl.lit("Ann"))
        with pytest.raises(MethodError, match="k is 4, but there is only 1 person"):
            om.protect(frame, declared(), METHODS[name])

    def test_a_stratum_of_few(self) -> None:
        method = om.Microaggregation(k=39, strata=("sex",))
        with pytest.raises(MethodError, match="Stratum sex = 'f': k is 39, but there are only"):
            om.protect(visits(40), declared(), method)

    def test_two_units(self) -> None:
        with pytest.raises(SchemaError, match="Only one column can be the unit, not a, b"):
            om.Schema(a=om.Identifier(unit=True), b=om.Identifier(unit=True))

    def test_counts_beside_units(self) -> None:
        with pytest.raises(SchemaError, match="repeat each record as often as its count says"):
            om.Schema(a=om.Identifier(unit=True), b=om.Count())

    def test_more_than_there_are(self) -> None:
        with pytest.raises(MethodError, match="k is 9, but there are only 7 persons"):
            om.protect(visits(7), declared(), om.Microaggregation(k=9))
        with pytest.raises(MethodError, match="k is 9, but there are only 7 persons"):
            om.protect(visits(7), declared(), om.Generalization(privacy=[om.privacy.KAnonymity(9)]))

    @pytest.mark.parametrize(
        ("method", "said"),
        [
            (
                om.Generalization(privacy=[om.privacy.AverageRisk(0.1)]),
                "AverageRisk counts records",
            ),
            (
                om.Microaggregation(k=3, privacy=[om.privacy.SampleUniqueness(0.1)]),
                "SampleUniqueness counts records",
            ),
        ],
    )
    def test_a_method_that_counts_records(self, method: Method, said: str) -> None:
        with pytest.raises(OntomaskError, match=said) as caught:
            om.protect(visits(), declared(charge=om.Numeric(role="sensitive")), method)
        assert "'person' says that persons are to be protected" in str(caught.value)

    def test_a_table_of_any_size(self) -> None:
        with pytest.raises(MethodError, match="'person' says that persons are to be protected"):
            om.protect(visits().lazy(), declared(), om.Microaggregation(k=3))

    def test_a_pseudonym_joins_records(self) -> None:
        steps = [om.Microaggregation(k=3), om.Pseudonyms(["person"], key="k" * 32)]
        with pytest.raises(MethodError, match="'person' would join the records of single persons"):
            om.protect(visits(), declared(), steps)

    def test_a_column_that_is_a_pseudonym(self) -> None:
        frame = visits().with_columns(card=pl.col("person") + "x")
        with pytest.raises(MethodError, match="'card' would join the records"):
            om.protect(frame, declared(card=om.Flat(role="other")), om.Microaggregation(k=3))
