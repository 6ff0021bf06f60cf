"""The file itself: self-contained, accessible, the same every time, of bounded size."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from defusedxml import ElementTree

import ontomask as om
from ontomask.report.columns import CHARTED
from ontomask.report.document import render
from ontomask.report.facts import Limit

METHODS = ("microaggregation", "rank swapping", "suppression", "generalization")
VOID = ("meta", "br", "img", "path", "link")


class _Outline(HTMLParser):
    """Headings, ids and the nesting of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        self.ids += [value or "" for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page: str) -> _Outline:
    reader = _Outline()
    reader.feed(page)
    return reader


@pytest.fixture(scope="module", params=METHODS)
def page(request, cases) -> str:
    return render(cases[request.param].account)


def test_it_needs_nothing_else(page):
    found = outline(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(found.tags)
    assert not [one for one in found.attributes if one[1] in ("src", "srcset", "action")]
    links = [value for _, name, value in found.attributes if name == "href"]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(found.ids)
    assert not [one for one in found.attributes if one[1].startswith("on")]
    for word in ("http:", "https:", "url(", "@import", "//www"):
        assert word not in page


def test_a_policy_forbids_what_it_does_not_need(page):
    assert (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'; img-src data:\">" in page
    )
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_it_is_well_formed_and_its_ids_are_unique(page):
    found = outline(page)
    assert page.startswith("<!doctype html>\n<html lang=")
    assert not found.open
    assert len(set(found.ids)) == len(found.ids)


def test_headings_come_in_order(page):
    levels = outline(page).headings
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_chart_has_words_and_a_table(page):
    charts = re.findall(r'<figure class="chart">.*?</figure>', page, re.DOTALL)
    assert len(charts) == page.count("<svg") > 5
    for chart in charts:
        drawing = ElementTree.fromstring(re.search(r"<svg.*?</svg>", chart, re.DOTALL)[0])
        assert drawing.get("role") == "img"
        labels = drawing.get("aria-labelledby").split()
        texts = [drawing.find(f"*[@id='{label}']").text for label in labels]
        assert all(text.strip() for text in texts)
        assert "<table" in chart.partition("<details")[2]


def test_the_same_account_gives_the_same_bytes(case):
    again = case.gathered()
    assert again == case.account
    assert render(again) == render(case.account)
    assert render(again, internal=True) == render(case.account, internal=True)


def test_the_time_shows_only_where_it_is_given(case):
    assert "2031-02-03" in render(case.gathered(made="2031-02-03"))


def test_hostile_names_and_values_are_escaped(remade):
    bad = "<script>alert('x')</script>"
    attribute = '" onload="alert(1)" title="'
    count = 60
    frame = pl.DataFrame(
        {
            bad: [bad] * 30 + ["b & c"] * 30,
            attribute: [attribute] * 30 + ["{{ 7 * 6 }}"] * 30,
            "`age`": list(range(count)),
        }
    )
    schema = om.Schema.of({bad: om.Flat(), attribute: om.Flat(), "`age`": om.Numeric()})
    account = remade(om.Microaggregation(k=5), frame, schema).gathered(
        title=bad, plan=f"note = {attribute!r}", limits=[Limit(bad, 2, 1)], versions={bad: bad}
    )
    for internal in (False, True):
        page = render(account, internal=internal)
        found = outline(page)
        assert not found.open
        assert "script" not in found.tags
        assert not [one for one in found.attributes if one[1] == "onload"]
        assert "&lt;script&gt;" in page
        assert "42" not in re.findall(r">([^<]*)<", page)


def test_sixty_columns_do_not_explode(remade):
    generator = np.random.default_rng(1)
    values = generator.integers(0, 50, (120, 60))
    frame = pl.DataFrame({f"c{place:02d}": values[:, place] for place in range(60)})
    schema = om.Schema.of(
        {name: om.Numeric(role="quasi" if name < "c40" else "other") for name in frame.columns}
    )
    account = remade(om.Microaggregation(k=5), frame, schema).account
    page = render(account)
    assert sum(one.distribution is not None for one in account.columns) == CHARTED
    assert page.count("<svg") <= CHARTED + 5
    assert len(page.encode()) < 1_000_000
    assert all(name in page for name in frame.columns)


def test_importing_the_room_is_quick_and_needs_no_drawing():
    code = (
        "import sys, ontomask.release, ontomask.report.document as room; "
        "assert room.render; "
        "assert not {'jinja2', 'markupsafe'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
