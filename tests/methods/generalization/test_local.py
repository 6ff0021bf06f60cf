from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from methods.generalization.lattice_tables import HIERARCHIES, make_problem, random_table, tree
from ontomask import privacy, quality
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Context
from ontomask.methods.generalization.best_effort import best_effort
from ontomask.methods.generalization.local import local
from ontomask.methods.generalization.mondrian import mondrian
from ontomask.methods.generalization.search import exhaustive, optimal
from ontomask.methods.generalization.shown import class_places
from ontomask.methods.generalization.tuples import generalize_tuples
from reference import generalization as slow


def released(problem, records, solution, hierarchies=HIERARCHIES):
    """What each record looks like, in plain Python."""
    shown = []
    for number, record in enumerate(records):
        levels = solution.levels[problem.tuples.places[number]]
        row = zip(record, hierarchies, levels, strict=True)
        stars = ("*",) * len(record)
        shown.append(
            stars if solution.suppressed[number] else tuple(slow.generalize(*one) for one in row)
        )
    return shown


def kept(shown, solution):
    return [row for row, gone in zip(shown, solution.suppressed, strict=True) if not gone]


def part_losses(shown, records, suppressed):
    """The loss of each attribute, record by record."""
    parts = []
    for attribute, hierarchy in enumerate(HIERARCHIES):
        cost = 0.0
        for row, record, gone in zip(shown, records, suppressed, strict=True):
            own = next(one for one in hierarchy if one[0] == record[attribute])
            level = own.index(row[attribute])
            cost += (
                1.0
                if gone
                else sum(one[level] == row[attribute] for one in hierarchy) / len(hierarchy)
            )
        least = len(records) / len(hierarchy)
        parts.append((cost - least) / (len(records) - least))
    return parts


SOLVERS = {
    "local": lambda problem, limit: local(problem, [privacy.KAnonymity(4)], limit),
    "mondrian": lambda problem, limit: mondrian(problem, [privacy.KAnonymity(4)]),
    "tuple": lambda problem, limit: generalize_tuples(problem, 4),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_every_released_tuple_is_shared_by_k(name, limit):
    for seed in range(6):
        records, _, _ = random_table(seed, 60)
        problem = make_problem(records)
        solution = SOLVERS[name](problem, limit)
        shown = released(problem, records, solution)
        counts = Counter(kept(shown, solution))
        assert min(counts.values()) >= 4
        assert len(counts) == solution.classes
        assert solution.outliers == int(solution.suppressed.sum()) <= limit * 60


@pytest.mark.parametrize("name", SOLVERS)
def test_the_loss_is_that_of_the_released_records(name):
    records, _, _ = random_table(3, 60)
    problem = make_problem(records)
    solution = SOLVERS[name](problem, 0.1)
    parts = part_losses(released(problem, records, solution), records, solution.suppressed)
    expected = np.prod([1 + part for part in parts]) ** (1 / 3) - 1
    assert solution.loss == pytest.approx(expected)


@pytest.mark.parametrize("name", SOLVERS)
def test_local_outcomes_lose_less_than_the_best_global_one(name):
    losses = []
    for seed in range(5):
        problem = make_problem(random_table(seed, 80)[0])
        losses.append(
            (SOLVERS[name](problem, 0.0).loss, optimal(problem, [privacy.KAnonymity(4)]).loss)
        )
    assert np.mean([one for one, _ in losses]) < np.mean([other for _, other in losses])


def test_local_recoding_keeps_diversity_and_closeness():
    records, sensitive, _ = random_table(8, 120)
    problem = make_problem(records, sensitive)
    models = [privacy.KAnonymity(3), privacy.LDiversity(2), privacy.TCloseness(0.5)]
    for solution in (local(problem, models, 0.1), mondrian(problem, models)):
        shown = released(problem, records, solution)
        groups = {}
        for row, value, gone in zip(shown, sensitive, solution.suppressed, strict=True):
            if not gone:
                groups.setdefault(row, []).append(value)
        assert len(groups) > 1
        for values in groups.values():
            assert len(set(values)) >= 2
            assert slow.equal_distance(values, sensitive) <= 0.5 + 1e-12


def test_rounds_go_on_with_what_was_suppressed():
    problem = make_problem(random_table(1, 80)[0])
    one = local(problem, [privacy.KAnonymity(4)], 1.0, rounds=1)
    many = local(problem, [privacy.KAnonymity(4)], 1.0)
    assert one.outliers > many.outliers
    assert one.loss > many.loss
    assert many.steps > 1


def test_the_factor_of_the_rounds_matters():
    problem = make_problem(random_table(2, 80)[0])
    losses = {local(problem, [privacy.KAnonymity(4)], 0.1, factor=f).loss for f in (0.02, 0.1, 0.5)}
    assert len(losses) > 1


def test_local_with_a_model_that_classes_lose_together():
    records, sensitive, _ = random_table(0)
    problem = make_problem(records, sensitive)
    with pytest.raises(MethodError, match="DeltaDisclosure cannot be kept by local recoding"):
        local(problem, [privacy.DeltaDisclosure(1.0)])
    with pytest.raises(MethodError, match="AverageRisk cannot be kept"):
        local(problem, [privacy.AverageRisk(0.5)])
    with pytest.raises(ParameterError, match="not defined for records that are generalized diff"):
        local(problem, [privacy.KAnonymity(2)], quality=quality.KLDivergence())


def test_the_smallest_class_joins_the_cheapest_partner():
    """By hand: k = 2; c joins d (one step each), not the pair a, a (two steps for three)."""
    hierarchy = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]]
    records = [("a",), ("a",), ("c",), ("d",), ("b",)]
    problem = make_problem(records, hierarchies=[hierarchy])
    solution = generalize_tuples(problem, 2)
    # ties among c, d, b (one record each): c first, it meets d in y; then b meets a, a in x
    assert released(problem, records, solution, [hierarchy]) == [
        ("x",),
        ("x",),
        ("y",),
        ("y",),
        ("x",),
    ]
    assert solution.steps == 2


def test_mondrian_leaves_together_what_is_too_small():
    """By hand: a is large enough for a class of its own; b and c only together at the root."""
    hierarchy = tree("abc")
    records = [("a",)] * 3 + [("b",), ("c",)]
    problem = make_problem(records, hierarchies=[hierarchy])
    solution = mondrian(problem, [privacy.KAnonymity(2)])
    assert released(problem, records, solution, [hierarchy]) == [("a",)] * 3 + [("*",)] * 2
    # with b alone, the rest would be too small: a must stay with it
    problem = make_problem(records[:4], hierarchies=[hierarchy])
    solution = mondrian(problem, [privacy.KAnonymity(2)])
    assert released(problem, records[:4], solution, [hierarchy]) == [("*",)] * 4


def test_mondrian_refuses_what_it_cannot_do():
    problem = make_problem(random_table(0)[0])
    with pytest.raises(MethodError, match="models on single classes"):
        mondrian(problem, [privacy.AverageRisk(0.5)])
    records, sensitive, _ = random_table(0, 4)
    sensitive = ["v", "v", "v", "w"]
    with pytest.raises(MethodError, match="Not even the most general values"):
        mondrian(make_problem(records, sensitive), [privacy.LDiversity(2, "entropy")])


def test_classes_look_the_same_by_label():
    """A value that repeats itself one level up is one class there and here."""
    hierarchy = [["a", "o", "*"], ["o", "o", "*"]]
    problem = make_problem([("a",), ("o",)], hierarchies=[hierarchy])
    levels = np.array([[1], [0]], np.int32)
    assert class_places(problem, problem.tuples.rows, levels, np.zeros(2, bool)).tolist() == [0, 0]
    assert class_places(problem, problem.tuples.rows, levels, np.array([True, False])).tolist() == [
        0,
        1,
    ]


# Progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "search",
    [
        lambda problem, told: local(problem, [privacy.KAnonymity(4)], 0.1, progress=told),
        lambda problem, told: mondrian(problem, [privacy.KAnonymity(4)], progress=told),
        lambda problem, told: generalize_tuples(
            problem, 4, context=Context(np.random.default_rng(0), told)
        ),
    ],
    ids=["local", "mondrian", "tuple"],
)
@pytest.mark.usefixtures("long_moments")
def test_progress_only_rises_and_can_stop_the_search(search):
    problem, shares = make_problem(random_table(3, 200)[0]), []

    def told(share, message):
        assert message
        shares.append(share)

    def stop(share, message):
        raise KeyboardInterrupt

    search(problem, told)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    with pytest.raises(KeyboardInterrupt):
        search(problem, stop)


# Best effort ----------------------------------------------------------------------------------


def test_with_enough_steps_the_optimum_is_found():
    for seed in range(4):
        problem = make_problem(random_table(seed)[0])
        for limit in (0.0, 0.2):
            best = optimal(problem, [privacy.KAnonymity(3)], limit)
            found = best_effort(problem, [privacy.KAnonymity(3)], limit, steps=24, seconds=5.0)
            assert found.loss == pytest.approx(best.loss)
            assert found.bound <= found.loss + 1e-12


def test_it_is_reproducible_by_seed_and_steps():
    hierarchies = [HIERARCHIES[0]] * 8
    generator = np.random.default_rng(5)
    records = [tuple(row) for row in generator.choice(list("abcdef"), (300, 8))]
    problem = make_problem(records, hierarchies=hierarchies)

    def run(seed, steps):
        chosen = np.random.default_rng(seed)
        return best_effort(problem, [privacy.KAnonymity(5)], 0.1, steps=steps, generator=chosen)

    one, other = run(1, 300), run(1, 300)
    assert (one.levels, one.loss, one.checked) == (other.levels, other.loss, other.checked)
    assert [step[1:] for step in one.trace] == [step[1:] for step in other.trace]
    assert one.checked == 300
    assert one.total == 4**8
    assert run(1, 1500).loss <= one.loss
    falling = [loss for _, _, loss in one.trace]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(falling))
    assert not one.optimal


def test_time_ends_a_search():
    problem = make_problem([("a",) * 5, ("f",) * 5] * 20, hierarchies=[HIERARCHIES[0]] * 5)
    found = best_effort(problem, [privacy.KAnonymity(30)], seconds=0.2)
    assert found.seconds < 5


def test_a_bound_can_prove_the_outcome():
    problem = make_problem([("a", "a", "a")] * 5)
    found = best_effort(problem, [privacy.KAnonymity(5)], steps=1000)
    assert found.optimal
    assert (found.levels, found.bound) == ((0, 0, 0), found.loss)


def test_the_bound_is_below_every_valid_node():
    records, _, _ = random_table(21)
    problem = make_problem(records)
    found = best_effort(problem, [privacy.KAnonymity(6)], steps=10)
    table = exhaustive(problem, [privacy.KAnonymity(6)])
    assert found.bound <= table.losses["loss"][table.valid].min() + 1e-12


def test_a_budget_is_needed():
    problem = make_problem(random_table(0)[0])
    with pytest.raises(ParameterError, match="needs a budget: give steps=… or seconds=…"):
        best_effort(problem, [privacy.KAnonymity(2)])
