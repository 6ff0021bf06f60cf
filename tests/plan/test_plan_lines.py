"""Every key of a plan is found in its line, however TOML is written."""

import json
import time
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontomask.plan.lines import line_of, places

DOCUMENT = '''\
# a comment with [brackets], "quotes and \'\'\'more
seed = 1
dotted."quoted name".'literal' = { a = 1, b = [1, { c = 2 }] }
text = """
[not.a.table]
"" and \\""" inside
"""""
literal = \'\'\'
# no comment [
\'\'\'\'
list = [ # a comment ]
  "]", 'a"',
  2,
]

[columns."a.b"] # [columns.other]
kind = "flat"
[columns."x\\"y"]
kind = "flat"
  [columns.'']
  kind = "flat"
[[steps]]
k = 5
[[steps.privacy]]
model = "k-anonymity"
[[steps.privacy]]
model = "l-diversity"
[steps.hierarchies]
age = [
  ["1", "*"],
]
[[steps]]
[[steps.privacy]]
model = "k-map"
[steps.quality.weights]
age = 2
'''

EXPECTED = {
    ("seed",): 2,
    ("dotted", "quoted name", "literal", "b", 1, "c"): 3,
    ("text",): 4,
    ("literal",): 8,
    ("list",): 11,
    ("list", 2): 11,
    ("columns", "a.b"): 16,
    ("columns", "a.b", "kind"): 17,
    ("columns", 'x"y', "kind"): 19,
    ("columns", "", "kind"): 21,
    ("steps", 0): 22,
    ("steps", 0, "k"): 23,
    ("steps", 0, "privacy", 0, "model"): 25,
    ("steps", 0, "privacy", 1): 26,
    ("steps", 0, "privacy", 1, "model"): 27,
    ("steps", 0, "hierarchies"): 28,
    ("steps", 0, "hierarchies", "age", 0, 1): 29,
    ("steps", 1): 32,
    ("steps", 1, "privacy", 0, "model"): 34,
    ("steps", 1, "quality", "weights"): 35,
    ("steps", 1, "quality", "weights", "age"): 36,
}


@pytest.mark.parametrize(("place", "line"), EXPECTED.items(), ids=str)
def test_every_shape_of_toml_has_its_lines(place, line):
    tomllib.loads(DOCUMENT)
    assert places(DOCUMENT)[place] == line
    assert places(DOCUMENT.replace("\n", "\r\n"))[place] == line


def test_what_has_no_line_is_at_the_nearest_thing_around_it():
    found = places("[a]\nb = 1\n")
    assert line_of(("a", "b", "c"), found) == 2
    assert line_of(("a", "x", 3), found) == 1
    assert line_of(("z",), found) is None
    assert line_of((), found) is None


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_line_feeds_end_lines(odd):
    inside = odd if odd in "\u2028\u2029\x85" else "\\u00" + f"{ord(odd):02x}"
    text = f'a = "x{inside}y"\nb = 1\n'
    if odd in "\u2028\u2029\x85":
        text = f"# c{odd}d = [\n{text}"
    assert places(text)[("b",)] == text.count("\n")


@pytest.mark.parametrize("text", ["", "\n", "# nothing", "   \n\t\n"])
def test_nothing_has_no_places(text):
    assert places(text) == {}


def test_a_last_line_without_its_end_counts():
    assert places("a = 1\nb = 2") == {("a",): 1, ("b",): 2}


def test_long_lists_take_no_long_time():
    rows = "".join(f'  ["{number}", "*"],\n' for number in range(5000))
    started = time.perf_counter()
    found = places(f"rows = [\n{rows}]\nlast = 1\n")
    assert found[("last",)] == 5003
    assert time.perf_counter() - started < 5


VALUES = [
    "1",
    "true",
    '"a # b"',
    "'[x]'",
    '"\\"]"',
    "2024-01-31",
    "[\n 1,\n 2 ]",
    '["#",\n # ]\n "]"]',
    '"""\n[a]\nb = 1"""',
    "'''x\n''''",
    "{ a = [1, 2] }",
]
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
KEYS = st.lists(st.tuples(NAMES, st.sampled_from(VALUES)), max_size=4, unique_by=lambda one: one[0])
FILLING = st.sampled_from(["", "\n", "# [x]\n", '# "\n\n', "# '''\n"])


@st.composite
def documents(draw):
    """A document of tables and lists of tables, with the lines of its keys."""
    lines: dict[tuple, int] = {}
    text, line = "", 1
    tables = draw(st.lists(st.tuples(NAMES, st.booleans(), KEYS), max_size=5))
    kinds: dict[str, bool] = {}
    counts: dict[str, int] = {}
    for name, is_list, keys in tables:
        if kinds.setdefault(name, is_list) != is_list or (name in counts and not is_list):
            continue
        counts[name] = counts.get(name, 0) + 1
        place = (name, counts[name] - 1) if is_list else (name,)
        quoted = json.dumps(name, ensure_ascii=False)
        filling = draw(FILLING)
        line += filling.count("\n")
        lines[place] = line
        text += filling + (f"[[{quoted}]]\n" if is_list else f"[{quoted}]\n")
        line += 1
        for key, value in keys:
            filling = draw(FILLING)
            line += filling.count("\n")
            lines[(*place, key)] = line
            statement = f"{json.dumps(key, ensure_ascii=False)} = {value} # end\n"
            text += filling + statement
            line += statement.count("\n")
    return text, lines


@settings(max_examples=50)
@given(documents())
def test_any_document_has_its_lines(written):
    text, lines = written
    tomllib.loads(text)
    found = places(text)
    assert {place: found[place] for place in lines} == lines
