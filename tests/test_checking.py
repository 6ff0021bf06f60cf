"""Whether any table satisfies privacy models: against counts made by hand and by brute force."""

import datetime
import itertools
import math
from collections import Counter

import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError, MethodError, ParameterError

ILL = ["flu", "flu", "gout", "flu", "asthma", "asthma", "asthma", "gout", "flu"]
TABLE = {
    "age": ["30-39"] * 4 + ["40-49"] * 3 + ["50-59", "50-59"],
    "sex": ["f", "f", "f", "f", "m", "m", "m", "f", "m"],
    "ill": ILL,
}
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat(), ill=om.Flat(role="sensitive"))


def classes() -> list[Counter[str]]:
    """The sensitive values of each class of the table, by plain Python."""
    rows = sorted(zip(*TABLE.values(), strict=True))
    return [Counter(row[2] for row in own) for _, own in itertools.groupby(rows, lambda r: r[:2])]


def distance(own: Counter[str]) -> float:
    """1/2 sum |p - q| of a class and the table."""
    whole = Counter(ILL)
    return sum(abs(own[v] / own.total() - whole[v] / whole.total()) for v in whole) / 2


def gain(own: Counter[str]) -> float:
    """The largest relative gain of confidence in a class."""
    whole = Counter(ILL)
    return max(own[v] / own.total() * whole.total() / whole[v] - 1 for v in own)


def logarithm(own: Counter[str]) -> float:
    """The largest |log2(p / q)| of the values of a class."""
    whole = Counter(ILL)
    return max(abs(math.log2(own[v] / own.total() * whole.total() / whole[v])) for v in own)


CASES = [
    # model, figure of a class, whether the class is good
    (om.privacy.KAnonymity(3), lambda one: one.total(), lambda one: one.total() >= 3, min),
    (om.privacy.LDiversity(2), len, lambda one: len(one) >= 2, min),
    (om.privacy.TCloseness(0.5), distance, lambda one: distance(one) <= 0.5, max),
    (om.privacy.BetaLikeness(1.5), gain, lambda one: gain(one) <= 1.5, max),
    (om.privacy.DeltaDisclosure(1.2), logarithm, lambda one: logarithm(one) < 1.2, max),
]


@pytest.mark.parametrize(("model", "figure", "good", "worst"), CASES)
def test_figures_and_failing_classes_are_those_counted_by_hand(model, figure, good, worst):
    checked = om.check(pl.DataFrame(TABLE), SCHEMA, model)
    (found,) = checked.models
    failing = [one for one in classes() if not good(one)]
    assert 0 < len(failing) < len(classes())
    assert found.found == pytest.approx(worst(map(figure, classes())))
    assert found.failing == (len(failing), sum(one.total() for one in failing))
    assert checked.holds is bool(checked) is found.holds is False


def test_thresholds_decide():
    frame = pl.DataFrame(TABLE)
    for model in (
        om.privacy.KAnonymity(2),
        om.privacy.SampleUniqueness(0.2),
        om.privacy.AverageRisk(0.4),
    ):
        assert not om.check(frame, SCHEMA, model)
        assert om.check(frame.head(7), SCHEMA, model)
    assert om.check(frame, SCHEMA, om.privacy.RecordsAtRisk(0.5, share=2 / 9))
    risky = om.check(frame, SCHEMA, om.privacy.RecordsAtRisk(0.5, share=0.2)).models[0]
    assert (risky.failing, risky.found) == ((2, 2), pytest.approx(2 / 9))
    assert om.check(frame, SCHEMA, om.privacy.AverageRisk(0.4)).models[0].failing is None


def test_every_kind_of_table_gives_the_same_answer(tmp_path):
    models, path = (
        [om.privacy.KAnonymity(3), om.privacy.LDiversity(2), om.privacy.TCloseness(0.5)],
        tmp_path / "table.csv",
    )
    frame = pl.DataFrame(TABLE)
    frame.write_csv(path)
    expected = str(om.check(frame, SCHEMA, models))
    for same in (pd.DataFrame(TABLE), frame.to_arrow(), path, str(path), frame.lazy()):
        assert str(om.check(same, SCHEMA, models)) == expected


def test_a_release_satisfies_what_it_promises():
    frame = om.discharges(300, seed=1)
    schema = om.Schema.infer(frame).decided()
    release = om.protect(frame, schema, om.Microaggregation(k=4), seed=1)
    assert not om.check(frame, schema, om.privacy.KAnonymity(4))
    found = om.check(release, schema, om.privacy.KAnonymity(4)).models[0]
    assert found.holds
    assert found.found == min(release.class_sizes)


def test_closeness_is_to_the_original_where_that_is_given():
    released = pl.DataFrame({"sex": ["f"] * 4, "ill": ["flu", "flu", "flu", "gout"]})
    original = pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 4, "ill": ["flu"] * 3 + ["gout"] * 5})
    schema = om.Schema(sex=om.Flat(), ill=om.Flat(role="sensitive"))
    assert om.check(released, schema, om.privacy.TCloseness(0.0)).models[0].found == 0
    found = om.check(released, schema, om.privacy.TCloseness(0.3), original=original).models[0]
    assert found.found == pytest.approx(3 / 4 - 3 / 8)
    assert found.failing == (1, 4)


def test_spellings_of_one_concept_are_one_value():
    pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    frame = pl.DataFrame({"town": ["Reus"] * 6, "pet": ["cat", "Cat", "CAT"] * 2})
    schema = om.Schema(town=om.Flat(), pet=om.Nominal(pets, role="sensitive", measure="path"))
    models = [om.privacy.LDiversity(2), om.privacy.TCloseness(0.0, ground="semantic")]
    diverse, close = om.check(frame, schema, models).models
    assert (diverse.holds, diverse.found, diverse.failing) == (False, 1, (1, 6))
    assert close.holds


def test_people_of_a_population_are_counted():
    table = pl.DataFrame({"town": ["Reus", "Reus", "Vic"]})
    people = pl.DataFrame({"town": ["Reus"] * 4 + ["Vic"] * 2})
    schema = om.Schema(town=om.Flat())
    models = [om.privacy.KMap(3), om.privacy.DeltaPresence(0, 0.5)]
    mapped, present = om.check(table, schema, models, population=people).models
    assert (mapped.found, mapped.failing) == (2, (1, 1))
    assert present.holds
    weighted = table.with_columns(weight=pl.Series([2.0, 2.0, 2.0]))
    declared = schema | {"weight": om.Weight()}
    assert om.check(weighted, declared, om.privacy.KMap(3)).models[0].failing == (1, 1)


def test_people_are_found_by_what_values_mean_not_by_how_they_are_written():
    pets = om.Taxonomy.from_parents({"pet": [], "d1": ["pet"]}, labels={"d1": "dog"})
    schema = om.Schema(age=om.Numeric(), born=om.Date(), pet=om.Nominal(pets), n=om.Flat())
    day = datetime.date(2001, 2, 3)
    table = pl.DataFrame({"age": ["34", "30-39"], "born": [day] * 2, "pet": ["dog"] * 2, "n": 1})
    people = pl.DataFrame(
        {
            "age": ["34.0", "34", "30-39"],
            "born": ["2001-02-03"] * 3,
            "pet": ["d1", "dog", "d1"],
            "n": [1.0, 1.0, 1.0],
        }
    )
    (found,) = om.check(table, schema, om.privacy.KMap(2), population=people).models
    assert (found.found, found.failing) == (1, (1, 1))


def test_persons_and_counts_are_counted():
    frame = pl.DataFrame({"who": ["Ann", "Ann", "Bob"], "sex": ["f", "f", "m"], "n": [1, 1, 2]})
    schema = om.Schema(who=om.Identifier(unit=True), sex=om.Flat())
    assert om.check(frame, schema, om.privacy.KAnonymity(2)).models[0].failing == (2, 3)
    counted = om.check(frame, om.Schema(sex=om.Flat(), n=om.Count()), om.privacy.KAnonymity(2))
    assert counted.holds
    assert counted.records == 4


@pytest.mark.parametrize(
    ("schema", "models", "said", "problem"),
    [
        (SCHEMA, [], "models must be a list that is not empty", ParameterError),
        (SCHEMA, "k", "each item a privacy model such as KAnonymity", ParameterError),
        (SCHEMA, om.privacy.KMap(3), "needs a population table or survey weights", MethodError),
        (
            SCHEMA,
            om.privacy.TCloseness(0.2, ground="semantic"),
            "needs a nominal column",
            ParameterError,
        ),
        (
            om.Schema(zip=om.Flat()),
            om.privacy.KAnonymity(2),
            "none of the schema's quasi",
            DataError,
        ),
        (
            SCHEMA | {"who": om.Identifier(unit=True)},
            om.privacy.KAnonymity(2),
            r"leave it out by schema.replace\(who=None\)",
            DataError,
        ),
    ],
)
def test_mistakes_are_told(schema, models, said, problem):
    with pytest.raises(problem, match=said):
        om.check(pl.DataFrame(TABLE), schema, models)


def test_it_shows_itself_in_notebooks():
    shown = om.check(pl.DataFrame(TABLE), SCHEMA, [om.privacy.KAnonymity(3)])._repr_html_()
    assert "FAILS" in shown
    assert "2 classes of 2 records" in shown
