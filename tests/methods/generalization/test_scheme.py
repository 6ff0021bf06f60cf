"""What a generalization does with records that it has not seen, and what it keeps for that."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import MethodError
from ontomask.evaluation.classification import judge_classification
from ontomask.methods.generalization.method import told_apart
from tables import mixed_columns, mixed_hierarchies, mixed_schema

QUASI = ["age", "sex"]
AGES = [[str(age), f"{age // 10}0s", "*"] for age in range(20, 50)]
HIERARCHIES = {"age": AGES, "sex": [["f", "*"], ["m", "*"]]}
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat(), ill=om.Flat(role="sensitive"))


def people(seed, count=60):
    """The older, the fewer."""
    generator = np.random.default_rng(seed)
    ages = 20 + np.minimum(generator.exponential(6, count), 29).astype(int)
    return pd.DataFrame(
        {
            "age": ages,
            "sex": generator.choice(["f", "m"], count, p=[0.8, 0.2]),
            "ill": generator.choice(list("uvw"), count),
        }
    )


def seen(frame):
    return [tuple(row) for row in frame[QUASI].astype(str).to_numpy()]


@pytest.mark.parametrize("outliers", ["star", "drop"])
def test_records_come_out_only_as_classes_of_the_release(outliers):
    method = om.Generalization(
        [om.privacy.KAnonymity(4)],
        suppression_limit=0.2,
        hierarchies=HIERARCHIES,
        outliers=outliers,
    )
    found = set()
    for seed in range(12):
        release = om.protect(people(seed), SCHEMA, method, seed=1)
        known = set(seen(release.frame))
        new = people(seed + 100)
        out = release.scheme.apply(new)
        plain = release.scheme.transform(new)
        assert set(seen(out)) <= known
        fits = [one in known for one in seen(plain)]
        if ("*", "*") in known:
            found.add("starred")
            expected = [
                one if fit else ("*", "*") for one, fit in zip(seen(plain), fits, strict=True)
            ]
            assert seen(out) == expected
            assert out["ill"].tolist() == new["ill"].tolist()
        else:
            found.add("left out")
            assert seen(out) == [one for one, fit in zip(seen(plain), fits, strict=True) if fit]
            assert out["ill"].tolist() == new["ill"][fits].tolist()
        assert not all(fits) or seed
    assert "left out" in found
    assert ("starred" in found) == (outliers == "star")


def test_a_record_that_fits_nowhere_leaves_an_empty_table():
    frame = pd.DataFrame(
        {"age": [20, 20, 20, 30, 30, 30], "sex": list("ffffff"), "ill": list("uvwuvw")}
    )
    method = om.Generalization([om.privacy.KAnonymity(3)], hierarchies=HIERARCHIES)
    release = om.protect(frame, SCHEMA, method, seed=1)
    assert release.levels == {"age": 0, "sex": 0}
    stranger = pd.DataFrame({"age": [40], "sex": ["m"], "ill": ["u"]})
    out = release.scheme.apply(stranger)
    assert list(out.columns) == ["age", "sex", "ill"]
    assert len(out) == 0


def test_records_of_suppressed_classes_do_not_come_back():
    """Whoever applies the scheme to the original table must not get more than was released."""
    for seed in range(6):
        frame = people(seed)
        method = om.Generalization(
            [om.privacy.KAnonymity(4)], suppression_limit=0.2, hierarchies=HIERARCHIES
        )
        release = om.protect(frame, SCHEMA, method, seed=1)
        assert release.details[0]["suppressed"]
        assert seen(release.scheme.apply(frame)) == seen(release.frame)


def arrays_in(thing, found):
    """All arrays that an object holds."""
    if isinstance(thing, np.ndarray):
        found.append(thing)
    elif isinstance(thing, dict):
        for one in thing.values():
            arrays_in(one, found)
    elif isinstance(thing, (list, tuple)):
        for one in thing:
            arrays_in(one, found)
    elif hasattr(thing, "__dict__") and not isinstance(thing, om.Taxonomy):
        arrays_in(vars(thing), found)
    return found


@pytest.mark.parametrize("search", ["optimal", "best-effort"])
def test_a_pickled_scheme_holds_no_records(search):
    """No array is as long as the table; a shuffled table leaves the same bytes."""
    columns = mixed_columns(61)
    method = om.Generalization(
        [om.privacy.KAnonymity(3)],
        suppression_limit=0.5,
        algorithm=search,
        steps=50,
        hierarchies=mixed_hierarchies(61),
    )
    frame = pl.DataFrame(columns)
    stored = []
    for shuffled in (frame, frame.sample(fraction=1.0, shuffle=True, seed=3)):
        release = om.protect(shuffled, mixed_schema(), method, seed=1)
        again = pickle.loads(pickle.dumps(release.scheme.schemes))  # noqa: S301 - our own bytes
        arrays = arrays_in(again, [])
        assert arrays
        assert all(len(frame) not in array.shape for array in arrays)
        stored.append([array.tobytes() for array in arrays])
    if search == "optimal":
        assert stored[0] == stored[1]


def test_local_outcomes_have_no_scheme():
    for options in ({"algorithm": "local"}, {"algorithm": "mondrian"}, {"strata": ("sex",)}):
        method = om.Generalization([om.privacy.KAnonymity(4)], hierarchies=HIERARCHIES, **options)
        release = om.protect(people(1), SCHEMA, method, seed=1)
        with pytest.raises(MethodError, match="no scheme for further records"):
            _ = release.scheme


def test_classifiers_are_judged_on_all_test_records_though_some_would_be_left_out():
    frame = people(3, 200)
    method = om.Generalization(
        [om.privacy.KAnonymity(30)], suppression_limit=0.2, hierarchies=HIERARCHIES
    )
    release = om.protect(frame, SCHEMA, method, seed=1)
    assert len(release.scheme.apply(frame)) == len(release.frame) < len(frame)
    options = {"folds": 3, "classifiers": "zero-r"}
    judged = judge_classification(frame, SCHEMA, "ill", lambda _: release, **options)
    assert (judged.records, judged.trained) == (len(frame), len(release.frame))
    assert judged.suppressed == len(frame) - len(release.frame)


def test_a_scheme_knows_all_combinations_of_generalized_values_in_the_release():
    generator = np.random.default_rng(1)
    rows = [[value, value[0], "*"] for value in ("aa", "ab", "ba", "bb", "ca")]
    table = pl.DataFrame(
        {
            name: generator.choice([row[0] for row in rows], 60, p=generator.dirichlet(np.ones(5)))
            for name in "xyz"
        }
    )
    method = om.Generalization(k=3, suppression_limit=0.3, hierarchies=dict.fromkeys("xyz", rows))
    release = om.protect(table, om.Schema(x=om.Flat(), y=om.Flat(), z=om.Flat()), method, seed=1)
    (scheme,) = release.scheme.schemes
    labels = [scheme.columns[name].hierarchy.labels[release.levels[name]] for name in "xyz"]
    known = {
        tuple(own[code] for own, code in zip(labels, one, strict=True)) for one in scheme.classes
    }
    shown = {row for row in release.frame.rows() if row != ("*", "*", "*")}
    assert known == shown
    assert len(known) == len(scheme.classes) > 3


@pytest.mark.parametrize(("looks", "expected"), [([1, 2, 3], [0, 3]), ([1, 2, 2], [0, 1, 3])])
def test_values_that_look_alike_are_still_told_apart(looks, expected):
    """One kind of each class is enough, unless a class may hold different values."""
    kinds = SimpleNamespace(
        suppressed=np.array([False, False, True, False]), classes=np.array([0, 0, 0, 1])
    )
    column = SimpleNamespace(looks=[np.array(looks)], hierarchy=SimpleNamespace(widths=[3]))
    outcome = SimpleNamespace(kinds=kinds, columns={"x": column})
    found = told_apart(outcome, {"x": 0})
    assert kinds.classes[found].tolist() == kinds.classes[expected].tolist()
    assert not kinds.suppressed[found].any()
