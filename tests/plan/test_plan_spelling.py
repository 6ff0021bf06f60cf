"""What was tried in Python becomes a plan that says the same."""

import dataclasses
import datetime

import polars as pl
import pytest

import ontomask as om
from every_method.test_contract import CASES, IDS, schema_for
from ontomask.errors import PlanError
from ontomask.plan.spelling import spelled
from tables import mixed_columns, mixed_schema

FILES = {"diagnosis": "diseases.ontomask"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    mixed_schema()["diagnosis"].taxonomy.save(tmp_path / "diseases.ontomask")
    pl.DataFrame(mixed_columns(60)).write_csv(tmp_path / "people.csv")
    monkeypatch.setenv("ONTOMASK_KEY", "a secret of the house")
    return tmp_path


def plain(step):
    """The parameters of a step; a plan has lists where Python may have tuples."""
    given = {one.name: getattr(step, one.name) for one in dataclasses.fields(step)}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in given.items()}


@pytest.mark.parametrize("method", CASES, ids=IDS)
def test_every_method_is_read_back_as_it_was(method, folder):
    schema = schema_for(method)
    plan = om.Plan.of(schema, method, "people.csv", seed=4, folder=folder, taxonomies=FILES)
    assert [type(step) for step in plan.steps] == [type(method)]
    assert dict(plan.schema) == {**schema, "diagnosis": plan.schema["diagnosis"]}
    assert spelled(plan.schema, plan.steps, "people.csv", 4, FILES) == plan.text
    if "hierarchies" not in plan.text:  # whose rows are read as tuples
        assert plain(plan.steps[0]) == plain(method)


def test_a_saved_plan_runs_as_the_steps_did(folder):
    schema = mixed_schema()
    steps = [om.Rounding(["age"], base=5), om.Microaggregation(3)]
    plan = om.Plan.of(schema, steps, "people.csv", seed=4, folder=folder, taxonomies=FILES)
    file = plan.save(folder / "plan.toml")
    outcome = om.Plan.read(file).run()
    frame = pl.read_csv(folder / "people.csv", schema_overrides={"admitted": pl.Date})
    expected = om.protect(frame, schema, steps, seed=4)
    assert outcome.release.class_sizes == expected.class_sizes
    assert outcome.evaluation.loss.loss == pytest.approx(expected.evaluate().loss.loss)
    with pytest.raises(om.errors.OntomaskError):
        plan.save(file)


def test_models_rules_and_distances_are_said(folder):
    near = om.Flat("sensitive", values=["a", "b"], distances=lambda one, other: float(one != other))
    rule = om.Rule(when={"born": {"to": datetime.date(2001, 2, 3)}}, never={"ill": ["a"]})
    schema = om.Schema(born=om.Date(), ill=near).with_rules(rule)
    models = [om.privacy.KAnonymity(3), om.privacy.TCloseness(0.2, column="ill")]
    method = om.Generalization(models, quality=om.quality.Loss("max"))
    plan = om.Plan.of(schema, method, "people.csv", seed=1, folder=folder)
    assert (plan.steps, plan.schema, plan.schema.rules) == ((method,), schema, (rule,))


def test_what_a_file_cannot_say_is_refused():
    with pytest.raises(PlanError, match=r"say in which file it is: taxonomies=\{'diagnosis': '…'"):
        om.Plan.of(mixed_schema(), om.Microaggregation(3), "people.csv")


def test_a_population_is_said_by_its_file(folder):
    people = pl.DataFrame(mixed_columns(60)).select("age", "sex")
    people.write_csv(folder / "population.csv")
    schema = om.Schema(age=om.Numeric(), sex=om.Flat())
    held = om.Generalization([om.privacy.KMap(2)], population=people)
    with pytest.raises(PlanError, match=r"hold the population of generalization, .* give the path"):
        om.Plan.of(schema, held, "people.csv", folder=folder)
    named = dataclasses.replace(held, population="population.csv")
    assert om.Plan.of(schema, named, "people.csv", folder=folder).run().verification.kept
