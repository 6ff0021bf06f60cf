from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.methods.generalization.method import ALGORITHMS, Generalization
from ontomask.privacy import DeltaPresence, KAnonymity, KMap, LDiversity, TCloseness
from ontomask.quality import Classification, Loss, Semantic
from ontomask.taxonomy.from_numbers import interval_hierarchy

SEX = [["f", "*"], ["m", "*"]]


def people(count=120, seed=0):
    generator = np.random.default_rng(seed)
    return {
        "name": [f"p{number}" for number in range(count)],
        "age": generator.integers(20, 80, count).tolist(),
        "sex": generator.choice(["f", "m"], count).tolist(),
        "diagnosis": generator.choice(["250.01", "250.03", "401.9", "428.0"], count).tolist(),
        "cost": generator.choice(["low", "mid", "high"], count).tolist(),
    }


@pytest.fixture
def schema(icd9):
    return om.Schema(
        name=om.Identifier(),
        age=om.Numeric(),
        sex=om.Flat(),
        diagnosis=om.Nominal(icd9),
        cost=om.Flat(role="sensitive"),
    )


HIERARCHIES = {"age": interval_hierarchy(range(20, 80), [10, 20]), "sex": SEX}


def method(*privacy, **options):
    return Generalization(
        list(privacy) or [KAnonymity(5)], **{"hierarchies": HIERARCHIES, **options}
    )


def quasi(frame):
    columns = pd.DataFrame(frame)[["age", "sex", "diagnosis"]].astype(str)
    return [tuple(row) for row in columns.to_numpy()]


@pytest.mark.parametrize("search", ALGORITHMS)
def test_every_search_gives_a_release_that_keeps_its_promise(search, schema, make_frame):
    frame = make_frame(people())
    budget = {"steps": 200} if search == "best-effort" else {}
    release = om.protect(frame, schema, method(algorithm=search, **budget), seed=1)
    assert type(release.frame) is type(frame)
    assert release.verification.kept
    columns = release.frame.to_pandas() if hasattr(release.frame, "to_pandas") else release.frame
    assert list(columns.columns) == ["age", "sex", "diagnosis", "cost"]
    assert min(Counter(quasi(columns)).values()) >= 5
    assert columns["cost"].tolist() == people()["cost"]
    details = release.details[0]
    assert details["quality_model"] == "loss"
    assert 0 < details["quality"] < 1


def test_levels_quality_and_proof_come_with_the_release(schema):
    release = om.protect(pd.DataFrame(people()), schema, method(), seed=1)
    details = release.details[0]
    assert set(details["levels"]) == {"age", "sex", "diagnosis"}
    assert details["optimal"] is True
    assert details["checked"] + details["pruned"] == details["nodes"] == 4 * 2 * 6
    level = details["levels"]["age"]
    labels = {str(label) for label in HIERARCHIES["age"].labels[level]}
    assert set(release.frame["age"]) <= labels


def test_columns_that_stay_at_level_0_keep_their_values(schema):
    frame = pd.DataFrame(people())
    release = om.protect(frame, schema, method(KAnonymity(20)), seed=1)
    levels = release.details[0]["levels"]
    for name in ("age", "sex", "diagnosis"):
        if levels[name] == 0:
            assert release.frame[name].tolist() == frame[name].tolist()
        else:
            assert release.frame[name].dtype != frame["age"].dtype


def test_taxonomies_are_hierarchies_in_the_vocabulary_of_the_column(schema, icd9):
    release = om.protect(pd.DataFrame(people(40)), schema, method(KAnonymity(8)), seed=1)
    level = release.details[0]["levels"]["diagnosis"]
    assert level > 0
    for value in set(release.frame["diagnosis"]):
        assert value in icd9 or value in icd9.labels


def test_levels_by_depth(schema):
    values = ["250", "250.01", "250.03", "401.9"]
    frame = pd.DataFrame({**people(80), "diagnosis": (values * 20)})
    weighted = Loss(weights={"diagnosis": 0.01})
    found = {}
    for by in ("steps", "depth"):
        chosen = method(KAnonymity(15), levels_by=by, quality=weighted)
        release = om.protect(frame, schema, chosen, seed=1)
        found[by] = (release.details[0]["levels"], sorted(set(release.frame["diagnosis"])))
    assert found["steps"] != found["depth"]


def test_suppressed_records_are_starred_or_dropped(schema):
    data = people(200, seed=2)
    data["age"] = [25] * 193 + [30, 35, 40, 45, 50, 60, 70]
    data["sex"] = ["f"] * 200
    data["diagnosis"] = ["401.9"] * 200
    frame = pd.DataFrame(data)
    starred = om.protect(frame, schema, method(suppression_limit=0.1), seed=1)
    dropped = om.protect(frame, schema, method(suppression_limit=0.1, outliers="drop"), seed=1)
    count = starred.details[0]["suppressed"]
    assert count == 7
    stars = (starred.frame[["age", "sex", "diagnosis"]] == "*").all(axis=1)
    assert stars.sum() == count
    assert len(starred.frame) == 200
    assert len(dropped.frame) == 200 - count
    assert dropped.suppressed == count


def test_too_few_stars_to_hide_among_are_dropped(schema):
    data = people(100, seed=4)
    data["age"] = [25] * 98 + [70, 71]
    data["sex"] = ["f"] * 100
    data["diagnosis"] = ["401.9"] * 100
    release = om.protect(pd.DataFrame(data), schema, method(suppression_limit=0.02), seed=1)
    assert release.details[0]["suppressed"] == 2
    assert len(release.frame) == 98
    assert set(release.frame["age"]) == {25}


def test_privacy_models_on_the_sensitive_column(schema):
    frame = pd.DataFrame(people(300, seed=5))
    release = om.protect(
        frame, schema, method(KAnonymity(3), LDiversity(3), TCloseness(0.3)), seed=1
    )
    out = release.frame
    q = frame["cost"].value_counts(normalize=True)
    for _, group in out.groupby(["age", "sex", "diagnosis"]):
        assert group["cost"].nunique() >= 3
        p = group["cost"].value_counts(normalize=True)
        assert (p.sub(q, fill_value=0)).abs().sum() / 2 <= 0.3 + 1e-9


def test_semantic_closeness_uses_the_columns_taxonomy(icd9):
    frame = pd.DataFrame(people(100, seed=6))
    schema = om.Schema(
        age=om.Numeric(), sex=om.Flat(), diagnosis=om.Nominal(icd9, role="sensitive")
    )
    near = om.protect(frame, schema, method(TCloseness(0.05, "semantic")), seed=1)
    far = om.protect(frame, schema, method(TCloseness(0.5, "semantic")), seed=1)
    assert far.details[0]["quality"] < near.details[0]["quality"]
    tree = om.protect(frame, schema, method(TCloseness(0.1, "hierarchical")), seed=1)
    assert tree.details[0]["quality"] > 0


def test_another_quality_chooses_other_levels(schema):
    frame = pd.DataFrame(people(300, seed=7))
    frame["cost"] = np.where(frame["sex"] == "f", "low", "high")
    release = om.protect(
        frame, schema, method(KAnonymity(10), quality=Classification("cost")), seed=1
    )
    assert release.details[0]["levels"]["sex"] == 0
    assert release.details[0]["quality"] == 0.0
    semantic = om.protect(frame, schema, method(KAnonymity(10), quality=Semantic()), seed=1)
    assert semantic.details[0]["quality_model"] == "semantic"
    levels = [
        om.protect(
            frame, schema, method(KAnonymity(10), quality=Loss(weights={name: 100.0})), seed=1
        ).details[0]["levels"]
        for name in ("age", "sex")
    ]
    assert levels[0]["age"] < levels[1]["age"]


def test_population_models(schema):
    population = pd.DataFrame(people(400, seed=8))
    frame = population.iloc[::4]
    for model in (KMap(20), DeltaPresence(0.0, 0.5)):
        release = om.protect(frame, schema, method(model, population=population), seed=1)
        levels = release.details[0]["levels"]
        whole = om.protect(population, schema, method(KAnonymity(2)), seed=1)
        assert whole is not None
        assert set(levels) == {"age", "sex", "diagnosis"}
        finest = all(level == 0 for level in levels.values())
        assert not finest


@pytest.mark.parametrize("as_texts", [False, True])
def test_a_population_may_have_values_that_the_table_has_not(as_texts):
    """Codes of the taxonomy in another spelling, ages beyond those of the table, and gaps."""
    icd = om.load_taxonomy("icd9cm")
    codes = ["25000", "25001", "250.02", "4280", "4281", "428.9", "486", None]
    ages = [30, 33, 39, 70, 72, 79, 95, 8]
    population = pl.DataFrame({"diagnosis": codes, "age": ages})
    frame = pl.DataFrame({"diagnosis": ["250.00", "428.0"], "age": [30, 70]})
    schema = om.Schema(diagnosis=om.Nominal(icd), age=om.Numeric())
    given = population.cast(pl.String) if as_texts else population
    hierarchies = {"age": {"intervals": [10]}}
    method = Generalization([KMap(3)], hierarchies=hierarchies, population=given)
    release = om.protect(frame, schema, method, seed=1)
    assert release.details[0]["levels"]["diagnosis"] > 0
    known = icd.map(codes[:-1]).ids
    for shown, decade in zip(release.frame["diagnosis"], (3, 7), strict=True):
        below = [shown in (one, *icd.ancestors(one)) for one in known]
        alike = [age // 10 == decade for age in ages[:-1]]
        assert sum(map(min, below, alike)) == 3


def test_a_population_that_cannot_be_read_is_refused(schema):
    frame = pd.DataFrame(people(40, seed=8))
    wrong = frame.assign(age="old")
    with pytest.raises(
        om.errors.DataError, match=r"The population table does not fit\. Column 'age'"
    ):
        om.protect(frame, schema, method(KMap(2), population=wrong), seed=1)


def test_missing_values_are_a_category_of_their_own(schema):
    data = people(120, seed=9)
    data["sex"] = [None if number % 4 == 0 else sex for number, sex in enumerate(data["sex"])]
    data["diagnosis"] = [None if n % 6 == 0 else d for n, d in enumerate(data["diagnosis"])]
    frame = pd.DataFrame(data)
    release = om.protect(frame, schema, method(KAnonymity(4)), seed=1)
    levels = release.details[0]["levels"]
    assert release.verification.kept
    if levels["sex"] == 0:
        assert release.frame["sex"].isna().tolist() == frame["sex"].isna().tolist()


def test_hierarchies_from_files(tmp_path, schema):
    file = tmp_path / "sex.csv"
    file.write_text("f;*\nm;*\n", encoding="utf-8")
    one = om.protect(pd.DataFrame(people()), schema, method(), seed=1)
    hierarchies = {**HIERARCHIES, "sex": str(file)}
    other = om.protect(pd.DataFrame(people()), schema, method(hierarchies=hierarchies), seed=1)
    assert one.frame.equals(other.frame)


def test_strata_are_generalized_apart(schema):
    frame = pd.DataFrame(people(200, seed=10))
    release = om.protect(frame, schema, method(strata=("cost",)), seed=1)
    assert len(release.details[0]["strata"]) == 3
    for _, group in release.frame.groupby("cost"):
        assert min(Counter(quasi(group)).values()) >= 5


@pytest.mark.parametrize("search", ["optimal", "local", "mondrian"])
@pytest.mark.parametrize("strata", [(), ("cost",)])
def test_clusters_are_the_records_that_look_the_same_in_the_order_they_come(schema, search, strata):
    frame = pd.DataFrame(people(200, seed=10))
    chosen = method(strata=strata, algorithm=search, suppression_limit=0.2)
    release = om.protect(frame, schema, chosen, seed=1)
    alike = pd.Series(quasi(release.frame)).factorize()[0].tolist()
    found = release.clusters
    if release.left_out:  # they were numbered too
        found = pd.Series(found).factorize()[0]
    assert found.tolist() == alike


def test_the_scheme_generalizes_new_records(schema):
    frame = pd.DataFrame(people(150, seed=11))
    release = om.protect(frame, schema, method(), seed=1)
    unseen = pd.DataFrame(people(20, seed=12))
    out = release.scheme.apply(unseen)
    level = release.details[0]["levels"]["age"]
    hierarchy = HIERARCHIES["age"]
    rows = hierarchy.encode(unseen["age"])
    expected = [hierarchy.labels[level][code] for code in hierarchy.levels[level][rows]]
    assert out["age"].astype(str).tolist() == expected


def test_weights_count_people(icd9):
    data = people(30, seed=13)
    data["n"] = [5] * 30
    columns = {"age": om.Numeric(), "sex": om.Flat(), "diagnosis": om.Nominal(icd9)}
    schema = om.Schema.of({**columns, "n": om.Count()})
    release = om.protect(pd.DataFrame(data), schema, method(), seed=1)
    assert release.details[0]["levels"] == {"age": 0, "sex": 0, "diagnosis": 0}


def test_progress_is_reported_and_can_stop_the_run(schema):
    def stop(fraction, message):
        raise KeyboardInterrupt(message)

    frame = pd.DataFrame(people(100))
    best_effort = method(algorithm="best-effort", steps=500)
    with pytest.raises(KeyboardInterrupt):
        om.protect(frame, schema, best_effort, seed=1, progress=stop)


# levels that a person has chosen ----------------------------------------------------------------

CHOSEN = {"age": 2, "sex": 0, "diagnosis": 2}


def test_chosen_levels_are_applied_as_they_are(schema):
    frame = pd.DataFrame(people())
    release = om.protect(frame, schema, method(KAnonymity(2), levels=CHOSEN), seed=1)
    assert release.details[0]["levels"] == CHOSEN
    assert release.details[0]["checked"] == 1
    assert not release.details[0]["optimal"]
    assert release.verification.kept
    decades = [f"[{age // 20 * 20}, {age // 20 * 20 + 20})" for age in people()["age"]]
    assert release.frame["age"].tolist() == decades
    assert release.frame["sex"].tolist() == people()["sex"]


def test_chosen_levels_have_the_figures_of_their_node(schema):
    frame = pd.DataFrame(people())
    searched = method(KAnonymity(4), suppression_limit=0.5)
    nodes = om.measuring.explore(frame, schema, searched)
    place = int(np.flatnonzero((nodes.levels == [1, 0, 1]).all(axis=1))[0])
    levels = dict(zip(nodes.names, nodes.levels[place].tolist(), strict=True))
    chosen = method(KAnonymity(4), suppression_limit=0.5, levels=levels)
    details = om.protect(frame, schema, chosen, seed=1).details[0]
    assert details["suppressed"] == nodes.outliers[place] > 0
    assert details["quality"] == pytest.approx(nodes.losses["loss"][place])


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"age": 0, "sex": 0, "diagnosis": 0}, "only if .* records are suppressed, and 0 may be"),
        ({"age": 9, "sex": 0, "diagnosis": 0}, "levels\\['age'\\] must be between 0 and 3"),
        ({"age": 1, "sex": 0}, "levels says nothing about 'diagnosis'"),
        ({**CHOSEN, "agee": 1}, "names 'agee'.*Did you mean 'age'"),
    ],
)
def test_levels_that_cannot_be_applied_are_refused(schema, levels, said):
    with pytest.raises(om.errors.OntomaskError, match=said):
        om.protect(people_frame(), schema, method(levels=levels), seed=1)


def people_frame():
    return pd.DataFrame(people())


def test_chosen_levels_do_not_go_with_a_search_by_record():
    with pytest.raises(om.errors.OntomaskError, match="algorithm='local'"):
        method(levels=CHOSEN, algorithm="local")


def test_chosen_levels_hold_inside_strata(schema):
    options = {"levels": {"age": 3, "sex": 0, "diagnosis": 2}, "strata": ("sex",)}
    release = om.protect(people_frame(), schema, method(KAnonymity(2), **options), seed=1)
    assert release.verification.kept
    assert all(one["levels"] == options["levels"] for one in release.details[0]["strata"])
