"""Charts as SVG: measured in the parsed drawing, against arithmetic of the test's own."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import pytest
from defusedxml import ElementTree

from ontomask.report import figures
from ontomask.report.charts import Mark, columns_chart, dumbbell_chart, pairs_chart
from ontomask.report.discretion import Discretion
from ontomask.report.drawing import draw
from ontomask.report.svg import width

MARKS = [Mark("a", 10.0, 20.0, "10%", "20%"), Mark("b", 5.0, 0.0, "5%", "none")]
CHARTS = {"pairs": pairs_chart, "columns": columns_chart, "dumbbells": dumbbell_chart}
every_chart = pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)


def drawn(chart):
    return ElementTree.fromstring(draw(chart, "it", "Title", "What is to be seen."))


def part(root, color, kind):
    """The elements of one kind in the groups of one color, with their attributes as numbers."""
    groups = [one for one in root.iter("g") if one.get("class") == color]
    return [
        {name: float(value) for name, value in one.items()}
        for group in groups
        for one in group
        if one.tag == kind
    ]


def texts(root):
    return ["".join(one.itertext()) for one in root.iter("text")]


# Structure ------------------------------------------------------------------------------------


@every_chart
@pytest.mark.parametrize("count", [0, 1, 2, 60])
def test_a_drawing_says_what_it_is_and_lies_in_its_frame(make, count):
    chart = make([Mark(f"group {place}", place / 60, place / 90) for place in range(count)])
    root = drawn(chart)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "it-title it-text"
    assert [(one.tag, one.get("id"), one.text) for one in root[:2]] == [
        ("title", "it-title", "Title"),
        ("desc", "it-text", "What is to be seen."),
    ]
    left, top, wide, high = map(float, root.get("viewBox").split())
    assert (left, top, wide) == (0, 0, 340)
    for one in root.iter():
        for name, value in one.items():
            if name in ("x", "x1", "x2", "cx"):
                assert 0 <= float(value) <= wide
            if name in ("y", "y1", "y2", "cy"):
                assert 0 <= float(value) <= high
    for one in root.iter("rect"):
        assert float(one.get("x")) + float(one.get("width")) <= wide + 0.1
        assert float(one.get("y")) + float(one.get("height")) <= high + 0.1


@every_chart
def test_a_drawing_is_the_same_every_time_and_asks_for_nothing(make):
    one = draw(make(MARKS), "it", "Title", "Text")
    assert one == draw(make(MARKS), "it", "Title", "Text")
    allowed = {"svg", "title", "desc", "g", "rect", "line", "circle", "text"}
    root = ElementTree.fromstring(one)
    assert {element.tag for element in root.iter()} <= allowed
    for name in ("href", "style", "xmlns", "url(", "on"):
        assert not re.search(rf"\s{re.escape(name)}\w*=", one), name


@every_chart
def test_everything_has_a_color_of_the_page_and_one_of_its_own(make):
    root = drawn(make(MARKS))
    colored = [one for one in root.iter("g") if one.get("class")]
    assert {one.get("class") for one in colored} >= {"before", "after", "line", "muted"}
    for one in colored:
        assert re.fullmatch("#[0-9a-f]{6}", one.get("color"))
        assert "currentColor" in (one.get("fill"), one.get("stroke"))
    shown = [one for one in root.iter() if one.tag in ("rect", "line", "circle", "text")]
    below = {id(inner) for one in colored for inner in one.iter()}
    unseen = {
        id(inner) for one in root.iter("g") if one.get("fill-opacity") == "0" for inner in one
    }
    assert all(id(one) in below | unseen for one in shown)


def test_drawing_takes_no_package_beyond_those_of_python():
    code = (
        "import sys, ontomask.report.drawing as room; from ontomask.report.charts import *; "
        "before = set(sys.modules); "
        "assert 'rect' in room.draw(pairs_chart([Mark('a', 1, 2)]), 'it', '', ''); "
        "assert set(sys.modules) == before, set(sys.modules) - before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Scales ---------------------------------------------------------------------------------------


def test_bars_are_as_long_as_their_numbers():
    marks = [Mark(str(place), place * 1.5, 30.0 - place) for place in range(1, 20)]
    root = drawn(pairs_chart(marks))
    longest = max(bar["width"] for bar in part(root, "after", "rect"))
    assert longest == pytest.approx(340 - 58, abs=0.1)
    for side in ("before", "after"):
        bars = part(root, side, "rect")
        assert len(bars) == len(marks)
        for mark, bar in zip(marks, bars, strict=True):
            assert bar["x"] == 0
            assert bar["width"] == pytest.approx(getattr(mark, side) / 29 * longest, abs=0.051)


def test_before_is_above_after_and_rows_do_not_touch():
    root = drawn(pairs_chart(MARKS * 5))
    before = [bar["y"] for bar in part(root, "before", "rect")]
    after = [bar["y"] for bar in part(root, "after", "rect")]
    assert all(one + 9 < two for one, two in zip(before[::2], after, strict=True))
    assert before == sorted(before)
    assert all(two - one > 30 for one, two in itertools.pairwise(before))


def test_a_highest_number_and_a_line_share_the_scale():
    root = drawn(pairs_chart([Mark("a", 50.0, 25.0)], highest=100.0, line=75.0))
    assert part(root, "before", "rect")[0]["width"] == pytest.approx(141)
    (line,) = part(root, "ink", "line")
    assert line["x1"] == line["x2"] == pytest.approx(211.5)


def test_negative_numbers_go_the_other_way():
    root = drawn(pairs_chart([Mark("a", -10.0, 30.0)]))
    (before,), (after,) = part(root, "before", "rect"), part(root, "after", "rect")
    assert before["x"] == 0
    assert before["x"] + before["width"] == pytest.approx(after["x"], abs=0.1)
    assert after["width"] == pytest.approx(3 * before["width"], abs=0.2)
    low = drawn(columns_chart([Mark("a", -10.0, 30.0)]))
    (below,), (above,) = part(low, "before", "rect"), part(low, "after", "rect")
    assert below["y"] == pytest.approx(above["y"] + above["height"], abs=0.1)
    assert above["height"] == pytest.approx(3 * below["height"], abs=0.2)


def test_columns_stand_on_an_axis_of_round_numbers():
    root = drawn(columns_chart([Mark("a", 37.0, 12.0), Mark("b", 0.0, 1.0)]))
    ticks = [text for text in texts(root) if text.endswith("%")]
    assert ticks == ["0%", "10%", "20%", "30%", "40%"]
    lines = [line["y1"] for line in part(root, "line", "line")]
    unit = (lines[0] - lines[-1]) / 40
    (first,) = part(root, "before", "rect")
    assert first["height"] == pytest.approx(37 * unit, abs=0.1)
    assert first["y"] + first["height"] == pytest.approx(lines[0], abs=0.1)
    heights = [bar["height"] for bar in part(root, "after", "rect")]
    assert heights == pytest.approx([12 * unit, unit], abs=0.1)


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (0.0, ["0%", "1%"]),
        (1.0, ["0%", "1%"]),
        (3.0, ["0%", "1%", "2%", "3%"]),
        (100.0, ["0%", "20%", "40%", "60%", "80%", "100%"]),
    ],
)
def test_an_axis_ends_at_the_next_round_number(highest, ticks):
    root = drawn(columns_chart([Mark("a", highest, 0.0)]))
    assert [text for text in texts(root) if text.endswith("%")] == ticks


def test_columns_are_never_blocks_and_pairs_of_them_do_not_touch():
    few = part(drawn(columns_chart(MARKS[:1])), "before", "rect")
    assert few[0]["width"] == 26
    many = drawn(columns_chart([Mark("", 5.0, 6.0)] * 60))
    before, after = part(many, "before", "rect"), part(many, "after", "rect")
    for left, right, following in zip(before, after, before[1:], strict=False):
        assert left["x"] + left["width"] == pytest.approx(right["x"], abs=0.2)
        assert right["x"] + right["width"] < following["x"]


@pytest.mark.parametrize("low", [0, -1])
def test_points_lie_at_their_numbers(low):
    numbers = [(low * 0.5, 0.25), (1.0, 0.0)]
    root = drawn(dumbbell_chart([Mark("a", *one) for one in numbers]))

    def x(number):
        return 7 + (number - low) / (1 - low) * (340 - 14)

    rings = [one.get("cx") for one in root.iter("circle") if one.get("r") == "5.4"]
    disks = [one.get("cx") for one in root.iter("circle") if one.get("r") == "4.7"]
    assert [float(one) for one in rings] == pytest.approx([x(one) for one, _ in numbers], abs=0.06)
    assert [float(one) for one in disks] == pytest.approx([x(one) for _, one in numbers], abs=0.06)
    ends = [text for text in texts(root) if text in ("−1", "0", "1")]
    assert ends == (["−1", "0", "1"] if low else ["0", "1"])


@every_chart
def test_what_is_no_number_is_not_drawn(make):
    kinds = ("rect", "circle")
    whole = drawn(make([Mark("a", 0.5, 0.5)]))
    for missing in (None, float("nan"), float("inf")):
        root = drawn(make([Mark("a", missing, 0.5)]))
        assert "nan" not in ElementTree.tostring(root).decode()
        for side, count in (("before", 0), ("after", 1)):
            assert sum(len(part(root, side, kind)) for kind in kinds) == count
    assert sum(len(part(whole, "before", kind)) for kind in kinds) == 1


def test_a_text_stands_at_the_end_of_its_bar_also_where_there_is_no_bar():
    root = drawn(pairs_chart([Mark("a", None, 20.0, "few", "20%")]))
    (few, _), end = part(root, "muted", "text"), part(root, "after", "rect")[0]
    assert few["x"] == 5
    assert part(root, "muted", "text")[1]["x"] == pytest.approx(end["width"] + 5)


def test_a_chart_of_one_side_has_one_color_and_lower_rows():
    alone, both = (pairs_chart([Mark("a", one, 20.0)] * 3) for one in (None, 1.0))
    assert part(drawn(alone), "before", "rect") == []
    assert alone.height < both.height
    assert both.height == 3 * pairs_chart([Mark("a", 1.0, 20.0)]).height


# Discretion -----------------------------------------------------------------------------------


def test_no_place_is_more_exact_than_a_tenth_of_a_pixel():
    marks = [Mark("a", 100 / 3, 200 / 7), Mark("b", 1 / 3, 1e-12)]
    for make in CHARTS.values():
        drawing = draw(make(marks[:1] if make is dumbbell_chart else marks), "it", "", "")
        places = re.findall(r' (?:[cxyr]\w?|width|height)="([^"]*)"', drawing)
        assert len(places) > 5
        assert all(re.fullmatch(r"-?\d+(\.\d)?", place) for place in places), places


@pytest.mark.parametrize(("internal", "different"), [(False, 1), (True, 2)])
def test_tables_that_round_to_the_same_look_the_same_in_public(internal, different):
    discretion = Discretion(5, internal=internal)
    tables = (0.1234, 0.4001), (0.1249, 0.3951)
    charts = [[Mark("a", discretion.drawn(one), 10.0) for one in shares] for shares in tables]
    for make in (columns_chart, pairs_chart):
        assert len({draw(make(marks), "it", "", "") for marks in charts}) == different


def test_every_number_of_a_public_chart_is_rounded(cases):
    public = Discretion(5, internal=False)
    for case in cases.values():
        account = case.account
        found = [
            figures.class_sizes(account, public),
            figures.linkage(account, public),
            figures.column_losses(account, public),
            figures.relations(account, public),
            *(figures.distribution(one, public, account.records) for one in account.columns),
        ]
        for figure in filter(None, found):
            chart = figure.chart
            numbers = [one for mark in chart.marks for one in (mark.before, mark.after)]
            numbers += [chart.axis.low, chart.axis.high, *chart.axis.ticks]
            for number in numbers:
                assert number is None or number == round(number, 2), figure.title


# Texts ----------------------------------------------------------------------------------------

HOSTILE = [
    "</title></svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "a & b < c > d 'e'",
    "]]><!--",
    "null \x00 bell \x07 escape \x1b half \ud800 \ufffe",
    "two\nlines\tand tabs",
    "{{ 7 * 6 }}",
]


@every_chart
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_texts(make, text):
    chart = make([Mark(text, 0.5, 0.5, text[:9], text[:9])])
    drawing = draw(chart, "it", text, text)
    drawing.encode()
    root = ElementTree.fromstring(drawing)
    shown = " ".join(re.sub("[\x00-\x08\x0b-\x1f\ud800\ufffe]", "\ufffd", text).split())
    assert [one.text for one in root[:2]] == [shown, shown]
    assert all(one.tag != "script" for one in root.iter())
    assert not [one for one in root.iter() if one.get("onload")]
    if "script" not in text:
        assert any(shown in "".join(one.itertext()) for one in root[2:])


@pytest.mark.parametrize("make", [pairs_chart, dumbbell_chart])
@pytest.mark.parametrize("letter", ["m", "i", "W", "語", "é", "ש"])
def test_a_long_label_is_cut_and_told_in_full(make, letter):
    whole = letter * 200
    root = drawn(make([Mark(whole, 0.5, 0.5)]))
    label = next(one for one in root.iter("text") if one.find("title") is not None)
    assert label.find("title").text == whole
    cut = label.find("title").tail
    assert cut.endswith("…")
    assert whole.startswith(cut[:-1])
    assert 300 < width(cut, 12) <= 340
    short = drawn(make([Mark("short", 0.5, 0.5)]))
    assert all(one.find("title") is None for one in short.iter("text"))


def test_a_cut_does_not_part_a_letter_from_its_accents():
    whole = "e\u0301" * 200
    root = drawn(pairs_chart([Mark(whole, 0.5, 0.5)]))
    label = next(one for one in root.iter("text") if one.find("title") is not None)
    assert label.find("title").tail[:-1].endswith("e\u0301")


@pytest.mark.parametrize("count", [1, 3, 5, 12, 60])
@pytest.mark.parametrize("label", ["1", "20–29", "Jan 2024", "a name that is rather long"])
def test_names_below_columns_do_not_overlap(count, label):
    root = drawn(columns_chart([Mark(label, 5.0, 6.0)] * count))
    names = [one for one in root.iter("text") if one.get("y") == "193"]
    ends = [
        (float(one.get("x")) - half, float(one.get("x")) + half)
        for one in names
        for half in [width(one.text, 11) / 2]
    ]
    assert all(one[1] < two[0] for one, two in itertools.pairwise(ends))
    assert len(ends) >= min(count, 4)
    assert all(start >= 0 and end <= 346 for start, end in ends)
    assert {one.text for one in names} == {label} or {one.text[-1] for one in names} == {"…"}


def test_columns_say_their_numbers_when_pointed_at():
    marks = [Mark("20–29", 12.0, 9.0), Mark("30+", None, 3.0, "few", "3%"), Mark("x", None, None)]
    hints = [one.text for one in drawn(columns_chart(marks)).iter("title")][1:]
    assert hints == ["20–29: before 12%, after 9%", "30+: before few, after 3%", "x"]


def test_right_to_left_labels_are_whole_and_begin_at_the_left_edge():
    label = "אבחנה: דלקת (2)"
    root = drawn(pairs_chart([Mark(label, 1.0, 2.0)]))
    (found,) = [one for one in root.iter("text") if one.text == label]
    assert found.get("x") == "0"
