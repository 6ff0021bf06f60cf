import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ontomask.kernels.containment import covered


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_weight_of_what_a_tuple_lies_in(seed, count, others, attributes):
    draw = np.random.default_rng(seed)
    sizes, sets = 3, 2
    groups, masked = draw.integers(0, 2, count), draw.integers(0, 2, others)
    order = np.argsort(masked, kind="stable")
    starts = np.searchsorted(masked[order], np.arange(3))
    codes, own, chosen = (
        draw.integers(low, high, (attributes, number)).astype(np.int32)
        for low, high, number in ((0, sizes, count), (-1, sizes, others), (-1, sets, others))
    )
    tables = draw.choice([0.0, 0.5, 1.0], (attributes, sizes, sets))
    weights = draw.integers(1, 5, others).astype(float)
    expected = np.zeros(count)
    for x in range(count):
        for other in np.flatnonzero(masked == groups[x]):
            factor = weights[other]
            for a in range(attributes):
                held = tables[a, codes[a, x], chosen[a, other]]
                same = float(own[a, other] == codes[a, x])
                factor *= held if chosen[a, other] >= 0 else same
            expected[x] += factor
    # the sets that hold each code, those of all attributes numbered one after the other
    lines, places = np.nonzero(tables.reshape(attributes * sizes, sets))
    starts_of = np.searchsorted(lines, np.arange(attributes * sizes + 1))
    shifts = np.arange(attributes)[:, None] * sets
    found = covered(
        groups,
        starts,
        order,
        codes,
        own,
        np.where(chosen < 0, -1, chosen + shifts).astype(np.int32),
        np.arange(attributes) * sizes,
        starts_of,
        lines // sizes * sets + places,
        tables.reshape(attributes * sizes, sets)[lines, places],
        weights,
    )
    np.testing.assert_allclose(found, expected)


def test_tuples_that_begin_as_one_in_which_nothing_lies_are_passed_over():
    # two attributes with the sets 0, 1 and 2, 3: the only code of each is in 1 and in 3
    sets = np.array([[0, 0, 0, 1, 1, 1, 1], [2, 3, 3, 2, 2, 3, 3]], np.int32)
    weights = np.array([1.0, np.nan, np.nan, 1.0, np.nan, 2.0, 3.0])  # NaN: not looked at
    found = covered(
        np.zeros(1, np.int64),
        np.array([0, 7]),
        np.arange(7),
        np.zeros((2, 1), np.int32),
        np.full((2, 7), -1, np.int32),
        sets,
        np.array([0, 1]),
        np.array([0, 1, 2]),
        np.array([1, 3]),
        np.ones(2),
        weights,
    )
    assert found.tolist() == [5.0]
