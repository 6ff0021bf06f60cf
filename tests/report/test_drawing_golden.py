"""Every kind of chart as it was last looked at, on one page.

After a change that is meant, `python tests/report/test_drawing_golden.py` writes the page anew;
look at it in a browser, light and dark, before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ontomask.report
from ontomask.report.charts import (
    COLORS,
    Dot,
    Mark,
    columns_chart,
    dumbbell_chart,
    pairs_chart,
    scatter_chart,
)
from ontomask.report.drawing import draw

PAGE = Path(__file__).parents[1] / "golden/charts.html"
TEMPLATES = Path(ontomask.report.__file__).parent / "templates"

BEST = (("sa-mdav", 5), ("sa-mdav", 10), ("recoding", 10), ("recoding", 20))
DOTS = [
    Dot(name, str(k), f"{name}, k = {k}", loss * k**0.5, 80.0 / (loss * k), (name, k) in BEST)
    for name, loss in (("sa-mdav", 2.0), ("recoding", 2.3), ("resampling", 3.1), ("hybrid", 2.2))
    for k in (5, 10, 20)
]
CHARTS = {
    "pairs": pairs_chart(
        [
            Mark("Diseases of the circulatory system", 32.0, 30.0, "32%", "30%"),
            Mark(
                "A name so long that there is no room for the whole of it in a row",
                9.0,
                11.0,
                "9%",
                "11%",
            ),
            Mark("אבחנה: דלקת (2) פריצת דיסק", 5.0, 5.0, "5%", "5%"),
            Mark("循環器系の疾患", 2.0, 0.0, "2%", "<1%"),
            Mark("other values", None, 3.0, "few", "3%"),
        ]
    ),
    "one side": pairs_chart(
        [Mark("diagnosis", None, 0.45, "", "0.45"), Mark("sex", None, 0.0, "", "<0.01")]
    ),
    "baseline": pairs_chart([Mark("a tree", 83.0, 74.0, "83%", "74%")], highest=100.0, line=79.0),
    "negative": pairs_chart([Mark("change", -12.0, 30.0, "−12", "30")]),
    "columns": columns_chart(
        [
            Mark(f"{decade}–{decade + 9}", decade % 35.0, decade % 31.0)
            for decade in range(10, 100, 10)
        ]
    ),
    "two columns": columns_chart([Mark("1", 100.0, 0.0), Mark("5–9", None, 100.0, "few", "100%")]),
    "many columns": columns_chart(
        [Mark(f"{year}", year % 7, year % 5) for year in range(1960, 2020)]
    ),
    "dumbbells": dumbbell_chart([Mark("age – charge", 0.62, 0.48), Mark("age – stay", -0.2, -0.2)]),
    "one dumbbell": dumbbell_chart([Mark("age – charge", 0.1, 0.9)]),
    "dots": scatter_chart(DOTS, ("loss, %", "linkage, %"), line=20.0),
    "dots on a desk": scatter_chart(DOTS, ("loss, %", "linkage, %"), wide=True),
}


def page() -> str:
    """All charts, in the style of the report."""
    parts = [
        f'<figure class="chart{" picture" if name.startswith("dots") else ""}"><h3>{name}</h3>\n'
        f"{draw(chart, f'chart-{place}', name, 'An example.')}\n</figure>"
        for place, (name, chart) in enumerate(CHARTS.items())
    ]
    body = "\n".join(parts).replace("><", ">\n<")
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>Charts</title>\n"
        '<link rel="stylesheet" href="../../src/ontomask/report/templates/report.css">\n'
        f'<main class="charts">\n{body}\n</main>\n</html>\n'
    )


def drawings(text: str) -> list[str]:
    return re.findall("<svg.*?</svg>", text, re.DOTALL)


def test_the_charts_look_as_they_were_last_looked_at():
    kept, made = (drawings(text) for text in (PAGE.read_text(encoding="utf-8"), page()))
    assert len(made) == len(CHARTS)
    assert kept == made


# The colors of the page -----------------------------------------------------------------------


def themes() -> dict[str, dict[str, str]]:
    """The colors that style sheets give, on paper, on a dark screen and in print."""
    sheet = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    light, dark = sheet.split("prefers-color-scheme: dark")
    found = {"light": light, "dark": dark}
    found["print"] = (TEMPLATES / "print.css").read_text(encoding="utf-8")
    return {
        name: dict(re.findall("--([a-z0-9-]+): (#[0-9a-f]{6})", text))
        for name, text in found.items()
    }


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_definition():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_texts_and_bars_stand_out_from_the_paper(theme):
    colors = themes()[theme]
    for name in ("ink", "muted"):
        assert contrast(colors[name], colors["paper"]) >= 4.5
    for name in set(COLORS) - {"ink", "muted", "line"}:
        assert contrast(colors[name], colors["paper"]) >= 3
    assert contrast(colors["before"], colors["after"]) >= 1.15
    assert set(COLORS) <= set(colors)


def test_without_a_page_the_colors_are_those_of_its_paper():
    assert {name: themes()["light"][name] for name in COLORS} == COLORS


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
