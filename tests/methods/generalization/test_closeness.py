"""Closeness through `protect`, against the linear program of the earth mover's distance."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import ontomask as om
from ontomask.promises import Closeness
from tables import DISEASES

ILLNESS = [["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"]]
SEX = [["f", "*"], ["m", "*"]]
AGE = [[str(age), "young" if age < 3 else "old", "*"] for age in range(6)]


def moved(p, q, ground):
    """The least work to turn p into q."""
    size = len(p)
    ones = np.ones((1, size))
    sums = np.vstack([np.kron(np.eye(size), ones), np.kron(ones, np.eye(size))])
    wanted = np.concatenate([p, q])
    return linprog(np.ravel(ground), A_eq=sums, b_eq=wanted).fun


def tree_ground(rows):
    """The level of the lowest common generalization over the height, for values in sorted order."""
    paths = {row[0]: row for row in rows}
    height = len(rows[0]) - 1
    values = sorted(paths)
    return [
        [
            min(level for level in range(height + 1) if paths[one][level] == paths[other][level])
            / height
            for other in values
        ]
        for one in values
    ]


def largest_distance(released, whole, values, ground):
    """Of all classes of a release, recounted on its frame."""

    def shares(column):
        return [float((column == value).mean()) for value in values]

    q = shares(whole)
    classes = released.groupby([name for name in released if name != "ill"])["ill"]
    return max(moved(shares(column), q, ground) for _, column in classes)


def protected(frame, model, rows, **options):
    schema = om.Schema.of(
        {name: om.Flat() for name in frame if name != "ill"} | {"ill": om.Flat(role="sensitive")}
    )
    hierarchies = {"sex": SEX, "age": AGE, "ill": rows}
    chosen = {name: hierarchies[name] for name in frame}
    return om.protect(frame, schema, om.Generalization([model], hierarchies=chosen, **options), 1)


# of 24, of which most differ by the names of the leaves only
@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5], ids=str)
def test_the_order_of_the_rows_of_a_hierarchy_means_nothing(order):
    """Women have a or b, men c or d: half of each class must cross the root, a distance of 1/2."""
    rows = [ILLNESS[place] for place in order]
    frame = pd.DataFrame({"sex": list("ffmm"), "ill": list("abcd")})
    for t, level in ((0.3, 1), (0.499, 1), (0.5, 0)):
        release = protected(frame, om.privacy.TCloseness(t, "hierarchical"), rows)
        assert release.levels == {"sex": level}
    generator = np.random.default_rng(order)
    wide = pd.DataFrame(
        {
            "sex": generator.choice(list("fm"), 60),
            "age": generator.choice([str(age) for age in range(6)], 60),
            "ill": generator.choice(list("abcd"), 60, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    release = protected(wide, om.privacy.TCloseness(0.25, "hierarchical"), rows)
    ground = tree_ground(ILLNESS)
    assert largest_distance(release.frame, wide["ill"], "abcd", ground) <= 0.25 + 1e-9
    assert sum(release.levels.values()) < 3


def test_a_hierarchy_without_a_common_root_measures_nothing():
    frame = pd.DataFrame({"sex": list("ffmm"), "ill": list("abcd")})
    with pytest.raises(om.errors.ParameterError, match="that ends in one value for all; add a la"):
        protected(frame, om.privacy.TCloseness(0.3, "hierarchical"), [row[:2] for row in ILLNESS])


@pytest.mark.parametrize(
    "column",
    [
        om.Ordinal(["low", "mid", "high"], "sensitive"),
        om.Numeric("sensitive"),
        om.Date("sensitive"),
    ],
    ids=["ordinal", "numeric", "date"],
)
def test_an_order_is_the_one_of_the_column_not_of_the_alphabet(column):
    """Women are low or mid, men mid or high: (1/4, 0, -1/4) differs by 1/4 of the way."""
    words = {
        "ordinal": ["low", "mid", "high"],
        "numeric": [9, 10, 111],
        "date": ["1999-01-01", "2000-01-01", "2020-01-01"],
    }[column.kind]
    frame = pd.DataFrame({"sex": list("ffmm"), "ill": [words[place] for place in (0, 1, 1, 2)]})
    schema = om.Schema(sex=om.Flat(), ill=column)
    for t, level in ((0.24, 1), (0.25, 0)):
        method = om.Generalization([om.privacy.TCloseness(t, "ordered")], hierarchies={"sex": SEX})
        assert om.protect(frame, schema, method, 1).levels == {"sex": level}


@pytest.mark.parametrize("measure", ["path", "weighted-path", "logsc", "wu-palmer"])
def test_distances_of_meaning_are_at_most_1(measure):
    """Women and men share no illness: whatever the measure, that is no more than 1."""
    frame = pd.DataFrame({"sex": list("ffmm"), "ill": ["flu", "cold", "asthma", "skin cancer"]})
    schema = om.Schema(sex=om.Flat(), ill=om.Nominal(DISEASES, "sensitive", measure=measure))
    method = om.Generalization([om.privacy.TCloseness(1.0, "semantic")], hierarchies={"sex": SEX})
    release = om.protect(frame, schema, method, 1)
    assert release.levels == {"sex": 0}
    (found,) = [one for one in release.verification.findings if isinstance(one.promise, Closeness)]
    assert 0.1 < found.figure <= 1
