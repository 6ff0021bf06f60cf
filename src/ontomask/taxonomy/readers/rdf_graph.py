"""From the text of an RDF file to a graph, without trusting the text.

Threat, source and rule: an RDF file comes from anywhere. RDF/XML may declare entities (see
`xml_safety`); JSON-LD may name a context at an address that the parser would fetch, and by that
tell its owner who reads the file and when. Such a context is refused. Nothing else in RDF makes
rdflib open a file or an address.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rdflib import Dataset, Graph
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.plugins.parsers.rdfxml import RDFXMLHandler

from ontomask.errors import FormatError, UnsafeSourceError
from ontomask.taxonomy.readers.xml_safety import feed_handler

__all__ = ["parse"]

NAMES = {
    "xml": "RDF/XML",
    "turtle": "Turtle",
    "nt": "N-Triples",
    "n3": "Notation3",
    "trig": "TriG",
    "nquads": "N-Quads",
    "json-ld": "JSON-LD",
}
WITH_NAMED_GRAPHS = frozenset({"trig", "nquads", "json-ld"})
BASE = "http://base.invalid/"
"""What relative names are completed with where the file does not say; it is never fetched."""


def parse(text: str, syntax: str, path: Path) -> Graph:
    """Parse the text of an RDF file; statements of named graphs are united."""
    if syntax == "json-ld":
        text = _without_remote_context(text, path)
    with _reported(text, syntax, path), _quiet():
        if syntax == "xml":
            graph = Graph()
            feed_handler(RDFXMLHandler(graph), text, BASE, path)
            return graph
        if syntax in WITH_NAMED_GRAPHS:
            return _united(Dataset().parse(data=text.encode(), format=syntax, publicID=BASE))
        return Graph().parse(data=text.encode(), format=syntax, publicID=BASE)


def _united(dataset: Dataset) -> Graph:
    """Return the statements of all graphs in one."""
    graph = Graph()
    for subject, predicate, value, _ in dataset.quads():
        graph.add((subject, predicate, value))
    return graph


def _without_remote_context(text: str, path: Path) -> str:
    """Return the JSON anew, so that what was checked is exactly what will be parsed."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong_syntax(path, error.lineno, "json-ld", error.msg) from None
    except RecursionError:
        raise _wrong_syntax(path, None, "json-ld", "it is nested too deeply") from None
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            _check_context(value, path)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return json.dumps(document)


def _check_context(node: dict[str, object], path: Path) -> None:
    context = node.get("@context")
    parts = context if isinstance(context, list) else [context]
    remote = [part for part in [*parts, node.get("@import")] if isinstance(part, str)]
    if remote:
        raise UnsafeSourceError(
            f"{path}: the JSON-LD context {remote[0]!r} lies elsewhere, and nothing is ever "
            "fetched; write the context into the file, or convert the file to Turtle."
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib's own deprecations and its remarks about ill-typed literals from the user."""
    logger = logging.getLogger("rdflib.term")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def _reported(text: str, syntax: str, path: Path) -> Iterator[None]:
    """Turn the parsers' complaints into our sentence, with the line where there is one."""
    try:
        yield
    except BadSyntax as error:
        reason = re.search(r"Bad syntax \((.*)\) at \^", str(error), re.DOTALL)
        raise _wrong_syntax(path, error.lines + 1, syntax, reason[1] if reason else "") from None
    except ParserError as error:
        rest = str(error).removeprefix("Invalid line: ")
        raise _wrong_syntax(path, _only_line_ending_with(rest, text), syntax, rest) from None
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
        raise _wrong_syntax(path, None, syntax, str(error)) from None
    except RecursionError:
        raise _wrong_syntax(path, None, syntax, "it is nested too deeply") from None


def _only_line_ending_with(rest: str, text: str) -> int | None:
    """Find the line that a line-based parser stopped in; it only says what was left of it."""
    numbers = [
        number for number, line in enumerate(text.splitlines(), start=1) if line.endswith(rest)
    ]
    return numbers[0] if len(numbers) == 1 else None


def _wrong_syntax(path: Path, line: int | None, syntax: str, reason: str) -> FormatError:
    where = f"{path}, line {line}" if line else str(path)
    return FormatError(
        f"{where}: this is not valid {NAMES[syntax]} ({' '.join(reason.split())[:200]}); correct "
        "it there or export the file again."
    )
