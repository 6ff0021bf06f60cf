"""Charts as Vega-Lite dictionaries: the same data and scales as the drawing, and sound."""

from __future__ import annotations

import html
import json

import pytest

from ontomask.report.charts import (
    COLORS,
    Dot,
    Mark,
    columns_chart,
    dumbbell_chart,
    pairs_chart,
    scatter_chart,
)
from ontomask.report.vega import vega_lite

MARKS = [Mark("a", 10.0, 20.0, "10%", "20%"), Mark("b \"quoted\" 'label'", None, 5.0, "few", "5%")]
CHARTS = {
    "pairs": pairs_chart(MARKS, line=7.0),
    "alone": pairs_chart([Mark("a", None, 20.0, "", "20%")]),
    "columns": columns_chart(MARKS),
    "dumbbells": dumbbell_chart([Mark("a", -0.5, 0.25), Mark("b", None, 1.0)]),
}
every_chart = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)


@every_chart
def test_a_dictionary_holds_the_data_and_is_json(chart):
    spec = vega_lite(chart)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    kept = [
        (one["label"], one["before"], one["after"], one["before_text"], one["after_text"])
        for one in spec["data"]["values"]
    ]
    assert kept == [tuple(vars(mark).values()) for mark in chart.marks]
    assert spec["height"] == chart.height


@every_chart
def test_a_dictionary_has_the_scale_of_the_chart(chart):
    found = json.dumps(vega_lite(chart))
    assert json.dumps({"domain": [chart.axis.low, chart.axis.high]})[1:-1] in found


def test_a_chart_of_one_side_has_one_color():
    assert COLORS["before"] in str(vega_lite(CHARTS["pairs"]))
    assert COLORS["before"] not in str(vega_lite(CHARTS["alone"]))


@every_chart
def test_the_reference_program_draws_it(chart):
    vl_convert = pytest.importorskip("vl_convert")
    drawing = vl_convert.vegalite_to_svg(vega_lite(chart), allowed_base_urls=[])
    for mark in chart.marks:
        assert mark.label in html.unescape(drawing)
    for side in ("after", *(["before"] if chart is not CHARTS["alone"] else [])):
        assert COLORS[side] in drawing


def test_dots_are_drawn_with_their_series_and_limit():
    vl_convert = pytest.importorskip("vl_convert")
    dots = [Dot("one", "2", "one, k = 2", 1, 9, True), Dot("two", "3", "two, k = 3", 2, 10)]
    chart = scatter_chart(dots, ("loss", "risk"), line=5.0)
    spec = vega_lite(chart)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert [(one["x"], one["y"], one["best"]) for one in spec["data"]["values"]] == [
        (1, 9, True),
        (2, 10, False),
    ]
    drawing = html.unescape(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    for text in ("one", "two", "loss", "risk"):
        assert f">{text}</text>" in drawing
    assert "stroke-dasharray" in drawing
