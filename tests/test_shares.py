"""Shares are fractions in Python, everywhere; percent is for what people read."""

import dataclasses
import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import ontomask as om
from every_method.test_contract import CASES, schema_for
from ontomask.methods.registry import METHODS
from ontomask.plan.plan import Plan
from public import PUBLIC
from tables import mixed_columns, mixed_schema

FRAME = pl.DataFrame(mixed_columns(60))
AMOUNTS = {
    *("average_class_size", "deviation", "difference", "discernibility", "entropy_l", "expected"),
    *("kl_divergence", "linked", "masked", "memory", "normalized_class_size", "original", "people"),
    *("raw_sse", "rmse", "seconds", "semantic_loss", "sse", "sst", "variation"),
}
"""Figures that are no shares: distances, sums, counts of people, statistics of a column."""


def numbers(found: Any, name: str) -> Iterator[tuple[str, float]]:
    """All numbers with a fraction in a result, with the name of the nearest key above them."""
    if dataclasses.is_dataclass(found):
        found = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from numbers(value, str(key))
    elif isinstance(found, (list, tuple)):
        for value in found:
            yield from numbers(value, name)
    elif isinstance(found, (float, np.floating)) and not math.isnan(found):
        yield name, float(found)


def above_one(found: Any) -> set[str]:
    return {name for name, one in numbers(found, "") if name not in AMOUNTS and not 0 <= one <= 1}


@pytest.mark.parametrize("name", METHODS)
def test_the_evaluation_of_every_method_tells_shares(name):
    method = next(one for one in CASES if one.name == name)
    found = om.protect(FRAME, schema_for(method), method, seed=1).evaluate()
    assert above_one(found.as_dict()) == set()
    assert above_one([found.risk, found.score, *found.curve()]) == set()


def test_other_results_tell_shares():
    schema = mixed_schema()
    masked = FRAME.with_columns(age=pl.col("age").reverse())
    results = [
        om.measuring.record_linkage(FRAME, masked, schema),
        om.measuring.interval_disclosure(FRAME["age"].to_list(), masked["age"].to_list()),
        om.compare(FRAME, schema, ["sa-mdav"], k=[3], workers=1).rows(),
        om.file_risk(FRAME, schema).prosecutor,
    ]
    assert [above_one(one) for one in results] == [set()] * len(results)


def names_of(thing: Any) -> set[str]:
    """The parameters of a function or class, and what its objects are asked for."""
    found = {name for name in dir(thing) if not name.startswith("_")}
    if callable(thing):
        found |= set(inspect.signature(thing).parameters)
    return found if inspect.isclass(thing) else found & set(inspect.signature(thing).parameters)


@pytest.mark.parametrize("name", PUBLIC)
def test_nothing_public_is_in_percent(name):
    assert {one for one in names_of(PUBLIC[name]) if "percent" in one} == set()


def test_who_gives_percent_is_told_the_fraction():
    with pytest.raises(om.errors.ParameterError, match=r"not 20\. For 20 percent write 0\.2\."):
        om.recommend(FRAME, mixed_schema(), ["sa-mdav"], max_risk=20)
    with pytest.raises(om.errors.ParameterError, match=r"For 2\.5 percent write 0\.025\."):
        om.RankSwapping(share=2.5)


PLAN = """
seed = 1
input = {path = "people.csv"}
columns = {age = {kind = "numeric", role = "quasi"}}
limits = {max_linkage = 20, max_loss = 0.5}
output = {folder = "release"}
[[steps]]
"""


def test_a_plan_says_limits_in_percent_and_python_has_shares():
    limits = Plan.parse(PLAN + 'method = "microaggregation"\nk = 3\n').contents.limits
    assert (limits.max_linkage, limits.max_loss, limits.max_risk) == (0.2, 0.005, None)


@pytest.mark.parametrize(
    ("step", "now"),
    [
        ('method = "rank-swapping"\np = 1', "'p', in percent, is 'share' now"),
        ('method = "top-bottom-coding"\ntop_percent = 1', "'top_percent', in percent, is 'top_sh"),
        ('method = "top-bottom-coding"\nbottom_percent = 1', "is 'bottom_share' now, a fraction"),
    ],
)
def test_plans_that_say_percent_are_told_the_new_word(step, now):
    with pytest.raises(om.errors.PlanError, match=now):
        Plan.parse(PLAN + step + '\ncolumns = ["age"]\n')
