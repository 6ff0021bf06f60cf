"""Clusters that keep privacy models besides k-anonymity: counted anew on the released frame."""

import collections
import itertools
import math

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import ontomask as om
from ontomask import warming
from ontomask.kernels import balanced, losses, unions
from ontomask.kernels.balanced import _best_exchange, _leaving, by_exchanges, by_slices
from ontomask.kernels.losses import loss
from ontomask.kernels.records import MINIMUM_HIERARCHY
from ontomask.kernels.unions import described, united
from ontomask.privacy import Domain, Ground
from ontomask.privacy.trees import ground_tree, value_order
from reference.points import random_points
from tables import DISEASES, LEAVES

ORDER = ["none", "mild", "moderate", "severe", "deadly"]


def people(count=240, seed=1):
    """Sensitive values that go with the quasi-identifiers, so that clusters alone disclose them."""
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 90, count)
    known = generator.random(count) < 0.5
    step = np.where(known, age - 20, generator.integers(0, 70, count))
    return pl.DataFrame(
        {
            "age": age,
            "sex": generator.choice(["f", "m"], count),
            "diagnosis": [LEAVES[one // 10] for one in step],
            "severity": [ORDER[one // 14] for one in step],
        }
    )


def schema(column="diagnosis", **more):
    kinds = {
        "diagnosis": om.Nominal(DISEASES, role="sensitive"),
        "severity": om.Ordinal(order=ORDER, role="sensitive"),
    }
    return om.Schema.of({"age": om.Numeric(), "sex": om.Flat(), column: kinds[column], **more})


def classes(frame, column, weights=None):
    found = collections.defaultdict(collections.Counter)
    amounts = [1] * len(frame) if weights is None else weights
    rows = frame.select("age", "sex", column).rows()
    for (age, sex, value), amount in zip(rows, amounts, strict=True):
        found[age, sex][value] += amount
    return list(found.values())


def earth_mover(p, q, distance):
    """By linear programming over all pairs of values."""
    values = sorted({*p, *q})
    shares = [{v: one[v] / one.total() for v in values} for one in (p, q)]
    pairs = list(itertools.product(range(len(values)), repeat=2))
    rows = [[float(i == v) for i, _ in pairs] for v in range(len(values))]
    rows += [[float(j == v) for _, j in pairs] for v in range(len(values))]
    amounts = [shares[0][v] for v in values] + [shares[1][v] for v in values]
    costs = [distance(values[i], values[j]) for i, j in pairs]
    return linprog(costs, A_eq=rows, b_eq=amounts).fun


def ground(name):
    if name == "ordered":
        return lambda one, other: abs(ORDER.index(one) - ORDER.index(other)) / (len(ORDER) - 1)
    if name == "semantic":
        concepts = DISEASES.map(LEAVES).require()
        table = DISEASES.space(concepts.concepts).between(concepts.concepts, concepts.concepts)
        place = {value: number for number, value in enumerate(concepts.values)}
        return lambda one, other: table[place[one], place[other]]
    return lambda one, other: float(one != other)


WAYS = ("merge", "t-first", "k-first")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "column"),
    [("equal", "diagnosis"), ("ordered", "severity"), ("semantic", "diagnosis")],
)
@pytest.mark.parametrize("t", [0.25, 0.35])
def test_every_class_is_as_close_as_asked(way, name, column, t):
    frame = people()
    method = om.Microaggregation(4, privacy=[om.privacy.TCloseness(t, name)], privacy_by=way)
    release = om.protect(frame, schema(column), method, seed=1)
    found, whole = classes(release.frame, column), collections.Counter(frame[column])
    assert min(one.total() for one in found) >= 4
    assert max(earth_mover(one, whole, ground(name)) for one in found) <= t + 1e-9
    plain = om.protect(frame, schema(column), om.Microaggregation(4), seed=1)
    far = [earth_mover(one, whole, ground(name)) for one in classes(plain.frame, column)]
    assert max(far) > t, "the table does not need the model"
    assert len(found) > 1


MODELS = {
    "distinct": (om.privacy.LDiversity(3), lambda p, q: len(p) >= 3),
    "entropy": (
        om.privacy.LDiversity(2.5, kind="entropy"),
        lambda p, q: (
            -sum(x / p.total() * math.log(x / p.total()) for x in p.values())
            >= math.log(2.5) - 1e-9
        ),
    ),
    "recursive": (
        om.privacy.LDiversity(2, kind="recursive", c=2.0),
        lambda p, q: max(p.values()) < 2 * sum(sorted(p.values(), reverse=True)[1:]),
    ),
    "beta": (
        om.privacy.BetaLikeness(1.5),
        lambda p, q: all(p[v] / p.total() <= 2.5 * q[v] / q.total() + 1e-9 for v in p),
    ),
    "delta": (
        om.privacy.DeltaDisclosure(2.5),
        lambda p, q: all(abs(math.log2(p[v] / p.total() / (q[v] / q.total()))) < 2.5 for v in p),
    ),
    "k": (om.privacy.KAnonymity(9), lambda p, q: p.total() >= 9),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "method",
    [om.Microaggregation, om.Recoding, om.Resampling],
    ids=lambda kind: kind.name,
)
def test_every_model_holds_by_merging(model, method):
    demanded, holds = MODELS[model]
    frame = people()
    release = om.protect(frame, schema(), method(3, privacy=[demanded]), seed=1)
    whole, found = collections.Counter(frame["diagnosis"]), classes(release.frame, "diagnosis")
    assert all(holds(one, whole) for one in found)
    assert min(one.total() for one in found) >= 3
    assert len(release.verification.findings) >= 4 - (model == "k")
    plain = om.protect(frame, schema(), method(3), seed=1)
    assert not all(holds(one, whole) for one in classes(plain.frame, "diagnosis"))


def test_models_of_the_whole_table_hold_by_merging():
    release = om.protect(
        people(), schema(), om.Microaggregation(3, privacy=[om.privacy.AverageRisk(0.1)]), seed=1
    )
    found = classes(release.frame, "diagnosis")
    assert 1 < len(found) <= 0.1 * 240


def test_the_clusters_of_a_hybrid_satisfy_the_models_and_nothing_is_promised():
    plain = om.protect(people(), schema(), om.Hybrid(3), seed=1)
    release = om.protect(
        people(), schema(), om.Hybrid(3, privacy=[om.privacy.LDiversity(3)]), seed=1
    )
    assert release.details[0]["clusters"] < plain.details[0]["clusters"]
    assert [one.promise for one in release.verification.findings] == [
        one.promise for one in plain.verification.findings
    ]


def test_refined_clusters_keep_the_models():
    for way, better in itertools.product(("merge",), (True, False)):
        method = om.Microaggregation(
            3, refine=better, privacy=[om.privacy.TCloseness(0.3)], privacy_by=way
        )
        release = om.protect(people(), schema(), method, seed=1)
        whole = collections.Counter(people()["diagnosis"])
        found = classes(release.frame, "diagnosis")
        assert max(earth_mover(one, whole, ground("equal")) for one in found) <= 0.3 + 1e-9


def test_strata_are_compared_with_the_whole_table():
    frame = people(200)
    method = om.Microaggregation(4, strata=("sex",), privacy=[om.privacy.TCloseness(0.35)])
    release = om.protect(frame, schema(), method, seed=1)
    whole = collections.Counter(frame["diagnosis"])
    assert sorted(release.frame["sex"]) == sorted(frame["sex"])
    found = classes(release.frame, "diagnosis")
    assert max(earth_mover(one, whole, ground("equal")) for one in found) <= 0.35 + 1e-9
    told = [one.promise for one in release.verification.findings if hasattr(one.promise, "counts")]
    assert [dict(one.counts) for one in told] == [dict(whole)]


def test_records_left_out_before_still_count_in_the_whole_table():
    frame = people(200)
    steps = [om.Sampling(share=0.6), om.Microaggregation(4, privacy=[om.privacy.TCloseness(0.4)])]
    release = om.protect(frame, schema(), steps, seed=1)
    whole = collections.Counter(frame["diagnosis"])
    found = classes(release.frame, "diagnosis")
    assert max(earth_mover(one, whole, ground("equal")) for one in found) <= 0.4 + 1e-9


def test_survey_weights_are_people():
    frame = people().with_columns(w=pl.Series(np.random.default_rng(2).uniform(1, 9, 240)))
    method = om.Microaggregation(3, privacy=[om.privacy.TCloseness(0.3), om.privacy.KMap(40)])
    release = om.protect(frame, schema(w=om.Weight()), method, seed=1)
    whole = collections.Counter()
    for value, weight in frame.select("diagnosis", "w").rows():
        whole[value] += weight
    found = classes(release.frame, "diagnosis", frame["w"].to_list())
    assert max(earth_mover(one, whole, ground("equal")) for one in found) <= 0.3 + 1e-9
    assert min(one.total() for one in found) >= 40


# Kernels --------------------------------------------------------------------------------------


def signal():
    return np.zeros(2, np.int64)


def test_kernels_of_models_are_compiled_ahead(monkeypatch):
    used = set()
    for room, name in (
        *((unions, one) for one in ("_describe", "_choose")),
        *((balanced, one) for one in ("_form_slices", "_form_exchanges")),
        (losses, "_fill_losses"),
    ):
        kernel = getattr(room, name)
        monkeypatch.setattr(
            room, name, lambda *given, kernel=kernel, name=name: (used.add(name), kernel(*given))
        )
    for place, method in enumerate(warming.METHODS):
        if isinstance(method, om.Microaggregation):
            assert warming.compile_for(place) == method.name
    assert used == {"_describe", "_choose", "_form_slices", "_form_exchanges", "_fill_losses"}


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_union_is_made(seed):
    generator = np.random.default_rng(seed)
    points = random_points(generator, 24, rules=(MINIMUM_HIERARCHY,), numeric=1, sized=True)
    labels = np.repeat(np.arange(5), [3, 4, 5, 6, 6]).astype(np.int32)[generator.permutation(24)]
    failing = int(generator.integers(5))
    new = united(points, described(points, labels), np.array([failing])).labels
    costs = {}
    for other in set(range(5)) - {failing}:
        pair = np.where(labels == failing, other, labels)
        pair = np.unique(pair, return_inverse=True)[1].astype(np.int32)
        costs[other] = loss(points, pair, 4)
    assert int(new.max()) + 1 == 4
    assert loss(points, new, 4) == pytest.approx(min(costs.values()))


def test_a_cluster_is_united_once_in_a_round():
    points = random_points(np.random.default_rng(3), 30, rules=(), numeric=2)
    labels = np.repeat(np.arange(10), 3).astype(np.int32)
    new = united(points, described(points, labels), np.arange(10))
    sizes = np.bincount(new.labels)
    assert set(sizes.tolist()) <= {3, 6}
    assert 5 <= sizes.size < 10


@pytest.mark.parametrize("rules", [(), (MINIMUM_HIERARCHY,)])
def test_clusters_are_united_alike_by_any_number_of_threads(rules, monkeypatch):
    monkeypatch.setattr(unions, "SMALLEST_SHARE", 1)
    points = random_points(np.random.default_rng(3), 300, rules=rules, numeric=2)
    clusters = described(points, np.repeat(np.arange(60), 5).astype(np.int32))
    found = []
    for threads in "1234":
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        found.append(united(points, clusters, np.arange(59, -1, -1)))
    for one in found[1:]:
        for own, other in zip(one, found[0], strict=True):
            np.testing.assert_array_equal(own, other)


def test_who_has_a_partner_looks_for_none(monkeypatch):
    looked, choose = [], unions._choose
    monkeypatch.setattr(
        unions, "_choose", lambda *given: (looked.extend(given[9].tolist()), choose(*given))
    )
    points = random_points(np.random.default_rng(3), 300, rules=(), numeric=1)
    clusters = described(points, np.repeat(np.arange(60), 5).astype(np.int32))
    partners = unions._partners(points, clusters, np.arange(60))
    assert len(set(looked)) == len(looked) < 60
    assert all(partners[one] >= 0 for one in set(range(60)) - set(looked))


def test_what_is_known_of_clusters_stays_true():
    points = random_points(np.random.default_rng(3), 60, rules=(MINIMUM_HIERARCHY,), numeric=1)
    clusters = described(points, np.repeat(np.arange(20), 3).astype(np.int32))
    for _ in range(3):
        clusters = united(points, clusters, np.arange(0, clusters.losses.size, 2))
        for known, fresh in zip(clusters, described(points, clusters.labels), strict=True):
            np.testing.assert_array_equal(known, fresh)
    assert clusters.losses.size < 10
    assert clusters.losses.sum() == pytest.approx(loss(points, clusters.labels, len(clusters[1])))


def test_every_cluster_has_a_point_of_every_slice():
    points = random_points(np.random.default_rng(4), 63, rules=(MINIMUM_HIERARCHY,), numeric=1)
    slices = np.random.default_rng(5).permutation(np.arange(63) % 5).astype(np.int32)
    labels = by_slices(points, slices, signal())
    counts = np.zeros((labels.max() + 1, 5), int)
    np.add.at(counts, (labels, slices), 1)
    assert counts.shape[0] == 12
    assert (counts >= 1).all()
    assert counts.sum() == 63


def test_slices_take_the_nearest_of_each():
    points = random_points(np.random.default_rng(6), 40, rules=(), numeric=2)
    numbers = points.numbers.T
    slices = (np.arange(40) % 4).astype(np.int32)
    labels = by_slices(points, slices, signal())
    seed = int(
        ((numbers - np.average(numbers, axis=0, weights=points.weights)) ** 2).sum(1).argmax()
    )
    far = ((numbers - numbers[seed]) ** 2).sum(1)
    first = {min(np.flatnonzero(slices == one), key=lambda p: far[p]) for one in range(4)}
    assert set(np.flatnonzero(labels == labels[seed]).tolist()) == first


def random_domain(generator, size=9):
    between = generator.uniform(0.2, 1, (size, 6))
    apart = np.abs(between[:, None] - between[None]).max(axis=2)
    levels = np.array([np.arange(size), np.arange(size) // 3, np.zeros(size)], np.int32)
    return Domain(generator.integers(1, 9, size).astype(float), levels, Ground(apart))


@pytest.mark.parametrize("name", ["equal", "ordered", "hierarchical", "semantic"])
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_costs_what_moving_costs(name, seed):
    generator = np.random.default_rng(seed)
    domain = random_domain(generator)
    tree = ground_tree(domain, name)
    p = generator.dirichlet(np.full(domain.size, 0.4))
    passing = np.zeros(tree.parents.size)
    for value, share in enumerate(p - domain.shares):
        node = value
        while node >= 0:
            passing[node] += share
            node = tree.parents[node]
    cost = float(tree.lengths @ np.abs(passing))
    apart = {
        "equal": lambda i, j: float(i != j),
        "ordered": lambda i, j: abs(i - j) / (domain.size - 1),
        "hierarchical": lambda i, j: 0.0 if i == j else 0.5 if i // 3 == j // 3 else 1.0,
        "semantic": lambda i, j: domain.distances.matrix[i, j],
    }[name]
    counters = [collections.Counter(dict(enumerate(one))) for one in (p, domain.shares)]
    exact = earth_mover(*counters, apart)
    assert cost >= exact - 1e-9
    assert name == "semantic" or cost == pytest.approx(exact)
    assert sorted(value_order(domain, name)) == list(range(domain.size))


def test_near_values_stand_together_in_the_order():
    domain = random_domain(np.random.default_rng(7))
    order = np.argsort(value_order(domain, "hierarchical"))
    assert [len(list(group)) for _, group in itertools.groupby(order // 3)] == [3, 3, 3]


def moved(tree, counts):
    """What must pass each node of the tree for these counts of the values, and what it costs."""
    passing = -counts.sum() * tree.shares
    for value, count in enumerate(counts):
        node = value
        while node >= 0:
            passing[node] += count
            node = tree.parents[node]
    return passing, float(tree.lengths @ np.abs(passing))


@pytest.mark.parametrize("name", ["equal", "ordered", "hierarchical", "semantic"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_member_leaves_for_another(name, seed):
    generator = np.random.default_rng(seed)
    domain = random_domain(generator)
    tree, held = ground_tree(domain, name), np.zeros(domain.size, np.int64)
    np.add.at(held, generator.choice([0, 1, 4, 7], 6), 1)
    flows, cost = moved(tree, held)
    least, leaver = np.empty(flows.size), np.empty(flows.size, np.int64)
    _leaving(tree, flows, np.resize(np.append(held, np.zeros(99, int)), flows.size), least, leaver)
    steps = np.eye(domain.size, dtype=int)
    for new in range(domain.size):
        changes = {
            out: moved(tree, held - steps[out] + steps[new])[1] - cost
            for out in np.flatnonzero(held).tolist()
        }
        change, out = _best_exchange(tree, flows, least, leaver, np.int64(new))
        assert change == pytest.approx(min(changes.values()), abs=1e-12)
        assert changes[int(out)] == pytest.approx(change, abs=1e-12)


def test_exchanges_bring_clusters_close():
    generator = np.random.default_rng(8)
    points = random_points(generator, 200, rules=(), numeric=2)
    values = np.clip(np.digitize(points.numbers[0], [-1, -0.3, 0.3, 1]), 0, 4).astype(np.int32)
    domain = Domain(np.bincount(values, minlength=5).astype(float))
    tree = ground_tree(domain, "ordered")

    def farthest(t):
        labels = by_exchanges(points, tree, values, 8, t, signal())
        assert np.bincount(labels).min() >= 8
        shares = [np.bincount(values[labels == one], minlength=5) for one in range(20)]
        excess = [one / one.sum() - domain.shares for one in shares]
        return float(np.median([np.abs(np.cumsum(one)).sum() / 4 for one in excess]))

    assert farthest(0.1) <= 0.1
    assert farthest(1.0) > 0.15


def test_slices_need_no_more_than_the_formula_says():
    """All values different, distances over ranks: max(k, n / (2 (n - 1) t + 1)) records suffice."""
    generator = np.random.default_rng(9)
    frame = pl.DataFrame({"age": generator.normal(size=240), "pay": generator.permutation(240)})
    both = om.Schema(age=om.Numeric(), pay=om.Numeric(role="sensitive"))
    method = om.Microaggregation(
        3, privacy=[om.privacy.TCloseness(0.0625, "ordered")], privacy_by="t-first"
    )
    release = om.protect(frame, both, method, seed=1)
    size = math.ceil(240 / (2 * 239 * 0.0625 + 1))
    assert size == 8
    assert set(release.frame.group_by("age").len()["len"]) == {8}


@pytest.mark.parametrize("way", WAYS)
def test_all_records_together_are_as_close_as_can_be(way):
    method = om.Microaggregation(3, privacy=[om.privacy.TCloseness(0.0)], privacy_by=way)
    release = om.protect(people(241), schema(), method, seed=1)
    assert release.verification.kept
    assert [one.total() for one in classes(release.frame, "diagnosis")] == [241]


@pytest.mark.parametrize("way", ["t-first", "k-first"])
@pytest.mark.parametrize("count", [240, 241, 242, 243])
def test_halves_are_tried_before_one_cluster(way, count):
    # The half of the records with each diagnosis, up to one, is as close as this.
    t = 7 / 2 / (count // 2)
    method = om.Microaggregation(3, privacy=[om.privacy.TCloseness(t)], privacy_by=way)
    release = om.protect(people(count), schema(), method, seed=1)
    assert len(classes(release.frame, "diagnosis")) >= 2


# Mistakes -------------------------------------------------------------------------------------


def refused(call, *args, **options):
    with pytest.raises(om.errors.OntomaskError) as caught:
        call(*args, **options)
    return str(caught.value)


def test_a_way_that_does_not_fit_the_models():
    said = refused(om.Microaggregation, 3, privacy=[om.privacy.LDiversity(2)], privacy_by="t-first")
    assert said == (
        "privacy_by='t-first' forms clusters by t-closeness, but privacy names 0 such models; give "
        "one TCloseness(…), or use privacy_by='merge'."
    )
    close = om.privacy.TCloseness(0.2)
    assert "names 2" in refused(
        om.Hybrid, 3, privacy=[close, om.privacy.TCloseness(0.1)], privacy_by="k-first"
    )
    assert "leave out refine" in refused(
        om.Microaggregation, 3, privacy=[close], privacy_by="k-first", refine=True
    )


def test_models_that_clusters_cannot_have():
    presence = om.privacy.DeltaPresence(0, 0.5)
    assert "only generalization takes" in refused(om.Recoding, 3, privacy=[presence])
    assert "leave out strata" in refused(
        om.Microaggregation, 3, privacy=[om.privacy.DeltaDisclosure(1)], strata=("sex",)
    )
    assert "leave out privacy" in refused(
        om.Resampling, 3, algorithm="heer", privacy=[om.privacy.LDiversity(2)]
    )


def test_no_sensitive_column():
    method = om.Microaggregation(3, privacy=[om.privacy.LDiversity(2)])
    plain = om.Schema(age=om.Numeric(), sex=om.Flat())
    said = refused(om.protect, people().select("age", "sex"), plain, method, seed=1)
    assert said == (
        "column must say which sensitive column the model protects; there are: none. Declare one "
        "with role='sensitive'."
    )


def test_a_ground_without_meaning_for_the_column():
    ordered = om.Microaggregation(
        3, privacy=[om.privacy.TCloseness(0.2, "ordered")], privacy_by="t-first"
    )
    assert "needs a column with an order" in refused(
        om.protect, people(), schema(), ordered, seed=1
    )
    semantic = om.Recoding(3, privacy=[om.privacy.TCloseness(0.2, "semantic")])
    assert "needs a nominal column with a taxonomy" in refused(
        om.protect, people(), schema("severity"), semantic, seed=1
    )


def test_more_values_than_there_are():
    method = om.Microaggregation(3, privacy=[om.privacy.LDiversity(9)])
    assert "only 7 different values" in refused(om.protect, people(), schema(), method, seed=1)


def test_not_even_all_records_together_do():
    frame = people().with_columns(
        sex=pl.when(pl.col("diagnosis") == "covid").then(pl.lit("f")).otherwise(pl.lit("m"))
    )
    method = om.Microaggregation(3, strata=("sex",), privacy=[om.privacy.TCloseness(0.1)])
    said = refused(om.protect, frame, schema(), method, seed=1)
    assert "not even all" in said
    assert "leave out strata" in said
