from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from methods.generalization.lattice_tables import (
    HIERARCHIES,
    SENSITIVE,
    distances,
    make_problem,
    random_table,
    skewed_table,
    tree,
)
from ontomask import privacy, quality
from ontomask.errors import MethodError
from ontomask.methods.base import record_limit
from ontomask.methods.generalization import examination, groupings, search
from ontomask.methods.generalization.best_effort import best_effort
from ontomask.methods.generalization.evaluation import Evaluator
from ontomask.methods.generalization.groupings import Grouper, Snapshots
from ontomask.methods.generalization.lattice import Bounds, Lattice, at_all_nodes, in_memory
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.projections import possible_nodes
from ontomask.methods.generalization.search import exhaustive, make_evaluator, optimal
from ontomask.privacy import closeness
from reference import generalization as slow

DOMAIN = [row[0] for row in SENSITIVE]
PLACES = dict(zip(DOMAIN, distances()[0].tolist(), strict=True))


def conditions(sensitive):
    """Each privacy model with the same condition in plain Python."""

    def inside(members):
        return [sensitive[number] for number in members]

    q = {value: sensitive.count(value) / len(sensitive) for value in set(sensitive)}

    def gains(members):
        values = inside(members)
        return [(values.count(v) / len(values) / q[v], q[v]) for v in set(values)]

    return {
        "k": (privacy.KAnonymity(4), lambda m: len(m) >= 4),
        "distinct": (privacy.LDiversity(3), lambda m: len(set(inside(m))) >= 3),
        "entropy": (
            privacy.LDiversity(2.5, "entropy"),
            lambda m: slow.entropy(inside(m)) >= math.log(2.5) - 1e-12,
        ),
        "recursive": (
            privacy.LDiversity(2, "recursive", 1.5),
            lambda m: slow.recursive_diverse(inside(m), 2, 1.5),
        ),
        "equal": (
            privacy.TCloseness(0.35),
            lambda m: slow.equal_distance(inside(m), sensitive) <= 0.35 + 1e-12,
        ),
        "ordered": (
            privacy.TCloseness(0.2, "ordered"),
            lambda m: slow.ordered_distance(inside(m), sensitive, DOMAIN) <= 0.2 + 1e-12,
        ),
        "hierarchical": (
            privacy.TCloseness(0.3, "hierarchical"),
            lambda m: slow.tree_distance(inside(m), sensitive, SENSITIVE) <= 0.3 + 1e-12,
        ),
        "semantic": (
            privacy.TCloseness(0.17, "semantic"),
            lambda m: slow.line_distance(inside(m), sensitive, PLACES) <= 0.17 + 1e-12,
        ),
        "disclosure": (
            privacy.DeltaDisclosure(1.3),
            lambda m: all(abs(math.log2(ratio)) < 1.3 for ratio, _ in gains(m)),
        ),
        "basic": (
            privacy.BetaLikeness(0.9),
            lambda m: all(ratio - 1 <= 0.9 + 1e-12 for ratio, _ in gains(m)),
        ),
        "enhanced": (
            privacy.BetaLikeness(1.5, "enhanced"),
            lambda m: all(ratio - 1 <= min(1.5, -math.log(share)) for ratio, share in gains(m)),
        ),
    }


QUALITIES = {
    "loss": (quality.Loss(), lambda scene, _: scene.loss()),
    "loss, g=0.2": (quality.Loss(factor=0.2), lambda scene, _: scene.loss(0.2)),
    "loss, g=0.8": (quality.Loss(factor=0.8), lambda scene, _: scene.loss(0.8)),
    "precision": (quality.Precision(), lambda scene, _: scene.precision()),
    "precision, g=0.1": (quality.Precision(factor=0.1), lambda scene, _: scene.precision(0.1)),
    "discernibility": (quality.Discernibility(), lambda scene, _: scene.discernibility()),
    "average-class-size": (quality.AverageClassSize(), lambda scene, _: scene.average_class_size()),
    "non-uniform-entropy": (
        quality.NonUniformEntropy(),
        lambda scene, _: scene.non_uniform_entropy(),
    ),
    "kl-divergence": (quality.KLDivergence(), lambda scene, _: scene.kl_divergence()),
    "ambiguity": (quality.Ambiguity(), lambda scene, _: scene.ambiguity()),
    "height": (quality.Height(), lambda scene, _: scene.height()),
    "entropy-loss": (quality.EntropyLoss(), lambda scene, _: scene.entropy_loss()),
    "classification": (
        quality.Classification("t"),
        lambda scene, target: scene.classification(target),
    ),
    "semantic": (quality.Semantic(), lambda scene, _: scene.semantic()),
}

NAMES = list(conditions(["v", "w", "x", "y", "z"]))


@pytest.mark.parametrize("name", NAMES)
def test_every_node_against_plain_python(name):
    """Validity, classes, suppressed records of all nodes for each privacy model."""
    records, sensitive, _ = random_table(NAMES.index(name), 40)
    model, holds = conditions(sensitive)[name]
    problem = make_problem(records, sensitive)
    table = exhaustive(problem, [model], 0.3)
    limit = 12
    found = dict(zip(map(tuple, table.levels.tolist()), range(len(table)), strict=True))
    assert list(found) == slow.nodes(HIERARCHIES)
    for node, number in found.items():
        classes = slow.classes_at(records, HIERARCHIES, node)
        gone = slow.suppressed_keys(classes, holds)
        outliers = sum(len(classes[key]) for key in gone)
        assert table.outliers[number] == outliers
        assert table.classes[number] == len(classes) - len(gone)
        assert table.valid[number] == (outliers <= limit)
    assert len(set(table.outliers.tolist())) > 3


def test_every_quality_of_every_node_against_plain_python():
    records, _, target = random_table(3)
    problem = make_problem(records, target=target)
    models = {name: model for name, (model, _) in QUALITIES.items()}
    table = exhaustive(problem, [privacy.KAnonymity(3)], 0.5, models)
    for number, node in enumerate(slow.nodes(HIERARCHIES)):
        classes = slow.classes_at(records, HIERARCHIES, node)
        gone = slow.suppressed_keys(classes, lambda members: len(members) >= 3)
        scene = slow.Scene(records, HIERARCHIES, node, gone)
        for name, (_, definition) in QUALITIES.items():
            expected = definition(scene, target)
            assert table.losses[name][number] == pytest.approx(expected, rel=1e-9, abs=1e-9), name


def best_node(table, name):
    """The valid node with the least loss; ties by level sum, then by vector."""
    candidates = np.flatnonzero(table.valid)
    least = table.losses[name][candidates].min()
    close = candidates[table.losses[name][candidates] <= least + 1e-11 * abs(least)]
    nodes = [tuple(node) for node in table.levels[close].tolist()]
    return least, min(nodes, key=lambda node: (sum(node), node))


@pytest.mark.parametrize("limit", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("name", QUALITIES)
def test_the_optimum_is_the_best_of_all_nodes(name, limit):
    for seed in range(4):
        records, _, target = random_table(seed)
        problem = make_problem(records, target=target)
        model = QUALITIES[name][0]
        table = exhaustive(problem, [privacy.KAnonymity(3)], limit, {name: model})
        solution = optimal(problem, [privacy.KAnonymity(3)], limit, model)
        least, node = best_node(table, name)
        assert solution.loss == pytest.approx(least, rel=1e-11)
        assert solution.levels == node
        assert solution.optimal
        assert solution.checked + solution.pruned == solution.total == len(table)


@pytest.mark.parametrize("aggregate", ["arithmetic", "sum", "max"])
def test_the_optimum_with_other_aggregates(aggregate):
    records, _, _ = random_table(11)
    problem = make_problem(records)
    model = quality.Loss(aggregate, weights={"first": 2.0, "third": 0.5})
    table = exhaustive(problem, [privacy.KAnonymity(3)], 0.2, {"loss": model})
    solution = optimal(problem, [privacy.KAnonymity(3)], 0.2, model)
    least, node = best_node(table, "loss")
    assert (solution.loss, solution.levels) == (pytest.approx(least), node)


def test_ranks_compare_the_largest_part_then_the_next():
    records, _, _ = random_table(12)
    problem = make_problem(records)
    model = quality.Loss("rank")
    solution = optimal(problem, [privacy.KAnonymity(3)], 0.2, model)
    keys = {}
    for node in slow.nodes(HIERARCHIES):
        classes = slow.classes_at(records, HIERARCHIES, node)
        gone = slow.suppressed_keys(classes, lambda members: len(members) >= 3)
        if sum(len(classes[key]) for key in gone) <= 8:
            parts = slow.Scene(records, HIERARCHIES, node, gone).loss_parts()
            keys[node] = sorted((round(part, 9) for part in parts), reverse=True)
    assert solution.levels == min(keys, key=lambda node: (keys[node], sum(node), node))


@pytest.mark.parametrize("limit", [0.0, 0.15, 0.5, 1.0])
def test_the_optimum_under_every_privacy_model(limit):
    for seed, name in enumerate([*NAMES, "both"]):
        records, sensitive, _ = random_table(seed + 50, 30)
        known = conditions(sensitive)
        models = [known["k"][0], known["equal"][0]] if name == "both" else [known[name][0]]
        problem = make_problem(records, sensitive)
        table = exhaustive(problem, models, limit)
        if not table.valid.any():
            continue
        solution = optimal(problem, models, limit)
        least, node = best_node(table, "loss")
        assert (solution.loss, solution.levels) == (pytest.approx(least), node), name


@pytest.mark.parametrize("model", [privacy.AverageRisk(0.2), privacy.SampleUniqueness(0.05)])
@pytest.mark.parametrize("limit", [0.0, 0.2, 1.0])
def test_the_optimum_under_models_on_the_whole_table(model, limit):
    for seed in range(4):
        problem = make_problem(random_table(seed)[0])
        for models in ([model], [privacy.KAnonymity(2), model]):
            table = exhaustive(problem, models, limit)
            solution = optimal(problem, models, limit)
            least, node = best_node(table, "loss")
            assert (solution.loss, solution.levels) == (pytest.approx(least), node)


def test_table_models_hold_on_what_is_left():
    records, _, _ = random_table(5)
    problem = make_problem(records)
    solution = optimal(problem, [privacy.AverageRisk(0.2)], 0.5)
    kept = [record for record, gone in zip(records, solution.suppressed, strict=True) if not gone]
    classes = slow.classes_at(kept, HIERARCHIES, solution.levels)
    assert len(classes) / len(kept) <= 0.2


def test_population_models_count_the_population():
    population, _, _ = random_table(6, 80)
    records = population[::3]
    problem = make_problem(records, population=population)
    for model, holds in (
        (privacy.KMap(6), lambda sample, whole: whole >= 6),
        (privacy.DeltaPresence(0.0, 0.5), lambda sample, whole: sample / whole <= 0.5),
    ):
        table = exhaustive(problem, [model], 0.3)
        for number, node in enumerate(slow.nodes(HIERARCHIES)):
            sample = slow.classes_at(records, HIERARCHIES, node)
            whole = slow.classes_at(population, HIERARCHIES, node)
            outliers = sum(
                len(members)
                for key, members in sample.items()
                if not holds(len(members), len(whole[key]))
            )
            assert table.outliers[number] == outliers
        solution = optimal(problem, [model], 0.3)
        assert (pytest.approx(solution.loss), solution.levels) == best_node(table, "loss")


def test_a_least_presence_holds_for_every_class_of_the_population():
    """One that the table has no record of has none in the release, like one that is suppressed."""
    found = set()
    for seed in range(12):
        population, _, _ = random_table(seed, 60)
        records = population[::3]
        problem = make_problem(records, population=population)
        model = privacy.DeltaPresence(0.2, 0.6)
        table = exhaustive(problem, [model], 0.3)
        for number, node in enumerate(slow.nodes(HIERARCHIES)):
            sample = slow.classes_at(records, HIERARCHIES, node)
            whole = slow.classes_at(population, HIERARCHIES, node)
            shares = [len(sample.get(key, [])) / len(members) for key, members in whole.items()]
            valid = all(0.2 <= share <= 0.6 for share in shares)
            assert table.valid[number] == valid
            found.add((valid, 0 in shares))
        solution = optimal(problem, [model], 0.3)
        assert (pytest.approx(solution.loss), solution.levels) == best_node(table, "loss")
        assert not solution.suppressed.any()
    assert found == {(True, False), (False, False), (False, True)}


def test_suppressed_records_are_those_of_failing_classes():
    records, _, _ = random_table(1)
    problem = make_problem(records)
    solution = optimal(problem, [privacy.KAnonymity(4)], 0.3)
    classes = slow.classes_at(records, HIERARCHIES, solution.levels)
    expected = np.zeros(len(records), bool)
    for members in classes.values():
        expected[members] = len(members) < 4
    assert solution.suppressed.tolist() == expected.tolist()
    assert solution.outliers == expected.sum() > 0


def test_weights_are_repeated_records():
    records, sensitive, target = random_table(2)
    weights = np.random.default_rng(2).integers(1, 4, len(records))
    repeated = [
        [one for one, weight in zip(column, weights, strict=True) for _ in range(weight)]
        for column in (records, sensitive, target)
    ]
    plain = make_problem(*repeated)
    short = make_problem(records, sensitive, target)
    weighted = Problem(
        short.hierarchies, short.codes, short.names, weights, short.sensitive, short.targets
    )
    models = [privacy.KAnonymity(5), privacy.TCloseness(0.4)]
    qualities = {name: model for name, (model, _) in QUALITIES.items()}
    one = exhaustive(plain, models, 0.2, qualities)
    other = exhaustive(weighted, models, 0.2, qualities)
    assert one.outliers.tolist() == other.outliers.tolist()
    for name in qualities:
        assert one.losses[name] == pytest.approx(other.losses[name]), name


def test_shuffled_records_give_the_same_answer():
    records, sensitive, target = random_table(4)
    order = np.random.default_rng(1).permutation(len(records))
    shuffled = [[column[place] for place in order] for column in (records, sensitive, target)]
    models = [privacy.KAnonymity(3), privacy.LDiversity(2)]
    one = optimal(make_problem(records, sensitive, target), models, 0.2)
    other = optimal(make_problem(*shuffled), models, 0.2)
    assert one.levels == other.levels
    assert one.loss == pytest.approx(other.loss)
    assert one.suppressed[order].tolist() == other.suppressed.tolist()


def test_a_memory_budget_of_nothing_changes_nothing():
    records, _, _ = random_table(9)
    problem = make_problem(records)
    free, *tight = (
        optimal(problem, [privacy.KAnonymity(3)], 0.1, budget=budget)
        for budget in (10**7, 2000, 500, 10)
    )
    for one in tight:
        assert (one.levels, one.loss, one.checked) == (free.levels, free.loss, free.checked)


def test_snapshots_are_forgotten_and_groupings_stay_right(monkeypatch):
    monkeypatch.setattr(groupings, "CAPACITY", 2)
    grouper = Grouper(make_problem(random_table(9)[0]))
    everything = list(itertools.product(*(range(len(one)) for one in grouper._starts)))
    np.random.default_rng(1).shuffle(everything)
    kept = []
    for budget in (10**7, 500):
        snapshots = Snapshots(grouper, budget)
        for levels in map(tuple, everything):
            finer = snapshots.nearest(levels)
            grouping = grouper.roll_up(finer, levels)
            snapshots.offer(grouping, finer)
            made = sorted(grouping.amounts[0].tolist())
            assert made == sorted(grouper.roll_up(grouper.finest, levels).amounts[0].tolist())
        assert snapshots._cells == sum(one.cells for one in snapshots._kept[1:]) <= budget
        kept.append(len(snapshots._kept))
    assert 1 < kept[1] < kept[0]


def test_keys_of_several_words():
    """Twenty attributes with 16 values each do not fit into one word of a key."""
    hierarchy = tree("abcdefghijklmnop", 2, 4, 8)
    generator = np.random.default_rng(0)
    few = generator.choice(list("abcdefghijklmnop"), (12, 20))
    records = [tuple(few[place]) for place in generator.integers(0, 12, 60)]
    problem = make_problem(records, hierarchies=[hierarchy] * 20)
    grouper = Grouper(problem)
    assert len(grouper.finest.keys) > 1
    for node in ((0,) * 20, (1, 2) * 10, (4,) * 19 + (3,), (3,) * 20):
        grouping = grouper.roll_up(grouper.finest, node)
        classes = slow.classes_at(records, [hierarchy] * 20, node)
        assert sorted(grouping.amounts[0].tolist()) == sorted(map(len, classes.values()))


def test_the_limit_is_rounded_down_exactly():
    assert record_limit(0.29, 100) == 29  # 0.29 * 100 is 28.999999999999996 in floats
    assert record_limit(0.02, 30_162) == 603
    assert record_limit(1.0, 7) == 7


def test_a_search_can_be_watched_and_stopped():
    records, _, _ = random_table(0, 200)
    problem = make_problem(records)
    seen = []

    def stop(fraction, message):
        seen.append((fraction, message))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exhaustive(problem, [privacy.KAnonymity(3)], progress=stop)
    assert seen == [(1 / 24, "1 of 24 nodes")]


def test_the_table_of_nodes_has_a_column_for_everything():
    problem = make_problem(random_table(0)[0])
    qualities = {"loss": quality.Loss(), "height": quality.Height()}
    columns = exhaustive(problem, [privacy.KAnonymity(2)], 0.0, qualities).columns()
    expected = ["first", "second", "third", "valid", "classes", "suppressed", "loss", "height"]
    assert list(columns) == expected
    assert {len(column) for column in columns.values()} == {24}


def test_one_record_and_one_attribute():
    problem = make_problem([("a",)], hierarchies=[tree("ab")])
    solution = optimal(problem, [privacy.AverageRisk(1.0)])
    assert (solution.levels, solution.loss) == ((0,), 0.0)


def test_equal_losses_take_the_lower_then_the_smaller_vector():
    """Two equal columns: either may be generalized."""
    records = [(value, value) for value in "aabb"] + [("a", "b"), ("b", "a")]
    problem = make_problem(records, hierarchies=[tree("ab"), tree("ab")])
    solution = optimal(problem, [privacy.KAnonymity(3)])
    table = exhaustive(problem, [privacy.KAnonymity(3)])
    assert table.losses["loss"][1] == table.losses["loss"][2]
    assert table.valid.tolist() == [False, True, True, True]
    assert solution.levels == (0, 1)


@pytest.mark.parametrize("penalties", [(0.5, 1.0, 1.0), (0.1, 1.0, 0.3), (2.0, 1.0, 0.5)])
@pytest.mark.parametrize("limit", [0.0, 0.1, 0.4, 1.0])
def test_the_optimum_when_the_target_is_generalized_too(limit, penalties):
    for seed in range(8):
        records, _, target = random_table(seed)
        problem = make_problem(records, target=target)
        for chosen in ("first", "third", ("second", "t")):
            model = quality.Classification(chosen, *penalties)
            table = exhaustive(problem, [privacy.KAnonymity(3)], limit, {"c": model})
            solution = optimal(problem, [privacy.KAnonymity(3)], limit, model)
            least, node = best_node(table, "c")
            assert (solution.loss, solution.levels) == (pytest.approx(least), node)


CLASSIFICATIONS = [
    quality.Classification(target, *penalties)
    for target in ("t", "first", "third", ("second", "t"))
    for penalties in ((0.5, 1.0, 1.0), (0.1, 1.0, 0.3), (2.0, 1.0, 0.5))
]


@pytest.mark.parametrize("limit", [4, 40])
@pytest.mark.parametrize("model", [quality.Discernibility(), *CLASSIFICATIONS], ids=repr)
def test_no_node_costs_less_than_nodes_around_it_tell(model, limit):
    """The floor of any finer node and the surplus of any coarser one are no more than the cost."""
    for models in ([privacy.KAnonymity(3)], [privacy.KAnonymity(2), privacy.TCloseness(0.3)]):
        records, sensitive, target = random_table(3)
        evaluator = Evaluator(make_problem(records, sensitive, target), models, limit, model)
        measure, grouper = evaluator.measure, evaluator.grouper
        nodes = [
            evaluator.evaluate(grouper.roll_up(grouper.finest, levels), complete=True)
            for levels in np.ndindex(4, 3, 2)
        ]
        levels = np.array([one.levels for one in nodes])
        costs, floors, surpluses = np.array(
            [
                (
                    measure.scalar(measure.vector(one.partition)),
                    measure.scalar(measure.floor(one.partition)),
                    measure.scalar(measure.surplus(one.partition, one.lost)),
                )
                for one in nodes
            ]
        ).T
        finer = (levels[:, None] <= levels[None]).all(axis=2)
        below = np.where(finer, floors[:, None], -np.inf).max(axis=0)
        beyond = np.where(finer, surpluses[None], 0.0).max(axis=1)
        valid = np.array([one.valid for one in nodes])
        assert (below + beyond <= costs + 1e-9)[valid].all()
        assert (below[valid] > 0).any()


GROUNDS = [("equal", 0.3), ("ordered", 0.2), ("hierarchical", 0.25), ("semantic", 0.12)]


@pytest.mark.parametrize(("ground", "t"), GROUNDS)
def test_what_a_node_says_is_lost_is_lost_at_every_finer_one(ground, t):
    """Of every class at least so many records are suppressed wherever it is finer."""
    records, sensitive, _ = random_table(4, 60)
    problem = make_problem(records, sensitive)
    models = [privacy.KAnonymity(2), privacy.TCloseness(t, ground)]
    evaluator = make_evaluator(problem, models, 0.3, quality.Loss())
    nodes = [
        evaluator.evaluate(evaluator.grouper.roll_up(evaluator.grouper.finest, node), complete=True)
        for node in slow.nodes(HIERARCHIES)
    ]
    amounts, partly = problem.tuples.amounts[0], 0
    for node in nodes:
        partly += int(node.lost.part.sum())
        assert (node.lost.amounts[node.lost.whole] == node.partition.sizes[node.lost.whole]).all()
        for finer in nodes:
            if all(low <= high for low, high in zip(finer.levels, node.levels, strict=True)):
                gone = finer.partition.suppressed[finer.partition.places]
                lost = np.bincount(node.partition.places, amounts * gone)
                assert (node.lost.amounts <= lost).all()
                assert node.lasting <= finer.outliers
    assert partly


# Models that take long ------------------------------------------------------------------------


def test_a_search_asks_no_more_than_it_takes_to_find_a_node_invalid(monkeypatch):
    """What is left out cannot matter: at every node the verdict is that of asking about all."""
    monkeypatch.setattr(closeness, "BLOCK", 1)
    left_out = 0
    for seed in range(6):
        records, sensitive, _ = random_table(seed + 70, 60)
        problem = make_problem(records, sensitive)
        for ground, t in (("semantic", 0.12), ("ordered", 0.15), ("hierarchical", 0.2)):
            models = [privacy.KAnonymity(3), privacy.TCloseness(t, ground)]
            evaluator = make_evaluator(problem, models, 0.2, quality.Loss())
            for node in slow.nodes(HIERARCHIES):
                grouping = evaluator.grouper.roll_up(evaluator.grouper.finest, node)
                whole = evaluator.evaluate(grouping, complete=True)
                quick = evaluator.evaluate(grouping)
                assert quick.valid == whole.valid
                assert whole.complete
                if quick.complete:
                    assert quick.outliers == whole.outliers
                else:
                    left_out += 1
                    assert not quick.valid
    assert left_out


def test_time_is_looked_at_inside_a_node(monkeypatch):
    monkeypatch.setattr(closeness, "BLOCK", 1)
    records, sensitive, _ = random_table(5, 60)
    problem = make_problem(records, sensitive)
    evaluator = make_evaluator(problem, [privacy.TCloseness(0.9, "semantic")], 1.0, None)
    asked = []
    evaluator.watch = lambda: asked.append("still there?")
    evaluation = evaluator.evaluate(evaluator.grouper.finest)
    assert len(asked) > evaluation.partition.sizes.size > 10


def test_no_time_at_all_is_said_to_be_too_little():
    problem = make_problem(*random_table(0)[:2])
    with pytest.raises(MethodError, match="The time was up before one combination of levels was"):
        best_effort(problem, [privacy.TCloseness(0.1, "semantic")], seconds=1e-9)


def test_a_search_within_a_budget_does_not_speak_of_what_it_has_not_checked():
    """Without a common root even the highest levels fail; there are others, though."""
    problem = make_problem([("a",), ("b",), ("b",)], hierarchies=[[["a", "x"], ["b", "y"]]])
    with pytest.raises(MethodError, match=r"^No combination that was checked satisfies"):
        best_effort(problem, [privacy.KAnonymity(2)], steps=1)
    with pytest.raises(MethodError, match=r"^No combination of levels satisfies"):
        best_effort(problem, [privacy.KAnonymity(2)], steps=100)


@pytest.mark.parametrize("limit", [0.0, 0.02])
def test_stopping_on_the_way_to_a_node_spares_work_and_changes_no_answer(monkeypatch, limit):
    problem, model, roll_up = skewed_table(1, 5), [privacy.KAnonymity(5)], Grouper.roll_up
    monkeypatch.setattr(groupings, "LARGE", 50)
    found, united = {}, dict.fromkeys((groupings.FAR, 10**6), 0)
    for far in united:

        def counted(self, finer, levels, far=far):
            united[far] += len(finer)
            return roll_up(self, finer, levels)

        monkeypatch.setattr(groupings, "FAR", far)
        monkeypatch.setattr(Grouper, "roll_up", counted)
        solution = optimal(problem, model, limit)
        found[far] = solution.levels, solution.loss, solution.checked, solution.suppressed.tolist()
    (with_stops, without), (one, other) = united.values(), found.values()
    assert with_stops < 0.9 * without
    assert one == other


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_of_a_grouping_that_are_joined_make_the_same_classes(count):
    for problem in (make_problem(random_table(9)[0]), skewed_table(1, 5)):
        grouper = Grouper(problem)
        finest = grouper.finest
        bounds = np.linspace(0, len(finest), count + 1).astype(int).tolist()
        for levels in Lattice(problem.heights).nodes():
            parts = [finest.part(*some) for some in itertools.pairwise(bounds)]
            joined = grouper.joined([grouper.roll_up(one, levels) for one in parts])
            whole = grouper.roll_up(finest, levels)
            for name in ("representatives", "keys", "amounts"):
                assert getattr(joined, name).tolist() == getattr(whole, name).tolist()
            assert len(whole) <= grouper.most_classes(levels)


def test_an_odd_node_is_shared_by_all_threads(monkeypatch):
    joined = Grouper.joined
    for name in ("ENOUGH", "WORTH", "LONG", "FEW"):
        monkeypatch.setattr(examination, name, 0)
    for threads, parts in (("1", set()), ("2", {2}), ("3", {3})):
        seen = set()

        def counted(self, made, seen=seen):
            seen.add(len(made))
            return joined(self, made)

        monkeypatch.setattr(Grouper, "joined", counted)
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        optimal(skewed_table(1, 5), [privacy.KAnonymity(5)], 0.02)
        assert seen == parts


@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize("limit", [0.0, 0.1, 1.0])
def test_the_number_of_threads_changes_nothing(monkeypatch, limit, close):
    """Nodes that are looked at together are the same ones however many cores share them."""
    records, sensitive, _ = random_table(8, 80)
    problem = make_problem(records, sensitive if close else None)
    models = [privacy.KAnonymity(3), *[privacy.TCloseness(0.4)] * close]
    alone = optimal(problem, models, limit)
    for name in ("ENOUGH", "WORTH", "LONG", "FEW"):
        monkeypatch.setattr(examination, name, 0)
    monkeypatch.setattr(search, "LARGE", 0)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        for solution in (
            optimal(problem, models, limit),
            best_effort(problem, models, limit, steps=15),
        ):
            trace = [(checked, loss) for _, checked, loss in solution.trace]
            found.append((solution.levels, solution.loss, solution.checked, trace))
    assert found[0] == found[2] == found[4]
    assert found[1] == found[3] == found[5]
    assert found[0][:2] == (alone.levels, alone.loss)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_two_columns_alone_exclude_the_levels_at_which_too_many_fail_there(limit):
    for seed in range(5):
        records, _, _ = random_table(seed)
        possible = np.broadcast_to(possible_nodes(make_problem(records), 3, limit), (4, 3, 2))
        for node in slow.nodes(HIERARCHIES):
            failing = []
            for pair in itertools.combinations(range(3), 2):
                shown = [[one[place] for place in pair] for one in (HIERARCHIES, node)]
                classes = slow.classes_at([(row[pair[0]], row[pair[1]]) for row in records], *shown)
                failing.append(sum(len(one) for one in classes.values() if len(one) < 3))
            assert possible[node] == (max(failing) <= limit)


@pytest.mark.parametrize("limit", [0.0, 0.1, 0.4])
def test_what_two_columns_exclude_spares_nodes_and_changes_no_answer(monkeypatch, limit):
    checked = {True: 0, False: 0}
    for seed in range(12):
        records, sensitive, target = random_table(seed)
        problem = make_problem(records, sensitive, target)
        models = [privacy.KAnonymity(4), privacy.AverageRisk(0.2), privacy.TCloseness(0.9)]
        found = {}
        for first in (True, False):
            monkeypatch.setattr(search, "LARGE", 0 if first else 10**9)
            found[first] = optimal(problem, models[: 1 + seed % 3], limit)
            checked[first] += found[first].checked
        assert (found[True].levels, found[True].loss) == (found[False].levels, found[False].loss)
    assert checked[True] < checked[False] or limit == 0.4


@pytest.mark.parametrize("limit", [0.02, 1.0])
def test_what_nothing_is_left_above_of_is_not_kept_and_changes_no_answer(monkeypatch, limit):
    problem, model, offer = skewed_table(1, 5), [privacy.KAnonymity(5)], Snapshots.offer
    found, kept, united = [], [0, 0], [0, 0]
    roll_up = Grouper.roll_up
    for every in (0, 1):

        def counted(self, made, finer, *, wanted=True, every=every):
            before = len(self._kept)
            offer(self, made, finer, wanted=wanted or bool(every))
            kept[every] += len(self._kept) - before

        def measured(self, finer, levels, every=every):
            united[every] += len(finer)
            return roll_up(self, finer, levels)

        monkeypatch.setattr(Snapshots, "offer", counted)
        monkeypatch.setattr(Grouper, "roll_up", measured)
        solution = optimal(problem, model, limit)
        found.append((solution.levels, solution.loss, solution.checked))
    assert found[0] == found[1]
    assert kept[0] < 0.8 * kept[1]
    assert united[0] < 1.1 * united[1]  # it is not missed


@pytest.mark.parametrize("aggregate", list(quality.AGGREGATES))
def test_bounds_of_all_nodes_are_those_of_each(aggregate):
    problem = skewed_table(1, 4)
    weights = {name: 1.0 + place / 3 for place, name in enumerate(problem.names)}
    measure = quality.Loss(aggregate=aggregate, weights=weights).prepare(problem.facts)
    nodes = at_all_nodes(measure, measure.floors)
    assert nodes.shape == Lattice(problem.heights).shape
    bounds = Bounds(measure, Lattice(problem.heights))
    for number, levels in enumerate(itertools.product(*map(range, nodes.shape[::-1]))):
        node = levels[::-1]
        each = np.array([floor[level] for floor, level in zip(measure.floors, node, strict=True)])
        assert nodes[node] == measure.scalar(each) == measure.scalar(each.tolist())
        # the first attribute's nodes lie next to each other
        assert in_memory(nodes)[number] == nodes[node] == bounds.at(node)
        assert bounds.of(np.array([number])) == [nodes[node]]


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_threads_share_which_tuples_and_records_are_suppressed(monkeypatch, threads):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    generator, seen = np.random.default_rng(1), set()
    for problem in (make_problem(random_table(9)[0]), skewed_table(1, 5)):
        monkeypatch.setattr(groupings, "SHARED", 10**9)
        monkeypatch.setattr(search, "MANY", 10**9)
        expected = optimal(problem, [privacy.KAnonymity(5)], 0.1).suppressed
        monkeypatch.setattr(groupings, "SHARED", 0)
        monkeypatch.setattr(search, "MANY", 0)
        found = optimal(problem, [privacy.KAnonymity(5)], 0.1).suppressed
        assert found.tolist() == expected.tolist()
        seen |= set(found.tolist())
        grouper = Grouper(problem)
        for levels in itertools.islice(Lattice(problem.heights).nodes(), 0, None, 5):
            made, places = grouper.roll_up(grouper.finest, levels), grouper.places(levels)
            chosen = generator.random(len(made)) < 0.5
            asked = generator.random(len(made)) < 0.8
            at_tuples = grouper.at_tuples(levels, made.keys[:, asked], chosen[asked])
            assert at_tuples.tolist() == (chosen & asked)[places].tolist()
    assert seen == {False, True}
