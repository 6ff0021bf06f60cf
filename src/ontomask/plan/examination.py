"""Seeing whether a plan fits its table, column by column, before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ontomask.brevity import Brief
from ontomask.checks import composed
from ontomask.data.encoding import encode
from ontomask.data.files import FileFormat, Source, first_look, read_file
from ontomask.data.inference import infer_schema
from ontomask.data.microdata import Microdata
from ontomask.data.profile import profiles
from ontomask.data.schema import AnyColumn, Column, Identifier, Nominal, Schema
from ontomask.data.tables import Table, open_table
from ontomask.engines.databases import read_query
from ontomask.errors import DataError, OntomaskError
from ontomask.evaluation.risk import FileRisk, file_risk
from ontomask.evaluation.unchanged import UnchangedRisk, unchanged_in_table
from ontomask.extras import EXTRAS
from ontomask.methods.base import Method, sizes_asked
from ontomask.methods.columns import Pseudonyms
from ontomask.methods.disclosure import Demands
from ontomask.methods.generalization.encoding import misnamed
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.persons import constant_columns, refuse_links
from ontomask.plan.lines import Place
from ontomask.plan.problems import missing_column, refuse_at
from ontomask.plan.reading import Contents
from ontomask.plan.requirements import absent, needed
from ontomask.plan.vocabulary import COLUMNS
from ontomask.privacy import PrivacyModel
from ontomask.toml_text import toml_value
from ontomask.wording import enumerated, percent, plural

__all__ = [
    "Examination",
    "Examined",
    "Reading",
    "as_they_are",
    "examine",
    "examined",
    "extras_of",
    "identifiers",
    "mapped_how",
    "misfit",
    "notes_on",
    "read_declared",
    "repeated_in",
    "repeating",
    "too_few",
    "unfit_steps",
]


@dataclass(frozen=True)
class Examined:
    """What was found in a column."""

    name: str
    kind: str
    role: str
    distinct: int
    missing: int
    mapped: str = ""
    profile: str = ""


@dataclass(frozen=True, eq=False)
class Examination(Brief):
    """What a table looks like through its plan.

    Attributes
    ----------
    records
        How many there are.
    columns
        What was found in each declared column.
    risk
        The risk of the table as it is, if it has quasi-identifiers.
    unchanged
        How many records the columns that no step changes single out.
    undecided
        What each column whose role is undecided looks like.
    notes
        What was guessed, and what will be left out.
    exceeded
        What exceeds a limit of the plan already, whatever the steps do.
    repeated
        The identifiers of which several records have the same, though records are counted.
    """

    records: int
    columns: tuple[Examined, ...]
    risk: FileRisk | None
    unchanged: UnchangedRisk
    undecided: Mapping[str, str]
    notes: tuple[str, ...]
    exceeded: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


def read_declared(contents: Contents, folder: Path) -> Source:
    """Read the table of a plan as its columns are declared."""
    kinds = {name: column.kind for name, column in contents.schema.items()}
    asked = contents.input.source(folder)
    if asked is not None:
        return read_query(*asked, contents.input, kinds)
    return read_file(folder / contents.input.file, contents.input, kinds=kinds)


def notes_on(source: Source, contents: Contents, repeated: Sequence[str]) -> tuple[str, ...]:
    """What was guessed while reading, what is left out, and what is published as it is."""
    schema = contents.schema
    left = [name for name in source.frame.columns if name not in schema]
    other, sensitive = (
        [name for name in as_they_are(contents) if schema[name].role == role]
        for role in ("other", "sensitive")
    )
    undecided = schema.undecided
    notes = (
        (undecided, f"Undecided, so not published: {', '.join(undecided)}."),
        (left, f"Not declared, so not published: {', '.join(left)}."),
        (
            other,
            f"Published as they are and not sensitive: {', '.join(other)}; do they tell who "
            "somebody is?",
        ),
        (
            sensitive,
            f"Sensitive, published as they are: {', '.join(sensitive)}; whoever knows them of a "
            "person already can use them to find the record.",
        ),
        (
            not contents.output.shuffle,
            "The records keep their order; if that tells who is who, say shuffle = true.",
        ),
    )
    return (*source.notes, *_several(repeated), *(note for applies, note in notes if applies))


def _several(repeated: Sequence[str]) -> tuple[str, ...]:
    """That persons may have several records, though k counts records."""
    if not repeated:
        return ()
    return (
        f"Several records have the same {enumerated(repeated)}, but k counts records: if that "
        "tells whose record it is, say unit = true for it, so that persons are counted; or all k "
        "may be of one person.",
    )


def repeating(schema: Schema, counts: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """The identifiers that repeat where records are counted.

    Parameters
    ----------
    schema
        The columns of the plan.
    counts
        For each identifier how many values it has, and in how many records.
    """
    if schema.unit is not None or schema.count is not None:
        return ()
    return tuple(name for name, (distinct, records) in counts.items() if distinct < records)


def identifiers(schema: Schema) -> list[str]:
    """The columns that may say whose record it is."""
    return [name for name, column in schema.items() if isinstance(column, Identifier)]


def repeated_in(source: Source, schema: Schema) -> tuple[str, ...]:
    """The identifiers that repeat in a table that was read, unless who read it has looked."""
    if source.repeated is not None:
        return source.repeated
    table = open_table(source.frame, may_be_empty=True)
    known = {name: table.frame[name].drop_nulls() for name in identifiers(schema)}
    counts = {name: (int(one.n_unique()), len(one)) for name, one in known.items()}
    return repeating(schema, counts)


class Reading:
    """How a check gets at the table of a plan; whoever has read it already hands it out here."""

    def table(self, contents: Contents, folder: Path) -> Source:
        """The table, read as its columns are declared."""
        return read_declared(contents, folder)

    def suspicions(self, contents: Contents, folder: Path) -> tuple[str, ...]:
        """What is odd in the file, though the plan does not say so."""
        if contents.input.database is not None:
            return ()
        source = first_look(folder / contents.input.file, contents.input, ())
        return tuple(
            f"{said} If so, say under [input]: {name} = {toml_value(getattr(source.format, name))}"
            for name, said in source.guessed.items()
        )


def examine(
    contents: Contents, folder: Path, name: str, text: str, reading: Reading
) -> Examination:
    """Read the table and look at every declared column; all problems are raised together."""
    refuse_at(name, text, absent(contents))
    try:
        source = reading.table(contents, folder)
    except DataError:
        if contents.input.database is None:
            refuse_at(name, text, _unreadable(contents, folder))
        raise
    table, repeated = open_table(source.frame), repeated_in(source, contents.schema)
    people = _counted(table, contents.schema)
    refuse_at(name, text, [*_misfits(table, contents.schema), *too_few(contents, people)])
    refuse_at(name, text, _joining(contents, table))
    refuse_at(name, text, unfit_steps(contents, table))
    return Examination(
        records=len(table),
        columns=tuple(examined(table, contents.schema)),
        risk=_risk(table, contents.schema),
        unchanged=unchanged_in_table(table, contents.schema, as_they_are(contents)),
        undecided=_looks(source, contents.schema.undecided),
        notes=(
            *_persons(table, contents.schema),
            *_excluded(table, contents.schema),
            *reading.suspicions(contents, folder),
            *notes_on(source, contents, repeated),
            *extras_of(contents),
        ),
        repeated=repeated,
    )


def exceeded(unchanged: UnchangedRisk, most: float | None) -> tuple[str, ...]:
    """Say that the columns published as they are exceed the limit of the plan, if they do."""
    if most is None or unchanged.alone <= most:
        return ()
    alone = percent(unchanged.alone, 1).capitalize()
    return (
        f"{alone} of the records are alone with what is published unchanged "
        f"({enumerated(unchanged.columns)}), where the limit of the plan is {100 * most:g} %: say "
        "that others may know some of these columns, so that they are masked, leave them out, or "
        "raise the limit.",
    )


def _excluded(table: Table, schema: Schema) -> Iterator[str]:
    """How many records have a combination that a rule excludes: a sign of bad data."""
    decided = schema.decided()
    if not decided.rules:
        return
    microdata = encode(table, decided)
    for rule, found in zip(decided.rules, microdata.violations(), strict=True):
        count = float(microdata.counts[found].sum())
        yield f"Rule: {rule} ({plural(count, 'record') if count else 'no record'} of the table)."


def _unreadable(contents: Contents, folder: Path) -> Iterator[tuple[Place, str]]:
    """Columns that are not in the file, or hold no numbers where they should."""
    path, how = folder / contents.input.file, contents.input
    names = read_file(path, how).frame.columns  # raises where the file is no table at all
    written = {composed(name): name for name in names}
    for name, column in contents.schema.items():
        if name not in written:
            yield ("columns", name), missing_column(name, names)
        elif sentence := _no_numbers(path, how, written[name], column.kind):
            yield ("columns", name), sentence


def _no_numbers(path: Path, how: FileFormat, name: str, kind: str) -> str:
    if kind not in ("numeric", "count", "weight"):
        return ""
    try:
        read_file(path, how, kinds={name: kind}, columns=[name])
    except DataError as error:
        return str(error)
    return ""


def _misfits(table: Table, schema: Schema) -> Iterator[tuple[Place, str]]:
    """Columns that do not hold what they are said to hold."""
    for name, column in schema.items():
        if isinstance(column, Column) or name == schema.unit:
            yield from misfit(table, name, column)


def misfit(table: Table, name: str, column: AnyColumn) -> Iterator[tuple[Place, str]]:
    """What is wrong with what a column holds, if anything."""
    try:
        encode(table, Schema.of({name: column}))
    except OntomaskError as error:
        yield ("columns", name), COLUMNS[column.kind].in_words_of_the_plan(str(error))


def _counted(table: Table, schema: Schema) -> int:
    """How many persons or records k can be counted of; a counted record is several."""
    if schema.unit is not None:
        return len(table.distinct(schema.unit)[1])
    return len(table) if schema.count is None else int(np.nansum(table.numbers(schema.count)))


def too_few(contents: Contents, count: int) -> Iterator[tuple[Place, str]]:
    """Steps whose classes would be larger than what can be counted in the table."""
    there, unit = plural(count, "record"), contents.schema.unit
    if unit is not None:
        there = f"{plural(count, 'person')} (different {unit})"
    for number, step in enumerate(contents.steps):
        k = max(sizes_asked([step]), default=0)
        if k > count:
            yield ("steps", number), f"k is {k}, but the table has only {there}."


def _joining(contents: Contents, table: Table) -> Iterator[tuple[Place, str]]:
    """Columns that would be published and join the records of single persons."""
    schema = contents.schema.decided()
    if schema.unit is None:
        return
    microdata = encode(table, schema)
    for name, attribute in microdata.attributes.items():
        if name not in microdata.quasi:
            yield from _refused(("columns", name), refuse_links, attribute, microdata)
    for number, step in enumerate(contents.steps):
        if isinstance(step, Pseudonyms) and schema.unit in step.columns:
            unit = microdata.read_identifier(schema.unit).of(microdata.rows)
            yield from _refused(("steps", number), refuse_links, unit, microdata)


def _refused(
    place: Place, asked: Callable[..., None], *given: object
) -> Iterator[tuple[Place, str]]:
    """What is refused, and where the plan says it."""
    try:
        asked(*given)
    except OntomaskError as error:
        yield place, str(error)


def _persons(table: Table, schema: Schema) -> Iterator[str]:
    """How many persons there are, and what is the same in all records of each."""
    if schema.unit is None:
        return
    microdata = encode(table, schema.decided())
    assert microdata.units is not None
    constant, most = constant_columns(microdata), int(np.bincount(microdata.units).max())
    yield (
        f"k counts persons (different {schema.unit}): {plural(microdata.total, 'person')} with "
        f"{plural(len(microdata), 'record')}, at most {most:,} of one."
    )
    if constant:
        yield f"The same in all records of a person: {enumerated(constant)}."


def unfit_steps(contents: Contents, table: Table) -> Iterator[tuple[Place, str]]:
    """What keeps steps from being run: hierarchies, targets, models that no table like this keeps.

    Columns that an earlier step changes are not judged by the values that they have now.
    """
    if not any(isinstance(step, Generalization) or _models(step) for step in contents.steps):
        return  # the table need not be encoded once more
    microdata = encode(table, contents.schema.decided())
    changed: set[str] = set()
    for number, step in enumerate(contents.steps):
        if isinstance(step, Generalization):
            judged = [name for name in microdata.quasi if name not in changed]
            found = step.problems(microdata, judged)
        else:
            found = _undemandable(step, microdata, changed)
        for place, sentence in found:
            yield ("steps", number, *place), sentence
        changed.update(getattr(step, "columns", None) or microdata.quasi)


def _models(step: Method) -> Sequence[PrivacyModel]:
    return getattr(step, "privacy", ())


def _undemandable(
    step: Method, microdata: Microdata, changed: set[str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The models of a step that clusters of the table cannot satisfy, however they are formed."""
    wrong = [*misnamed(_models(step), microdata)]
    yield from wrong
    for place, model in enumerate(() if wrong else _models(step)):
        named = getattr(model, "column", None) or microdata.schema.with_role("sensitive")
        # closeness holds of all records together: there is nothing to refuse, and much to compute
        if model.costly or changed.intersection([named] if isinstance(named, str) else named):
            continue
        try:
            Demands.of(microdata, getattr(step, "k", 1), [model])
        except OntomaskError as error:
            yield ("privacy", place), str(error)


def examined(table: Table, schema: Mapping[str, AnyColumn]) -> Iterator[Examined]:
    """What is in each declared column of a table."""
    looks = profiles(table, list(schema))
    for name, column in schema.items():
        codes, values = table.distinct(name)
        missing = int(np.count_nonzero(codes < 0))
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
        mapped = mapped_how(column, values, counts)
        look = "; ".join(filter(None, [looks[name].span or looks[name].listed, *looks[name].odd]))
        yield Examined(name, column.kind, column.role, len(values), missing, mapped, look)


def mapped_how(column: AnyColumn, values: list[object], counts: list[int]) -> str:
    """How many values of a column a taxonomy knows, in words; nothing where there is none."""
    mapped = ""
    if isinstance(column, Nominal) and column.taxonomy is not None:
        mapping = column.taxonomy.map(values, counts=counts, overrides=column.overrides)
        stems = mapping.how.count("stem")
        doubt = f"; {stems:,} by the stem of a word, please look at them" if stems else ""
        mapped = f"{column.taxonomy.name}: {mapping.coverage}{doubt}"
    return mapped


def as_they_are(contents: Contents) -> list[str]:
    """The columns that are published as they are: neither quasi-identifiers nor named by a step."""
    named = {
        name
        for step in contents.steps
        for parameter in ("columns", "confidential")
        for name in getattr(step, parameter, None) or ()
    }
    published = [name for name in contents.schema.published if name != contents.schema.count]
    return [
        name for name in published if contents.schema[name].role != "quasi" and name not in named
    ]


def extras_of(contents: Contents) -> list[str]:
    """The extras that a plan needs, in a sentence."""
    extras = sorted({EXTRAS[module].extra for _, module in needed(contents)})
    listed = f"ontomask[{','.join(extras)}]"
    return [f"The plan needs more than the core package: {listed} (installed)."] if extras else []


def _looks(source: Source, undecided: Sequence[str]) -> Mapping[str, str]:
    """What undecided columns look like, for those who are to decide."""
    chosen = [name for name in source.frame.columns if composed(name) in undecided]
    return infer_schema(source.frame.select(chosen)).reasons if chosen else {}


def _risk(table: Table, schema: Schema) -> FileRisk | None:
    return file_risk(encode(table, schema)) if schema.quasi else None
