"""Models of risk, each with the arithmetic written out."""

import math

import numpy as np
import pytest

from ontomask.population import population_uniqueness
from ontomask.privacy import (
    Classes,
    EstimatedKMap,
    NoAttack,
    PopulationNoAttack,
    PopulationUniques,
    RecordsAtRisk,
)


def classes(*sizes, population=None):
    return Classes(np.array(sizes), None if population is None else np.array(population))


def poisson(count, rate):
    return math.exp(-rate) * rate**count / math.factorial(count)


def test_k_map_by_poisson():
    """k = 20 people, one tenth sampled: 2 records expected; 95 % of such classes have at most 5."""
    assert (
        sum(poisson(one, 2.0) for one in range(5))
        < 0.95
        <= sum(poisson(one, 2.0) for one in range(6))
    )
    model = EstimatedKMap(20, 0.1)
    assert model.least == 7
    assert model.holds(classes(6, 7, 8)).tolist() == [False, True, True]


def test_k_map_by_zero_truncated_poisson():
    """The same among classes that are seen: P(n <= 4) = 0.939, P(n <= 5) = 0.981."""
    seen = [poisson(one, 2.0) / (1 - poisson(0, 2.0)) for one in range(1, 6)]
    assert sum(seen[:4]) < 0.95 <= sum(seen)
    assert EstimatedKMap(20, 0.1, "zero-truncated-poisson").least == 6


def test_an_estimate_never_asks_for_more_than_k():
    assert EstimatedKMap(3, 1.0).least == 3
    assert EstimatedKMap(3, 0.9, significance=1e-9).least == 3


@pytest.mark.parametrize(
    ("share", "kept"), [(0.0, [3]), (0.4, [2, 3]), (0.5, [1, 2, 3]), (1.0, [0, 1, 2, 3])]
)
def test_records_at_risk(share, kept):
    """Risk above 1/4 in sizes 1, 2, 3, 5: 6 of 11 records; then 5 of 10, 3 of 8, none of 5."""
    model = RecordsAtRisk(0.25, share)
    assert np.flatnonzero(model.holds(classes(1, 2, 3, 5))).tolist() == kept


def test_population_uniques_leave_as_few_as_needed():
    sizes = np.array([1] * 30 + [2] * 20 + [3] * 15 + [8] * 5)
    model = PopulationUniques(0.01, 0.2, "zayatz")
    stays = model.holds(Classes(sizes))
    gone = int((~stays).sum())
    assert 0 < gone < 30
    assert (sizes[~stays] == 1).all()
    assert population_uniqueness(sizes[gone:], 0.2).zayatz.share <= 0.01
    assert population_uniqueness(sizes[gone - 1 :], 0.2).zayatz.share > 0.01


def test_population_uniques_leave_all_where_few_are_estimated():
    """SNB can tell of two of 10 records that are unique, but not of one of 9."""
    sizes = np.array([1, 1, 2, 2, 2, 2])
    model = PopulationUniques(0.1, 0.01, "snb")
    assert population_uniqueness(sizes, 0.01).snb.share <= 0.1
    assert population_uniqueness(sizes[1:], 0.01).snb.share is None
    assert model.holds(Classes(sizes)).all()


@pytest.mark.parametrize("estimator", ["pitman", "zayatz", "snb"])
def test_who_stays_may_stay_once_more(estimator):
    """Releases are asked again: what is left must hold."""
    generator = np.random.default_rng(1)
    model = PopulationUniques(0.01, 0.1, estimator)
    for _ in range(60):
        sizes = generator.integers(1, generator.integers(2, 8), generator.integers(1, 40))
        stays = model.holds(Classes(sizes))
        assert model.holds(Classes(sizes[stays])).all()


def test_nobody_attacks_where_it_does_not_pay():
    """Gain 100 and cost 20: 100 / 5 = 20 is no loss yet, 100 / 6 is."""
    assert NoAttack(100, 20).holds(classes(4, 5, 6)).tolist() == [False, False, True]
    assert NoAttack(100, 30).k == 4
    assert NoAttack(10, 30).holds(classes(1, 2)).all()
    people = classes(1, 1, 1, population=[4, 5, 6])
    assert PopulationNoAttack(100, 20).holds(people).tolist() == [False, False, True]
