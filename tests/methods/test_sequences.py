"""Persons masked with all their records: joined by a pseudonym, they are still those of k."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

import ontomask as om
from methods.test_persons import QUASI, declared, visits
from ontomask.data.schema import Column
from ontomask.errors import MethodError, OntomaskError, PromiseError, SchemaError
from ontomask.methods.base import Method
from ontomask.methods.sequences import kept_lengths
from ontomask.plan.recounting import recount_folder
from ontomask.promises import SequenceSize
from ontomask.verify import verify

K = 4
PSEUDONYMS = om.Pseudonyms(["person"], key="k" * 32)
WHOLES = om.Identifier(unit=True, sequences=True)
METHODS = {
    "sa-mdav": om.Microaggregation(k=K),
    "mdav": om.Microaggregation(k=K, algorithm="mdav"),
    "v-mdav": om.Microaggregation(k=K, algorithm="v-mdav", gamma=2.0, weighting="frequency"),
    "refined": om.Microaggregation(k=K, refine=True),
    "medoids": om.Microaggregation(k=K, centers="medoid"),
    "blocks": om.Microaggregation(k=K, block_size=12),
    "random": om.Microaggregation(k=K, operators="random"),
}


def wholes(**more: Column) -> om.Schema:
    return om.Schema.of({**declared(**more), "person": WHOLES})


def joined(rows: list[dict[str, object]]) -> dict[object, list[tuple[str, ...]]]:
    """For each person all records, as whoever joins them by the pseudonym sees them."""
    found = defaultdict(list)
    for row in rows:
        found[row["person"]].append(tuple(str(row[name]) for name in QUASI))
    return {person: sorted(records) for person, records in found.items()}


def rarest(rows: list[dict[str, object]]) -> int:
    """The fewest persons who share a list of records."""
    return min(Counter(map(tuple, joined(rows).values())).values())


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_joined_records_are_those_of_k_persons(method: Method) -> None:
    frame = visits(90, seed=2, alike=False)
    release = om.protect(frame, wholes(), [method, PSEUDONYMS], seed=2)
    rows = release.frame.rows(named=True)
    assert rarest(rows) >= K
    assert release.frame["person"].n_unique() == 90
    assert any(isinstance(one, SequenceSize) for one in release.promises)
    # sex and age are constant within persons, the diagnosis is not
    assert all(len({one[:2] for one in records}) == 1 for records in joined(rows).values())
    assert any(len(set(records)) > 1 for records in joined(rows).values())


def test_without_sequences_joined_records_are_somebodys_own() -> None:
    """The test above can fail: each record is shared by k persons, joined they are not."""
    frame = visits(90, seed=2, alike=False)
    release = om.protect(frame, declared(), METHODS["sa-mdav"], seed=2)
    masked = release.frame.with_columns(person=frame["person"])
    assert rarest(masked.rows(named=True)) == 1


def test_persons_with_one_record_each_are_clustered_as_ever() -> None:
    ages = np.random.default_rng(4).normal(50.0, 20.0, 60)
    frame = pl.DataFrame({"person": range(60), "age": ages})
    by_person, by_record = (
        om.protect(frame, om.Schema(person=one, age=om.Numeric()), METHODS["mdav"], seed=1)
        for one in (WHOLES, om.Identifier(unit=True))
    )
    assert by_person.frame["age"].to_list() == pytest.approx(by_record.frame["age"].to_list())


@pytest.mark.parametrize(
    ("counts", "k", "kept"),
    [
        ([2, 2, 2, 1, 1, 1], 3, [2, 2, 2, 1, 1, 1]),
        ([9, 5, 4, 1, 1, 1], 3, [4, 4, 4, 1, 1, 1]),
        ([9, 5, 2, 2, 2, 1, 1, 1], 3, [2, 2, 2, 2, 2, 1, 1, 1]),
        ([3] * 20 + [1, 1], 5, [3] * 17 + [1] * 5),
        ([7, 3, 1], 2, [1, 1, 1]),
        ([5, 4], 2, [4, 4]),
    ],
)
def test_how_many_records_are_kept(counts: list[int], k: int, kept: list[int]) -> None:
    assert kept_lengths(np.array(counts), k).tolist() == kept
    order = np.random.default_rng(1).permutation(len(counts))
    shuffled = kept_lengths(np.array(counts)[order], k)
    assert sorted(shuffled.tolist()) == sorted(kept)
    assert (shuffled <= np.array(counts)[order]).all()


def test_who_has_more_records_than_others_leaves_some_out() -> None:
    """One person of 30 records among persons of two: as many as the k with most is kept."""
    whose = ["Ann"] * 30 + [f"p{one}" for one in range(9) for _ in range(2)]
    frame = pl.DataFrame({"person": whose, "age": np.arange(len(whose)).tolist()})
    schema = om.Schema(person=WHOLES, age=om.Numeric())
    release = om.protect(frame, schema, [om.Microaggregation(k=3), PSEUDONYMS], seed=1)
    assert release.left_out == 28
    assert Counter(Counter(release.frame["person"]).values()) == {2: 10}
    assert release.details[0]["records_left_out"] == 28


def test_rules_are_heeded() -> None:
    rule = om.Rule(when={"sex": "m"}, never={"diagnosis": "asthma"})
    frame = visits(90, seed=2, alike=False).filter(
        ~((pl.col("sex") == "m") & (pl.col("diagnosis") == "asthma"))
    )
    release = om.protect(frame, wholes().with_rules(rule), om.Microaggregation(k=K), seed=2)
    assert not release.frame.filter(pl.col("sex") == "m", pl.col("diagnosis") == "asthma").height


PLAN = """
seed = 1
[input]
path = "visits.csv"
[columns.person]
kind = "identifier"
unit = true
sequences = true
[columns.sex]
kind = "flat"
[columns.age]
kind = "numeric"
[columns.diagnosis]
kind = "flat"
[output]
shuffle = true
[[steps]]
method = "microaggregation"
k = 4
[[steps]]
method = "pseudonyms"
columns = ["person"]
key_variable = "PERSONS_KEY"
"""


def test_a_plan_writes_it_and_a_changed_cell_is_noticed(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PERSONS_KEY", "k" * 32)
    visits(60, seed=1, alike=False).drop("charge").write_csv(tmp_path / "visits.csv")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    outcome = om.Plan.read(tmp_path / "plan.toml").run()
    with outcome.table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rarest(rows) >= 4
    report = (outcome.folder / "report.html").read_text(encoding="utf-8")
    assert "All records of a person (by person) together" in report
    found = recount_folder(outcome.folder, tmp_path / "visits.csv").verification
    assert any(isinstance(one.promise, SequenceSize) and one.kept for one in found.findings)
    changed = next(row for row in rows[1:] if row["age"] != rows[0]["age"])
    rows[0]["age"], changed["age"] = changed["age"], rows[0]["age"]
    with outcome.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = recount_folder(outcome.folder, tmp_path / "visits.csv").verification
    assert any(isinstance(one.promise, SequenceSize) and not one.kept for one in found.findings)


def test_the_recount_by_hand() -> None:
    """Ann and Bob have {a, b}, Cy {a, b, b}: a third record tells Cy apart, an order does not."""
    frame = pl.DataFrame({"value": ["a", "b", "b", "a", "a", "b", "b"]})
    units, promise = np.array([0, 0, 1, 1, 2, 2, 2]), SequenceSize(("value",), 2, "person")
    asked = {"published": ["value"], "records": 7, "units": units}
    assert verify(frame, [promise], **asked).findings[-1].figure == 1
    whole = {**asked, "records": 4, "units": units[:4]}
    assert verify(frame.head(4), [promise], **whole).kept
    with pytest.raises(PromiseError, match="whose record each row is"):
        verify(frame, [promise], published=["value"], records=7)


class TestMistakes:
    """What is answered to a mistake."""

    def test_sequences_of_nobody(self) -> None:
        with pytest.raises(SchemaError, match="say unit=True"):
            om.Identifier(sequences=True)

    def test_the_way_out_is_named_where_a_pseudonym_joins_records(self) -> None:
        with pytest.raises(MethodError, match="sequences = true"):
            om.protect(visits(), declared(), [om.Microaggregation(k=3), PSEUDONYMS])

    @pytest.mark.parametrize(
        ("method", "said"),
        [
            (om.Recoding(k=3), "masks single records"),
            (om.Resampling(k=3), "masks single records"),
            (om.Hybrid(k=3), "masks single records"),
            (om.LocalSuppression(k=3), "masks single records"),
            (om.Suppression(k=3), "masks single records"),
            (om.Generalization(privacy=[om.privacy.KAnonymity(3)]), "masks single records"),
            (om.Microaggregation(k=3, strata=("sex",)), "strata looks at single records"),
            (
                om.Microaggregation(k=3, privacy=[om.privacy.KAnonymity(5)]),
                "privacy looks at single records",
            ),
        ],
        ids=str,
    )
    def test_what_masks_records_one_by_one(self, method: Method, said: str) -> None:
        with pytest.raises(OntomaskError, match=said) as caught:
            om.protect(visits(), wholes(), method)
        assert "without sequences" in str(caught.value)

    def test_a_step_that_takes_records_apart(self) -> None:
        steps = [om.Microaggregation(k=3), om.Sampling(share=0.5)]
        with pytest.raises(PromiseError, match="put the steps in the order"):
            om.protect(visits(), wholes(), steps, seed=1)
