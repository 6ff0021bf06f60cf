"""Whatever an object holds, it prints a screenful at most, in a terminal and in a notebook."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.brevity import LONGEST, SHOWN, Brief, abridged, brief
from ontomask.findings import Finding
from ontomask.promises import ClassSize
from public import PUBLIC

MANY = 400
NAMES = [f"a column with a long name, number {place}" for place in range(40)]
VALUES = [f"value {place}" for place in range(MANY)]
TREE = {"everything": [], **{one: ["everything"] for one in VALUES}}
LARGEST_CARD = 40_000


def wide() -> pl.DataFrame:
    generator = np.random.default_rng(1)
    return pl.DataFrame({name: generator.choice(VALUES, 60) for name in NAMES})


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    """Objects of all public classes whose content grows with the table, and what they hold."""
    frame, schema = wide(), om.Schema.of({name: om.Flat() for name in NAMES})
    sensitive = schema | {NAMES[0]: om.Flat(role="sensitive")}
    trees = om.Taxonomy.from_parents(TREE)
    rows = [[one, one[:7], "*"] for one in VALUES]
    release = om.protect(frame, sensitive, om.Microaggregation(k=20), seed=1)
    evaluation = release.evaluate(columns=NAMES[:6])
    models = [om.privacy.KAnonymity(k) for k in range(2, 30)]
    steps = [om.Suppression(k) for k in range(2, 30)]
    grid = om.compare(frame[NAMES[:2]], om.Schema.of({n: om.Flat() for n in NAMES[:2]}),
                      {f"method number {one.k}": one for one in steps}, workers=1)  # fmt: skip
    broken = [Finding(ClassSize(tuple(NAMES), k), False, 1, "1") for k in range(2, 40)]
    declared = {
        "ordinal": om.Ordinal(VALUES),
        "flat": om.Flat(values=VALUES, distances=1 - np.eye(MANY)),
        "nominal": om.Nominal(trees, overrides=dict.fromkeys(VALUES, VALUES[0])),
        "generalization": om.Generalization(k=2, hierarchies={"x": rows}),
        "noise": om.Noise(columns=VALUES),
        "drop": om.DropColumns(VALUES),
        "rule": om.Rule(when={"a": VALUES}, never={"b": VALUES}),
        "k-map": om.Generalization([om.privacy.KMap(2)], population=frame),
        "hierarchy": om.Hierarchy.of(rows, "x"),
    }
    found = {
        "proposal": om.Schema.infer(frame),
        "schema": sensitive,
        "release": release,
        "scheme": release.scheme,
        "verification": dataclasses.replace(release.verification, findings=tuple(broken)),
        "evaluation": evaluation,
        "file risk": om.file_risk(frame, sensitive),
        "checked": om.check(frame, schema, models),
        "comparison": grid,
        "mapping": trees.map([*VALUES, *(f"unknown {one}" for one in VALUES)]),
        "taxonomy": trees,
        "tree": trees.tree(values=VALUES),
        "discharges": om.discharges(500),
        "suggestions": om.measuring.suggest_quasi_identifiers(frame),
        "unique sets": om.measuring.minimal_unique_sets(frame[:12], schema, NAMES[:8]),
        "sample": om.statistics.Sample.of(VALUES, trees),
    }
    parts = {
        field.name: getattr(evaluation, field.name) for field in dataclasses.fields(evaluation)
    }
    return declared | found | {name: one for name, one in parts.items() if isinstance(one, Brief)}


def test_nothing_prints_more_than_a_screenful(made):
    long = {
        (name, said.__name__): len(said(one))
        for name, one in made.items()
        for said in (repr, str)
        if len(said(one)) > LONGEST
    }
    assert long == {}


def test_no_card_is_longer_than_a_page(made):
    cards = {name: one._repr_html_() for name, one in made.items() if hasattr(one, "_repr_html_")}
    assert len(cards) >= 8
    assert {name: len(card) for name, card in cards.items() if len(card) > LARGEST_CARD} == {}


def test_public_dataclasses_print_themselves_in_brief():
    """A class that is added later holds something long one day."""
    kinds = [one for one in PUBLIC.values() if dataclasses.is_dataclass(one)]
    own = [one for one in kinds if not issubclass(one, Brief) and "__repr__" not in vars(one)]
    plain = [one.__name__ for one in own if any(field.repr for field in dataclasses.fields(one))]
    assert [name for name in plain if name not in ("Proposal", "Mapping")] == []


@dataclass(frozen=True)
class Small(Brief):
    first: object
    second: object = dataclasses.field(default=None, repr=False)


@dataclass(frozen=True)
class Plain:
    first: object
    second: object = dataclasses.field(default=None, repr=False)


@pytest.mark.parametrize(
    "value", [1, "a", (), (1,), [1, "b"], {}, {"a": (1, 2)}, {3}, frozenset(), frozenset({1}), None]
)
def test_what_is_short_is_printed_as_dataclasses_do(value):
    assert repr(Small(value)).replace("Small", "Plain") == repr(Plain(value))
    assert brief(value) == repr(value)


def test_what_is_left_out_is_counted():
    assert brief(list(range(SHOWN + 3))).endswith(f"{SHOWN - 1}, … and 3 more]")
    assert brief("x" * 500).endswith("…")
    assert brief(pl.DataFrame({"a": range(50)})) == "<DataFrame>"
    lines = [f"line {place}" for place in range(500)]
    shown = abridged(lines, "all() has them").splitlines()
    assert shown[-1] == f"and {500 - len(shown) + 1} more: all() has them"
    assert abridged(lines[:9], "") == "\n".join(lines[:9])
    assert abridged(["x" * 5000], "").startswith("xxx")
    assert len(abridged(["x" * 5000] * 2, "more")) <= LONGEST
