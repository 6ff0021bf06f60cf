from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from ontomask.errors import MethodError, ParameterError
from ontomask.kernels.transport import least_cost, tree_costs
from ontomask.privacy import (
    AverageRisk,
    BetaLikeness,
    Classes,
    DeltaDisclosure,
    DeltaPresence,
    Domain,
    Ground,
    Histogram,
    KAnonymity,
    KMap,
    LDiversity,
    PopulationNoAttack,
    PopulationUniques,
    SampleUniqueness,
    TCloseness,
    grassberger,
)

# The table of all tests has 12 records with the sensitive values a, b, c, d: three times a and
# once b in class 0, all four in class 1, twice c in class 2, b and d in class 3.
ROWS = [[3, 1, 0, 0], [1, 1, 1, 1], [0, 0, 2, 0], [0, 1, 0, 1]]
# In the whole table they occur with the shares 4/12, 3/12, 3/12, 2/12.


def make_classes(rows=ROWS, population=None, **domain):
    table = np.array(rows)
    owners, values = np.nonzero(table)
    histogram = Histogram(
        owners.astype(np.int32),
        values.astype(np.int32),
        table[owners, values],
        Domain(table.sum(axis=0), **domain),
    )
    return Classes(table.sum(axis=1), population, {"s": histogram})


def holds(model, classes=None):
    return model.holds(classes or make_classes()).tolist()


def test_k_anonymity_counts_records():
    assert holds(KAnonymity(2)) == [True, True, True, True]
    assert holds(KAnonymity(3)) == [True, True, False, False]


def test_k_map_counts_the_population():
    classes = make_classes(population=np.array([4, 9, 5, 2]))
    assert holds(KMap(5), classes) == [False, True, True, False]


def test_delta_presence_is_the_share_of_the_population():
    classes = make_classes(population=np.array([4, 9, 5, 2]))  # shares 1, 4/9, 2/5, 1
    assert holds(DeltaPresence(0.0, 0.5), classes) == [False, True, True, False]
    assert holds(DeltaPresence(0.41, 1.0), classes) == [True, True, False, True]


def test_distinct_diversity():
    assert holds(LDiversity(2)) == [True, True, False, True]
    assert holds(LDiversity(2.5)) == [False, True, False, False]


def test_entropy_diversity():
    # class 0: -(3/4 ln 3/4 + 1/4 ln 1/4) = 0.5623 = ln 1.755; class 3: ln 2
    assert holds(LDiversity(1.75, "entropy")) == [True, True, False, True]
    assert holds(LDiversity(1.76, "entropy")) == [False, True, False, True]
    assert holds(LDiversity(2, "entropy")) == [False, True, False, True]
    assert holds(LDiversity(4, "entropy")) == [False, True, False, False]
    rows = [[3, 1, 0, 0], [1, 1, 0, 2]]  # the second: 1.0397 = ln 2.828, three values
    assert holds(LDiversity(2.82, "entropy"), make_classes(rows)) == [False, True]
    assert holds(LDiversity(2.83, "entropy"), make_classes(rows)) == [False, False]


def test_grassberger_numbers():
    expected = [-np.euler_gamma - math.log(2)]
    expected += [expected[0] + 2, expected[0] + 2, expected[0] + 2 + 2 / 3]
    assert grassberger(np.array([1, 2, 3, 4])) == pytest.approx(expected)


def test_grassberger_corrects_small_classes_upwards():
    # four different values: G(4) - G(1) = 8/3 instead of ln 4 = 1.386
    model = LDiversity(4, "entropy", estimator="grassberger")
    assert holds(model) == [False, True, False, False]
    # 3, 1: G(4) - (3 G(3) + G(1)) / 4 = 1.167 > ln 2, with two values
    assert holds(LDiversity(2, "entropy", estimator="grassberger"))[0]
    assert not holds(LDiversity(2, "entropy"))[0]


def test_recursive_diversity():
    # class 0: 3 < c * 1 for l = 2; class 1: 1 < c * 3; class 3: 1 < c * 1
    assert holds(LDiversity(2, "recursive", 3.0)) == [False, True, False, True]
    assert holds(LDiversity(2, "recursive", 3.1)) == [True, True, False, True]
    assert holds(LDiversity(3, "recursive", 0.5)) == [False, False, False, False]
    assert holds(LDiversity(3, "recursive", 0.51)) == [False, True, False, False]


def test_closeness_with_equal_distances():
    # 1/2 sum |p - q|: class 0 (3/4, 1/4, 0, 0): (5/12 + 0 + 3/12 + 2/12) / 2 = 5/12
    # class 1: (1/12 + 0 + 0 + 1/12) / 2 = 1/12; class 2: 9/12; class 3: 1/4 + 1/3 = 7/12
    for t, expected in ((5 / 12, [True, True, False, False]), (0.41, [False, True, False, False])):
        assert holds(TCloseness(t)) == expected
    assert holds(TCloseness(9 / 12)) == [True] * 4
    assert holds(TCloseness(0.08)) == [False] * 4


def test_closeness_with_order():
    # p - q of class 1: -1/12, 0, 0, 1/12; sums -1/12, -1/12, -1/12, 0: 3/12 / 3 = 1/12
    # class 2: -4/12, -3/12, 9/12, -2/12; sums 4/12, 7/12, 2/12: 13/36
    assert holds(TCloseness(13 / 36, "ordered"))[1:3] == [True, True]
    assert holds(TCloseness(0.36, "ordered"))[1:3] == [True, False]
    assert holds(TCloseness(0.08, "ordered"))[1] is False


def test_closeness_over_a_hierarchy():
    # a, b under one node and c, d under another. Class 0: +5/12, 0 | -3/12, -2/12:
    # nothing is moved inside a node, 5/12 across the root: 5/12.
    # class 2: -4/12, -3/12 | 9/12, -2/12: 2/12 at half price and 7/12 at full: 8/12
    tree = make_classes(levels=np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32))
    assert holds(TCloseness(5 / 12, "hierarchical"), tree)[0] is True
    assert holds(TCloseness(0.41, "hierarchical"), tree)[0] is False
    assert holds(TCloseness(8 / 12, "hierarchical"), tree)[2] is True
    assert holds(TCloseness(0.66, "hierarchical"), tree)[2] is False


def test_closeness_by_meaning_equals_the_hierarchy_when_distances_do():
    levels = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
    distances = np.array(
        [[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 0.5], [1, 1, 0.5, 0]], np.float64
    )
    by_meaning, tree = make_classes(distances=Ground(distances)), make_classes(levels=levels)
    for t in np.linspace(0.05, 0.95, 19):
        expected = holds(TCloseness(float(t), "hierarchical"), tree)
        assert holds(TCloseness(float(t), "semantic"), by_meaning) == expected


def linear_program(costs, supply, demand):
    rows, columns = np.shape(costs)
    ones = [np.ones((1, size)) for size in (rows, columns)]
    sums = np.vstack([np.kron(np.eye(rows), ones[1]), np.kron(ones[0], np.eye(columns))])
    return linprog(np.ravel(costs), A_eq=sums, b_eq=np.concatenate([supply, demand])).fun


def test_closeness_over_any_hierarchy_is_the_linear_program_for_any_threshold():
    """Codes of a level are numbered anyhow; values that no class has count as well."""
    generator = np.random.default_rng(4)
    for size, height in ((2, 1), (5, 2), (9, 3)):
        for _ in range(8):
            levels = [generator.permutation(size)]
            for width in range(height - 1, -1, -1):
                codes = generator.integers(0, width + 1, size)
                levels.append(codes[levels[-1]] if width else np.full(size, 7))
            levels = np.array(levels, np.int32)
            meet = (levels[:, :, None] == levels[:, None]).argmax(axis=0) / height
            rows = generator.multinomial(6, generator.dirichlet(np.ones(size)), 5)
            q = rows.sum(axis=0) / rows.sum()
            exact = [linear_program(meet, row / row.sum(), q) for row in rows]
            classes = make_classes(rows, levels=levels)
            for t in (*np.linspace(0.02, 0.9, 9), *exact):
                expected = [one <= t + 1e-9 for one in exact]
                assert holds(TCloseness(float(t) + 1e-9, "hierarchical"), classes) == expected


def test_the_earth_mover_takes_detours_back():
    # the cheapest way first sends a's unit to the place next to it and pays 10 for b
    costs = np.array([[1.0, 2.0], [1.5, 10.0]])
    halves = np.array([0.5, 0.5])
    assert least_cost(costs, halves, halves, np.nan) == pytest.approx(0.5 * 2 + 0.5 * 1.5)


@pytest.mark.parametrize("kind", ["any", "few costs", "equal amounts"])
def test_the_earth_mover_finds_the_optimum_of_the_linear_program(kind):
    generator = np.random.default_rng(0)
    for rows, columns in ((1, 1), (1, 6), (5, 1), (2, 3), (5, 5), (4, 9), (12, 12)):
        for _ in range(10):
            costs = generator.random((rows, columns))
            surplus, lack = (generator.dirichlet(np.ones(size)) for size in (rows, columns))
            if kind == "few costs":
                costs = np.round(costs * 3) / 3
            if kind == "equal amounts":
                surplus, lack = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
            least = linear_program(costs, surplus, lack)
            assert least_cost(costs, surplus, lack, np.nan) == pytest.approx(least, abs=1e-12)
            for limit in (0.9 * least, 0.999 * least, 1.001 * least, 1.1 * least):
                found = least_cost(costs, surplus, lack, limit)
                assert (found <= limit) == (least <= limit)
                assert found <= least + 1e-12 or found <= limit


def random_ground(generator, size):
    """Distances of points, half of the time on a grid, so that many are equal."""
    points = generator.random((size, 2))
    if generator.random() < 0.5:
        points = np.round(points * 4) / 4
    return np.abs(points[:, None] - points[None]).sum(axis=2) / 2


def test_trees_bound_the_earth_mover_from_both_sides():
    generator = np.random.default_rng(3)
    for size in (1, 2, 3, 8, 15):
        for _ in range(10):
            ground = Ground(random_ground(generator, size))
            p, q = generator.dirichlet(np.full(size, 0.4), 2)
            exact = linear_program(ground.matrix, p, q)
            low, high = (
                tree_costs((p - q)[None], *ground.tree(one))[0] for one in ("single", "complete")
            )
            assert low <= exact + 1e-12
            assert exact <= high + 1e-12


def test_closeness_by_meaning_is_the_linear_program_for_any_threshold():
    """Whatever a bound decides, the exact distance decides the same."""
    generator = np.random.default_rng(5)
    for size in (3, 6, 11):
        for _ in range(12):
            rows = generator.multinomial(12, generator.dirichlet(np.ones(size)), 5)
            matrix = random_ground(generator, size)
            classes = make_classes(rows, distances=Ground(matrix))
            q = rows.sum(axis=0) / rows.sum()
            exact = [linear_program(matrix, row / row.sum(), q) for row in rows]
            for t in (*np.linspace(0.02, 0.5, 13), *exact):
                expected = [one <= t + 1e-9 for one in exact]
                assert holds(TCloseness(float(t) + 1e-9, "semantic"), classes) == expected


LEVELS = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
SPOTS = np.array([0.0, 0.3, 0.4, 1.0])
DISTANCES_FROM = {
    "equal": lambda p, q: np.abs(p - q).sum(axis=1) / 2,
    "ordered": lambda p, q: np.abs(np.cumsum(p - q, axis=1)).sum(axis=1) / 3,
    "hierarchical": lambda p, q: (
        (np.abs(p - q).sum(axis=1) + np.abs((p - q)[:, :2].sum(axis=1)) * 2) / 4
    ),
    "semantic": lambda p, q: np.abs(np.cumsum(p - q, axis=1))[:, :3] @ np.diff(SPOTS),
}
"""Each ground in one line; the values of the hierarchy in two pairs, those of meaning in a row."""


@pytest.mark.parametrize("ground", DISTANCES_FROM)
def test_no_part_of_a_class_that_is_close_holds_more_records_than_told(ground):
    """Against all parts of a class, and not much less than the greatest that is close."""
    generator = np.random.default_rng(2)
    meaning = Ground(np.abs(SPOTS[:, None] - SPOTS[None]))
    told_less = 0
    for t in (0.05, 0.15, 0.3):
        rows = generator.multinomial(14, generator.dirichlet(np.full(4, 0.5)), 6)
        classes = make_classes([*rows, [9, 9, 9, 9]], levels=LEVELS, distances=meaning)
        q = classes.histograms["s"].domain.shares
        asked = np.arange(7) != 1
        _, most = TCloseness(t, ground).judge(classes, asked, lambda failed: True)
        for row, told in zip(rows[asked[:6]], most[:6][asked[:6]], strict=True):
            parts = np.indices(row + 1).reshape(4, -1).T[1:]
            sizes = parts.sum(axis=1)
            close = DISTANCES_FROM[ground](parts / sizes[:, None], q) <= t + 1e-12
            greatest = sizes[close].max(initial=0)
            assert greatest <= told <= row.sum()
            told_less += told < row.sum()
            if ground == "equal":
                assert told <= greatest + len(row)
    assert told_less > 2


def test_people_of_a_survey_say_nothing_about_how_many_records_could_stay():
    """A class that is far away by its weights may lose a single record of much weight."""
    classes = make_classes()
    heavy = replace(classes.histograms["s"], people=np.array([97.0, 1, 1, 1, 1, 1, 1, 1, 1]))
    weighed = replace(classes, histograms={"s": heavy})
    for ground in ("equal", "ordered"):
        close, most = TCloseness(0.1, ground).judge(weighed, np.ones(4, bool), lambda failed: True)
        assert not close.all()
        assert most.tolist() == [4, 4, 2, 2]


def test_without_a_triangle_inequality_closeness_by_meaning_errs_on_the_safe_side():
    """Only what differs is moved, which can cost more than detours over what stays."""
    generator = np.random.default_rng(6)
    for _ in range(20):
        rows = generator.multinomial(12, np.ones(6) / 6, 5)
        half = np.triu(generator.random((6, 6)), 1)
        classes = make_classes(rows, distances=Ground(half + half.T))
        q = rows.sum(axis=0) / rows.sum()
        exact = np.array([linear_program(half + half.T, row / row.sum(), q) for row in rows])
        for t in np.linspace(0.02, 0.3, 15):
            assert (exact[holds(TCloseness(float(t), "semantic"), classes)] <= t + 1e-9).all()


def test_delta_disclosure():
    # ratios p / q: class 0: 9/4, 1; class 1: 3/4, 1, 1, 3/2; class 3: 2, 3
    assert holds(DeltaDisclosure(1.169)) == [False, True, False, False]  # log2 9/4 = 1.1699
    assert holds(DeltaDisclosure(1.18)) == [True, True, False, False]
    assert holds(DeltaDisclosure(1.6)) == [True, True, False, True]  # log2 3 = 1.585


def test_beta_likeness():
    # gains p / q - 1: class 0: 5/4, 0; class 1: at most 1/2; class 2: 3; class 3: 1, 2
    assert holds(BetaLikeness(1.25)) == [True, True, False, False]
    assert holds(BetaLikeness(1.24)) == [False, True, False, False]
    # -ln q: 1.0986, 1.386, 1.386, 1.79
    assert holds(BetaLikeness(2.0)) == [True, True, False, True]
    assert holds(BetaLikeness(2.0, "enhanced")) == [False, True, False, False]


def test_average_risk_lets_the_smallest_classes_go():
    sizes = np.array([1, 5, 2, 8])
    everything = np.ones(4, bool)
    # 4 / 16; without the smallest 3 / 15; without two 2 / 13
    assert AverageRisk(0.25).stays(sizes, everything).tolist() == [True] * 4
    assert AverageRisk(0.2).stays(sizes, everything).tolist() == [False, True, True, True]
    assert AverageRisk(0.16).stays(sizes, everything).tolist() == [False, True, False, True]
    assert not AverageRisk(0.1).stays(sizes, everything).any()
    # what is suppressed already does not count: 3 / 15
    assert AverageRisk(0.2).stays(sizes, sizes > 1).tolist() == [False, True, True, True]


def test_among_equal_classes_the_cheapest_go_first_then_the_first():
    sizes = np.array([2, 2, 2, 9])
    everything = np.ones(4, bool)
    assert AverageRisk(0.24).stays(sizes, everything).tolist() == [False, True, True, True]
    costs = np.array([3.0, 1.0, 2.0, 0.0])
    left = AverageRisk(0.24).stays(sizes, everything, costs.take)
    assert left.tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    "model", [AverageRisk(0.2), AverageRisk(0.35), PopulationUniques(0.05, 0.5)]
)
def test_only_classes_of_which_some_go_are_asked_what_they_cost(model):
    sizes = np.array([1, 2, 1, 1, 9, 1, 2])
    asked = []

    def costs(classes):
        asked.append(classes.tolist())
        return -classes.astype(float)

    stays = model.stays(sizes, sizes < 99, costs)
    (classes,) = asked
    assert len({int(sizes[one]) for one in classes}) == 1
    gone = [one for one in classes if not stays[one]]
    assert gone == classes[-len(gone) :]
    assert 0 < len(gone) < len(classes)
    assert model.stays(sizes, sizes > 99, costs).tolist() == [False] * 7


def test_sample_uniqueness():
    sizes = np.array([1, 1, 1, 7])
    everything = np.ones(4, bool)
    assert SampleUniqueness(0.3).stays(sizes, everything).all()
    assert SampleUniqueness(0.25).stays(sizes, everything).tolist() == [False, True, True, True]
    assert SampleUniqueness(0.0).stays(sizes, everything).tolist() == [False, False, False, True]


def merged(rows, left, right):
    united = [row for place, row in enumerate(rows) if place not in (left, right)]
    return [*united, [a + b for a, b in zip(rows[left], rows[right], strict=True)]]


MODELS = [
    KAnonymity(3),
    LDiversity(2),
    LDiversity(2, "entropy"),
    LDiversity(2, "recursive", 2.0),
    TCloseness(0.4),
    TCloseness(0.3, "ordered"),
    BetaLikeness(1.0),
    BetaLikeness(1.0, "enhanced"),
    DeltaDisclosure(1.5),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_monotony_is_as_declared(model):
    """Unite random classes: what must not happen never does, what may happen does."""
    generator = np.random.default_rng(7)
    broken_by_equals = broken_by_any = 0
    for _ in range(400):
        rows = generator.multinomial(7, [0.4, 0.3, 0.2, 0.1], 6) * generator.integers(0, 2, (6, 4))
        rows = rows[rows.sum(axis=1) > 0].tolist()
        if len(rows) < 3 or min(np.sum(rows, axis=0)) == 0:
            continue
        before = model.holds(make_classes(rows))
        after = model.holds(make_classes(merged(rows, 0, 1)))[-1]
        broken_by_equals += bool(before[0] and before[1] and not after)
        broken_by_any += bool((before[0] or before[1]) and not after)
    assert bool(broken_by_equals) != model.monotone
    assert bool(broken_by_any) != model.monotone_with_suppression


def test_presence_with_a_lower_bound_cannot_be_mended_by_suppression():
    empty = Classes(np.array([0, 3]), np.array([4, 6]))
    assert DeltaPresence(0.0, 0.5).holds(empty).tolist() == [True, True]
    assert DeltaPresence(0.1, 0.5).holds(empty).tolist() == [False, True]
    assert DeltaPresence(0.0, 0.5).mendable
    assert not DeltaPresence(0.1, 0.5).mendable


def test_what_a_model_cannot_have():
    with pytest.raises(MethodError, match="k is 13, but there are only 12 records"):
        KAnonymity(13).check_possible(12, None)
    domain = make_classes().histogram("s").domain
    with pytest.raises(MethodError, match="l is 5, but the sensitive column has only 4 different"):
        LDiversity(5).check_possible(12, domain)
    with pytest.raises(ParameterError, match="'x' is not a sensitive column; there are: 's'"):
        holds(LDiversity(2, column="x"))
    with pytest.raises(ParameterError, match="needs a population table"):
        holds(KMap(2))
    with pytest.raises(ParameterError, match="needs a sensitive column with a taxonomy"):
        holds(TCloseness(0.1, "semantic"))
    with pytest.raises(ParameterError, match="needs a sensitive column with a hierarchy"):
        holds(TCloseness(0.1, "hierarchical"))
    with pytest.raises(ParameterError, match="minimum must not exceed maximum"):
        DeltaPresence(0.5, 0.1)
    with pytest.raises(ParameterError, match=r"t must be a number from 0 to 1, not 1.5"):
        TCloseness(1.5)


def test_with_several_sensitive_columns_the_model_must_name_one():
    classes = make_classes()
    both = Classes(classes.sizes, None, {"s": classes.histogram("s"), "t": classes.histogram("s")})
    assert holds(LDiversity(2, column="t"), both) == holds(LDiversity(2))
    with pytest.raises(ParameterError, match="column must say which sensitive column"):
        holds(LDiversity(2), both)


def test_an_attack_that_never_pays_still_needs_somebody_of_the_population():
    model = PopulationNoAttack(adversary_gain=1, adversary_cost=3)
    classes = Classes(np.array([2, 2, 2]), population=np.array([0, 1, 5]))
    assert model.holds(classes).tolist() == [False, True, True]
