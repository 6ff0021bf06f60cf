"""No pattern of the package takes more than about linear time, whatever text it is given."""

import ast
import contextlib
import dataclasses
import importlib
import itertools
import pkgutil
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from re import _parser as parser  # the tree of a pattern, to attack it where it repeats

import polars as pl
import pytest

import ontomask
from ontomask.data.inference import infer_schema

SOURCE = Path(ontomask.__file__).parent
LENGTHS = (64, 1024, 65536)
SECONDS = 0.25
"""A linear pattern takes a hundredth of it for the longest text; a quadratic one far more."""

REPEATED = (
    *("a", "0", "f", "F", "A", ".", " ", "-", ",", "'", '"', "\\", "\t", "\n", "(", "[", "{", "<"),
    *("0.", "a.", "0 ", " 0", "0-", "a0", "0a", "0,", "ab ", "0000 ", "a@", "é", "s ", '\\"', "=a"),
)
ENDINGS = ("", "!", ".jpg", "\n", "x", "\x00")


def modules() -> Iterator[object]:
    for one in pkgutil.walk_packages([str(SOURCE)], "ontomask."):
        if not one.name.endswith("__main__"):
            yield importlib.import_module(one.name)


def compiled(value: object, depth: int = 4) -> Iterator[tuple[re.Pattern, str]]:
    """The patterns in a value: itself, its items, its fields, what a method is bound to."""
    if isinstance(getattr(value, "__self__", None), re.Pattern):
        yield value.__self__, value.__name__
    elif isinstance(value, re.Pattern):
        yield value, ""
    elif depth and isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from compiled(one, depth - 1)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for one in list(value)[:50]:
            yield from compiled(one, depth - 1)
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from compiled(getattr(value, one.name, None), depth - 1)


def sources() -> Iterator[ast.AST]:
    for file in SOURCE.rglob("*.py"):
        yield from ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def calls() -> Iterator[tuple[str, str, re.Pattern | None]]:
    """How patterns are used: their name (or "re" and the pattern itself) and the method."""
    for node in sources():
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            if isinstance(node.args[0], ast.Constant):
                yield "re", ast.unparse(node.func)[3:], re.compile(node.args[0].value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr, None


@dataclasses.dataclass
class Used:
    """A pattern, and whether it is ever looked for inside of a text."""

    pattern: re.Pattern
    methods: set[str]

    @property
    def ways(self) -> list[str]:
        inside = self.methods - {"fullmatch", "match", "compile"}
        return [*sorted(self.methods & {"fullmatch", "match"}), *(["search"] if inside else [])]


METHODS = {"fullmatch", "match", "search", "sub", "subn", "split", "findall", "finditer"}


def every_pattern() -> dict[str, Used]:
    """The patterns of the package; where nothing tells how one is used, every way is tried."""
    found: dict[str, Used] = {}
    used: dict[str, set[str]] = {}
    for name, method, pattern in calls():
        used.setdefault(name, set()).add(method)
        if pattern is not None:
            found.setdefault(repr(pattern.pattern), Used(pattern, set())).methods.add(method)
    for module in modules():
        for name, value in vars(module).items():
            methods = used.get(name, set()) & METHODS if isinstance(value, re.Pattern) else set()
            for one, bound in compiled(value):
                known = found.setdefault(repr(one.pattern), Used(one, set()))
                known.methods |= {bound} if bound else methods or {"fullmatch", "search"}
    return found


PATTERNS = every_pattern()


def example(tree) -> str:
    """A text that a part of a pattern matches, each repetition once; unknown parts give nothing."""
    parts = []
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            parts.append(chr(value))
        elif name == "NOT_LITERAL":
            parts.append("a" if value != ord("a") else "b")
        elif name == "ANY":
            parts.append("a")
        elif name == "IN":
            parts.append(member(value))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            parts.append(example(value[2]) * max(1, value[0]))
        elif name == "SUBPATTERN":
            parts.append(example(value[-1]))
        elif name == "BRANCH":
            parts.append(example(value[1][0]))
    return "".join(parts)


CATEGORIES = {"DIGIT": "0", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a"}


def member(choices) -> str:
    """A character of a class."""
    if str(choices[0][0]) == "NEGATE":
        matching = re.compile("[" + "".join(["^", *map(written, choices[1:])]) + "]")
        return next(one for one in "a0 .\n" if matching.match(one))
    kind, value = choices[0]
    if str(kind) == "CATEGORY":
        return CATEGORIES.get(str(value).removeprefix("CATEGORY_"), "!")
    return chr(value[0] if str(kind) == "RANGE" else value)


def written(choice) -> str:
    kind, value = choice
    if str(kind) == "CATEGORY":
        return {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_WORD": r"\W"}[
            str(value).removeprefix("CATEGORY_")
        ]
    if str(kind) == "RANGE":
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return re.escape(chr(value))


def pumps(tree, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition in a pattern what comes before it, and what it repeats."""
    for place, (kind, value) in enumerate(tree):
        head = before + example(list(tree)[:place])
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield head, example(value[2])
            yield from pumps(value[2], head)
        elif str(kind) == "SUBPATTERN":
            yield from pumps(value[-1], head)
        elif str(kind) == "BRANCH":
            for branch in value[1]:
                yield from pumps(branch, head)


def attacks(pattern: re.Pattern) -> set[tuple[str, str]]:
    own = (
        set(pumps(parser.parse(pattern.pattern, pattern.flags)))
        if isinstance(pattern.pattern, str)
        else set()
    )
    doubled = {(head, f"{body} ") for head, body in own} | {
        (head, f"{body}.") for head, body in own
    }
    return {pair for pair in own | doubled if pair[1]} | {("", one) for one in REPEATED}


class TooSlowError(Exception):
    """A pattern was interrupted."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Interrupt what takes more processor time than a linear pattern would."""

    def interrupt(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def slowest(used: Used) -> str:
    """The first attack that takes too long, or nothing."""
    pattern = used.pattern
    for head, body in sorted(attacks(pattern)):
        for ending, length in itertools.product(ENDINGS, LENGTHS):
            text = head + body * (length // len(body)) + ending
            given = text.encode() if isinstance(pattern.pattern, bytes) else text
            for way in used.ways:
                try:
                    with limited():
                        getattr(pattern, way)(given)
                except TooSlowError:
                    return f"{way} of {head!r} + {body!r} * {length} + {ending!r}"
    return ""


def test_the_patterns_are_found():
    assert len(PATTERNS) > 50
    assert repr(r"\d{3}-\d{2}-\d{4}") in PATTERNS  # of a bound method, in a tuple


@pytest.mark.parametrize("used", PATTERNS.values(), ids=range(len(PATTERNS)))
def test_every_pattern_is_about_linear(used):
    assert slowest(used) == "", used.pattern.pattern


@pytest.mark.parametrize(
    "wrong", [r"(?:a+)+b", r"(?:-?[0-9A-F]{4,})+", r"(\w+\s?)*!", r"\s*,\s*x$"]
)
def test_a_pattern_that_is_not_would_be_noticed(wrong):
    assert slowest(Used(re.compile(wrong), {"fullmatch", "search"}))


@pytest.mark.parametrize(
    "body", ["0123456789abcdef", "0", "a", "0.", "1 ", "(0)", "a@", "-1", "1,000"]
)
@pytest.mark.parametrize("ending", ["", ".jpg", "!", "@", " "])
def test_long_values_are_looked_at_quickly(body, ending):
    values = [f"{number}{body * (256 // len(body))}{ending}" for number in range(20)]
    started = time.perf_counter()
    infer_schema(pl.DataFrame({"file": values}))
    assert time.perf_counter() - started < 5


WRITTEN = {".py", ".html", ".css", ".js", ".md", ".toml", ".txt", ".csv"}


def test_no_file_holds_both_sides_of_a_merge():
    """Templates and tables would show them to people; nothing else refuses them."""
    files = [one for one in SOURCE.rglob("*") if one.suffix in WRITTEN]
    assert len(files) > 100
    marks = tuple(7 * mark + " " for mark in "<>")
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert not [one for one in lines if one.startswith(marks)], file
