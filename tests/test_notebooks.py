"""What objects look like in a notebook: small, escaped, complete in itself, without scripts."""

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest

import ontomask as om
from ontomask.cards import SHOWN, card, table
from ontomask.errors import DataError, ParameterError
from tables import DISEASES, LEAVES, mixed_columns, mixed_schema

HOSTILE = '<script>alert("x")</script>'
LARGEST = 20_000
VOID = {"br", "meta"}


class Checked(HTMLParser):
    """Reads HTML, refuses what runs or loads, and wants every element closed."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "link", "object", "img", "style")
        for name, value in attrs:
            assert not name.startswith("on")
            assert "url(" not in (value or "")
            assert name not in ("src", "href")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    reader = Checked()
    reader.feed(html)
    reader.close()
    assert not reader.open
    assert len(html) < LARGEST
    return " ".join(reader.texts)


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame(mixed_columns(60))


@pytest.fixture(scope="module")
def release(frame):
    return om.protect(frame, mixed_schema(), om.Microaggregation(k=5), seed=1)


def test_a_release_shows_its_promises_and_no_record(frame, release):
    said = read(release._repr_html_())
    assert "microaggregation" in said
    assert "5-anonymity" in said or "k = 5" in said or "at least 5" in said
    assert "NOT KEPT" not in said
    assert len(release._repr_html_()) == len(
        om.protect(frame, mixed_schema(), om.Microaggregation(k=5), seed=1)._repr_html_()
    )


def test_every_object_has_a_card(frame, release, tmp_path):
    evaluation = release.evaluate(frame)
    assert f"{evaluation.loss.loss:.2%}" in read(evaluation._repr_html_())
    schema = mixed_schema()
    assert all(name in read(schema._repr_html_()) for name in schema)
    risk = om.file_risk(frame, schema)
    assert f"{risk.structure.classes:,} classes" in read(risk._repr_html_())
    grid = om.compare(frame, schema, ["sa-mdav"], k=[3, 5], workers=1)
    assert "sa-mdav, k = 5" in read(grid._repr_html_())
    assert "diagnosis" in read(om.Schema.infer(frame)._repr_html_())
    assert f"{len(DISEASES):,}" in read(DISEASES._repr_html_())
    plan = om.Plan.parse('seed = 1\ninput = {path = "x.csv"}\ncolumns = {a = {kind = "flat"}}\n'
                         'steps = [{method = "microaggregation", k = 2}]\n')  # fmt: skip
    assert "microaggregation" in read(plan._repr_html_())


def test_names_and_values_of_a_table_are_only_text():
    frame = pl.DataFrame({HOSTILE: [HOSTILE, HOSTILE, "b", "b"]})
    schema = om.Schema.of({HOSTILE: om.Flat()})
    release = om.protect(frame, schema, om.Microaggregation(k=2), seed=1)
    for shown in (release, release.evaluate(frame), schema, om.file_risk(frame, schema)):
        assert HOSTILE[:20] in read(shown._repr_html_())
    other = pl.DataFrame({HOSTILE: ["a", "a", "b", "b", "c"]})
    picture = om.protect(other, schema, om.Microaggregation(k=2), seed=1).before_after(HOSTILE)
    assert "<script" not in picture._repr_html_()
    assert "<script" not in DISEASES.tree(values=[HOSTILE])._repr_html_()


def test_long_tables_say_how_much_is_not_shown():
    rows = [(f"column {place}", place) for place in range(SHOWN + 7)]
    assert "and 7 more" in read(table(["name", "number"], rows))
    assert "…" in read(card("x" * 500))
    wide = om.Schema.of({f"column {place}": om.Flat() for place in range(2_000)})
    assert "and 1,980 more" in read(wide._repr_html_())


def test_a_column_before_and_after_counts_the_original_and_the_release(frame, release):
    picture = release.before_after("age", frame)
    bars = picture.spec["data"]["values"]
    assert sum(one["before"] for one in bars) == pytest.approx(100, abs=0.5)
    assert sum(one["after"] for one in bars) == pytest.approx(100, abs=0.5)
    json.dumps(picture.spec)
    assert picture.svg.startswith("<svg")
    assert "before" in read(re.sub(r"<svg.*</svg>", "", picture._repr_html_(), flags=re.DOTALL))


def test_a_flat_column_before_and_after_is_counted_value_by_value():
    frame = pl.DataFrame({"sex": ["f"] * 6 + ["m"] * 3 + ["x"], "age": [30] * 10})
    schema = om.Schema(sex=om.Flat(), age=om.Numeric())
    release = om.protect(frame, schema, om.Microaggregation(k=5), seed=1)
    shares = {
        one["label"]: one for one in release.before_after("sex", frame).spec["data"]["values"]
    }
    for value in ("f", "m", "x"):
        before = 100 * (frame["sex"] == value).mean()
        after = 100 * (release.frame["sex"] == value).sum() / 10
        assert shares[value]["before"] == pytest.approx(before)
        assert (shares[value]["after"] or 0) == pytest.approx(after)
    with pytest.raises(DataError, match="single value"):
        release.before_after("age", frame)
    with pytest.raises(ParameterError, match="Did you mean 'sex'"):
        release.before_after("sax", frame)


def test_the_chart_of_a_comparison_has_a_dot_for_each_release(frame):
    grid = om.compare(frame, mixed_schema(), ["sa-mdav", "v-mdav"], k=[3, 5], workers=1)
    assert len(grid.chart(max_risk=0.2).spec["data"]["values"]) == 4
    altair = pytest.importorskip("altair")
    assert isinstance(grid.chart().altair(), altair.LayerChart)


def test_a_tree_counts_each_value_once_at_every_concept_above():
    values = [LEAVES[0]] * 3 + [LEAVES[1]] + [None, "no such disease"]
    tree = DISEASES.tree(depth=10, values=values)
    assert tree.count == 4

    def walk(node):
        yield node
        for child in node.children:
            yield from walk(child)

    for node in walk(tree):
        below = set(DISEASES.subtree(node.concept))
        mapped = [one for one in DISEASES.map(values[:4]).ids if one in below]
        counts = dict(zip(*(DISEASES.map(values[:4]).ids, [3, 1]), strict=True))
        assert node.count == sum(counts[one] for one in set(mapped))
    lines = str(DISEASES.tree(depth=1)).splitlines()
    assert len(lines) == 1 + len(DISEASES.children(DISEASES.ids[0]))
    assert "<details" in DISEASES.tree()._repr_html_()
    read(DISEASES.tree(depth=10)._repr_html_())
    with pytest.raises(om.errors.UnknownConceptError):
        DISEASES.tree("nothing of the kind")
