"""What a table of any size must hold, and what is said where it does not."""

import datetime
import re
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest

import ontomask as om
from ontomask.engines.libraries import LazyPolars
from ontomask.engines.protecting import prepare
from ontomask.engines.release import recounted
from ontomask.errors import DataError, MethodError, OntomaskError, PromiseError
from tables import DISEASES

ROOT = Path(__file__).parents[2]
COLUMNS = {
    "age": [20, 20, 30, 30, 40, 40],
    "illness": ["flu", "Flu", "FLU", "cold", "cold", None],
    "day": ["2024-01-01", "2024-01-02", None, "2024-01-01", "2024-01-03", "2024-01-03"],
    "cost": [1.0, 2.0, None, 4.0, 5.0, 6.0],
}


def schema(**changes):
    plain = {
        "age": om.Numeric(),
        "illness": om.Nominal(DISEASES, "sensitive"),
        "day": om.Date("other"),
        "cost": om.Numeric("other"),
    }
    return om.Schema(**{**plain, **changes})


def compared(frame, declared, steps=None):
    steps = steps or om.Suppression(2)
    large = om.protect(frame.lazy(), declared, steps, seed=1)
    memory = om.protect(frame, declared, steps, seed=1)
    found = large.frame.collect()
    assert found.sort(found.columns).equals(memory.frame.sort(found.columns))
    return found, large


def test_spellings_of_one_concept_become_one_outside_of_the_quasi_identifiers_too():
    found, _ = compared(pl.DataFrame(COLUMNS), schema())
    assert found["illness"].value_counts().sort("illness")["count"].to_list() == [1, 2, 3]


@pytest.mark.parametrize("output", ["id", "label", "input"])
def test_concepts_are_written_as_asked(output):
    compared(pl.DataFrame(COLUMNS), schema(illness=om.Nominal(DISEASES, "other", output=output)))


@pytest.mark.parametrize(
    "changes",
    [
        {"illness": om.Nominal(DISEASES, "sensitive", missing="suppress")},
        {"day": om.Date("other", missing="suppress")},
        {"cost": om.Numeric("other", missing="suppress")},
        {
            "cost": om.Numeric("other", missing="suppress"),
            "illness": om.Nominal(DISEASES, missing="suppress"),
        },
    ],
    ids=["by value", "by day", "by number", "of both kinds"],
)
def test_records_with_gaps_are_left_out_whatever_column_says_so(changes):
    frame = pl.concat([pl.DataFrame(COLUMNS)] * 3)
    found, release = compared(frame, schema(**changes))
    assert release.suppressed == len(frame) - len(found) > 0


def test_left_out_records_belong_to_the_whole_table_of_closeness():
    frame = pl.concat([pl.DataFrame(COLUMNS)] * 4)
    declared = schema(cost=om.Numeric("other", missing="suppress"))
    rows = [[str(age), "*"] for age in (20, 30, 40)]
    step = om.Generalization([om.privacy.TCloseness(0.9)], hierarchies={"age": rows})
    _, release = compared(frame, declared, step)
    counts = next(one for one in release.promises if hasattr(one, "counts")).counts
    assert sum(count for _, count in counts) == len(frame)


MISTAKES = {
    "unknown concepts": ({"illness": ["nonsense"] * 6}, {}),
    "no dates": ({"day": ["yesterday"] * 6}, {}),
    "texts for numbers": ({"cost": ["many"] * 6}, {}),
    "infinite": ({"cost": [1.0, float("inf")] * 3}, {}),
    "nothing there": ({"cost": [float("nan")] * 6}, {}),
    "forbidden gaps": ({}, {"cost": om.Numeric("other", missing="error")}),
    "forbidden gaps by value": ({}, {"day": om.Date("other", missing="error")}),
    "counts that are none": ({}, {"cost": om.Count()}),
    "weights that are none": ({}, {"cost": om.Weight()}),
    "no such column": ({}, {"agee": om.Numeric()}),
    "undecided": ({}, {"cost": om.Numeric("undecided")}),
    "lists": ({"cost": [[1]] * 6}, {"cost": om.Flat("other")}),
    "k too large": ({"age": [1] * 6}, {}),
}


@pytest.mark.parametrize(("columns", "changes"), MISTAKES.values(), ids=MISTAKES)
def test_the_sentence_is_the_one_of_memory(columns, changes):
    frame = pl.DataFrame({**COLUMNS, **columns})
    said = []
    for one in (frame, frame.lazy()):
        with pytest.raises(OntomaskError) as raised:
            om.protect(one, schema(**changes), om.Microaggregation(7), seed=1)
        said.append(str(raised.value).partition(" (")[0])
    assert said[0] == said[1]


UNSUITED = {
    "mdav": (om.Microaggregation(3, algorithm="mdav"), "algorithm='sa-mdav'"),
    "hybrid": (om.Hybrid(3), "algorithm='sa-mdav'"),
    "rank swapping": (om.RankSwapping(k=2, algorithm="multivariate"), "algorithm='dynamic'"),
    "local suppression": (om.LocalSuppression(2), "use suppression"),
}


@pytest.mark.parametrize(("step", "instead"), UNSUITED.values(), ids=UNSUITED)
def test_methods_on_records_name_the_nearest_that_works(step, instead):
    frame = pl.DataFrame(COLUMNS).lazy()
    with pytest.raises(MethodError, match="fits into memory") as raised:
        om.protect(frame, schema(), step, seed=1)
    assert instead in str(raised.value)


def listed_in_the_guide():
    """The methods that the guide's table names, each with its variants, refused or not."""
    text = (ROOT / "docs" / "guides" / "large-tables.md").read_text(encoding="utf-8")
    table = text.partition("| methods | on a large table |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.+) \| (.+) \|$", table, re.MULTILINE)
    return [
        (name, variants.split(", ") if variants else [], said.startswith("refused"))
        for named, said in rows
        for name, variants in re.findall(r"`([a-z-]+)`(?: \((?!all but)(.+?)\))?", named)
    ]


def test_the_guide_lists_every_method_and_says_which_are_refused():
    from ontomask.engines.suitability import INSTEAD, ONLY
    from ontomask.methods.registry import METHODS

    found = listed_in_the_guide()
    assert {name for name, _, _ in found} == set(METHODS)
    refused = {(name, *variants) for name, variants, said in found if said}
    kinds = {name: get_type_hints(METHODS[name], include_extras=True) for name in ONLY}
    choices = {name: get_args(kinds[name][ONLY[name][0]].__origin__) for name in ONLY}
    partly = {
        (name, *(one for one in choices[name] if one not in allowed))
        for name, (_, allowed) in ONLY.items()
    }
    assert refused == partly | {(name,) for name in INSTEAD}
    assert not {name for name, _, said in found if not said} & set(INSTEAD)


def test_weights_that_a_recount_would_need_are_refused():
    declared = schema(cost=om.Weight())
    step = om.Generalization([om.privacy.LDiversity(2)], hierarchies={"age": [["20", "*"]]})
    with pytest.raises(MethodError, match="holds no weights"):
        om.protect(pl.DataFrame(COLUMNS).lazy(), declared, step, seed=1)


def test_unknown_columns_of_steps_are_named():
    with pytest.raises(OntomaskError, match="Did you mean 'cost'"):
        om.protect(pl.DataFrame(COLUMNS).lazy(), schema(), om.Rounding(("costs",), 5), seed=1)


# Between the two questions ---------------------------------------------------------------------


def prepared():
    frame = pl.DataFrame(COLUMNS).with_columns(pl.col("day").str.to_date())
    return prepare(frame.lazy(), LazyPolars(), schema(), om.Recoding(2), 1)


def test_a_table_that_changed_is_not_released():
    ready = prepared()
    fewer = ready.rewritten().collect()[1:]
    with pytest.raises(DataError, match=r"changed between .* \(5 rows instead of 6\)"):
        recounted(ready, fewer.lazy(), LazyPolars())
    other = ready.rewritten().with_columns(age=pl.lit(20))
    with pytest.raises(DataError, match="other combinations"):
        recounted(ready, other, LazyPolars())


def test_values_beside_the_combinations_are_promised_to_be_unchanged():
    ready = prepared()
    found = recounted(ready, ready.rewritten(), LazyPolars())
    assert "day, cost: unchanged" in [one.promise.describe() for one in found.findings]
    frame = ready.rewritten().collect()
    for cost in (pl.lit(7.0), pl.col("cost").reverse(), pl.col("cost").fill_null(0.0)):
        with pytest.raises(DataError, match="other values beside them"):
            recounted(ready, frame.with_columns(cost=cost).lazy(), LazyPolars())


def test_other_columns_are_not_released():
    ready = prepared()
    with pytest.raises(PromiseError, match="columns are exactly"):
        recounted(ready, ready.rewritten().with_columns(more=1), LazyPolars())


def test_zeros_and_gaps_that_look_different_are_different_classes():
    frame = pl.DataFrame({"x": [0.0, -0.0, None, float("nan")], "day": [datetime.date.today()] * 4})
    declared = om.Schema(x=om.Numeric(), day=om.Date())
    ready = prepare(frame.lazy(), LazyPolars(), declared, om.Recoding(2), 1)
    assert len(ready.main.before) == 2
    with pytest.raises(DataError, match="other combinations"):
        recounted(ready, frame.lazy(), LazyPolars())
