"""Every method can be added to a plan by its name, or says what the table lacks."""

import pytest

import ontomask as om
from ontomask.errors import PlanError
from ontomask.methods.registry import METHODS
from ontomask.plan.plan import Plan
from ontomask.plan.starting import starting
from ontomask.studio.edits import add_step
from plans import write_small

ELSEWHERE = {"drop-columns": "by its role", "private-generalization": "without a look at the table"}


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("ONTOMASK_KEY", "a secret of the house")
    return write_small(tmp_path)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_method_that_is_added_by_its_name_makes_a_plan(plan, method):
    text = plan.read_text()
    schema = Plan.parse(text, name="plan.toml", folder=plan.parent).schema
    if method in ELSEWHERE:
        with pytest.raises(PlanError, match=ELSEWHERE[method]):
            starting(method, schema, 4)
        return
    added = add_step(text, method, starting(method, schema, 4))
    (_, step) = Plan.parse(added, name="plan.toml", folder=plan.parent).steps
    assert step.name == method
    assert getattr(step, "k", None) in (None, 4)


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("noise", "no column that is published is numeric"),
        ("shuffling", "columns of both kinds"),
        ("pseudonyms", "has none"),
    ],
)
def test_what_the_table_lacks_is_said(method, said):
    with pytest.raises(PlanError, match=said):
        starting(method, om.Schema(job=om.Flat()), 4)
