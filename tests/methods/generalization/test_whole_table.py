"""Models that speak of the whole table, recounted in plain Python on what `protect` hands out."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest

import ontomask as om
from ontomask.population import population_uniqueness
from ontomask.promises import Closeness
from reference import privacy as plain
from reference.privacy import Row

AGES = [str(age) for age in range(8)]
# some groups are named after one of their values, so that different levels can look the same
AGE = [[age, str(int(age) // 2 * 2), "young" if age < "4" else "old", "*"] for age in AGES]
SEX = [["f", "*"], ["m", "*"]]
TOWN = [["a", "a", "*"], ["b", "b", "*"], ["c", "b", "*"]]
HIERARCHIES = {"age": AGE, "sex": SEX, "town": TOWN}
QUASI = list(HIERARCHIES)

STATED = {
    "closeness": (
        om.privacy.TCloseness(0.3),
        lambda rows, q: plain.largest_distance(rows, q) < 0.3001,
    ),
    "disclosure": (
        om.privacy.DeltaDisclosure(1.6),
        lambda rows, q: plain.largest_disclosure(rows, q) < 1.6,
    ),
    "likeness": (
        om.privacy.BetaLikeness(0.9),
        lambda rows, q: plain.largest_gain(rows, q) < 0.9001,
    ),
    "entropy": (
        om.privacy.LDiversity(1.9, "entropy"),
        lambda rows, _: plain.least_entropy(rows) >= 1.899,
    ),
    "risk": (om.privacy.AverageRisk(0.12), lambda rows, _: plain.average_risk(rows) < 0.1201),
    "uniqueness": (
        om.privacy.SampleUniqueness(0.02),
        lambda rows, _: plain.uniqueness(rows) <= 0.02,
    ),
}


def people(seed, records=90, **more):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.choice(AGES, records, p=generator.dirichlet(np.ones(8))),
            "sex": generator.choice(["f", "m"], records),
            "town": generator.choice(["a", "b", "c"], records, p=[0.6, 0.3, 0.1]),
            "region": generator.choice(["east", "west"], records, p=[0.7, 0.3]),
            "ill": generator.choice(list("uvwxyz"), records, p=generator.dirichlet(np.full(6, 3))),
        }
    )
    west = frame["region"] == "west"
    frame.loc[west, "ill"] = generator.choice(list("uvwxyz"), int(west.sum()), p=[0.3, *[0.14] * 5])
    return frame.assign(**{name: make(generator, frame) for name, make in more.items()})


def schema(**more):
    quasi = {name: om.Flat() for name in QUASI}
    others = {"region": om.Flat(role="other"), "ill": om.Flat(role="sensitive")}
    return om.Schema.of({**quasi, **others, **more})


def protected(frame, *models, steps=(), columns=None, **options):
    method = om.Generalization(list(models), hierarchies=HIERARCHIES, **options)
    return om.protect(frame, columns or schema(), [*steps, method], seed=1)


def rows_of(frame, original=None, release=None):
    """The rows of a frame; counts and weights are looked up in the original."""
    counts = weights = [1] * len(frame)
    if original is not None:
        kept = original.iloc[release.rows]
        counts = kept["count"].tolist()
        weights = (kept["weight"] * kept["count"]).tolist()
    seen = frame[QUASI].astype(str).itertuples(index=False, name=None)
    return [Row(*one) for one in zip(seen, frame["ill"], counts, weights, strict=True)]


def distribution(frame):
    return plain.sums(rows_of(frame), "people")


def attempts(frames, *models, enough=25, **options):
    """Releases of the first frames that can be protected, of which there must be some."""
    found = []
    for frame in frames:
        if len(found) == enough:
            break
        try:
            found.append((frame, protected(frame, *models, **options)))
        except om.errors.MethodError:
            continue
    assert len(found) >= 3
    return found


@pytest.mark.parametrize(
    ("search", "name"),
    [
        *(("optimal", name) for name in STATED),
        *(("local", name) for name in ("closeness", "likeness", "entropy")),
        *(("mondrian", name) for name in ("closeness", "likeness", "entropy", "disclosure")),
    ],
)
def test_models_hold_for_all_strata_together(search, name):
    model, holds = STATED[name]
    limits = {"suppression_limit": 0.4} if search != "mondrian" else {}
    frames = [people(seed) for seed in range(24 if name == "disclosure" else 12)]
    found = attempts(frames, model, enough=5, algorithm=search, strata=("region",), **limits)
    for frame, release in found:
        assert holds(rows_of(release.frame), distribution(frame))
        starred = (release.frame[QUASI] == "*").all(axis=1).sum()
        assert release.left_out <= 0.4 * len(frame)
        assert release.left_out or starred or len(release.frame) == len(frame)


def test_closeness_inside_strata_is_closeness_to_the_whole_table():
    """By hand: in the west everybody is ill with u, which is 1/4 of the table: 3/4 away."""
    frame = pd.DataFrame(
        {
            "age": ["0"] * 40,
            "sex": ["f"] * 40,
            "town": ["a"] * 40,
            "region": ["west"] * 10 + ["east"] * 30,
            "ill": ["u"] * 10 + ["v"] * 30,
        }
    )
    with pytest.raises(om.errors.MethodError, match=r"^Stratum region = 'west': No combination"):
        protected(frame, om.privacy.TCloseness(0.5), strata=("region",), suppression_limit=0.2)
    release = protected(
        frame, om.privacy.TCloseness(0.75), strata=("region",), suppression_limit=0.2
    )
    (promise,) = [one for one in release.promises if isinstance(one, Closeness)]
    assert dict(promise.counts) == {"u": 10, "v": 30}


@pytest.mark.parametrize("name", ["closeness", "disclosure", "likeness"])
def test_records_that_an_earlier_step_left_out_count_in_the_distribution(name):
    model, holds = STATED[name]
    frames = [people(seed) for seed in range(10)]
    found = attempts(frames, model, steps=[om.Suppression(3)], suppression_limit=0.5)
    for frame, release in found:
        assert release.left_out
        assert holds(rows_of(release.frame), distribution(frame))


def test_a_changed_sensitive_column_is_compared_with_itself():
    """What an earlier step made of a column is what the release shows of the whole table."""
    frame = people(3)
    dropped = om.Suppression(3)
    changed = om.Pram(columns=("ill",))
    release = protected(
        frame, om.privacy.TCloseness(0.3), steps=[dropped, changed], suppression_limit=0.5
    )
    (promise,) = [one for one in release.promises if isinstance(one, Closeness)]
    assert sum(count for _, count in promise.counts) == len(frame) - dropped_by(frame, dropped)


def dropped_by(frame, step):
    return om.protect(frame, schema(), step, seed=1).suppressed


# Stars ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STATED)
def test_stars_stay_where_their_class_satisfies_the_models(name):
    """Every release is recounted with its stars; over all tables some stay and some must go."""
    model, holds = STATED[name]
    outcomes = set()
    models = [om.privacy.KAnonymity(3), model]
    for frame, release in attempts(map(people, range(25)), *models, suppression_limit=0.3):
        rows = rows_of(release.frame)
        assert plain.smallest_class(rows) >= 3
        assert holds(rows, distribution(frame))
        if not release.details[0]["suppressed"]:
            continue
        outcomes.add("gone" if release.left_out else "starred")
        if release.left_out:
            with_stars = [*rows, *stars_of(frame, release)]
            assert plain.smallest_class(with_stars) < 3 or not holds(
                with_stars, distribution(frame)
            )
    assert "starred" in outcomes
    assert outcomes == {"gone", "starred"} or name in ("risk", "uniqueness", "entropy")


def stars_of(frame, release):
    gone = np.setdiff1d(np.arange(len(frame)), release.rows)
    return [Row(("*", "*", "*"), value) for value in frame["ill"].iloc[gone]]


def test_stars_hide_among_records_at_the_root():
    """Two outliers are too few, but eight others are at the root everywhere."""
    frame = pd.DataFrame({"sex": ["*"] * 8 + ["m"] * 8 + ["f"] * 2, "ill": ["u", "v"] * 9})
    columns = om.Schema(sex=om.Flat(), ill=om.Flat(role="sensitive"))
    for rows, released in (([*SEX, ["*", "*"]], 18), ([*SEX, ["*", "x"]], 18)):
        method = om.Generalization(
            [om.privacy.KAnonymity(5)], suppression_limit=0.2, hierarchies={"sex": rows}
        )
        release = om.protect(frame, columns, method, seed=1)
        assert Counter(release.frame["sex"]) == {"*": 10, "m": 8}
        assert len(release.frame) == released


# Weights and counts ---------------------------------------------------------------------------

WEIGHTED = {
    "count": lambda generator, frame: generator.integers(1, 4, len(frame)),
    "weight": lambda generator, frame: (
        generator.uniform(1, 9, len(frame)) * 9 ** (frame["sex"] > "f")
    ),
}
COLUMNS = {"count": om.Count(), "weight": om.Weight()}


def whole(frame):
    people = defaultdict(float)
    for value, count, weight in zip(frame["ill"], frame["count"], frame["weight"], strict=True):
        people[value] += count * weight
    return people


@pytest.mark.parametrize("name", ["closeness", "disclosure", "likeness"])
@pytest.mark.parametrize("search", ["optimal", "mondrian"])
def test_distributions_weigh_people_and_sizes_count_records(name, search):
    model, holds = STATED[name]
    frames = [people(seed, **WEIGHTED) for seed in range(12)]
    limit = {"suppression_limit": 0.3} if search == "optimal" else {}
    models = [om.privacy.KAnonymity(4), om.privacy.LDiversity(2), model]
    unweighed = []
    options = {"algorithm": search, "columns": schema(**COLUMNS), **limit}
    for frame, release in attempts(frames, *models, **options):
        rows = rows_of(release.frame, frame, release)
        assert plain.smallest_class(rows) >= 4
        assert plain.fewest_values(rows) >= 2
        assert holds(rows, whole(frame))
        records = [row._replace(people=row.count) for row in rows]
        unweighed.append(holds(records, frame.groupby("ill")["count"].sum().to_dict()))
        for promise in release.promises:
            if isinstance(promise, Closeness):
                assert dict(promise.counts) == pytest.approx(whole(frame))
    assert not all(unweighed)


@pytest.mark.parametrize("search", ["optimal", "local", "mondrian"])
def test_without_a_population_k_map_adds_up_survey_weights(search):
    for seed in range(6):
        frame = people(seed, **WEIGHTED)
        limit = {} if search == "mondrian" else {"suppression_limit": 0.1}
        options = {"algorithm": search, "columns": schema(**COLUMNS), **limit}
        release = protected(frame, om.privacy.KMap(300), **options)
        rows = rows_of(release.frame, frame, release)
        assert plain.fewest_people(rows) >= 300
        assert plain.smallest_class(rows) < 300
        assert release.levels is None or sum(release.levels.values()) < 5


def test_a_class_of_people_is_not_a_class_of_records():
    """Ten records that stand for a hundred people each are still ten."""
    frame = people(1, 30).assign(weight=100.0)
    columns = schema(weight=om.Weight())
    with pytest.raises(om.errors.MethodError, match="k is 31, but there are only 30 records"):
        protected(frame, om.privacy.KAnonymity(31), columns=columns)
    release = protected(frame, om.privacy.KAnonymity(5), columns=columns)
    assert plain.smallest_class(rows_of(release.frame)) >= 5
    free = protected(frame, om.privacy.KMap(100), columns=columns)
    assert set(free.levels.values()) == {0}


# Mondrian -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 19, 59, 70, 104, 263, 125, 128, 138, 165, 166, 248])
def test_boxes_that_look_alike_satisfy_the_models_together(seed):
    """A group named after one of its values looks like that value, whatever is in which box.

    With these seeds, boxes that satisfy the model by themselves would not do so together.
    """
    letters = [[one, "a" if one < "f" else "f", "*"] for one in "abcdefghij"]
    others = [[one, "p", "*"] for one in "pqrstu"]
    generator = np.random.default_rng(seed)
    records, values = int(generator.integers(30, 300)), int(generator.integers(4, 14))
    frame = pd.DataFrame(
        {
            name: generator.choice(
                [row[0] for row in rows], records, p=generator.dirichlet(np.full(len(rows), 2))
            )
            for name, rows in (("letter", letters), ("other", others))
        }
    )
    shares = generator.dirichlet(np.full(values, 2))
    frame["ill"] = generator.choice(values, records, p=shares).astype(str)
    columns = om.Schema(letter=om.Flat(), other=om.Flat(), ill=om.Flat(role="sensitive"))
    method = om.Generalization(
        [om.privacy.DeltaDisclosure(1.6)],
        algorithm="mondrian",
        hierarchies={"letter": letters, "other": others},
    )
    released = om.protect(frame, columns, method, seed=1).frame
    seen = released[["letter", "other"]].itertuples(index=False, name=None)
    rows = [Row(*one) for one in zip(seen, released["ill"], strict=True)]
    assert plain.largest_disclosure(rows, Counter(frame["ill"])) < 1.6
    assert len(plain.classes_of(rows)) > 1


def test_what_fails_may_hold_at_finer_levels():
    """Estimates may rise when classes are united: here by level 1, but not as it is."""
    values = ["a", *"bb", *"ccc", *"ddd"]
    groups = [["a", "a", "any", "*"], *([one, "other", "any", "*"] for one in "bcd")]
    model = om.privacy.PopulationUniques(0.05, fraction=0.5)
    finer, coarser = (population_uniqueness(np.array(one), 0.5) for one in ([1, 2, 3, 3], [1, 8]))
    assert finer.dankar.share <= 0.05 < coarser.dankar.share
    method = om.Generalization([model], hierarchies={"group": groups})
    release = om.protect({"group": values}, om.Schema(group=om.Flat()), method)
    assert release.details[0]["levels"] == {"group": 0}
