"""What every method owes its users, run on the whole registry."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.extending import Context, Integer, Masked, Method, Microdata
from ontomask.methods import microaggregation
from ontomask.methods.registry import METHODS
from ontomask.promises import ClassSize
from ontomask.testing import (
    METHOD_CHECKS,
    Case,
    check_method,
    publishes_what_is_declared,
    refuses_wrong_parameters,
    repeats_itself,
    says_that_records_may_be_left_out,
)
from tables import mixed_columns, mixed_hierarchies, mixed_schema

CASES = [
    om.Recoding(3),
    om.Recoding(3, algorithm="discernibility"),
    om.Recoding(3, algorithm="random", order="any"),
    om.Microaggregation(3),
    om.Microaggregation(4, algorithm="mdav", operators="marginality", metric="s-distance"),
    om.Microaggregation(3, algorithm="v-mdav"),
    om.Microaggregation(3, operators="equality", refine=True),
    om.Microaggregation(5, operators="random"),
    om.Hybrid(3),
    om.Hybrid(4, algorithm="sa-mdav", operators="semantic", metric="euclidean"),
    om.Resampling(4),
    om.Resampling(3, algorithm="heer"),
    om.Suppression(2, outliers="star"),
    om.LocalSuppression(3),
    om.RankSwapping(k=5),
    om.RankSwapping(share=0.1, algorithm="fixed"),
    om.RankSwapping(k=5, algorithm="multivariate"),
    om.RankSwapping(algorithm="random"),
    om.Shuffling(confidential=("diagnosis", "age"), given=("sex", "charge")),
    om.Pram(columns=("diagnosis", "severity", "sex")),
    om.Noise(("age", "charge"), correlated=True),
    om.TopBottomCoding(("age",), top=50),
    om.Rounding(("charge",), base=10),
    om.Sampling(share=0.5),
    om.Pseudonyms(("sex",), key="a secret of the house"),
    om.DropColumns(("sex",)),
    *(
        om.Generalization(
            [om.privacy.KAnonymity(3)],
            suppression_limit=0.5,
            algorithm=search,
            hierarchies=mixed_hierarchies(),
            **budget,
        )
        for search, budget in (
            ("optimal", {}),
            ("best-effort", {"steps": 50}),
            ("local", {}),
            ("mondrian", {}),
        )
    ),
    om.Generalization(
        [om.privacy.KAnonymity(3)], algorithm="tuple", hierarchies=mixed_hierarchies()
    ),
    om.PrivateGeneralization(
        1.0,
        0.05,
        [{"diagnosis": 9, "age": 2, "admitted": 2, "severity": 1, "sex": 1}],
        hierarchies=mixed_hierarchies(),
    ),
]
IDS = [f"{method.name}-{place}" for place, method in enumerate(CASES)]
every_method = pytest.mark.parametrize("method", CASES, ids=IDS)


def schema_for(method):
    """A differentially private release has no column that is published as it is."""
    schema = mixed_schema()
    return (
        schema
        if method.repeatable
        else om.Schema.of({**dict(schema.items()), "charge": om.Identifier()})
    )


def test_every_registered_method_has_an_example():
    assert {method.name for method in CASES} == set(METHODS)


@pytest.mark.parametrize("check", METHOD_CHECKS, ids=lambda check: check.__name__)
@every_method
def test_the_contract(method, check):
    check(Case(method, mixed_columns(), schema_for(method)))


QUICK = {"drop-columns", "noise", "private-generalization", "rounding", "sampling"} | {
    "suppression",
    "top-bottom-coding",
}
"""Methods that pass over the columns a few times, and are done before anybody could be told."""


@pytest.mark.usefixtures("long_moments")
@every_method
def test_a_method_that_may_take_long_tells_more_than_once_how_far_it_is(method, monkeypatch):
    """As if every moment were long; what `protect` tells before and after it does not count."""
    monkeypatch.setattr(microaggregation, "WATCHED_FROM", 0)
    seen = []
    context = Context(np.random.default_rng(1), lambda *told: seen.append(told))
    frame = pl.DataFrame(mixed_columns())
    method.run(encode(open_table(frame), schema_for(method)), context)
    assert all(0 <= fraction <= 1 and message for fraction, message in seen)
    assert len(seen) > 1 or method.name in QUICK


def test_draws_that_are_repeated_because_of_rules_are_told_of():
    frame = pl.DataFrame({"sex": ["f", "m"] * 50, "code": ["birth", "flu"] * 50})
    rule = om.Rule(when={"sex": "m"}, never={"code": "birth"})
    schema, seen = om.Schema(sex=om.Flat(), code=om.Flat()).with_rules(rule), []
    method = om.Pram(retain=0.5, algorithm="plain")
    om.protect(frame, schema, method, seed=1, progress=lambda *told: seen.append(told))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert any("anew" in message and 0.5 <= share < 1 for share, message in seen)


def test_the_example_of_the_suite_is_enough_for_a_method():
    check_method(om.Microaggregation(3))


@dataclass(frozen=True)
class Masking(Method):
    """A method that does what it is told by a test, however wrong."""

    name: ClassVar[str] = "masking"

    k: Annotated[int, Integer(2), "Whatever."] = 3
    wrong: ClassVar[Callable[[Microdata, Context], Masked]]

    def mask(self, microdata, context):
        return type(self).wrong(microdata, context)


def invents_k(microdata, context):
    return Masked({}, (ClassSize(microdata.quasi, 2),))


def draws_anew(microdata, context):
    age = microdata["age"]
    codes = np.random.default_rng().permutation(age.codes)
    return Masked({"age": replace(age, codes=codes)})


def loses_records(microdata, context):
    return Masked({}, kept=np.arange(len(microdata)) > 3)


@pytest.mark.parametrize(
    ("wrong", "check", "error"),
    [
        (invents_k, publishes_what_is_declared, om.errors.PromiseError),
        (draws_anew, repeats_itself, AssertionError),
        (loses_records, says_that_records_may_be_left_out, AssertionError),
    ],
)
def test_a_method_that_breaks_the_contract_is_found_out(wrong, check, error):
    kind = type("Wrong", (Masking,), {"wrong": staticmethod(wrong)})
    with pytest.raises(error):
        check(Case(kind()))


def test_a_parameter_that_takes_anything_is_found_out():
    @dataclass(frozen=True)
    class Lax(Masking):
        def __post_init__(self):
            pass

    with pytest.raises(AssertionError, match="is not refused"):
        refuses_wrong_parameters(Case(Lax()))
