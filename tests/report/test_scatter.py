"""Dots over two axes: places, shapes, the stair along the best, labels that do not touch."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from defusedxml import ElementTree

from ontomask.report.charts import Dot, scatter_chart
from ontomask.report.drawing import draw
from ontomask.report.scatter import SERIES, swatch
from ontomask.report.svg import width

TITLES = ("loss, %", "linkage, %")


def drawn(dots, **more):
    return ElementTree.fromstring(draw(scatter_chart(dots, TITLES, **more), "it", "Title", "Text"))


def dot(x, y, series="one", label="5", best=False):
    return Dot(series, label, f"{series} {label}", x, y, best)


def shapes(root):
    return [one for one in root.iter() if one.find("title") is not None and one.tag != "svg"]


def numbers(text):
    return [tuple(map(float, pair.split(","))) for pair in text.split()]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("count", [0, 1, 200])
def test_everything_lies_in_the_frame(count, wide):
    generator = random.Random(count)
    dots = [
        dot(generator.uniform(0, 90), generator.uniform(0, 100), f"series {place % 9}", str(place))
        for place in range(count)
    ]
    root = drawn(dots, wide=wide)
    frame = list(map(float, root.get("viewBox").split()))
    assert frame[2:] == ([720, 440] if wide else [340, 360])
    assert len(shapes(root)) == count
    places = [(float(one.get("x")), float(one.get("y"))) for one in root.iter("text")]
    places += [(float(one.get("cx")), float(one.get("cy"))) for one in root.iter("circle")]
    places += [pair for one in root.iter("polygon") for pair in numbers(one.get("points"))]
    assert all(0 <= x <= frame[2] and 0 <= y <= frame[3] for x, y in places)


def test_dots_lie_at_their_numbers():
    root = drawn([dot(*place, label="") for place in ((0, 0), (20, 40), (5, 30))])
    ticks = [one.text for one in root.iter("text") if one.text not in TITLES]
    assert ticks == ["0", "10", "20", "30", "40", "0", "5", "10", "15", "20"]
    found = [(float(one.get("cx")), float(one.get("cy"))) for one in shapes(root)]
    left, right, foot, top = 42, 340 - 14, 360 - 44, 34
    expected = [
        (left + x / 20 * (right - left), foot - y / 40 * (foot - top))
        for x, y in ((0, 0), (20, 40), (5, 30))
    ]
    assert found == [pytest.approx(one, abs=0.06) for one in expected]


def test_the_stair_has_every_best_dot_and_nothing_below_it():
    dots = [dot(10, 20, best=True), dot(5, 40, best=True), dot(30, 2, best=True), dot(30, 40)]
    chart = scatter_chart(dots, TITLES)
    root = drawn(dots)
    stair = numbers(next(one for one in root.iter("polyline")).get("points"))
    places = [(chart.across.place(one.x), chart.up.place(one.y)) for one in dots]
    for place in places[:3]:
        assert any(place == pytest.approx(corner, abs=0.06) for corner in stair)
    for (x, y), (next_x, next_y) in itertools.pairwise(stair):
        assert x == next_x or y == next_y
        assert next_x >= x
        assert next_y >= y  # down the page


def test_best_dots_are_full_and_others_hollow():
    root = drawn([dot(1, 2, best=True), dot(2, 3)])
    assert [one.get("fill") for one in shapes(root)] == ["currentColor", "#ffffff"]
    assert [one.get("class") for one in shapes(root)] == [None, "hollow"]


def test_thirty_series_look_different():
    root = drawn([dot(place, place, f"series {place}") for place in range(30)])
    looks = set()
    for group in root.iter("g"):
        for one in group:
            if one.find("title") is not None:
                points = numbers(one.get("points") or "")
                middle = [sum(pair[axis] for pair in points) for axis in (0, 1)]
                shape = tuple(
                    (round(x - middle[0] / len(points)), round(y - middle[1] / len(points)))
                    for x, y in points
                )
                looks.add((group.get("class"), shape))
    assert len({color for color, _ in looks}) == len(SERIES)
    assert len({shape for _, shape in looks}) >= 5
    assert len(looks) == 30


def test_a_legend_shows_the_look_of_its_series():
    root = drawn([dot(place, place, f"series {place}") for place in range(7)])
    for place, one in enumerate(shapes(root)):
        shown = ElementTree.fromstring(swatch(place))
        assert next(iter(shown[0])).tag == one.tag
        assert shown[0].get("class") == SERIES[place % len(SERIES)]


def test_labels_touch_neither_each_other_nor_dots():
    generator = random.Random(7)
    dots = [
        dot(generator.uniform(0, 20), generator.uniform(0, 20), label=str(place), best=place < 9)
        for place in range(60)
    ]
    chart, root = scatter_chart(dots, TITLES), drawn(dots)
    boxes = []
    for group in root.iter("g"):
        for one in group:
            if one.tag == "text" and group.get("class") in ("ink", "muted") and one.text.isdigit():
                wide, x, y = width(one.text, 11), float(one.get("x")), float(one.get("y"))
                left = x - {"start": 0, "middle": wide / 2, "end": wide}[group.get("text-anchor")]
                boxes.append((left, y - 9, left + wide, y + 2, one.text))
    labels = [box for box in boxes if box[0] > chart.across.start and box[3] <= chart.up.start]
    assert len(labels) > 25
    taken = [(chart.across.place(one.x), chart.up.place(one.y)) for one in dots]
    for one, two in itertools.combinations(labels, 2):
        assert one[0] >= two[2] or two[0] >= one[2] or one[1] >= two[3] or two[1] >= one[3]
    for box in labels:
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in taken)


def test_the_line_that_is_not_to_be_exceeded_is_on_the_axis_even_above_all_dots():
    root = drawn([dot(1, 2)], line=50.0)
    dashed = [one for one in root.iter("g") if one.get("stroke-dasharray")]
    (line,) = dashed[0]
    assert line.get("y1") == line.get("y2") == "34"
    assert not [one for one in drawn([dot(1, 2)]).iter("g") if one.get("stroke-dasharray")]


def test_hostile_names_stay_texts():
    bad = '</title><script>alert("x")</script>'
    root = drawn([Dot(bad, bad[:4], bad, 1, 2)])
    assert not list(root.iter("script"))
    assert shapes(root)[0].find("title").text == bad
    assert not re.search(r"\son\w+=", ElementTree.tostring(root).decode())
