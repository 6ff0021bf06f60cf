from __future__ import annotations

import math

import numpy as np
import pytest

import ontomask as om
from ontomask.errors import DataError, FormatError, ParameterError, StructureError
from ontomask.taxonomy import from_numbers
from ontomask.taxonomy.from_data import (
    date_hierarchy,
    frequency_hierarchy,
    masking_hierarchy,
    order_hierarchy,
)
from ontomask.taxonomy.from_numbers import cut_hierarchy, interval_hierarchy
from ontomask.taxonomy.hierarchies import Hierarchy

ROWS = [
    ["Bachelors", "Undergraduate", "Higher", "*"],
    ["Masters", "Graduate", "Higher", "*"],
    ["11th", "High School", "Secondary", "*"],
    ["12th", "High School", "Secondary", "*"],
]


def path(hierarchy, value):
    """All generalizations of a value."""
    row = hierarchy.values.index(value)
    pairs = zip(hierarchy.labels, hierarchy.levels[:, row], strict=True)
    return [labels[code] for labels, code in pairs]


def test_rows_become_levels():
    hierarchy = Hierarchy.from_rows(ROWS)
    assert hierarchy.values == ("Bachelors", "Masters", "11th", "12th")
    assert (hierarchy.height, hierarchy.rows) == (3, 4)
    assert hierarchy.widths.tolist() == [4, 3, 2, 1]
    for row in ROWS:
        assert path(hierarchy, row[0]) == row
    assert hierarchy.shares[1].tolist() == [0.25, 0.25, 0.5, 0.5]
    assert hierarchy.shares[3].tolist() == [1.0] * 4


def test_distances_count_real_steps_only():
    """Bachelors is alone in Undergraduate: the first step says nothing new."""
    hierarchy = Hierarchy.from_rows(ROWS)
    # Bachelors = Undergraduate, Higher, *: three meanings; 11th, High School = Secondary, *: three
    assert hierarchy.distances[:, 0] == pytest.approx(
        [0, 0, math.log2(2 - 2 / 3), math.log2(2 - 1 / 3)]
    )
    assert hierarchy.distances[:, 2] == pytest.approx(
        [0, math.log2(2 - 2 / 3), math.log2(2 - 2 / 3), math.log2(2 - 1 / 3)]
    )


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_files_are_read_with_any_separator(tmp_path, separator):
    file = tmp_path / "education.csv"
    file.write_text("\n".join(separator.join(row) for row in ROWS), encoding="utf-8")
    hierarchy = Hierarchy.from_csv(file)
    assert path(hierarchy, "12th") == ROWS[3]


def test_commas_inside_values_do_not_separate(tmp_path):
    file = tmp_path / "age.csv"
    file.write_text("1;[0, 5);[0, 10);*\n7;[5, 10);[0, 10);*\n", encoding="utf-8")
    assert path(Hierarchy.from_csv(file), "7") == ["7", "[5, 10)", "[0, 10)", "*"]
    assert Hierarchy.from_csv(file, separator=";").height == 3


def test_a_value_twice_is_one_row():
    assert Hierarchy.from_rows([*ROWS, ROWS[0]]).rows == 4


def test_errors_name_the_value(tmp_path):
    with pytest.raises(
        StructureError, match="row 2: the row of 'b' has 2 levels and the first row 3"
    ):
        Hierarchy.from_rows([["a", "x", "*"], ["b", "*"]])
    with pytest.raises(StructureError, match="row of 'b' has an empty cell at level 1"):
        Hierarchy.from_rows([["a", "x", "*"], ["b", "", "*"]])
    with pytest.raises(StructureError, match=r"'x' at level 1 becomes '\+' at level 2 but '\*' in"):
        Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "+"]])
    with pytest.raises(StructureError, match=r"'a' has a row already .*row 1"):
        Hierarchy.from_rows([["a", "x", "*"], ["a", "y", "*"]])
    with pytest.raises(StructureError, match="has no rows"):
        Hierarchy.from_rows([])
    file = tmp_path / "ragged.csv"
    file.write_text("a;x;*\nb;*\n", encoding="utf-8")
    with pytest.raises(StructureError, match="line 2: the row of 'b' has 2 levels"):
        Hierarchy.from_csv(file)
    file.write_text('a;"x;*\n', encoding="utf-8")
    with pytest.raises(FormatError, match="quotation mark"):
        Hierarchy.from_csv(file, separator=";")


def test_a_value_without_row_is_an_error_that_names_it():
    hierarchy = Hierarchy.from_rows(ROWS)
    assert hierarchy.encode(["12th", "Masters"]).tolist() == [3, 1]
    with pytest.raises(DataError, match=r"Column 'school' holds 'Mastes' and 1 more.*'Masters'"):
        hierarchy.encode(["12th", "Mastes", "PhD"], "school")


def test_missing_values_stay_apart_until_the_top():
    hierarchy = Hierarchy.from_rows(ROWS).with_missing_value("?")
    assert path(hierarchy, "?") == ["?", "?", "?", "*"]
    assert hierarchy.distances.shape == (4, 5)
    assert hierarchy.distances[:3, 4].tolist() == [0, 0, 0]
    assert hierarchy.distances[3, 4] > 0


# From taxonomies ------------------------------------------------------------------------------


def animals():
    """Uneven paths; the bat has two parents, of which the flyer is the deeper."""
    return om.Taxonomy.from_parents(
        {
            "animal": [],
            "mammal": ["animal"],
            "bird": ["animal"],
            "flyer": ["bird"],
            "cat": ["mammal"],
            "lion": ["cat"],
            "eagle": ["flyer"],
            "bat": ["mammal", "flyer"],
        }
    )


def test_steps_climb_from_every_value():
    hierarchy = Hierarchy.from_taxonomy(animals(), ["lion", "mammal", "eagle", "bat"])
    assert path(hierarchy, "lion") == ["lion", "cat", "mammal", "animal"]
    assert path(hierarchy, "mammal") == ["mammal", "animal", "animal", "animal"]
    assert path(hierarchy, "eagle") == ["eagle", "flyer", "bird", "animal"]
    assert path(hierarchy, "bat") == ["bat", "flyer", "bird", "animal"]


def test_by_depth_only_the_deepest_climb():
    hierarchy = Hierarchy.from_taxonomy(animals(), ["lion", "mammal", "eagle"], by="depth")
    assert path(hierarchy, "lion") == ["lion", "cat", "mammal", "animal"]
    assert path(hierarchy, "mammal") == ["mammal", "mammal", "mammal", "animal"]


def test_paths_end_where_they_meet():
    hierarchy = Hierarchy.from_taxonomy(animals(), ["eagle", "bat", "flyer"])
    assert hierarchy.labels[-1] == ("flyer",)
    assert path(hierarchy, "flyer") == ["flyer", "flyer"]
    assert Hierarchy.from_taxonomy(animals(), ["lion"]).height == 0


def test_of_equally_deep_parents_the_first_by_id_is_taken():
    taxonomy = om.Taxonomy.from_parents(
        {"top": [], "z": ["top"], "b": ["top"], "x": ["z", "b"], "y": ["z"]}
    )
    hierarchy = Hierarchy.from_taxonomy(taxonomy, ["x", "y"])
    assert path(hierarchy, "x") == ["x", "b", "top"]


@pytest.mark.parametrize("by", ["steps", "depth"])
def test_distances_are_those_of_the_taxonomy(icd9, by):
    values = [icd9.ids[number] for number in np.flatnonzero(icd9.leaf_mask)[::97]]
    hierarchy = Hierarchy.from_taxonomy(icd9, values, by=by)
    assert hierarchy.widths[-1] == 1
    for row in (0, 11, 40):
        for level, labels in enumerate(hierarchy.labels):
            ancestor = labels[hierarchy.levels[level, row]]
            assert ancestor in icd9.ancestors(values[row])
            expected = icd9.distance(values[row], ancestor, "logsc")
            assert hierarchy.distances[level, row] == pytest.approx(expected)


def test_another_measure_for_the_distances():
    plain = Hierarchy.from_taxonomy(animals(), ["lion", "eagle"])
    other = Hierarchy.from_taxonomy(animals(), ["lion", "eagle"], measure="path")
    assert other.distances[:, 0].tolist() == [0, 1, 2, 3]
    assert plain.distances[1, 0] == pytest.approx(math.log2(2 - 3 / 4))


# Builders -------------------------------------------------------------------------------------


def test_intervals_with_bottom_and_top_coding():
    hierarchy = interval_hierarchy([3, 17, 42, 89, 95], [5, 10, 20], bottom=10, top=90)
    assert path(hierarchy, "17") == ["17", "[15, 20)", "[10, 20)", "[10, 20)", "*"]
    assert path(hierarchy, "3") == ["3", "< 10", "< 10", "< 10", "*"]
    assert path(hierarchy, "95") == ["95", ">= 90", ">= 90", ">= 90", "*"]
    assert path(hierarchy, "89") == ["89", "[85, 90)", "[80, 90)", "[80, 90)", "*"]


def test_intervals_of_negative_and_broken_numbers():
    hierarchy = interval_hierarchy([-0.5, 0.25, "1.0"], [0.5, 1])
    assert path(hierarchy, "-0.5") == ["-0.5", "[-0.5, 0)", "[-1, 0)", "*"]
    assert path(hierarchy, "0.25")[1:3] == ["[0, 0.5)", "[0, 1)"]
    assert path(interval_hierarchy([7], [5], origin=1), "7") == ["7", "[6, 11)", "*"]


def test_an_interval_is_written_once_however_many_numbers_it_holds(monkeypatch):
    """In any order, below and above the ends, and for numbers that are written in two ways."""
    floor, asked = from_numbers._floor, []
    monkeypatch.setattr(from_numbers, "_floor", lambda *given: asked.append(1) or floor(*given))
    numbers = np.random.default_rng(1).permutation(np.arange(-3000, 3000)).tolist()
    texts = [*(f"{number / 100:.2f}" for number in numbers), "7", "7.0"]
    hierarchy = interval_hierarchy(texts, [5, 10], bottom=-20, top=22)
    expected = []
    for text in texts:
        number, row = float(text), [text]
        for width in (5, 10):
            left = math.floor(number / width) * width
            inside = f"[{max(left, -20)}, {min(left + width, 22)})"
            row.append("< -20" if number < -20 else ">= 22" if number >= 22 else inside)
        expected.append([*row, "*"])
    assert hierarchy.cells() == expected
    assert len(asked) == 9 + 5


def test_cuts_are_thinned_out_from_level_to_level():
    ages, cuts = list(range(90)), [6, 18, 25, 40, 65]
    hierarchy = cut_hierarchy(ages, cuts)
    for level, left in enumerate([[6, 18, 25, 40, 65], [18, 40], [40]], start=1):
        groups = [path(hierarchy, str(age))[level] for age in ages]
        changes = [age for age in ages[1:] if groups[age] != groups[age - 1]]
        assert changes == left
    assert path(hierarchy, "18") == ["18", "[18, 25)", "[18, 40)", "< 40", "*"]
    assert path(cut_hierarchy([0.25], [0.1, 1e3]), "0.25")[1] == "[0.1, 1000)"
    with pytest.raises(ParameterError, match="cuts must ascend, but 5 follows 5"):
        cut_hierarchy([1], [5, 5])
    with pytest.raises(ParameterError, match="cuts"):
        cut_hierarchy([1], [])


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.from_rows(ROWS),
        cut_hierarchy([3, 17, 42, 89, 95], [18, 65, 90]),
        interval_hierarchy([3, 17, 42, 89, 95], [5, 10, 20], bottom=10, top=90),
        masking_hierarchy(["28013", "80", "28099"]),
        date_hierarchy(["2019-03-31", "2019-04-01", "2021-04-01"]),
        order_hierarchy(["none", "mild", "fair", "bad", "worst"]),
        frequency_hierarchy(list("aaaaabbbc"), [2, 4]),
    ],
)
def test_every_hierarchy_can_be_seen_as_a_taxonomy(hierarchy):
    taxonomy = hierarchy.to_taxonomy("seen")
    assert taxonomy.name == "seen"
    assert taxonomy.root == "*"
    for value in hierarchy.values:
        expected = list(dict.fromkeys(path(hierarchy, value)))
        assert list(reversed(taxonomy.ancestors(value))) == expected
    again = Hierarchy.from_taxonomy(taxonomy, hierarchy.values)
    assert again.values == hierarchy.values
    assert again.labels[-1] == ("*",)


def test_a_name_for_two_things_is_a_hierarchy_but_no_taxonomy():
    rows = [["a", "x", "y", "*"], ["x", "z", "z", "*"]]
    with pytest.raises(StructureError, match=r"The hierarchy, row 2: 'x' .* means two things"):
        Hierarchy.from_rows(rows).to_taxonomy()


def test_bounds_are_written_as_intervals_are():
    hierarchy = interval_hierarchy([1, 2e6], [5e5], bottom=5.0, top=1e6)
    assert path(hierarchy, "1")[1] == "< 5"
    assert path(hierarchy, "2000000.0")[1] == ">= 1000000"


def test_masks():
    hierarchy = masking_hierarchy(["28013", "8013", "28099"])
    assert path(hierarchy, "28013") == ["28013", "2801*", "280**", "28***", "2****", "*"]
    assert path(hierarchy, "8013")[1] == "8013*"
    short = masking_hierarchy(["28013", "80"])
    assert path(short, "80") == ["80", "80***", "80***", "80***", "8****", "*"]
    left = masking_hierarchy(["28013", "28099"], from_right=False, character="#")
    assert path(left, "28013")[1:3] == ["#8013", "##013"]


def test_dates():
    hierarchy = date_hierarchy(["2019-03-31", "2019-04-01"])
    assert path(hierarchy, "2019-03-31") == [
        "2019-03-31",
        "2019-03",
        "2019-Q1",
        "2019",
        "2010s",
        "*",
    ]
    weeks = date_hierarchy(["2019-12-30", "2020-01-02"], ["week", "century"])
    assert path(weeks, "2019-12-30")[1:3] == ["2020-W01", "2000s"]


def test_order():
    hierarchy = order_hierarchy(["none", "mild", "fair", "bad", "worst"])
    assert path(hierarchy, "fair") == ["fair", "fair – bad", "none – bad", "*"]
    assert path(hierarchy, "worst") == ["worst", "worst", "worst", "*"]
    assert order_hierarchy(list("abc"), fanout=3).height == 1


def test_frequency():
    hierarchy = frequency_hierarchy(list("aaaaabbbc"), [2, 4])
    assert path(hierarchy, "c") == ["c", "other", "other", "*"]
    assert path(hierarchy, "b") == ["b", "b", "other", "*"]
    assert path(hierarchy, "a") == ["a", "a", "a", "*"]


def test_missing_values_are_skipped():
    assert interval_hierarchy([1, None, float("nan"), " ", 2], [5]).values == ("1", "2")


def test_mistakes_with_builders():
    with pytest.raises(ParameterError, match="7 is no multiple of 5"):
        interval_hierarchy([1], [5, 7])
    with pytest.raises(ParameterError, match="widths must be a list that is not empty"):
        interval_hierarchy([1], [])
    with pytest.raises(ParameterError, match="bottom must not be above top"):
        interval_hierarchy([1], [5], bottom=9, top=3)
    with pytest.raises(ParameterError, match="finite numbers, not 'x'"):
        interval_hierarchy(["x"])
    with pytest.raises(ParameterError, match=r"'2\*' holds the masking character"):
        masking_hierarchy(["2*"])
    with pytest.raises(ParameterError, match="single visible character"):
        masking_hierarchy(["2"], character="**")
    with pytest.raises(ParameterError, match=r"dates or ISO texts .* not 'soon'"):
        date_hierarchy(["soon"])
    with pytest.raises(ParameterError, match="units must be a list"):
        date_hierarchy(["2019-03-01"], ["fortnight"])
    with pytest.raises(ParameterError, match="thresholds must rise"):
        frequency_hierarchy(["a"], [5, 2])
    with pytest.raises(ParameterError, match="holds 'other' itself"):
        frequency_hierarchy(["other"])
    with pytest.raises(ParameterError, match="not the text 'abc'"):
        order_hierarchy("abc")
    with pytest.raises(ParameterError, match="by must be one of 'steps', 'depth'"):
        Hierarchy.from_taxonomy(animals(), ["lion"], by="level")


NEAR = ["0.1", "0.10000000000000000001", "0.09999999999999999999", "0.1000", "1e400", "-1e400"]
"""Numbers that floats do not tell apart, and that none of them holds."""


def test_numbers_that_floats_do_not_tell_apart_lie_in_their_intervals_and_between_their_cuts():
    hierarchy = interval_hierarchy([*NEAR, "7"], [0.1], bottom=-5, top=5)
    assert [row[1] for row in hierarchy.cells()] == [
        "[0.1, 0.2)",
        "[0.1, 0.2)",
        "[0, 0.1)",
        "[0.1, 0.2)",
        ">= 5",
        "< -5",
        ">= 5",
    ]
    cut = cut_hierarchy([*NEAR, "7"], [0, 0.1, 6])
    middle, upper, below = "[0, 0.1)", "[0.1, 6)", "< 0"
    assert [row[1] for row in cut.cells()] == [
        upper,
        upper,
        middle,
        upper,
        ">= 6",
        below,
        ">= 6",
    ]
    assert [row[2] for row in cut.cells()] == [
        *[">= 0.1"] * 2,
        "< 0.1",
        *[">= 0.1"] * 2,
        "< 0.1",
        ">= 0.1",
    ]


def test_columns_make_the_hierarchy_that_rows_make():
    """Whatever order the labels come in, unused ones among them, and with a row for gaps."""
    generator = np.random.default_rng(3)
    values = [f"v{place}" for place in generator.permutation(60)]
    fine = generator.integers(0, 9, 60)
    coarse = np.array([4, 1, 1, 3, 4, 0, 3, 1, 0])[fine]
    names, others = [f"f{place}" for place in range(12)], ["a", "b", "c", "d", "e"]
    rows = [
        [value, names[own], others[other], "*"]
        for value, own, other in zip(values, fine, coarse, strict=True)
    ]
    root = (np.zeros(60, np.int32), ("*",))
    built = Hierarchy.from_columns(values, [(fine, names), (coarse, others), root])
    expected = Hierarchy.from_rows(rows)
    for one, other in (
        (built, expected),
        (built.with_missing_value("?"), Hierarchy.from_rows([*rows, ["?", "?", "?", "*"]])),
    ):
        assert one.labels == other.labels
        assert np.array_equal(one.levels, other.levels)
        assert np.array_equal(one.distances, other.distances)
    with pytest.raises(StructureError, match=r"row 2: 'b' at level 1 becomes 'y' at level 2 but"):
        Hierarchy.from_columns(["u", "w"], [(np.zeros(2, int), "b"), (np.arange(2), "xy")])
