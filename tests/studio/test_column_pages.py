"""The page of a column, and the maps of one or two of them."""

import html
import re

import polars as pl
import pytest
from test_exploring import GENERAL
from test_pages import NOMINAL, change, wait

import ontomask as om
from ontomask.studio.edits import contents


@pytest.fixture
def nominal(session, folder):
    rows = "F,410\nM,428\nF,4280\nM,250\nF,hart failure\n" * 6
    (folder / "words.csv").write_text("sex,diagnosis\n" + rows)
    session.opened.plan.write_text(NOMINAL.format(mapping=""))
    return session


def test_two_concepts_have_the_distance_of_the_column_and_a_way(browser, nominal):
    icd9 = om.load_taxonomy("icd9cm")
    here, other = icd9.index_of("410"), icd9.index_of("250")
    part = wait(browser, f"/part/tree?of=1.{here}.{other}").text
    distances = icd9.distances(["410", "428", "428.0", "250"])
    assert f"{distances[0, 3]:.4f} apart" in html.unescape(part)
    drawn = part[part.index('class="apart"') :].split("</section>")[0]
    for concept in icd9.path("410", "250"):
        assert f"of=1.{icd9.index_of(concept)}.{other}" in drawn
    assert "Compare it with another" in wait(browser, f"/part/tree?of=1.{here}").text
    assert "Go to another concept" in wait(browser, f"/part/tree?of=1.{here}.{here}").text


def test_a_concept_is_found_by_a_word_that_is_in_no_address(browser, nominal):
    answer = browser.post("/columns/find", {"number": "1", "text": "heart failure"})
    assert answer.status_code == 200
    place = om.load_taxonomy("icd9cm").index_of("428")
    assert f"/columns/1?of=1.{place}#tree" in answer.text
    assert "heart+failure" not in answer.text
    assert browser.post("/columns/find", {"number": "1", "text": " "}).status_code == 422
    assert browser.post("/columns/find", {"number": "0", "text": "x"}).status_code == 422


def test_words_become_ordered_and_their_order_is_changed(browser, session):
    to_page = change(browser, session, "/columns/set", name="sex", key="kind", value="ordinal")
    assert to_page.headers["location"] == "/columns/0?kind=ordinal"
    assert "What it is: ordinal" in browser.get("/columns/0?kind=ordinal").text
    change(browser, session, "/columns/declare", number="0", kind="ordinal", missing="suppress")
    declared = contents(session.opened.text)["columns"]["sex"]
    assert declared == {
        "kind": "ordinal",
        "role": "quasi",
        "order": ["F", "M"],
        "missing": "suppress",
    }
    part = wait(browser, "/part/shape?of=0").text
    order = [html.unescape(one) for one in re.findall(r'name="order" value="([^"]*)"', part)]
    assert order == ['"F"', '"M"']
    fields = {"number": "0", "order": order}
    assert change(browser, session, "/columns/order", move="0.1", **fields).status_code == 303
    assert contents(session.opened.text)["columns"]["sex"]["order"] == ["M", "F"]
    for wrong in ("5.0", "0", "a.b", ""):
        assert change(browser, session, "/columns/order", move=wrong, **fields).status_code == 422
    forged = change(browser, session, "/columns/order", number="0", order=["x = 1"], move="0.0")
    assert forged.status_code == 422
    change(browser, session, "/columns/declare", number="0", kind="flat")
    assert "order" not in contents(session.opened.text)["columns"]["sex"]


def test_words_get_a_taxonomy(browser, session, folder):
    rows = "F,410\nM,428\n" * 10
    (folder / "discharges.csv").write_text("sex,age,charge\n" + rows.replace("\n", ",1\n"))
    text = session.opened.text.replace(
        '[columns.age]\nkind = "numeric"', '[columns.age]\nkind = "flat"'
    )
    session.opened.plan.write_text(text)
    without = change(browser, session, "/columns/declare", number="1", kind="nominal")
    assert without.status_code == 422
    given = {"number": "1", "kind": "nominal", "taxonomy": "icd9cm", "unmapped": "suppress"}
    assert change(browser, session, "/columns/declare", **given).status_code == 303
    said = contents(session.opened.text)["columns"]["age"]
    assert said["taxonomy"] == "icd9cm"
    assert said["unmapped"] == "suppress"
    assert "icd9cm: 2 of 2" in wait(browser, "/part/words?of=1").text
    wrong = change(browser, session, "/columns/declare", number="1", kind="x")
    assert wrong.status_code == 422


def test_cuts_are_written_into_the_plan_and_shown_again(browser, session):
    session.opened.plan.write_text(GENERAL)
    given = {"number": "1", "way": "cuts", "said": "18, 40, 65.5"}
    change(browser, session, "/explore/levels", node="1.3")  # a node of the levels before
    assert change(browser, session, "/columns/hierarchy", **given).status_code == 303
    written = contents(session.opened.text)["steps"][0]["hierarchies"]["age"]
    assert written == {"cuts": [18, 40, 65.5]}
    assert "levels" not in contents(session.opened.text)["steps"][0]
    page = browser.get("/columns/1").text
    assert 'value="18, 40, 65.5"' in page
    assert re.search(r'<option value="cuts" selected>', page)
    ladder = wait(browser, "/part/ladder?of=1").text
    assert "[18, 40)" in html.unescape(ladder)
    falling = change(browser, session, "/columns/hierarchy", **{**given, "said": "40, 18"})
    assert "cuts must ascend" in falling.text


def test_a_column_of_numbers_has_its_range_and_histogram(browser, session, folder):
    part = wait(browser, "/part/shape?of=1").text
    ages = pl.read_csv(folder / "discharges.csv")["age"]
    assert f"<dd>{ages.min()}</dd>" in part
    assert f"<dd>{ages.sort()[199]}</dd>" in part
    counts = [int(one) for one in re.findall(r": ([\d]+) records</title>", part)]
    assert sum(counts) == len(ages)


def test_a_map_shows_shares_of_pairs_before_and_after(browser, session, folder):
    steps = GENERAL.index("[[steps]]")
    session.opened.plan.write_text(GENERAL[:steps] + '[[steps]]\nmethod = "recoding"\nk = 5\n')
    page = browser.get("/utility?view=map&first=0&second=3").text
    assert "/part/map?of=0.3.." in page
    part = wait(browser, "/part/map?of=0.3..").text
    frame = pl.read_csv(folder / "discharges.csv")
    before = part[part.index("Before") : part.index("After</h2>")]
    shown = sorted(float(one) for one in re.findall(r'heat-\d">([\d.]+)<', before))
    wanted = frame.group_by("sex", "status").len()["len"] / len(frame)
    assert shown == sorted(round(100 * share, 1) for share in wanted)
    alone = wait(browser, "/part/map?of=0...").text
    share = 100 * (frame["sex"] == "F").mean()
    assert f"{share:.1f}\u00a0%" in alone


def test_a_map_goes_down_a_taxonomy(browser, nominal):
    part = wait(browser, "/part/map?of=1...").text
    within = re.findall(r"within=(\d+)", part)
    assert within
    deeper = wait(browser, f"/part/map?of=1..{within[-1]}.").text
    assert 'aria-label="The way up, diagnosis"' in deeper


def test_a_word_of_several_concepts_is_told_and_can_be_decided_on(browser, session, folder):
    taxonomy = "id,parent,label,synonyms\nroot,,any,\nc1,root,a cold,cold\nc2,root,low,cold\n"
    (folder / "small.csv").write_text(taxonomy)
    (folder / "words.csv").write_text("sex,diagnosis\n" + "F,a cold\nM,low\nF,cold\n" * 6)
    plan = NOMINAL.format(mapping="").replace('"icd9cm"', '"small.csv"')
    session.opened.plan.write_text(plan)
    part = html.unescape(wait(browser, "/part/words?of=1").text)
    assert "could mean several concepts (1)" in part
    assert re.search(r"'cold' is \w+ \(.*\), not \w+", part)
    change(browser, session, "/columns/map", number="1", value="cold", concept="c2")
    assert "several concepts" not in wait(browser, "/part/words?of=1").text
