"""Differentially private generalization, against brute force and against many runs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, chisquare, poisson

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.methods.base import Context
from ontomask.methods.generalization import private
from ontomask.privacy.differential import least_class, sampling_probability, spent_delta
from ontomask.promises import DifferentialPrivacy
from ontomask.verify import _largest_tail, verify

PARAMETERS = [(0.5, 1e-2), (1.0, 1e-2), (1.0, 1e-4), (2.0, 1e-3), (3.0, 1e-1)]
SEX = {"sex": [["f", "*"], ["m", "*"]], "age": [["30", "30s", "*"], ["40", "40s", "*"]]}


def worst(one, other, epsilon):
    """The delta between two distributions of outcomes, both ways."""
    factor = math.exp(epsilon)
    return max(
        np.maximum(first - factor * second, 0.0).sum()
        for first, second in ((one, other), (other, one))
    )


def released(n, beta, k, most):
    """The distribution of how many of n records of a class are released."""
    chances = binom.pmf(np.arange(most + 1), n, beta)
    chances[0] += chances[1:k].sum()
    chances[1:k] = 0.0
    return chances


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_the_parameters_are_enough_and_not_too_strict(epsilon, delta):
    """Every class size counted out: a person more or less in a class of n."""
    beta = sampling_probability(epsilon)
    k = least_class(epsilon, delta, beta)
    assert beta == pytest.approx(1 - math.exp(-epsilon))
    assert spent_delta(k, beta, epsilon) <= delta < spent_delta(k - 1, beta, epsilon)
    most = 12 * k + 40

    def needed(size):
        return max(
            worst(released(n, beta, size, most), released(n - 1, beta, size, most), epsilon)
            for n in range(1, most)
        )

    assert needed(k) <= delta
    assert needed(max(2, k // 3)) > delta


@pytest.mark.parametrize("share", [1.0, 0.6, 0.05])
@pytest.mark.parametrize("epsilon", [0.01, 0.2, 0.7, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_delta_is_the_largest_of_all_terms(k, epsilon, share):
    beta = share * sampling_probability(epsilon)
    gamma = Fraction(1) - Fraction(1 - beta) / Fraction(math.exp(epsilon))
    sizes = range(max(1, math.ceil(k / gamma - 1)), 8000)
    terms = binom.sf([math.floor(gamma * n) for n in sizes], sizes, beta)
    assert spent_delta(k, beta, epsilon) == pytest.approx(terms.max(), rel=1e-8)


@pytest.mark.parametrize("delta", [1e-12, 0.1])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 10.0, 15.0, 20.0])
def test_least_classes_of_extreme_parameters_are_found_at_once(epsilon, delta):
    """With a large epsilon, a class is drawn whole with beta^n; a small one has Poisson's limit."""
    beta = sampling_probability(epsilon)
    k = least_class(epsilon, delta, beta)
    assert spent_delta(k, beta, epsilon) <= delta < spent_delta(k - 1, beta, epsilon)
    if epsilon > 1e-5:  # the recount agrees
        assert _largest_tail(k, beta, epsilon, delta) <= delta
        assert _largest_tail(math.floor(k * 0.99), beta, epsilon, delta) > delta
    if epsilon > 9:
        assert k == pytest.approx(1 + math.log(delta) / math.log(beta), rel=1e-3)
    else:
        assert poisson.sf(k - 1, k / 2) <= delta < poisson.sf(k - 2, (k - 1) / 2)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("epsilon", [0.7, 1.5])
def test_small_tables_counted_out(k, epsilon):
    """All samples of a table of two classes, with and without one record."""
    beta = sampling_probability(epsilon)

    def outcomes(classes):
        found = {}
        for drawn in itertools.product((0, 1), repeat=len(classes)):
            chance = math.prod(beta if one else 1 - beta for one in drawn)
            counts = [
                sum(one for one, own in zip(drawn, classes, strict=True) if own == name)
                for name in "ab"
            ]
            seen = tuple(count if count >= k else 0 for count in counts)
            found[seen] = found.get(seen, 0.0) + chance
        return found

    for classes in ("aaaabbb", "aaaaaab", "aaabbbb", "aaa"):
        with_one, without = outcomes(classes), outcomes(classes[1:])
        keys = sorted({*with_one, *without})
        one, other = (
            np.array([each.get(key, 0.0) for key in keys]) for each in (with_one, without)
        )
        assert worst(one, other, epsilon) <= spent_delta(k, beta, epsilon)


def microdata(count):
    frame = pl.DataFrame({"sex": ["f"] * count})
    return encode(open_table(frame), om.Schema(sex=om.Flat()))


def method(epsilon=1.0, delta=0.01, **options):
    rows = {"sex": SEX["sex"]}
    return om.PrivateGeneralization(epsilon, delta, [{"sex": 0}], hierarchies=rows, **options)


def counts(made, table, runs):
    """How many records were released in many runs, 0 where none."""
    found = []
    for _ in range(runs):
        try:
            masked = made.mask(table, Context(np.random.default_rng(1)))
            found.append(int(masked.kept.sum()))
        except om.errors.MethodError:
            found.append(0)
    return np.array(found)


RUNS = 600


def excess(made):
    """By how much events in many runs on neighboring tables exceed what epsilon and delta allow."""
    size = 40
    one, other = (counts(made, microdata(n), RUNS) for n in (size, size - 1))
    events = [np.arange(size + 1) >= bar for bar in range(size + 1)]
    found = []
    for event, swapped in itertools.product([*events, *(~one for one in events)], (False, True)):
        p, q = (each.mean() for each in (event[one], event[other]))
        p, q = (q, p) if swapped else (p, q)
        noise = 4.0 * math.sqrt((p * (1 - p) + math.e**2 * q * (1 - q)) / RUNS)
        found.append(p - math.exp(made.epsilon) * q - made.delta - noise)
    return max(found)


def test_many_runs_on_neighboring_tables():
    assert excess(method()) <= 0.0


def test_a_wrong_epsilon_would_be_noticed(monkeypatch):
    monkeypatch.setattr(private, "sampling_probability", lambda epsilon: 0.97)
    monkeypatch.setattr(private, "least_class", lambda *_: 2)
    assert excess(method()) > 0.0


def misfit(made, size):
    """How improbable many runs are, if records are drawn and left out as the promise needs it.

    What it needs is counted out here: beta = 1 - e^-epsilon, and the least class of which no
    number of records n gives more than gamma n of them with a probability above delta.
    """
    beta = 1.0 - math.exp(-made.epsilon)
    gamma = 1.0 - (1.0 - beta) * math.exp(-made.epsilon)
    tails = [binom.sf(math.floor(gamma * n), n, beta) for n in range(1, 400)]
    enough = next(n for n in range(1, 400) if max(tails[n - 1 :]) <= made.delta)
    least = next(k for k in range(2, 400) if math.ceil(k / gamma - 1) >= enough)
    seen = np.bincount(counts(made, microdata(size), RUNS), minlength=size + 1)
    expected = RUNS * released(size, beta, least, size)
    frequent = expected >= 5.0
    pooled = [np.append(one[frequent], one[~frequent].sum()) for one in (seen, expected)]
    return chisquare(*pooled).pvalue


@pytest.mark.parametrize("size", [31, 32])
def test_what_is_drawn_is_distributed_as_was_counted_out(size):
    """With the tests above: outcomes on neighboring tables are as alike as promised."""
    assert misfit(method(), size) > 1e-6


@pytest.mark.parametrize("factor", [0.85, 1.15])
@pytest.mark.parametrize("parameter", ["sampling_probability", "least_class"])
def test_a_slightly_wrong_epsilon_would_be_noticed(monkeypatch, parameter, factor):
    """Drawing, or leaving out, for an epsilon that is 15 percent off; the other one is right."""
    original = getattr(private, parameter)
    monkeypatch.setattr(
        private, parameter, lambda epsilon, *rest: original(factor * epsilon, *rest)
    )
    assert misfit(method(), 32) < 1e-9


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_a_scheme_is_hardly_more_probable_with_a_record_than_without(epsilon):
    """The draw of a scheme is epsilon-differentially private by itself, whatever the tables."""
    generator = np.random.default_rng(3)
    schemes, k = [{"a": 0, "b": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 0}], 4
    for _ in range(200):
        places = [generator.integers(0, most, 30) for most in (8, 3, 1)]
        with_one, without = (
            private.scheme_chances(
                private.scheme_costs(schemes, [private._small(one[first:], k) for one in places]),
                epsilon,
                k,
            )
            for first in (0, 1)
        )
        assert np.abs(np.log(with_one / without)).max() <= epsilon + 1e-12


def people(count=400):
    generator = np.random.default_rng(1)
    return pl.DataFrame(
        {"sex": generator.choice(["f", "m"], count), "age": generator.choice(["30", "40"], count)}
    )


SCHEMA = om.Schema(sex=om.Flat(), age=om.Flat())


def test_a_release_is_a_sample_of_large_classes_and_says_how_it_was_made():
    made = om.PrivateGeneralization(1.0, 1e-3, [{"sex": 0, "age": 2}], hierarchies=SEX)
    release = om.protect(people(), SCHEMA, made, seed=1)
    sizes = release.frame.group_by("sex", "age").len()["len"]
    assert set(release.frame["age"]) == {"*"}
    assert sizes.min() >= made.k
    assert abs(len(release.frame) - 400 * made.beta) < 60
    promise = next(one for one in release.promises if isinstance(one, DifferentialPrivacy))
    assert (promise.epsilon, promise.delta, promise.k) == (1.0, 1e-3, made.k)
    again = om.protect(people(), SCHEMA, made, seed=1)
    assert again.frame.rows() != release.frame.rows()


def test_the_order_of_the_records_says_nothing():
    """A record at the end of a sorted table would otherwise be seen there."""
    frame = pl.DataFrame({"sex": ["f"] * 200 + ["m"] * 200})
    release = om.protect(frame, om.Schema(sex=om.Flat()), method(2.0, 0.01), seed=1)
    changes = sum(a != b for a, b in itertools.pairwise(release.frame["sex"]))
    assert changes > 50


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"k": 3}, False),
        ({"beta": 0.9}, False),
        ({"epsilon": 0.4}, False),
        ({"delta": 1e-9}, False),
        ({"spent": 0.5}, False),
    ],
)
def test_the_recount_knows_which_numbers_are_enough(change, kept):
    made = method(1.0, 1e-3)
    numbers = {"epsilon": 1.0, "delta": 1e-3, "beta": made.beta, "k": made.k, "spent": 0.0}
    promise = DifferentialPrivacy(("sex",), **{**numbers, **change})
    frame = pl.DataFrame({"sex": ["f"] * 50})
    assert verify(frame, [promise], published=["sex"], records=50).kept == kept


def test_the_recount_sees_a_class_that_is_too_small():
    made = method(1.0, 1e-3)
    promise = DifferentialPrivacy(("sex",), 1.0, 1e-3, made.beta, made.k)
    frame = pl.DataFrame({"sex": ["f"] * 50 + ["m"] * (made.k - 1)})
    assert not verify(frame, [promise], published=["sex"], records=len(frame)).kept


def test_schemes_are_drawn_by_what_they_lose():
    chances = private.scheme_chances(np.array([10.0, 30.0, 10.0]), 0.5, 6)
    assert chances == pytest.approx(np.array([1, math.exp(-0.5 * 20 / 10), 1]) / (2 + math.exp(-1)))
    draws = [private.drawn(chances) for _ in range(3000)]
    assert np.bincount(draws) / 3000 == pytest.approx(chances, abs=0.05)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_one_record_changes_the_loss_of_a_scheme_by_no_more_than_its_sensitivity(k):
    generator = np.random.default_rng(k)
    schemes = [{"a": 0, "b": 1}, {"a": 2, "b": 1}]
    for _ in range(200):
        places = [generator.integers(0, 5, 20), generator.integers(0, 2, 20)]
        whole = private.scheme_costs(schemes, [private._small(one, k) for one in places])
        less = private.scheme_costs(schemes, [private._small(one[1:], k) for one in places])
        assert np.abs(whole - less).max() <= max(1, k - 1)


def test_one_of_several_schemes_is_drawn_and_paid_for():
    made = om.PrivateGeneralization(
        1.0, 1e-2, [{"sex": 0, "age": 2}, {"sex": 1, "age": 0}], 0.3, hierarchies=SEX
    )
    seen = {str(om.protect(people(), SCHEMA, made, seed=1).details[0]["levels"]) for _ in range(30)}
    assert len(seen) == 2
    assert made.beta == pytest.approx(1 - math.exp(-0.7))


def refused(call, *args, **options):
    with pytest.raises(om.errors.OntomaskError) as caught:
        call(*args, **options)
    return str(caught.value)


def test_what_people_get_wrong():
    assert "search_epsilon must be a part" in refused(method, search_epsilon=0.5)
    two = [{"sex": 0}, {"sex": 1}]
    assert "search_epsilon must be a part" in refused(om.PrivateGeneralization, 1.0, 0.1, two)
    built = {"age": {"star": True}}
    assert "must not depend on" in refused(
        om.PrivateGeneralization, 1.0, 0.1, [{"age": 1}], hierarchies=built
    )
    protect = lambda schemes, schema=SCHEMA: refused(  # noqa: E731
        om.protect,
        people(),
        schema,
        om.PrivateGeneralization(1.0, 0.01, schemes, hierarchies=SEX),
        seed=1,
    )
    assert "no level for 'age'" in protect([{"sex": 0}])
    assert "Did you mean 'age'" in protect([{"sex": 0, "agee": 0, "age": 1}])
    assert "a whole number" in protect([{"sex": -1, "age": 1}])
    sensitive = om.Schema(sex=om.Flat(), age=om.Flat(role="sensitive"))
    assert "Column 'age' would be published as it is" in protect([{"sex": 0}], sensitive)
    assert "no class has" in refused(
        om.protect,
        people(10),
        SCHEMA,
        om.PrivateGeneralization(0.1, 1e-6, [{"sex": 0, "age": 0}], hierarchies=SEX),
        seed=1,
    )
