"""Writing a first plan for a table, with every guess explained in a comment."""

from __future__ import annotations

import os
import shlex
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ontomask.data.encoding import encode
from ontomask.data.files import FileFormat, Source, first_look
from ontomask.data.files.kinds import NUMBERS
from ontomask.data.files.reading import GUESSABLE, with_numbers
from ontomask.data.inference import Proposal, infer_schema
from ontomask.data.schema import AnyColumn, Column, Date, Flat, Identifier, Nominal, Ordinal, Schema
from ontomask.data.tables import open_table
from ontomask.data.unseen import unseen
from ontomask.engines.databases import Database, check_address, is_server, read_query
from ontomask.engines.files import Resources, opened, sampled, too_large
from ontomask.errors import DataError
from ontomask.evaluation.unchanged import unchanged_in_table
from ontomask.methods.generalization.recipes import drafted
from ontomask.plan.sections import is_writable
from ontomask.toml_text import toml_comment, toml_key, toml_value
from ontomask.wording import plural

__all__ = ["propose", "sample_of"]

HEAD = """\
# A plan for ontomask: everything about one release in one file.
# It was written by `ontomask init` from a look at the table. Lines that begin with # are comments.
# Please read every guess below; the ones marked CHECK are the least sure. Where nothing tells what
# a column is to others, its role is undecided and the line above begins with DECIDE: only you know.
#
#   ontomask check {plan}    says whether the plan fits the table
#   ontomask run {plan}      makes the release, its report and its manifest

# Random choices depend on the table and on a seed, which is drawn and kept in the manifest. To
# repeat a run to the byte, copy it from there: a line such as seed = 20260101. Keep it to yourself.

# ---- About the release: the report begins with it, so what is written here is published ----
# [about]
# title = "…"                 # what the release is called
# purpose = "…"               # what it is made for
# recipient = "…"             # who is given it
# contact = "…"               # whom to ask
# date = 2026-01-31           # when it was decided on
# decided_by = {{ "roles of the columns" = "…", "k and limits" = "…" }}

[input]
{place}
"""

ROLES = """
# ---- Columns ----------------------------------------------------------------------------------
# kind: identifier (never published), numeric, date, nominal (codes or words of a taxonomy),
#       ordinal (words with an order), flat (words without one), weight
# unit: true for the identifier that says whose record it is: every k then counts persons
# sequences: true beside it, if a pseudonym or else lets others join the records of a person
# role: quasi      others may know it about a person, so it is masked
#       sensitive  to be kept from others; published with the masked columns around it
#       other      published as it is
#       undecided  not published; nothing is released before you have chosen one of the others,
#                  deleted the section, or said: ontomask run {plan} --leave-out-undecided
# A column that is not named here is not published.
"""

MOST_COMPARED = 40
"""So many columns are compared two by two: of 2,000 there would be two million pairs."""

RULES = """
# ---- Rules ------------------------------------------------------------------------------------
# These combinations never occur in the table, although both sides are frequent. Where that is no
# accident, delete the # in front of the lines: nobody then appears with one in the release.
"""

MOST_UNIQUE = 10
"""The limit that is proposed for records alone by unchanged columns, in percent."""

TAIL = """
# ---- Steps ------------------------------------------------------------------------------------
# Microaggregation groups at least k similar records and gives each group its center, so that every
# combination of the quasi-identifiers occurs k times or more. Other methods:
{methods}
[[steps]]
method = "microaggregation"
k = {k}

# Generalization makes values coarser instead, level by level, until every combination occurs k
# times or more: what is released is true, only less precise. To use it, delete the step above and
# the # in front of these lines:
# [[steps]]
# method = "generalization"
# suppression_limit = 0.05   # so many records may be starred
# privacy = [{{ model = "k-anonymity", k = {k} }}]
# [steps.hierarchies]        # nominal columns have their taxonomy
{hierarchies}
# ---- What is measured -------------------------------------------------------------------------
[evaluation]
distances = ["semantic", "matching"]   # how an intruder may link records
# target = "a column"                  # what classifiers shall learn from the release

# ---- Limits, in percent; a run that exceeds one ends with exit code 3 ---------------------------
[limits]
# max_linkage = 10      # records that an intruder would link rightly
# max_loss = 20         # information loss
max_unique_unchanged = {most}   # records alone by the columns published as they are; now {now}

[output]
# folder = {folder}     # made by the run; only --force replaces an existing release
{table}   # .csv (in UTF-8), .parquet, .xlsx, .sav, .dta; by default as the input
shuffle = true          # the order of the records can give people away; false keeps it, which
                        # `ontomask evaluate` needs to compare the release with the table
escape_formulas = true  # texts that a spreadsheet would execute get an apostrophe
"""


def propose(
    data: str | os.PathLike[str],
    plan: str | os.PathLike[str],
    file_format: FileFormat | None = None,
    *,
    k: int = 5,
    guess: Sequence[str] = GUESSABLE,
    query: str | None = None,
) -> tuple[str, Source, Proposal]:
    """The text of a plan for a table that will lie at `plan`, with what it was guessed from.

    `guess` is what may be guessed about the file, as in `first_look`; the plan then says it. With
    a `query`, `data` is the database that answers it.
    """
    from ontomask.methods.registry import METHODS

    source = _looked_at(data, file_format or FileFormat(), guess, query)
    if source.rows < k:
        raise DataError(
            f"{data} has {plural(source.rows, 'record')}, which is fewer than k = {k}; take a "
            "smaller k, or more records."
        )
    left_out = dict(_useless(source))
    frame = source.frame.drop(left_out)
    proposal = _publishable(infer_schema(frame), str(data)) if frame.width else _nothing(str(data))
    frame, proposal = _as_the_plan_reads(frame, source.format, proposal)
    proposal = _to_be_decided(proposal)
    target, named = Path(plan), query is None and is_writable(Path(data).name)
    shown = toml_comment(shlex.quote(target.name))
    names = ", ".join(name for name in sorted(METHODS) if name != "microaggregation")
    others = textwrap.fill(
        f"{names}.", 98, initial_indent="#   ", subsequent_indent="#   ", break_on_hyphens=False
    )
    parts = [
        HEAD.format(plan=shown, place=_place(str(data), target, query)),
        *_reading(source, file_format or FileFormat()),
        ROLES.format(plan=shown),
        *(f"# {note}\n" for note in proposal.notes),
        *(_column(name, column, proposal) for name, column in proposal.schema.items()),
        *(f"\n# {toml_comment(name)}: left out, as {why}\n" for name, why in left_out.items()),
        *_rules(frame, proposal.schema),
        TAIL.format(
            methods=others,
            k=k,
            hierarchies="".join(_hierarchies(frame, proposal.schema)),
            folder=toml_value(f"{target.stem}-release"),
            table='# table = "table.csv"' if named else 'table = "table.csv"  ',
            most=MOST_UNIQUE,
            now=_unchanged(frame, proposal.schema),
        ),
    ]
    return "".join(parts), source, proposal


def _looked_at(
    data: str | os.PathLike[str], how: FileFormat, guess: Sequence[str], query: str | None
) -> Source:
    if query is not None:
        check_address(str(data))
        return read_query(Database(str(data)), query, how, {})
    if not too_large(Path(data)):
        return first_look(data, how, guess)
    return sample_of(Path(data), how, guess)


def sample_of(data: Path, how: FileFormat, guess: Sequence[str] = GUESSABLE) -> Source:
    """A first look at some records of a table that is too large for memory."""
    with opened(Resources()) as connection, tempfile.TemporaryDirectory() as folder:
        path, count = sampled(connection, data, how, Path(folder))
        # the sample has a line of names, also where the table has none
        source = first_look(path, replace(how, header=1) if how.header == 0 else how, guess)
    said = (note.replace(str(path), str(data)) for note in source.notes)
    note = f"Guessed from {plural(source.rows, 'record')}, drawn from {count:,}."
    guessed = {name: one.replace(str(path), str(data)) for name, one in source.guessed.items()}
    return replace(source, notes=(note, *said), guessed=guessed)


def _place(data: str, plan: Path, query: str | None) -> str:
    """Where the table is, as the plan says it."""
    server = query is not None and is_server(data)
    path = data if server else Path(os.path.relpath(data, plan.parent or ".")).as_posix()
    if query is None:
        return f"path = {toml_value(path)}"
    lines = [f"database = {toml_value(path)}", f"query = {toml_value(query)}"]
    if server:
        lines.append('# password_variable = "…"   # the environment variable that holds it')
    return "\n".join(lines)


def _useless(source: Source) -> Iterator[tuple[str, str]]:
    """Columns that no plan can hold, with the reason."""
    for column in source.frame.get_columns():
        if column.dtype.is_nested():
            yield column.name, "it holds lists or tables of values"
        elif column.null_count() == source.rows:
            yield column.name, "it holds missing values only"


def _as_the_plan_reads(frame: Any, how: FileFormat, proposal: Proposal) -> tuple[Any, Proposal]:
    """The table as the plan reads it: what is said to be numeric there is read as numbers.

    Where it cannot be, the column is one of words, and somebody has to decide.
    """
    for name, column in proposal.schema.items():
        if column.kind in NUMBERS:
            try:
                frame = with_numbers(frame, how, name)
            except DataError:
                proposal = _in_words(proposal, name)
    return frame, proposal


def _to_be_decided(proposal: Proposal) -> Proposal:
    """The proposal, all roles open if nothing is known to others, as every step needs something."""
    schema = proposal.schema
    if schema.quasi or schema.undecided:
        return proposal
    kept = {name: one for name, one in schema.items() if isinstance(one, Column)}
    changed = {name: replace(one, role="undecided") for name, one in kept.items()}
    said = "; but no column seems to be known to others, and one must be: say which (quasi)"
    reasons = {name: proposal.reasons[name] + said for name in kept}
    return replace(
        proposal,
        schema=Schema.of({**schema, **changed}),
        reasons={**proposal.reasons, **reasons},
        unsure=proposal.unsure | frozenset(kept),
    )


def _in_words(proposal: Proposal, name: str) -> Proposal:
    """The proposal with a column that holds numbers and other texts."""
    reason = (
        "it holds numbers, but not only: say under [input] what means a missing value there "
        "(missing_in) or a number (read_as), and declare it as numeric"
    )
    schema = Schema.of({**proposal.schema, name: Flat(role="undecided")})
    reasons = {**proposal.reasons, name: reason}
    return replace(proposal, schema=schema, reasons=reasons, unsure=proposal.unsure | {name})


def _nothing(shown: str) -> NoReturn:
    raise DataError(
        f"Every column of {shown} seems to name people, or holds nothing that could be published; "
        "write a plan by hand if that is wrong."
    )


def _publishable(proposal: Proposal, shown: str) -> Proposal:
    """The proposal itself; refused if nothing in it could ever be published."""
    if not any(isinstance(one, Column) for one in proposal.schema.values()):
        _nothing(shown)
    return proposal


def _hierarchies(frame: Any, schema: Schema) -> Iterator[str]:
    """How the quasi-identifiers could be generalized, those included that may become such."""
    table = open_table(frame)
    for name, column in schema.items():
        if isinstance(column, Column) and column.role in ("quasi", "undecided"):
            known = Schema.of({name: replace(column, role="quasi")})
            recipe = drafted(encode(table, known)[name])
            if recipe:
                yield f"# {toml_key(name)} = {toml_comment(toml_value(recipe))}\n"


def _rules(frame: Any, schema: Schema) -> Iterator[str]:
    """What the table never has, as rules that can be declared."""
    known = [(name, one) for name, one in schema.items() if isinstance(one, Column)]
    first = sorted(known, key=lambda pair: pair[1].role != "quasi")[:MOST_COMPARED]
    columns = {name: replace(column, role="quasi") for name, column in first}
    found = unseen(encode(open_table(frame), Schema.of(columns)))
    if found:
        yield RULES
    if found and len(first) < len(known):
        yield f"# Looked for in {len(first)} of {len(known):,} columns, quasi-identifiers first.\n"
    for one in found:
        yield f"# [[rules]]   # no record, where {one.expected:,.0f} would be expected by chance\n"
        for part in ("when", "never"):
            yield f"# {part} = {toml_comment(toml_value(getattr(one.rule, part)))}\n"


def _unchanged(frame: Any, schema: Schema) -> str:
    """Where the table stands, with the columns that single out most."""
    names = [name for name in schema.published if schema[name].role != "quasi"]
    found = unchanged_in_table(open_table(frame), schema, names)
    worst = max(found.single, key=lambda one: one[1], default=("", 0.0))
    by_one = f" (by {toml_comment(worst[0])} alone {100 * worst[1]:.1f})" if worst[1] else ""
    return f"{100 * found.alone:.1f}{by_one}"


def _reading(source: Source, given: FileFormat) -> Iterator[str]:
    """How the file is read: what the user said, and what was found out."""
    for name in FileFormat.__dataclass_fields__:
        asked, found = getattr(given, name), getattr(source.format, name)
        default = getattr(FileFormat(), name)
        if name in source.guessed:
            yield f"# CHECK: {toml_comment(source.guessed[name])}\n{name} = {toml_value(found)}\n"
        elif asked != default:
            yield f"{name} = {toml_value(asked)}\n"
        elif found != default:
            yield f"# {name} = {toml_value(found)}   (found out)\n"
    for note in source.notes:
        if note not in source.guessed.values():
            yield f"# {toml_comment(note)}\n"


def _column(name: str, column: AnyColumn, proposal: Proposal) -> str:
    mark = "CHECK: " if name in proposal.unsure else ""
    mark = "DECIDE: " if name in proposal.schema.undecided else mark
    lines = [
        f"\n# {toml_comment(proposal.profiles[name].counted)}",
        f"# {mark}{toml_comment(proposal.reasons[name])}",
        f"[columns.{toml_key(name)}]",
        f'kind = "{column.kind}"',
        *(f"{key} = {value}" for key, value in _parameters(column)),
    ]
    return "\n".join(lines) + "\n"


def _parameters(column: AnyColumn) -> Iterator[tuple[str, Any]]:
    """The parameters that differ from what they would be anyway; the role always."""
    if isinstance(column, Nominal) and column.taxonomy is not None:
        yield "taxonomy", toml_value(column.taxonomy.name)
        if column.unmapped != "error":
            yield "unmapped", toml_value(column.unmapped)
    if isinstance(column, Identifier) and column.unit:
        yield "unit", "true"
    if isinstance(column, Date) and column.format:
        yield "format", toml_value(column.format)
    if isinstance(column, Ordinal):
        yield "order", toml_value([str(one) for one in column.order])
    if isinstance(column, Column):
        yield "role", toml_value(column.role)
