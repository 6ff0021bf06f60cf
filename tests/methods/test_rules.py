"""Combinations that nobody can have: rules, and medoids."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.schema import Column
from ontomask.errors import OntomaskError, PlanError, PromiseError, SchemaError
from ontomask.methods.base import Method
from ontomask.methods.registry import METHODS
from ontomask.plan.plan import Plan
from ontomask.plan.recounting import recount_folder
from ontomask.promises import Possible
from ontomask.verify import verify

CARE = om.Taxonomy.from_parents(
    {
        "care": [],
        "birth": ["care"],
        "delivery": ["birth"],
        "caesarean": ["birth"],
        "prostate": ["care"],
        "newborn": ["care"],
        "flu": ["care"],
    },
    name="care",
)
RULES = (
    om.Rule(when={"sex": "m"}, never={"code": "birth"}),
    om.Rule(when={"sex": "f"}, never={"code": "prostate"}),
    om.Rule(when={"code": "newborn"}, never={"age": {"from": 1}}),
    om.Rule(when={"code": ["birth", "prostate"]}, never={"age": {"to": 9}}),
)


def people(count: int = 150, seed: int = 0) -> pl.DataFrame:
    """People who could exist, at places that do not depend on what they have."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        sex, age = str(generator.choice(["f", "m"])), int(generator.integers(0, 80))
        own = ["flu"]
        if age >= 10:
            own += ["delivery", "caesarean"] if sex == "f" else ["prostate"]
        if age < 1 or generator.random() < 0.1:
            age, own = 0, ["newborn"]
        place = round(float(generator.normal()), 2)
        rows.append((sex, age, str(generator.choice(own)), place, float(generator.normal())))
    return pl.DataFrame(rows, schema=["sex", "age", "code", "place", "charge"], orient="row")


def declared(**more: Column) -> om.Schema:
    columns = {
        "sex": om.Flat(weight=0.001),
        "age": om.Numeric(weight=0.001),
        "code": om.Nominal(CARE, weight=0.001),
        "place": om.Numeric(),
    }
    return om.Schema(**{**columns, "charge": om.Numeric(role="other"), **more})


def impossible(frame: pl.DataFrame) -> int:
    """Counted by hand, from what the words mean."""
    births = {"birth", "delivery", "caesarean"}
    return sum(
        (sex == "m" and code in births)
        or (sex == "f" and code == "prostate")
        or (code == "newborn" and age >= 1)
        or (code in births | {"prostate"} and age <= 9)
        for sex, age, code in frame.select("sex", "age", "code").rows()
    )


@pytest.mark.parametrize("options", [{}, {"refine": True}, {"algorithm": "mdav"}])
@pytest.mark.parametrize("seed", range(4))
def test_no_centroid_is_an_impossible_person(options: dict, seed: int) -> None:
    """Without the rules there are some; k is kept, and the loss hardly grows."""
    frame, method = people(seed=seed), om.Microaggregation(k=4, **options)
    plain = om.protect(frame, declared(), method, seed=seed)
    release = om.protect(frame, declared().with_rules(*RULES), method, seed=seed)
    assert options.get("refine") or impossible(plain.frame) > 0
    assert impossible(release.frame) == 0
    assert min(release.class_sizes) >= 4
    promise = next(one for one in release.promises if isinstance(one, Possible))
    assert promise.most == 0
    assert "when sex m, never code birth" in promise.describe()


def test_columns_that_are_published_as_they_are_count_too() -> None:
    """Every man of a cluster forbids it an obstetric code, though sex is not masked."""
    frame = people(seed=2)
    schema = declared(sex=om.Flat(role="other"))
    method = om.Microaggregation(k=4)
    assert impossible(om.protect(frame, schema, method, seed=1).frame) > 0
    assert impossible(om.protect(frame, schema.with_rules(*RULES), method, seed=1).frame) == 0


ROWS = {
    "sex": [["f", "*"], ["m", "*"]],
    "age": [[str(age), str(age // 20), "*"] for age in range(100)],
    "code": [[one, "*"] for one in CARE.ids],
}
MENDED = [
    om.Microaggregation(4),
    om.Resampling(4),
    om.Hybrid(4),
    om.Pram(0.5, columns=["sex", "code"]),
    om.Noise(["age"]),
    om.Rounding(["age"], 20, algorithm="random"),
    om.RankSwapping(20),
    om.RankSwapping(20, algorithm="multivariate"),
    om.RankSwapping(20, algorithm="fixed"),
]
"""Methods that would make people impossible, and do not where there are rules."""
HARMLESS = [
    om.Recoding(4),
    om.Generalization([om.privacy.KAnonymity(4)], hierarchies=ROWS),
    om.PrivateGeneralization(2.0, 0.1, [{"sex": 1, "age": 2, "code": 1}], hierarchies=ROWS),
    om.Suppression(2),
    om.LocalSuppression(3),
    om.Sampling(0.5),
    om.DropColumns(["sex"]),
    om.Pseudonyms(["sex"], key="a secret of the house"),
]
"""Methods that only make values coarser, take them away, or take all of another person."""
REFUSED = [
    om.TopBottomCoding(["age"], bottom=5),
    om.Rounding(["age"], 20),
    om.Resampling(4, algorithm="heer"),
    om.RankSwapping(algorithm="random"),
    om.Shuffling(["code", "age"], given=["place"]),
]
"""Methods that can neither heed a rule nor be sure not to break it."""


def test_every_method_is_tried() -> None:
    assert {one.name for one in (*MENDED, *HARMLESS, *REFUSED)} == set(METHODS)


def asked_of(method: Method) -> om.Schema:
    """Places are compared where clusters and windows need them, and would only be starred else."""
    if method in MENDED:
        return declared()
    place = om.Identifier() if isinstance(method, om.PrivateGeneralization) else None
    others = {"charge": om.Identifier()} if place else {}
    return declared(place=place or om.Numeric(role="other"), **others)


@pytest.mark.parametrize("method", MENDED, ids=lambda one: f"{one.name}")
@pytest.mark.parametrize("seed", range(2))
def test_who_would_be_impossible_is_mended(method: Method, seed: int) -> None:
    frame = people(seed=seed)
    plain = om.protect(frame, declared(), method, seed=seed)
    release = om.protect(frame, declared().with_rules(*RULES), method, seed=seed)
    assert impossible(plain.frame) > 0
    assert impossible(release.frame) == 0
    changed = sum(release.changed.values()) / sum(plain.changed.values())
    assert changed > 0.4, "though nearly everybody has something that others cannot have"


@pytest.mark.parametrize("method", HARMLESS, ids=lambda one: one.name)
def test_what_is_coarser_breaks_no_rule(method: Method) -> None:
    schema = asked_of(method).with_rules(*RULES)
    release = om.protect(people(), schema, method, seed=1)
    told = {"sex", "age", "code"} <= set(release.frame.columns)
    assert any(isinstance(one, Possible) for one in release.promises)
    assert not told or release.verification.kept


@pytest.mark.parametrize("method", REFUSED, ids=lambda one: one.name)
def test_what_cannot_be_mended_is_not_released(method: Method) -> None:
    assert impossible(om.protect(people(), declared(), method, seed=1).frame) > 0
    with pytest.raises(PromiseError) as refusal:
        om.protect(people(), declared().with_rules(*RULES), method, seed=1)
    said = str(refusal.value)
    assert "a combination that a rule excludes" in said
    assert "use microaggregation or generalization" in said
    assert "leave the rule out" in said


def test_a_step_after_another_heeds_rules_too() -> None:
    steps = [om.Microaggregation(4), om.RankSwapping(20, keeps=False)]
    release = om.protect(people(), declared().with_rules(*RULES), steps, seed=1)
    assert impossible(release.frame) == 0


def test_records_that_a_rule_excludes_already() -> None:
    """They are counted; no others may join them."""
    frame = people().with_columns(sex=pl.lit("m"))
    before = impossible(frame)
    schema = declared(place=om.Numeric(role="other")).with_rules(*RULES)
    release = om.protect(frame, schema, om.Suppression(k=2), seed=1)
    promise = next(one for one in release.promises if isinstance(one, Possible))
    assert 0 < promise.most <= before
    assert "no more records than in the original" in promise.describe()


class TestMedoids:
    """A tuple of the cluster's own stands for it."""

    @pytest.mark.parametrize("options", [{}, {"refine": True}, {"algorithm": "v-mdav"}])
    def test_only_combinations_that_someone_has(self, options: dict) -> None:
        frame = people(seed=5)
        method = om.Microaggregation(k=4, centers="medoid", **options)
        release = om.protect(frame, declared(), method, seed=1)
        names = ["sex", "age", "code", "place"]
        assert set(release.frame.select(names).rows()) <= set(frame.select(names).rows())
        assert min(release.class_sizes) >= 4
        details = release.details[0]
        assert details["loss_of_medoids"] >= details["loss_of_centroids"]

    def test_it_is_the_member_nearest_to_all_others(self) -> None:
        frame = pl.DataFrame({"x": [0.0, 1.0, 5.0, 100.0, 101.0, 109.0]})
        method = om.Microaggregation(k=3, centers="medoid")
        release = om.protect(frame, om.Schema(x=om.Numeric()), method, seed=1)
        assert release.frame["x"].to_list() == [1.0] * 3 + [101.0] * 3


def test_the_recount_reads_texts() -> None:
    """A broken rule is noticed in whatever way the values are written."""
    rules = ((("sex", ("m",), (), ""), ("age", (), ((None, 9.0),), "")),)
    promise = Possible(("sex", "age"), rules, ("no boys",))
    for age, kept in (("9", False), ("9,0", False), ("10", True), ("*", True), (None, True)):
        frame = pl.DataFrame({"sex": ["f", "m"], "age": ["3", age]})
        found = verify(frame, [promise], published=frame.columns, records=2)
        assert found.findings[-1].kept is kept, age
    day = (("born", (), ((None, 730_000.0),), "%d.%m.%Y"),)
    late, early = (
        verify(
            pl.DataFrame({"born": [text]}),
            [Possible(("born",), (day,), ("",))],
            published=["born"],
            records=1,
        )
        for text in ("1.1.2020", "1.1.1990")
    )
    assert late.kept
    assert not early.kept


PLAN = """
seed = 1
[input]
path = "people.csv"
[columns.sex]
kind = "flat"
[columns.age]
kind = "numeric"
[columns.code]
kind = "flat"
[[rules]]
when = { sex = "m" }
never = { code = ["delivery", "caesarean"] }
[[rules]]
when = { age = { to = 9 } }
never = { code = "prostate" }
[[steps]]
method = "microaggregation"
k = 4
"""


def test_rules_in_a_plan(tmp_path) -> None:
    """They are read, counted by check, heeded by run, recounted from the files."""
    people().drop("charge", "place").write_csv(tmp_path / "people.csv")
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    notes = Plan.read(path).check().notes
    assert "Rule: when sex m, never code delivery or caesarean (no record of the table)." in notes
    outcome = Plan.read(path).run()
    found = recount_folder(outcome.folder).verification
    assert any(isinstance(one.promise, Possible) and one.kept for one in found.findings)
    text = outcome.table.read_text()
    outcome.table.write_text(re.sub(r"^m,(\d+),\w+$", r"m,\1,delivery", text, flags=re.M))
    assert not recount_folder(outcome.folder).verification.kept


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('when = { sexx = "m" }\nnever = { age = 3 }', "column 'sexx', which is unknown"),
        ('when = { sex = "m" }\nnever = { code = { from = 3 } }', "gives a range of 'code'"),
        ('when = { sex = "m" }\nnever = { age = "old" }', "needs numbers, not 'old'"),
        ('when = { sex = "m" }\nnever = { age = { above = 3 } }', "has the ends 'from' and 'to'"),
        ('when = { sex = "m" }', "never"),
    ],
)
def test_a_rule_that_makes_no_sense(tmp_path, rule: str, said: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        PLAN.replace('when = { age = { to = 9 } }\nnever = { code = "prostate" }', rule)
    )
    with pytest.raises(PlanError) as caught:
        Plan.read(path)
    assert said in str(caught.value)


def test_mistakes_in_python() -> None:
    schema = declared()
    with pytest.raises(SchemaError, match="'burth', which is no concept of 'care'"):
        schema.with_rules(om.Rule(when={"sex": "m"}, never={"code": "burth"}))
    with pytest.raises(SchemaError, match="both under when and under never"):
        om.Rule(when={"sex": "m"}, never={"sex": "f"})
    with pytest.raises(SchemaError, match="when must name columns with their values"):
        om.Rule(when={}, never={"sex": "f"})
    with pytest.raises(SchemaError, match="Give rules as Rule"):
        schema.with_rules("no men")
    hidden = om.Schema(name=om.Identifier(), sex=om.Flat())
    with pytest.raises(SchemaError, match="'name', which is identifier and not published"):
        hidden.with_rules(om.Rule(when={"sex": "m"}, never={"name": "Eve"}))
    with pytest.raises(OntomaskError, match="Rules are heeded in data frames"):
        om.protect(people().lazy(), schema.with_rules(*RULES), om.Microaggregation(k=3))
