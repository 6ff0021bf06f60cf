"""Searches within a budget: the same nodes for all limits, so never more loss for larger ones."""

import collections
import contextlib

import numpy as np
import pytest

from methods.generalization.lattice_tables import LETTERS, make_problem, skewed_table, tree
from ontomask import privacy, quality
from ontomask.errors import MethodError
from ontomask.methods import base
from ontomask.methods.generalization import best_effort as best_effort_room
from ontomask.methods.generalization import examination
from ontomask.methods.generalization.best_effort import _BestEffort, _Memory, best_effort
from ontomask.methods.generalization.search import optimal

LIMITS = (0.0, 0.004, 0.02, 0.035, 0.1, 0.17, 1.0)
MODELS = {
    "k": [privacy.KAnonymity(5)],
    "k, t": [privacy.KAnonymity(3), privacy.TCloseness(0.4)],
    "distinct l": [privacy.LDiversity(3)],
    "average risk": [privacy.AverageRisk(0.1)],
}


def made_up_table(seed, columns=6, count=200):
    """Skewed columns, a sensitive attribute and a target, so that every model can be asked."""
    generator = np.random.default_rng(seed)
    values = np.minimum(generator.zipf(1.3, (count, columns)) - 1, 7)
    rows = [tuple(LETTERS[value] for value in row) for row in values]
    sensitive, target = (generator.choice(list(one), count) for one in ("vwxyz", "ny"))
    return make_problem(rows, sensitive, target, hierarchies=[tree(LETTERS, 2, 4)] * columns)


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("name", ["loss", "entropy-loss", "discernibility", "classification"])
def test_in_as_many_steps_no_limit_ends_with_a_greater_loss_than_a_stricter_one(name, models):
    kind = quality.QUALITIES[name]
    model = kind("t") if name == "classification" else kind()
    for seed, steps in enumerate((60, 150)):
        problem, losses = made_up_table(seed), []
        for limit in LIMITS:
            given = {"steps": steps, "generator": np.random.default_rng(seed)}
            losses.append(best_effort(problem, MODELS[models], limit, model, **given).loss)
        assert (losses[1:] <= np.minimum.accumulate(losses)[:-1] * (1 + 1e-12)).all()
    if name == "loss":
        assert len(set(losses)) > 1, "the limits never mattered"


def test_a_search_within_a_budget_looks_at_the_same_nodes_whatever_may_be_suppressed(monkeypatch):
    seen, examine = [], examination.Examiner.examine

    def noting(self, nodes, **given):
        seen[-1] += nodes
        return examine(self, nodes, **given)

    monkeypatch.setattr(examination.Examiner, "examine", noting)
    for limit in LIMITS:
        seen.append([])
        best_effort(skewed_table(1), [privacy.KAnonymity(5)], limit, steps=300)
    assert all(nodes == seen[0] for nodes in seen)
    assert len(set(seen[0])) == 300


@pytest.mark.parametrize("models", MODELS)
def test_what_is_passed_over_below_a_node_with_too_many_outliers_has_too_many(models, monkeypatch):
    """Nodes that are left out of a search are those that could not have been chosen."""
    finer, passed = _BestEffort._finer, 0

    def checked(self, levels, target):
        nonlocal passed
        nodes = finer(self, levels, target)
        for node in {*self._neighbors(levels, -1).values()} - {*nodes}:
            grouping = self._evaluator.grouper.roll_up(self._evaluator.grouper.finest, node)
            evaluation = self._evaluator.evaluate(grouping, complete=True)
            assert evaluation.outliers > target.outliers
            passed += 1
        return nodes

    monkeypatch.setattr(_BestEffort, "_finer", checked)
    for seed in range(3):
        with contextlib.suppress(MethodError):
            best_effort(made_up_table(seed), MODELS[models], 0.1, steps=250)
    assert passed or models == "average risk"


def test_a_small_lattice_is_looked_at_completely_if_the_budget_allows():
    problem = made_up_table(0, columns=4)
    found = best_effort(problem, [privacy.KAnonymity(5)], 0.1, steps=4**4)
    assert found.optimal
    assert found.loss == optimal(problem, [privacy.KAnonymity(5)], 0.1).loss


def test_what_is_remembered_tells_which_attributes_cannot_be_lowered(monkeypatch):
    monkeypatch.setattr(best_effort_room, "REMEMBERED", 30)
    generator = np.random.default_rng(4)
    memory, last = _Memory(3), collections.deque(maxlen=30)
    found = set()
    for _ in range(200):
        node, outliers = tuple(generator.integers(0, 4, 3).tolist()), int(generator.integers(0, 9))
        memory.add(node, outliers)
        last.append((node, outliers))
        levels = generator.integers(1, 4, 3)
        failing = [one for one, count in last if count > 6]
        if any((np.array(one) >= levels).all() for one in failing):
            continue  # the node itself fails, so that nobody asks
        for place, fails in enumerate(memory.failing_below(tuple(levels.tolist()), 6)):
            lowered = levels - (np.arange(3) == place)
            assert fails == any((np.array(one) >= lowered).all() for one in failing)
            found.add(bool(fails))
    assert found == {True, False}


def test_progress_is_the_share_of_the_budget_and_can_stop_the_search(monkeypatch):
    monkeypatch.setattr(base, "POLLED_EVERY", 0.0)
    for budget in ({"steps": 300}, {"seconds": 0.3}):
        seen = []
        best_effort(
            skewed_table(1),
            [privacy.KAnonymity(5)],
            **budget,
            progress=lambda fraction, message, seen=seen: seen.append((fraction, message)),
        )
        shares = [fraction for fraction, _ in seen]
        assert shares == sorted(shares)
        assert shares[0] < 0.5 < 0.9 < shares[-1] <= 1
        assert "nodes checked of 1953125" in seen[-1][1]


def test_looser_limits_go_on_from_what_stricter_ones_found():
    """A climb of their own, from the bottom, would take what is left of a small budget."""
    problem, model = skewed_table(1), [privacy.KAnonymity(5)]
    strict, loose = (best_effort(problem, model, limit, steps=400) for limit in (0.1, 1.0))
    assert loose.loss < 0.99 * strict.loss
