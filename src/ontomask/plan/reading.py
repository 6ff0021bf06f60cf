"""From the text of a plan to its parts; every problem is found before any is reported."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ontomask.checks import Integer, check, did_you_mean
from ontomask.data.files import read_file
from ontomask.data.rules import Rule
from ontomask.data.schema import AnyColumn, Schema
from ontomask.errors import OntomaskError, ParameterError, PlanError
from ontomask.methods.base import Method
from ontomask.plan.lines import Place, line_of, places
from ontomask.plan.parts import Kind, Part
from ontomask.plan.problems import (
    Problem,
    missing_column,
    named,
    refuse,
    sentences,
    unknown,
)
from ontomask.plan.sections import (
    SECTIONS,
    WRITABLE,
    Assessment,
    Engine,
    Input,
    Limits,
    Output,
    is_writable,
)
from ontomask.plan.vocabulary import (
    COLUMN_MODELS,
    COLUMNS,
    PRIVACY_MODELS,
    QUALITY_MODELS,
    RULE,
    RULE_MODEL,
    STEP_MODELS,
    STEPS,
)
from ontomask.report.facts import About
from ontomask.wording import quoted

__all__ = ["Contents", "read_contents"]

KEYS = (
    *("seed", "about", "input", "engine", "columns", "rules", "steps"),
    *("evaluation", "limits", "output"),
)
SECTION_MODELS = {name: kind.model() for name, kind in SECTIONS.items()}
LOOKED_INTO = 2**26
"""Only tables of so many bytes are read to tell their columns beside other problems."""

CURLED = "“”„‘’«»"
NESTED = {**PRIVACY_MODELS, **QUALITY_MODELS}
NAMING = ("columns", "strata", "confidential", "given", "importance", "hierarchies")
"""Parameters of methods that name columns of the table."""


RULES_WANTED = "rules are written [[rules]], each with when = { … } and never = { … }."


@dataclass(frozen=True)
class Contents:
    """What a plan says."""

    input: Input
    schema: Schema
    steps: tuple[Method, ...]
    engine: Engine = field(default_factory=Engine)
    evaluation: Assessment = field(default_factory=Assessment)
    limits: Limits = field(default_factory=Limits)
    output: Output = field(default_factory=Output)
    about: About = field(default_factory=About)
    seed: int | None = None

    def decided(self, name: str, *, leave_out: bool = False) -> Schema:
        """The columns of the plan called `name`; undecided ones are refused, or left out."""
        left = self.schema.decided()
        if len(left) == len(self.schema) or (leave_out and left.published):
            return left
        if leave_out:
            raise PlanError(
                f"Without what is undecided in {name} nothing would be published; say what others "
                'may know (role = "quasi") and what may be published.'
            )
        shown = shlex.quote(name)
        raise PlanError(
            f"In {name} the role of {quoted(self.schema.undecided)} is undecided, so nothing is "
            "released; say quasi (others may know it), sensitive, other (published as it is) or "
            'kind = "identifier", or delete its section; to leave all of them out: '
            f"ontomask run {shown} --leave-out-undecided"
        )


@dataclass
class _Reader:
    """A document being read; problems are gathered, not raised."""

    document: Mapping[str, Any]
    folder: Path
    lines: Mapping[Place, int]
    problems: list[Problem] = field(default_factory=list)

    def note(self, place: Place, sentence: str) -> None:
        """Remember a problem."""
        real = _without_tags(place, self.document)
        self.problems.append(Problem(sentence, named(real), line_of(real, self.lines)))

    def made(self, kind: Kind, model: type[Part], written: object, place: Place) -> Any:
        """Make what is written at a place; None where it cannot be made."""
        try:
            part = model.model_validate(written)
        except ValidationError as error:
            for inner, sentence in sentences(error, model, NESTED):
                self.note((*place, *inner), sentence)
            return None
        known = len(self.problems)
        given = dict(self._given(kind, part, place))
        try:
            return kind.made(**given) if len(self.problems) == known else None
        except OntomaskError as error:
            return self.note(place, kind.in_words_of_the_plan(str(error)))

    def _given(self, kind: Kind, part: Part, place: Place) -> Iterator[tuple[str, Any]]:
        """The parameters of a part that can be made; a mistake in one hides none in another."""
        for one in kind.parameters(part, self.folder):
            for inner, sentence in one.problems:
                self.note((*place, one.key, *inner), sentence)
            if one.problems:
                continue
            try:
                yield one.name, one.make()
            except (OntomaskError, OSError) as error:
                self.note((*place, one.key), kind.in_words_of_the_plan(str(error)))

    def chosen(
        self,
        kinds: Mapping[str, Kind],
        models: Mapping[str, type[Part]],
        written: object,
        place: Place,
    ) -> Any:
        """Make what is written, whichever of the kinds its tag names."""
        tag = next(iter(kinds.values())).tag
        if not isinstance(written, Mapping):
            return self.note(place, f'this must be a table, such as {tag} = "{next(iter(kinds))}".')
        name = written.get(tag)
        if name is None:
            return self.note(place, f"{tag} is missing; it is one of {', '.join(kinds)}.")
        if not isinstance(name, str) or name not in kinds:
            hint = did_you_mean(name, kinds)
            return self.note(
                (*place, tag), f"{tag} must be one of {', '.join(kinds)}, not {name!r}.{hint}"
            )
        return self.made(kinds[name], models[name], written, place)


def _without_tags(place: Place, document: object) -> Place:
    """A place without the names that Pydantic puts in it for the branch of a union."""
    real: list[str | int] = []
    for step in place:
        if isinstance(document, Mapping) and step in document:
            document = document[str(step)]
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            continue
        real.append(step)
    return tuple(real)


def read_contents(text: str, name: str, folder: Path) -> Contents:
    """Read a plan, or raise a PlanError with all its problems."""
    reader = _Reader(_parsed(text, name), folder, places(text))
    for key in reader.document:
        if key not in KEYS:
            reader.note((key,), unknown(key, KEYS))
    sections = dict(_sections(reader))
    _check_table(reader, sections)
    columns = dict(_columns(reader))
    rules = list(_rules(reader, columns))
    steps = list(_steps(reader))
    seed = _seed(reader)
    _check_references(reader)
    _check_quasi(reader)
    _check_target(reader, sections.get("evaluation"), columns)
    if reader.problems:
        _check_header(reader, sections.get("input"))
    refuse(name, reader.problems)
    schema = Schema.of(columns).with_rules(*rules)
    return Contents(schema=schema, steps=tuple(steps), seed=seed, **sections)


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+), column (\d+)", str(error))
        sentence = str(error).split(" (at ")[0]
        line = int(found[1]) if found else text.count("\n") + 1
        column = f", near character {found[2]}" if found else ""
        hint = _hint(sentence, text.split("\n")[line - 1])
        problem = Problem(f"this is not valid TOML{column}: {sentence} ({hint}).", "the file", line)
        refuse(name, [problem])
        raise AssertionError from None  # never reached: refuse raises


def _hint(sentence: str, line: str) -> str:
    """What a person who wrote such a line usually has to change."""
    if any(quote in line for quote in CURLED):
        return 'use straight quotes: "quasi"'
    if "\\" in line:
        return "in a path write / or put the path in single quotes"
    if "twice" in sentence or "overwrite" in sentence:
        return "the same name stands here a second time"
    if line.lstrip().startswith("["):
        return 'a name with blanks or other signs needs quotes: [columns."length of stay"]'
    return "texts need quotes, tables are written [name], lists [1, 2]"


def _sections(reader: _Reader) -> Iterator[tuple[str, Any]]:
    for name, kind in SECTIONS.items():
        written = reader.document.get(name)
        if written is None and name != "input":
            continue
        if written is None:
            reader.note((), 'the section [input] is missing; it says path = "your-table.csv".')
        elif (made := reader.made(kind, SECTION_MODELS[name], written, (name,))) is not None:
            yield name, made


def _columns(reader: _Reader) -> Iterator[tuple[str, Any]]:
    written = reader.document.get("columns")
    if not isinstance(written, Mapping) or not written:
        sentence = 'no column is declared; write for each [columns.NAME] and kind = "…".'
        reader.note(("columns",) if written is not None else (), sentence)
        return
    for name, one in written.items():
        made = reader.chosen(COLUMNS, COLUMN_MODELS, one, ("columns", name))
        if made is not None:
            yield name, made
    for kind in ("count", "weight", "unit"):
        several = _of_kind(written, kind)
        for name in several[1:]:
            reader.note(("columns", name), f"only one column can be the {kind}; {several[0]!r} is.")


def _of_kind(columns: Mapping[str, Any], kind: str) -> list[str]:
    found = {name: one for name, one in columns.items() if isinstance(one, Mapping)}
    if kind == "unit":
        return [name for name, one in found.items() if one.get("unit") is True]
    return [name for name, one in found.items() if one.get("kind") == kind]


def _rules(reader: _Reader, columns: Mapping[str, Any]) -> Iterator[Rule]:
    """The combinations that nobody can have; what a rule says must fit the columns."""
    written = reader.document.get("rules", [])
    if not isinstance(written, list):
        reader.note(("rules",), RULES_WANTED)
        return
    for number, one in enumerate(written):
        place = ("rules", number)
        rule = reader.made(RULE, RULE_MODEL, one, place)
        declared = reader.document.get("columns", {})
        if rule is None or any(
            name in declared and name not in columns for name in rule.conditions
        ):
            continue  # said already
        try:
            Schema.of(columns).with_rules(rule)
            yield rule
        except OntomaskError as error:
            reader.note(place, str(error))


def _steps(reader: _Reader) -> Iterator[Method]:
    written = reader.document.get("steps")
    if not isinstance(written, list) or not written:
        sentence = 'there is no step; write [[steps]] and method = "microaggregation", k = 5.'
        reader.note(("steps",) if written is not None else (), sentence)
        return
    for number, one in enumerate(written):
        made = reader.chosen(STEPS, STEP_MODELS, one, ("steps", number))
        if made is not None:
            yield made


def _check_table(reader: _Reader, sections: Mapping[str, Any]) -> None:
    """Refuse a name of the masked table that does not tell a format, before anything is done."""
    source, output = sections.get("input"), sections.get("output")
    if source is None or (output is None and "output" in reader.document):
        return  # said already
    if (output or Output()).table is not None or is_writable(source.file.name):
        return
    called = f"the masked table would be called {source.file.name!r}, which cannot be written; "
    reader.note(
        ("input", "path" if source.database is None else "database"),
        f"{called if source.database is None else ''}"
        f'say table = "…" under [output] with a name that ends in {WRITABLE}.',
    )


def _seed(reader: _Reader) -> int | None:
    seed = reader.document.get("seed")
    try:
        if seed is not None:
            check("seed", seed, Integer(0))
    except ParameterError as error:
        reader.note(("seed",), str(error))
    return seed


def _check_header(reader: _Reader, source: Input | None) -> None:
    """Where a plan has problems, also tell the columns that its table lacks, if it can be read."""
    columns = reader.document.get("columns")
    if source is None or source.database is not None or not isinstance(columns, Mapping):
        return
    table = reader.folder / source.file
    try:
        if table.stat().st_size > LOOKED_INTO:
            return
        found = read_file(table, source).columns
    except (OntomaskError, OSError):
        return
    for name in columns:
        if name not in found:
            reader.note(("columns", name), missing_column(name, found))


# Columns that are named elsewhere -------------------------------------------------------------


def _check_references(reader: _Reader) -> None:
    columns = reader.document.get("columns")
    if not isinstance(columns, Mapping):
        return
    for place, name in _references(reader.document):
        if isinstance(name, str) and name not in columns:
            hint = did_you_mean(name, columns) or f" Declare it as [columns.{name}]."
            reader.note(
                place, f"{place[-1]} names the column {name!r}, which the plan lacks.{hint}"
            )


def _references(document: Mapping[str, Any]) -> Iterator[tuple[Place, object]]:
    steps = document.get("steps")
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        for key, names in step.items() if isinstance(step, Mapping) else ():
            if key in NAMING:
                yield from ((("steps", number, key), one) for one in _listed(names))
        yield from _model_references(step, ("steps", number))
    evaluation = document.get("evaluation")
    if isinstance(evaluation, Mapping):
        for key in ("columns", "target", "features"):
            for one in _listed(evaluation.get(key, ())):
                yield ("evaluation", key), one


def _model_references(step: object, place: Place) -> Iterator[tuple[Place, object]]:
    if not isinstance(step, Mapping):
        return
    models = step.get("privacy")
    for number, model in enumerate(models if isinstance(models, list) else ()):
        if isinstance(model, Mapping) and "column" in model:
            yield (*place, "privacy", number, "column"), model["column"]
    quality = step.get("quality")
    if isinstance(quality, Mapping):
        for key in ("target", "weights"):
            for one in _listed(quality.get(key, ())):
                yield (*place, "quality", key), one


def _listed(names: object) -> Iterable[object]:
    if isinstance(names, str):
        return (names,)
    return names if isinstance(names, (list, Mapping)) else ()


def _check_target(
    reader: _Reader, chosen: Assessment | None, columns: Mapping[str, AnyColumn]
) -> None:
    """Refuse a target that cannot be judged, before everything else is computed."""
    column = columns.get(chosen.target or "") if chosen is not None else None
    if column is not None and column.role not in ("sensitive", "other"):
        reader.note(
            ("evaluation", "target"),
            f"target names a column with the role {column.role}; a classifier can be judged by a "
            'column with role = "sensitive" or "other" only.',
        )


def _check_quasi(reader: _Reader) -> None:
    """Refuse a plan whose steps ask for classes of k when no column makes classes."""
    columns, steps = reader.document.get("columns"), reader.document.get("steps")
    if not isinstance(columns, Mapping) or not isinstance(steps, list):
        return None
    published = [one for one in columns.values() if isinstance(one, Mapping)]
    plain = [one for one in published if one.get("kind") not in ("identifier", "count", "weight")]
    if published and not plain:
        return reader.note(
            ("columns", next(iter(columns))),
            "every column is an identifier or the weight, so nothing would be published.",
        )
    if plain and not any(one.get("role", "quasi") in ("quasi", "undecided") for one in plain):
        for number, step in enumerate(steps):
            if isinstance(step, Mapping) and ("k" in step or "privacy" in step):
                return reader.note(
                    ("steps", number),
                    'no column has role = "quasi"; say which columns an intruder may know.',
                )
    return None
