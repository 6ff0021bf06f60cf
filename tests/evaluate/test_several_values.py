"""Released values that stand for several, beside plain NumPy that knows the public calls only."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.evaluation.pairing import pair_tables
from ontomask.memory import row_blocks

REGIONS = {"Ohio": "Midwest", "Iowa": "Midwest", "Texas": "South", "Utah": "West", "Nevada": "West"}
STATES = [[state, region, "*"] for state, region in REGIONS.items()]
PARENTS = {
    "any": [],
    "north": ["any"],
    "south": ["any"],
    **{name: ["north"] for name in "abc"},
    **{name: ["south"] for name in "xyz"},
}
PLACES = om.Taxonomy.from_parents(PARENTS)


def spread_out(original, members):
    """The share of each of the members among themselves; alike where none occurs."""
    counts = np.array([sum(value == one for value in original) for one in members], float)
    return counts / counts.sum() if counts.sum() else np.full(len(members), 1 / len(members))


def mean_distance(value, members, original, distance):
    weights = spread_out(original, members)
    return sum(w * distance(value, one) for w, one in zip(weights, members, strict=True))


def loss_of(moved, centers, stars, several):
    """L as documented: points against the centroid, what stands for several against stars."""
    moved, centers, stars, several = (
        np.array(one, float) for one in (moved, centers, stars, several)
    )
    total = (centers.mean(axis=0) ** 2).sum()
    scale = np.sqrt(total / (stars.mean(axis=0) ** 2).sum())
    errors = ((moved * np.where(several, scale, 1.0)).mean(axis=0) ** 2).sum()
    return min(1.0, errors / total)


def unequal(one, other):
    return float(one != other)


def test_a_region_is_nearer_to_its_states_than_to_others():
    states = ["Ohio", "Ohio", "Iowa", "Texas", "Utah", "Nevada"]
    frame = pl.DataFrame({"state": states})
    schema = om.Schema(state=om.Flat())
    given_ = {"state": STATES}
    distances = {}
    for region in ("Midwest", "South", "West"):
        released = pl.DataFrame({"state": [region] * 6})
        found = om.evaluate(frame, released, schema, hierarchies=given_).loss.columns[0]
        members = [state for state, one in REGIONS.items() if one == region]
        expected = [mean_distance(state, members, states, unequal) for state in states]
        assert found.semantic_loss == pytest.approx(np.mean(expected))
        distances[region] = expected
    assert distances["Midwest"] == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1, 1, 1])
    assert distances["South"][3] == 0


def test_loss_of_flat_columns_and_numbers_by_hand():
    states = ["Ohio", "Ohio", "Iowa", "Texas", "Utah", "Nevada", "Texas", "Texas"]
    ages = [3, 9, 14, 15, 27, 40, 90, 95]
    frame = pl.DataFrame({"state": states, "age": ages})
    released = pl.DataFrame(
        {
            "state": [*(REGIONS[state] for state in states[:5]), "*", "*", "Texas"],
            "age": ["0-9", "0-9", "[10, 20)", "[10, 20)", "*", "< 50", "90+", "95"],
        }
    )
    schema = om.Schema(state=om.Flat(), age=om.Numeric())
    found = om.evaluate(frame, released, schema, hierarchies={"state": STATES}).loss
    deviation = np.std(ages, ddof=1)

    def years(one, other):
        return abs(one - other) / deviation

    sets = [[3, 9], [3, 9], [14, 15], [14, 15], ages, [3, 9, 14, 15, 27, 40], [90, 95], [95]]
    below = [[s for s in REGIONS if REGIONS[s] == REGIONS[one]] for one in states[:5]]
    below += [list(REGIONS), list(REGIONS), ["Texas"]]
    moved = [
        [mean_distance(x, g, states, unequal) for x, g in zip(states, below, strict=True)],
        [mean_distance(x, g, ages, years) for x, g in zip(ages, sets, strict=True)],
    ]
    centers = [[unequal(x, "Texas") for x in states], [years(x, np.mean(ages)) for x in ages]]
    stars = [
        [mean_distance(x, list(REGIONS), states, unequal) for x in states],
        [mean_distance(x, ages, [*ages], years) for x in ages],
    ]
    several = [[True] * 7 + [False], [True] * 7 + [False]]
    assert found.sse == pytest.approx((np.mean(moved, axis=0) ** 2).sum())
    assert found.sst == pytest.approx((np.mean(centers, axis=0) ** 2).sum())
    assert found.loss == pytest.approx(loss_of(moved, centers, stars, several))
    assert found.values_changed == 13 / 16  # the South is Texas alone here


def test_a_concept_is_a_set_after_generalization_and_a_point_after_clustering():
    values = [*"aaabbcxyzz"]
    frame = pl.DataFrame({"d": values})
    schema = om.Schema(d=om.Nominal(PLACES))
    up = {**dict.fromkeys("abc", "north"), **dict.fromkeys("xyz", "south")}
    released = pl.DataFrame({"d": [up[value] for value in values]})
    matrix = PLACES.distances([*"abcxyz", "north", "south"])
    names = [*"abcxyz", "north", "south"]

    def semantic(one, other):
        return matrix[names.index(one), names.index(other)]

    as_points = om.evaluate(frame, released, schema).loss.semantic_loss
    assert as_points == pytest.approx(np.mean([semantic(one, up[one]) for one in values]))
    expected = [
        mean_distance(one, [y for y in "abcxyz" if up[y] == up[one]], values, semantic)
        for one in values
    ]
    as_sets = om.evaluate(frame, released, schema, hierarchies={"d": PLACES}).loss.semantic_loss
    assert as_sets == pytest.approx(np.mean(expected))
    method = om.Generalization([om.privacy.KAnonymity(3)])
    own = om.protect(frame, schema, method, seed=1)
    assert own.frame["d"].to_list() == released["d"].to_list()
    assert own.evaluate().loss.semantic_loss == pytest.approx(as_sets)


numbers = st.lists(st.integers(0, 6), min_size=2, max_size=9)


@given(numbers, st.data())
@settings(max_examples=80, deadline=None)
def test_a_loss_is_between_nothing_and_everything(ages, data):
    """Whatever is released: other numbers, intervals, stars, or nothing."""
    label = st.sampled_from(["0-3", "4-6", "2+", "< 5", "*", "1", "6", None, "0-6", "8-9"])
    released = data.draw(st.lists(label, min_size=len(ages), max_size=len(ages)))
    frame, schema = pl.DataFrame({"age": ages}), om.Schema(age=om.Numeric())
    masked = pl.DataFrame({"age": released}, schema={"age": pl.String})
    found = om.evaluate(frame, masked, schema)
    assert 0 <= found.loss.loss <= 1
    assert 0 <= found.score <= 1


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcxyz")), min_size=2, max_size=9))
@settings(max_examples=60, deadline=None)
def test_stars_and_the_centroid_everywhere_are_a_loss_of_everything(rows):
    frame = pl.DataFrame(rows, schema=["n", "d"], orient="row")
    schema = om.Schema(n=om.Numeric(), d=om.Flat())
    stars = pl.DataFrame({"n": ["*"] * len(rows), "d": ["*"] * len(rows)})
    mode = max(sorted({d for _, d in rows}), key=[d for _, d in rows].count)
    firsts = [d for _, d in rows]
    mode = max(dict.fromkeys(firsts), key=firsts.count)
    center = frame.with_columns(n=pl.lit(float(np.mean([n for n, _ in rows]))), d=pl.lit(mode))
    varies = len({*rows}) > 1
    assert om.evaluate(frame, stars, schema).loss.loss == pytest.approx(float(varies))
    assert om.evaluate(frame, center, schema).loss.loss == pytest.approx(float(varies))
    assert om.evaluate(frame, frame, schema).loss.loss == 0


@given(numbers, st.data())
@settings(max_examples=60, deadline=None)
def test_linkage_of_intervals_agrees_with_the_definition(ages, data):
    sets = {"0-3": range(4), "4-6": range(4, 7), "2+": range(2, 7), "*": range(7), "5": [5]}
    labels = data.draw(st.lists(st.sampled_from([*sets]), min_size=len(ages), max_size=len(ages)))
    deviation = float(np.std(ages, ddof=1)) or 1.0

    def distance(age, label):
        members = [one for one in sets[label] if one in ages]
        if label == "5" or not members:
            middle = {"0-3": 1.5, "4-6": 5.0, "2+": 2.0, "5": 5.0}[label]
            return abs(age - middle) / deviation
        return mean_distance(age, members, ages, lambda x, y: abs(x - y) / deviation)

    def risk(apart, most=np.inf):
        total = 0.0
        for place, age in enumerate(ages):
            found = [apart(age, label) for label in labels]
            near = [spot for spot, one in enumerate(found) if one <= min(found) + 1e-9]
            total += place in near and min(found) < most and 1 / len(near)
        return total / len(ages)

    frame, masked = pl.DataFrame({"n": ages}), pl.DataFrame({"n": labels})
    schema = om.Schema(n=om.Numeric())
    assert om.measuring.record_linkage(frame, masked, schema).risk == pytest.approx(risk(distance))
    inside = risk(lambda age, label: float(age not in sets[label]), most=1)
    found = om.measuring.record_linkage(frame, masked, schema, distance="matching").risk
    assert found == pytest.approx(inside)


def test_means_and_correlations_use_what_is_expected():
    ages, pay = [21, 23, 35, 38, 39, 60], [1.0, 2.0, 2.0, 5.0, 3.0, 9.0]
    frame = pl.DataFrame({"age": ages, "pay": pay})
    labels = ["20-29", "20-29", "30-39", "30-39", "30-39", "*"]
    schema = om.Schema(age=om.Numeric(), pay=om.Numeric())
    found = om.evaluate(frame, frame.with_columns(age=pl.Series(labels)), schema).statistics
    values = {(one.name, one.columns): one.masked for one in found}
    expected = [22, 22, 112 / 3, 112 / 3, 112 / 3]
    assert values["mean", ("age",)] == pytest.approx(np.mean(expected))
    assert values["variance", ("age",)] == pytest.approx(np.var(expected, ddof=1))
    assert values["correlation", ("age", "pay")] == pytest.approx(
        np.corrcoef(expected, pay[:5])[0, 1]
    )


def test_what_cannot_be_read_is_said():
    frame = pl.DataFrame({"age": [21, 29, 34, 80], "job": ["a", "b", "c", "d"]})
    masked = pl.DataFrame({"age": ["young", "young", "30+", "30+"], "job": ["low", "b", "c", "d"]})
    schema = om.Schema(age=om.Numeric(), job=om.Flat())
    notes = om.evaluate(frame, masked, schema).notes
    assert "Column 'age': 1 of 2 released labels could not be read" in notes[0]
    assert "Column 'job': 1 of 4 released labels could not be read" in notes[1]
    rows = {"job": [["a", "low"], ["b", "low"], ["c", "high"], ["d", "high"]]}
    assert len(om.evaluate(frame, masked, schema, hierarchies=rows).notes) == 1


@pytest.mark.parametrize(
    ("hierarchies", "sentence"),
    [
        ({"agee": [["1", "*"]]}, "hierarchies names 'agee', which is not a published column"),
        ({"age": 3}, "must be a path, rows of values, or a Hierarchy, not int"),
    ],
)
def test_hierarchies_that_cannot_be_used(hierarchies, sentence):
    frame = pl.DataFrame({"age": [1, 2]})
    with pytest.raises(om.errors.ParameterError, match=sentence):
        om.evaluate(frame, frame, om.Schema(age=om.Numeric()), hierarchies=hierarchies)


# Starred records ------------------------------------------------------------------------------


TOWNS = pl.DataFrame({"town": ["a"] * 6 + ["b", "c", "d"], "sex": ["m", "f"] * 4 + ["m"]})
SEXES = (["m", "*"], ["f", "*"])
TOWN_SCHEMA = om.Schema(town=om.Flat(), sex=om.Flat())


@pytest.mark.parametrize(
    ("method", "left_out", "starred"),
    [
        (om.Suppression(2), 3, 0),
        (om.Suppression(2, outliers="star"), 0, 3),
        (
            om.Generalization(
                [om.privacy.KAnonymity(3)],
                suppression_limit=0.4,
                hierarchies={
                    "town": [[one, "*"] for one in "abcd"],
                    "sex": [["m", "*"], ["f", "*"]],
                },
            ),
            0,
            3,
        ),
    ],
)
def test_starred_records_are_suppressed_in_every_count(method, left_out, starred):
    release = om.protect(TOWNS, TOWN_SCHEMA, method, seed=1)
    loss = release.evaluate().loss
    for found in (release, loss):
        assert (found.left_out, found.starred, found.suppressed) == (left_out, starred, 3)
    (cell,) = om.compare(TOWNS, TOWN_SCHEMA, {"one": [method]}, k=3, workers=1).cells[:1]
    assert (cell.left_out, cell.starred, cell.suppressed) == (left_out, starred, 3)


def test_a_record_with_some_stars_is_not_suppressed():
    masked = TOWNS.with_columns(town=pl.lit("*"))
    loss = om.evaluate(TOWNS, masked, TOWN_SCHEMA).loss
    assert (loss.suppressed, loss.starred) == (0, 0)
    gone = masked.with_columns(sex=pl.Series(["*"] * 2 + [None] + ["m"] * 6))
    assert om.evaluate(TOWNS, gone, TOWN_SCHEMA).loss.starred == 3


# Pairs of columns -----------------------------------------------------------------------------


def distance_correlation(first, second, weights):
    """Szekely, Rizzo and Bakirov (2007), over records that stand for so many people each."""
    shares = weights / weights.sum()

    def centered(apart):
        rows = apart @ shares
        return apart - rows[:, None] - rows[None, :] + shares @ apart @ shares

    one, other = centered(first), centered(second)
    pair, own, others = (
        np.sqrt(shares @ (a * b) @ shares) for a, b in ((one, other), (one, one), (other, other))
    )
    return pair / np.sqrt(own * others) if own * others > 0 else 0.0


def test_every_pair_of_published_columns_has_a_measure():
    draw = np.random.default_rng(5)
    order = ["none", "mild", "grave"]
    count = 40
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 60, count),
            "pay": draw.normal(size=count).round(3),
            "pain": draw.choice(order, count),
            "job": draw.choice(["cook", "nurse"], count),
            "ill": draw.choice([*"abcxyz"], count),
            "w": draw.integers(1, 4, count).astype(float),
        }
    )
    schema = om.Schema(
        age=om.Numeric(),
        pay=om.Numeric(role="other"),
        pain=om.Ordinal(order=order, role="sensitive"),
        job=om.Flat(role="other"),
        ill=om.Nominal(PLACES),
        w=om.Weight(),
    )
    release = om.protect(frame, schema, om.Microaggregation(4), seed=1)
    found = {one.columns: one for one in release.evaluate().statistics if "correlation" in one.name}
    names = [name for name in frame.columns if name != "w"]
    assert {*found} == {(a, b) for place, a in enumerate(names) for b in names[place + 1 :]}
    concepts = [*"abcxyz", "north", "south", "any"]
    matrix = PLACES.distances(concepts)

    def apart(table, name):
        values = table[name].to_list()
        if name in ("age", "pay", "pain"):
            numbers = np.array([order.index(x) if name == "pain" else x for x in values], float)
            return np.abs(numbers[:, None] - numbers)
        if name == "job":
            return np.array([[float(x != y) for y in values] for x in values])
        places = [concepts.index(x) for x in values]
        return matrix[np.ix_(places, places)]

    weights = frame["w"].to_numpy()
    for (first, second), one in found.items():
        for table, figure in ((frame, one.original), (release.frame, one.masked)):
            if one.name == "correlation":
                numbers = [table[name].to_numpy() for name in (first, second)]
                expected = np.cov(*numbers, aweights=weights)
                expected = expected[0, 1] / np.sqrt(expected[0, 0] * expected[1, 1])
            else:
                tables = [apart(table, name) for name in (first, second)]
                expected = distance_correlation(*tables, weights)
            assert figure == pytest.approx(expected), (first, second)
    kinds = {names: one.name for names, one in found.items()}
    assert kinds["age", "pay"] == "correlation"
    assert kinds["age", "ill"] == kinds["pain", "job"] == "distance correlation"


def test_large_columns_are_compared_on_records_spread_evenly():
    draw = np.random.default_rng(6)
    numbers = draw.normal(size=1500)
    frame = pl.DataFrame({"n": numbers, "s": np.where(numbers > 0, "up", "down")})
    schema = om.Schema(n=om.Numeric(role="other"), s=om.Flat(role="other"))
    (found,) = [
        one for one in om.evaluate(frame, frame, schema).statistics if one.name.startswith("dist")
    ]
    rows = np.arange(1000) * 1500 // 1000
    part, signs = numbers[rows], numbers[rows] > 0
    expected = distance_correlation(
        np.abs(part[:, None] - part), (signs[:, None] != signs).astype(float), np.ones(1000)
    )
    assert found.original == pytest.approx(expected)


def test_distances_of_numbers_to_sets_are_the_same_however_many_at_a_time(monkeypatch):
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({"x": [None, *generator.integers(0, 50, 60).tolist()]})
    lows = [None if one is None else one // 10 * 10 for one in frame["x"]]
    shown = [None if low is None else f"[{low}, {low + 10})" for low in lows]
    masked = frame.with_columns(x=pl.Series(shown))
    schema = om.Schema(x=om.Numeric())
    asked = {"distances": ["semantic", "s-distance", "euclidean"]}
    expected = om.evaluate(frame, masked, schema, **asked)
    rooms = []
    monkeypatch.setattr(
        "ontomask.evaluation.sides.row_blocks",
        lambda *given: rooms.append(given[-1]) or row_blocks(*given[:2], 1),
    )
    found = om.evaluate(frame, masked, schema, **asked)
    assert rooms
    assert (found.loss, found.linkage) == (expected.loss, expected.linkage)


def numbers_in_sets(count):
    """Numbers, of which some are released as intervals, as odd or even, as they are, or not."""
    generator = np.random.default_rng(count)
    columns, shown = {}, {}
    for name in "xy":
        numbers = generator.integers(0, 40, count).tolist()
        ways = generator.integers(0, 8, count).tolist()
        lows = [one // 5 * 5 for one in numbers]
        words = ["*", "odd or even", None, *["interval"] * 3, "itself", "itself"]
        told = {
            "*": lambda one, low: "*",
            "odd or even": lambda one, low: ("even", "odd")[one % 2],
            "interval": lambda one, low: f"[{low}, {low + 5})",
            "itself": lambda one, low: str(one),
            None: lambda one, low: None,
        }
        each = zip(numbers, lows, ways, strict=True)
        shown[name] = [told[words[way]](one, low) for one, low, way in each]
        columns[name] = [None if place % 11 == 3 else one for place, one in enumerate(numbers)]
    levels = [[str(one), ("even", "odd")[one % 2], "*"] for one in range(40)]
    hierarchies = {"x": levels, "y": levels}
    return pl.DataFrame(columns), pl.DataFrame(shown), hierarchies


@pytest.mark.parametrize("entries", [1, 70, 2**18])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_links_are_the_same_without_tables_of_numbers_and_sets(entries, threads, monkeypatch):
    frame, masked, hierarchies = numbers_in_sets(300)
    schema = om.Schema(x=om.Numeric(), y=om.Numeric())
    asked = {
        "distances": ["semantic", "s-distance", "euclidean", "matching"],
        "hierarchies": hierarchies,
    }
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    expected = om.evaluate(frame, masked, schema, **asked)
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    monkeypatch.setattr("ontomask.kernels.neighbors.SMALLEST_SHARE", 1)
    monkeypatch.setattr("ontomask.evaluation.linkage.SMALL_TABLE", 0)
    monkeypatch.setattr("ontomask.kernels.tiles.ENTRIES", entries)
    assert om.evaluate(frame, masked, schema, **asked) == expected


def test_distances_to_sets_of_numbers_that_do_not_lie_together():
    frame, masked, hierarchies = numbers_in_sets(60)
    schema = om.Schema(x=om.Numeric(), y=om.Numeric())
    sides = pair_tables(frame, masked, schema, hierarchies=hierarchies).columns["x"].sides
    rows, found = sides.shares.dense(), sides.to_sets
    assert any((np.diff(np.flatnonzero(one)) > 1).any() for one in rows)
    apart = np.abs(np.subtract.outer(sides.numbers, sides.numbers)) / sides.deviation
    apart[-1], apart[:, -1], apart[-1, -1] = 1.0, 1.0, 0.0
    np.testing.assert_allclose(found, apart @ rows.T, atol=1e-12)


def test_numbers_and_fine_intervals_take_no_table():
    """50,000 amounts in a thousand intervals took 1.5 GB."""
    numbers = np.arange(6_000) + 0.5
    shown = [f"[{low}, {low + 10})" for low in (numbers // 10 * 10).astype(int).tolist()]
    frame, masked = pl.DataFrame({"x": numbers}), pl.DataFrame({"x": shown})
    schema = om.Schema(x=om.Numeric())
    om.evaluate(frame[:20], masked[:20], schema)
    tracemalloc.start()
    found = om.evaluate(frame, masked, schema, distances=["semantic"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.linkage[0].risk == pytest.approx(0.1)
    assert peak < 6_000 * 600 * 8
