"""Distances that somebody gives for the values of a flat column: as a matrix, or as a function."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError, SchemaError
from tables import DISEASES, LEAVES

WARDS = ["cardiology", "surgery", "trauma", "pediatrics"]
APART = [[0, 4, 4, 2], [4, 0, 1, 4], [4, 1, 0, 4], [2, 4, 4, 0]]
FAR = np.array(APART) / 4
DRAWN = np.random.default_rng(3)


def column(**more):
    return om.Flat(values=WARDS, distances=APART, **more)


def drawn(count=40):
    return [WARDS[place] for place in DRAWN.integers(0, len(WARDS), count)]


def test_a_function_is_the_matrix_of_what_it_says():
    def apart(one, other):
        return APART[WARDS.index(one)][WARDS.index(other)]

    assert om.Flat(values=WARDS, distances=apart) == column()
    assert np.array(column().distances).tolist() == FAR.tolist()
    assert "4" not in repr(column())


def test_clusters_and_their_middle_follow_the_distances():
    wards = ["surgery", "trauma", "trauma", "cardiology", "pediatrics", "pediatrics", None]
    frame = pl.DataFrame({"ward": wards[:-1]})
    release = om.protect(frame, om.Schema(ward=column()), om.Microaggregation(3), seed=1)
    assert release.frame["ward"].to_list() == ["trauma"] * 3 + ["pediatrics"] * 3
    plain = om.protect(frame, om.Schema(ward=om.Flat()), om.Microaggregation(3), seed=1)
    assert release.evaluate().loss.semantic_loss == pytest.approx((1 / 4 + 2 / 4) / 6)
    assert plain.evaluate().loss.semantic_loss >= 2 / 6


def test_loss_and_linkage_by_hand():
    old, new = drawn(), drawn()
    new[:3], old[3] = ["surgery", "elsewhere", None], None  # what nobody listed is 1 from all
    frame, masked = (pl.DataFrame({"ward": one}) for one in (old, new))
    schema = om.Schema(ward=column())

    def apart(one, other):
        known = one in WARDS and other in WARDS
        return FAR[WARDS.index(one), WARDS.index(other)] if known else float(one != other)

    found = om.evaluate(frame, masked, schema)
    moved = [apart(*pair) for pair in zip(old, new, strict=True)]
    assert found.loss.semantic_loss == pytest.approx(np.mean(moved))
    centers = [sum(apart(one, ward) ** 2 for one in old) for ward in WARDS]
    sums = [sum(apart(one, ward) for one in old if one) for ward in WARDS]
    assert found.loss.sst == pytest.approx(centers[int(np.argmin(sums))])
    nearest = [[apart(one, other) for other in new] for one in old]
    linked = [
        (row[place] == min(row)) / sum(one == min(row) for one in row)
        for place, row in enumerate(nearest)
    ]
    assert found.linkage[0].risk == pytest.approx(np.mean(linked))


@pytest.mark.parametrize(
    "method",
    [
        om.Microaggregation(3, operators="marginality"),
        om.Microaggregation(4, algorithm="mdav", operators="mode", metric="euclidean"),
        om.Recoding(3),
        om.RankSwapping(k=5),
        om.Resampling(3, operators="marginality"),
    ],
    ids=lambda one: one.name,
)
def test_the_same_distances_give_the_same_release_as_those_of_a_taxonomy(method):
    """Concepts are numbered by depth and id, leaves of one depth therefore as they are sorted."""
    leaves = sorted({one for one in LEAVES if DISEASES.depth(one) == DISEASES.depth(LEAVES[0])})
    values = [leaves[place] for place in DRAWN.integers(0, len(leaves), 60)]
    nominal = om.Nominal(DISEASES, root="taxonomy")
    own = om.Flat(values=leaves, distances=DISEASES.distances(leaves, root="taxonomy"))
    frame = pl.DataFrame({"ill": values})
    releases = [om.protect(frame, om.Schema(ill=one), method, seed=2) for one in (nominal, own)]
    assert releases[0].frame.equals(releases[1].frame)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"values": WARDS}, "values and distances go together"),
        ({"distances": APART}, "values and distances go together"),
        ({"values": WARDS, "distances": [[0]]}, "a matrix of 4 times 4 numbers"),
        ({"values": WARDS, "distances": "far"}, "a matrix of 4 times 4 numbers"),
        ({"values": WARDS, "distances": np.eye(4)}, "0 from a value to itself"),
        ({"values": WARDS, "distances": -FAR}, "at least 0"),
        ({"values": WARDS, "distances": np.triu(FAR)}, "the same in both directions"),
        ({"values": ["a", "a"], "distances": [[0, 1], [1, 0]]}, "name every value once"),
        ({"values": [1, "1"], "distances": [[0, 1], [1, 0]]}, "name every value once"),
    ],
)
def test_wrong_distances_are_refused(given, said):
    with pytest.raises(SchemaError, match=said):
        om.Flat(**given)


def test_a_value_without_distances_is_refused():
    frame = pl.DataFrame({"ward": ["surgery", "sugery"]})
    with pytest.raises(DataError, match=r"holds 'sugery', to which no distance .* 'surgery'\?"):
        om.protect(frame, om.Schema(ward=column()), om.Microaggregation(2))
