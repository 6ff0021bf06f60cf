from __future__ import annotations

import math

import numpy as np
import pytest

from ontomask import quality
from ontomask.errors import ParameterError
from ontomask.methods.generalization.problem import Problem, Sensitive
from ontomask.quality import Partition, Recoded
from ontomask.taxonomy.hierarchies import Hierarchy

# Two attributes. Cities: a, b in North, c, d in South; age groups: young, old.
CITY = [["a", "N", "*"], ["b", "N", "*"], ["c", "S", "*"], ["d", "S", "*"]]
AGE = [["young", "*"], ["old", "*"]]
# Six records: (a, young) twice, (a, old), (b, young), (c, young), (c, old); targets + + - + - -
RECORDS = [
    ("a", "young"),
    ("a", "young"),
    ("a", "old"),
    ("b", "young"),
    ("c", "young"),
    ("c", "old"),
]
TARGET = [0, 0, 1, 0, 1, 1]


def make_problem():
    hierarchies = (Hierarchy.from_rows(CITY), Hierarchy.from_rows(AGE))
    columns = zip(*RECORDS, strict=True)
    pairs = zip(hierarchies, columns, strict=True)
    codes = np.array([hierarchy.encode(column) for hierarchy, column in pairs])
    targets = {"t": Sensitive(np.array(TARGET, np.int32), 2)}
    return Problem(hierarchies, codes, ("city", "age"), targets=targets)


def at_north_south(suppressed=(False, False, False, False)):
    """City at level 1, age at 0: (N, young) x 3, (N, old), (S, young), (S, old)."""
    problem = make_problem()
    pairs = (
        np.array([0, 1, 2, 3], np.int32),
        np.array([0, 1, 1, 1], np.int32),
        np.array([3, 1, 1, 1]),
    )
    return Partition(
        problem.facts,
        (1, 0),
        np.array([3, 1, 1, 1]),
        np.array(suppressed),
        np.array([0, 1, 3, 4], np.int32),
        {"t": pairs},
    )


def original():
    """Every distinct record is a class of its own."""
    problem = make_problem()
    count = len(problem.tuples.rows)
    sizes, nobody = problem.tuples.amounts[0], np.zeros(count, bool)
    return Partition(problem.facts, (0, 0), sizes, nobody, np.arange(count, dtype=np.int32))


LAST_GONE = (False, False, False, True)


def value(model, partition):
    measure = model.prepare(partition.facts)
    return float(measure.scalar(measure.vector(partition)))


def test_loss():
    # city: 6 records at share 1/2 = 3; (3 - 6/4) / (6 - 6/4) = 1/3. age: 3; (3 - 3) / 3 = 0
    expected = math.sqrt((1 + 1 / 3) * (1 + 0)) - 1
    assert value(quality.Loss(), at_north_south()) == pytest.approx(expected)
    # one suppressed: city 5/2 + 1 = 3.5: 4/9; age 5/2 + 1 = 3.5: 1/6
    city, age = 4 / 9, 1 / 6
    partition = at_north_south(LAST_GONE)
    expected = math.sqrt((1 + city) * (1 + age)) - 1
    assert value(quality.Loss(), partition) == pytest.approx(expected)
    assert value(quality.Loss("arithmetic"), partition) == pytest.approx((city + age) / 2)
    assert value(quality.Loss("sum"), partition) == pytest.approx(city + age)
    assert value(quality.Loss("max"), partition) == pytest.approx(city)
    assert value(quality.Loss("rank"), partition) == pytest.approx(city)
    kept = value(quality.Loss(counts_suppression=False), partition)
    assert kept == pytest.approx(math.sqrt(4 / 3) - 1)


def test_attribute_weights():
    city, age = 4 / 9, 1 / 6
    partition = at_north_south(LAST_GONE)
    weights = {"city": 3.0}
    expected = (1 + city) ** 0.75 * (1 + age) ** 0.25 - 1
    assert value(quality.Loss(weights=weights), partition) == pytest.approx(expected)
    expected = (3 * city + age) / 4
    assert value(quality.Loss("arithmetic", weights=weights), partition) == pytest.approx(expected)
    measure = quality.Loss("rank", weights={"age": 9.0}).prepare(partition.facts)
    assert measure.key(measure.vector(partition)) == pytest.approx((9 * age, city))


def test_the_factor_weighs_generalization_against_suppression():
    partition = at_north_south(LAST_GONE)
    # 0.25: suppression weighs 1/2: the lost record costs 1/2 + 1/2 * 1/2 = 3/4 in both
    city, age = (3.25 - 1.5) / 4.5, (3.25 - 3) / 3
    assert value(quality.Loss("sum", 0.25), partition) == pytest.approx(city + age)
    # 0.75: generalization weighs 1/2: kept records cost 1/4, the lost one 1; at best, half as much
    # as before: 6/8 and 6/4
    city, age = (2.25 - 0.75) / 5.25, (2.25 - 1.5) / 4.5
    assert value(quality.Loss("sum", 0.75), partition) == pytest.approx(city + age)


@pytest.mark.parametrize("factor", [0.0, 0.1, 0.5, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("name", sorted(set(quality.QUALITIES) - {"classification"}))
def test_no_factor_makes_a_loss_negative_and_none_charges_the_original(name, factor):
    """The original table costs nothing, everything at the root or suppressed not more than 1."""
    kind = quality.QUALITIES[name]
    options = {"factor": factor} if "factor" in kind.__dataclass_fields__ else {}
    model = kind(**options)
    for partition in (at_north_south(), at_north_south(LAST_GONE), at_north_south((True,) * 4)):
        assert value(model, partition) >= 0
    if name in ("loss", "precision", "entropy-loss", "non-uniform-entropy"):
        assert value(model, original()) == pytest.approx(0)
    if name in ("loss", "precision"):
        assert value(model, at_north_south((True,) * 4)) <= 1 + 1e-12


def test_precision():
    assert value(quality.Precision(), at_north_south()) == pytest.approx((1 / 2 + 0) / 2)
    expected = ((5 * 0.5 + 1) / 6 + 1 / 6) / 2
    assert value(quality.Precision(), at_north_south(LAST_GONE)) == pytest.approx(expected)
    expected = ((5 * 0.5 + 0.4) / 6 + 0.4 / 6) / 2
    assert value(quality.Precision(factor=0.2), at_north_south(LAST_GONE)) == pytest.approx(
        expected
    )


def test_height_ignores_suppression():
    assert value(quality.Height(), at_north_south(LAST_GONE)) == 1.0


def test_discernibility():
    assert value(quality.Discernibility(), at_north_south()) == 9 + 1 + 1 + 1
    assert value(quality.Discernibility(), at_north_south(LAST_GONE)) == 9 + 1 + 1 + 6
    ignoring = quality.Discernibility(counts_suppression=False)
    assert value(ignoring, at_north_south(LAST_GONE)) == 12


def test_average_class_size():
    assert value(quality.AverageClassSize(), at_north_south()) == 6 / 4
    assert value(quality.AverageClassSize(), at_north_south(LAST_GONE)) == 6 / 4
    assert value(quality.AverageClassSize(), at_north_south((False, False, True, True))) == 2.0


def test_non_uniform_entropy():
    # city: a 3, b 1 become N 4; c 2 stays alone in S. Age is at level 0.
    expected = -(3 * math.log2(3 / 4) + math.log2(1 / 4))
    assert value(quality.NonUniformEntropy(), at_north_south()) == pytest.approx(expected)
    # suppressed (S, young) and (S, old): 2 bits for age, nothing for city
    partition = at_north_south((False, False, True, True))
    assert value(quality.NonUniformEntropy(), partition) == pytest.approx(expected + 2)
    whole = -(3 * math.log2(1 / 2) + math.log2(1 / 6) + 2 * math.log2(1 / 3))
    normalized = quality.NonUniformEntropy(normalized=True)
    assert value(normalized, at_north_south()) == pytest.approx(expected / whole)


def test_kl_divergence():
    # areas: 2 cities x 1 age = 2 for all. q = n / 6 / 2
    p = [2 / 6, 2 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6]
    q = [3 / 12, 3 / 12, 1 / 12, 3 / 12, 1 / 12, 1 / 12]
    expected = sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True))
    assert value(quality.KLDivergence(), at_north_south()) == pytest.approx(expected)
    q[5] = 1 / 6 / 8
    expected = sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True))
    assert value(quality.KLDivergence(), at_north_south(LAST_GONE)) == pytest.approx(expected)


def test_ambiguity_and_entropy_loss():
    assert value(quality.Ambiguity(), at_north_south()) == 6 * 2
    assert value(quality.Ambiguity(), at_north_south(LAST_GONE)) == 5 * 2 + 8
    each = math.log10(1 / 4) / math.log10(8) + 1
    assert value(quality.EntropyLoss(), at_north_south()) == pytest.approx(6 * each)
    assert value(quality.EntropyLoss(), at_north_south(LAST_GONE)) == pytest.approx(5 * each + 1)


def test_classification():
    # every class is pure
    assert value(quality.Classification("t"), at_north_south()) == 0.0
    assert value(quality.Classification("t"), at_north_south(LAST_GONE)) == pytest.approx(0.5 / 6)
    problem = make_problem()
    # all cities and ages together: three of each, no majority
    pairs = (np.zeros(2, np.int32), np.array([0, 1], np.int32), np.array([3, 3]))
    top = Partition(
        problem.facts,
        (2, 1),
        np.array([6]),
        np.zeros(1, bool),
        np.zeros(1, np.int32),
        {"t": pairs},
    )
    assert value(quality.Classification("t"), top) == 1.0
    assert value(quality.Classification("t", 0.5, 1.0, 0.25), top) == 0.25
    # cities together: young 3 + and 1 -, old 2 -
    pairs = (
        np.array([0, 0, 1], np.int32),
        np.array([0, 1, 1], np.int32),
        np.array([3, 1, 2]),
    )
    ages = Partition(
        problem.facts,
        (2, 0),
        np.array([4, 2]),
        np.zeros(2, bool),
        np.array([0, 1], np.int32),
        {"t": pairs},
    )
    assert value(quality.Classification("t"), ages) == pytest.approx(1 / 6)
    assert value(quality.Classification("t", 2.0, 0.5), ages) == pytest.approx(0.5 / 6 / 2)


def test_a_quasi_identifier_as_target():
    # age from city (N or S): N: young 3, old 1; S: young 1, old 1 without majority
    model = quality.Classification("age")
    assert value(model, at_north_south()) == pytest.approx((1 + 2) / 6)
    assert value(model, at_north_south(LAST_GONE)) == pytest.approx((1 + 0 + 0.5) / 6)
    # city from age: young: N 3, S 1; old: N 1, S 1. Two of four values: penalties stay 1
    assert value(quality.Classification("city"), at_north_south()) == pytest.approx((1 + 2) / 6)


def test_several_targets_add_up():
    both = value(quality.Classification(("t", "age")), at_north_south())
    assert both == pytest.approx(0.0 + 3 / 6)


def test_semantic():
    # city at level 1 of two: the value has 3 ancestors, the generalization 2: log2(2 - 2/3)
    each = (math.log2(2 - 2 / 3) / 2) ** 2
    assert value(quality.Semantic(), at_north_south()) == pytest.approx(6 * each)
    assert value(quality.Semantic(), at_north_south(LAST_GONE)) == pytest.approx(5 * each + 1)
    weighted = quality.Semantic(weights={"age": 3.0})
    expected = 6 * (math.log2(2 - 2 / 3) / 4) ** 2
    assert value(weighted, at_north_south()) == pytest.approx(expected)


ALL = [kind() for name, kind in quality.QUALITIES.items() if name != "classification"]


@pytest.mark.parametrize("model", [*ALL, quality.Classification("t")], ids=lambda one: one.name)
def test_local_outcomes_cost_what_global_ones_do_when_all_levels_are_equal(model):
    partition = at_north_south(LAST_GONE)
    facts = partition.facts
    levels = np.array([[1, 0]] * len(facts.tuples), np.int32)
    places = partition.places
    recoded = Recoded(facts, levels, places == 3, places, partition.targets)
    measure = model.prepare(facts)
    if model.name in ("non-uniform-entropy", "kl-divergence", "ambiguity"):
        with pytest.raises(ParameterError, match="generalized differently"):
            measure.mixed(recoded)
        return
    assert measure.mixed(recoded) == pytest.approx(measure.vector(partition))


def test_mistakes():
    facts = make_problem().facts
    with pytest.raises(ParameterError, match=r"weights names 'cty'.* Did you mean 'city'"):
        quality.Loss(weights={"cty": 1.0}).prepare(facts)
    with pytest.raises(ParameterError, match="weights must not all be 0"):
        quality.Loss(weights={"city": 0, "age": 0}).prepare(facts)
    with pytest.raises(ParameterError, match="The weight of 'city' must be a number of at least 0"):
        quality.Loss(weights={"city": -1}).prepare(facts)
    with pytest.raises(ParameterError, match="aggregate must be one of 'geometric'"):
        quality.Loss("median")
    with pytest.raises(ParameterError, match="factor must be a number from 0 to 1, not 2"):
        quality.Precision(factor=2)
    with pytest.raises(ParameterError, match="target names 'x'; there are the columns t, city"):
        quality.Classification("x").prepare(facts)
    with pytest.raises(ParameterError, match="target must be the name of a column"):
        quality.Classification(())
    with pytest.raises(ParameterError, match="must not all be 0"):
        quality.Classification("t", 0, 0, 0)
    with pytest.raises(ParameterError, match=r"one of 'loss'.* Did you mean 'loss'"):
        quality.quality_model("los")
    with pytest.raises(ParameterError, match="needs the column to be predicted"):
        quality.quality_model("classification")


@pytest.mark.parametrize("aggregate", list(quality.AGGREGATES))
def test_classes_of_equal_size_cost_what_their_records_do(aggregate):
    partition = at_north_south()
    measure = quality.Loss(aggregate, weights={"city": 3.0}).prepare(partition.facts)
    # each covers half of the cities and all ages of its own: 1/2 and 0, 1/2
    chosen = np.array([1, 3])
    each = measure.scalar(np.array([0.5, 0.5]))
    assert measure.class_costs(partition, chosen).tolist() == [each, each]
    assert measure.class_costs(partition, np.array([0])) == [measure.scalar(np.array([1.5, 1.5]))]
    for model in (quality.Discernibility(), quality.Ambiguity(), quality.Semantic()):
        made = model.prepare(partition.facts)
        found = [made.class_costs(partition, np.array([one]))[0] for one in range(4)]
        assert made.class_costs(partition, np.arange(4)).tolist() == found


def test_models_are_found_by_name():
    assert quality.quality_model("loss") == quality.Loss()
    assert quality.quality_model("precision", factor=0.2) == quality.Precision(factor=0.2)
    assert quality.quality_model(quality.Height()) == quality.Height()
