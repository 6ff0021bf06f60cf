"""The proof of a release: which promises of its steps must hold in the end, and that they do.

Every promise of every step is recounted on the final table, over the columns that are left. If a
later step has broken one, the run is refused with the order of steps that works; a step that is
meant to undo what was promised says so (``keeps=False``), and then the promise counts as given up.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.domains import Concepts
from ontomask.data.masked import Masked, State
from ontomask.data.rules import Condition
from ontomask.data.schema import Date, Nominal, Numeric, Ordinal
from ontomask.data.seen import Seen
from ontomask.data.tables import Table, open_table
from ontomask.errors import PromiseError
from ontomask.findings import DEFECT, Claim, Finding, Verification
from ontomask.methods.base import Method
from ontomask.promises import (
    Closeness,
    Disclosure,
    Excluded,
    Likeness,
    Payout,
    Permutation,
    Population,
    PopulationPromise,
    Possible,
    Promise,
    Published,
    Records,
    Unchanged,
)
from ontomask.verify import verify

if TYPE_CHECKING:
    from ontomask.data.files import FileFormat

__all__ = ["Made", "prove", "recount"]

WRITTEN_WRONG = (
    "What was written cannot be read back as it is; choose another format for the output, such as "
    "Parquet."
)


IMPOSSIBLE = (
    "A method that changes columns one by one cannot always heed rules: use microaggregation or "
    "generalization, mask inside strata of a column that the rule names, correct records of the "
    "original that a rule excludes, or leave the rule out."
)


@dataclass(frozen=True, eq=False)
class Made:
    """What a step made of the table as it was before."""

    step: Method
    before: State
    masked: Masked


@dataclass(frozen=True, eq=False)
class _Standing:
    """A claim, and the number of the step that made it."""

    claim: Claim
    place: int


def prove(
    outgoing: object, published: Sequence[str], made: Sequence[Made], end: State
) -> Verification:
    """Recount on the outgoing frame what the steps promise, or refuse."""
    standing = [
        *_of_steps(published, made, end),
        *_of_untouched(published, made, end),
        *_of_rules(published, made, end),
    ]
    found = verify(
        outgoing,
        [one.claim for one in standing],
        published=published,
        records=len(end.microdata),
        counts=end.microdata.counts,
        weights=end.microdata.weights,
        units=end.microdata.units,
    )
    shape, findings = found.findings[:2], found.findings[2:]
    if not findings:
        return Verification(shape).require(DEFECT)
    broken = [
        (one, finding) for one, finding in zip(standing, findings, strict=True) if not finding.kept
    ]
    given_up = [one for one, _ in broken if _may_be_undone(one, made)]
    _refuse([pair for pair in broken if pair[0] not in given_up], made)
    return Verification(
        (*shape, *_distinct(one for one in findings if one.kept)),
        tuple(one.claim.promise for one in given_up),
    )


def _of_steps(published: Sequence[str], made: Sequence[Made], end: State) -> Iterator[_Standing]:
    for place, one in enumerate(made):
        for promise in one.masked.promises:
            left = promise.left(published)
            if isinstance(left, Permutation):
                yield _Standing(_permuted(left, made, place, end), place)
            elif left is not None:
                yield _Standing(Claim(left), place)


def _permuted(promise: Permutation, made: Sequence[Made], place: int, end: State) -> Claim:
    """Compare with the columns as the step found them; records may have been left out since.

    What is said of it is the same whether any were, and however those wrote their values.
    """
    partly = any(one.step.leaves_out or one.masked.kept is not None for one in made[place:])
    state = made[place].before
    before = {name: state.seen(name) for name in promise.columns}
    united = {name: _by_meaning(state, name, seen) for name, seen in before.items()}
    changed = {name for one in made[:place] for name in one.masked.columns}
    kept = state.kept(end)
    meant = tuple(
        name
        for name in promise.columns
        if (name not in changed and _is_rewritten(made[0].before, name, end))
        or not (united[name] is before[name] or _same(before[name].of(kept), united[name].of(kept)))
    )
    counts = state.microdata.counts
    if (counts != 1.0).any():  # parts of combinations, each for all of its records
        united = {name: replace(seen, counts=counts) for name, seen in united.items()}
    return Claim(replace(promise, partly=partly, by_meaning=meant), united)


def _is_rewritten(start: State, name: str, end: State) -> bool:
    """Whether the values of records that are left were written otherwise in the table given."""
    if name not in start.columns:
        return False
    given = start.table.seen(name).of(start.microdata.rows)
    return not _same(given.of(start.kept(end)), start.seen(name).of(start.kept(end)))


def _by_meaning(state: State, name: str, seen: Seen) -> Seen:
    """A nominal column as its concepts are written, where it has several spellings of one."""
    attribute = state.microdata[name]
    if not isinstance(attribute.domain, Concepts) or name in state.columns:
        return seen
    written = attribute.seen
    return seen if _same(seen, written) else written


def _same(one: Seen, other: Seen) -> bool:
    """Whether every record has the same value in both."""
    return all(own == others for own, others, _ in one.beside(other))


def _of_untouched(
    published: Sequence[str], made: Sequence[Made], end: State
) -> Iterator[_Standing]:
    """Columns that no step changed are as they came, or the same concepts as ids or labels."""
    changed = {name for one in made for name in one.masked.columns}
    untouched = tuple(name for name in published if name not in changed)
    if untouched:
        start = made[0].before
        before = {name: start.seen(name).of(start.kept(end)) for name in untouched}
        rewritten = tuple(name for name in untouched if _is_rewritten(start, name, end))
        yield _Standing(Claim(Unchanged(untouched, rewritten), before), len(made))


def _of_rules(published: Sequence[str], made: Sequence[Made], end: State) -> Iterator[_Standing]:
    """That nobody appears with a combination that the schema's rules exclude."""
    start = made[0].before
    rules = start.microdata.schema.rules
    if not rules:
        return
    kept = start.kept(end)
    found = np.any([one[kept] for one in start.microdata.violations()], axis=0)
    columns = dict.fromkeys(name for rule in rules for name in rule.conditions)
    promise = Possible(
        tuple(columns),
        tuple(tuple(_excluded(start, *pair) for pair in rule.conditions.items()) for rule in rules),
        tuple(map(str, rules)),
        int(start.microdata.counts[kept][found].sum()),
    ).left(published)
    if promise is not None:
        yield _Standing(Claim(promise), len(made))


def _excluded(start: State, name: str, condition: Condition) -> Excluded:
    """A condition as a reader of the release can check it."""
    attribute = start.microdata[name]
    column = attribute.column
    if isinstance(column, Nominal) and column.taxonomy is not None:
        meant = condition.concepts(column)
        written = attribute.as_concepts.vocabulary.written(np.flatnonzero(meant).tolist())
        return name, (*written, *_spelled(start.table, name, column, meant)), (), ""
    if isinstance(column, Ordinal):
        inside = condition.within(column, np.arange(len(column.order), dtype=np.float64))
        return name, tuple(np.array(column.order, object)[inside]), (), ""
    if not isinstance(column, (Numeric, Date)):
        return name, tuple(map(str, condition.values)), (), ""
    spans = condition.spans(column)
    ends = (tuple(end if np.isfinite(end) else None for end in span) for span in spans)
    dates = (column.format or "%Y-%m-%d") if isinstance(column, Date) else ""
    return name, (), tuple((low, high) for low, high in ends), dates


def _spelled(table: Table, name: str, column: Nominal, meant: Bools) -> list[object]:
    """The texts of the original that mean one of some concepts."""
    assert column.taxonomy is not None
    texts = table.distinct(name)[1]
    mapping = column.taxonomy.map(texts, overrides=column.overrides)
    found = mapping.concepts[mapping.positions].tolist()
    return [text for text, one in zip(texts, found, strict=True) if one >= 0 and meant[one]]


def _distinct(findings: Iterator[Finding]) -> list[Finding]:
    """Each promise once, though several steps may make the same."""
    return list({one.promise: one for one in findings}.values())


# A promise that a later step broke ------------------------------------------------------------


def _touches(promise: Promise, masked: Masked) -> bool:
    return masked.kept is not None or bool(set(promise.needs) & {*masked.columns, *masked.dropped})


def _later(standing: _Standing, made: Sequence[Made]) -> list[Made]:
    """The later steps that can have broken a promise."""
    return [
        one for one in made[standing.place + 1 :] if _touches(standing.claim.promise, one.masked)
    ]


def _may_be_undone(standing: _Standing, made: Sequence[Made]) -> bool:
    return any(not one.step.keeps for one in _later(standing, made))


def _refuse(broken: Sequence[tuple[_Standing, Finding]], made: Sequence[Made]) -> None:
    if not broken:
        return
    standing, _ = broken[0]
    later = _later(standing, made)
    hint = _in_order(standing.place, later, made) if later else DEFECT
    if isinstance(standing.claim.promise, Possible):
        hint = IMPOSSIBLE
    Verification(tuple(finding for _, finding in broken)).require(hint)


def _in_order(place: int, later: Sequence[Made], made: Sequence[Made]) -> str:
    breaking = " and ".join(dict.fromkeys(one.step.name for one in later))
    names = [one.step.name for one in made]
    order = [*names[:place], *names[place + 1 :], names[place]]
    return (
        f"{breaking} comes after {names[place]} and undoes what it promises: put the steps in the "
        f"order {', '.join(order)}, or say keeps=False (in a plan: keeps = false) at {breaking} if "
        "that is meant."
    )


# What was written ------------------------------------------------------------------------------


def recount(
    proved: Verification,
    back: object,
    outgoing: object,
    *,
    names: Sequence[str],
    counts: Floats,
    weights: Floats,
    units: Longs | None = None,
    text: FileFormat | None = None,
) -> Verification:
    """Recount a proved release on what was read back from its file.

    Parameters
    ----------
    proved
        What was found on the frame; comparisons with the original are taken from there, since the
        file is compared with the frame cell by cell.
    back
        What was read back: the cells as texts where `text` is given, else values.
    outgoing
        What was written.
    names
        The columns of the release, which may be called otherwise in `outgoing`.
    counts, weights
        What each row stands for, in the order of the file.
    units
        Whose record each row is, by number, where persons are protected.
    text
        How the file writes values as texts.
    """
    written, read = open_table(outgoing), open_table(back)
    called = dict(zip(names, written.names, strict=True))
    if read.names != written.names or len(read) != len(written):
        raise PromiseError(
            f"The release does not keep its promise and is withheld: the file holds {len(read)} "
            f"records of {len(read.names)} columns, not {len(written)} of {len(written.names)}. "
            + WRITTEN_WRONG
        )
    cells = {name: _Cells(written.seen(name), read.seen(name), text) for name in written.names}
    _require_read(cells)
    counted = [one.promise for one in proved.findings if _is_counted(one.promise)]
    found = verify(
        back,
        [_in_texts(one.renamed(called), cells) for one in counted],
        published=written.names,
        records=len(written),
        counts=counts,
        weights=weights,
        units=units,
    ).require(WRITTEN_WRONG)
    again = dict(zip(counted, found.findings[2:], strict=True))
    findings = tuple(again.get(one.promise, one) for one in proved.findings)
    return replace(proved, findings=findings)


def _is_counted(promise: Promise) -> bool:
    """Whether a promise is about the table itself, not about what it was before."""
    return not isinstance(promise, (Published, Records, Permutation, Unchanged))


@dataclass(frozen=True, eq=False)
class _Cells:
    """A column as it was written, and as it reads back."""

    written: Seen
    read: Seen
    text: FileFormat | None

    def pairs(self) -> list[tuple[object, object, int]]:
        """Every pair of a written and a read value, with how often it occurs."""
        return self.written.beside(self.read)

    def wrong(self) -> int:
        """How many cells do not say what was to be written."""
        return sum(count for value, cell, count in self.pairs() if not self._says(value, cell))

    def _says(self, value: object, cell: object) -> bool:
        if self.text is None:
            return _same_value(value, cell)
        return isinstance(cell, str) and _same_text(value, cell, self.text)

    def texts(self) -> dict[object, object]:
        """How values are written."""
        return {_known(value): cell for value, cell, _ in self.pairs()}


def _known(value: object) -> object:
    return None if value is None or value != value else value


def _same_value(value: object, cell: object) -> bool:
    """Whether a file with types gives a value back; one without truth values and dates as text."""
    if isinstance(cell, str) and not isinstance(value, str):
        if isinstance(value, bool):
            return cell == str(value).lower()
        return isinstance(value, datetime.date) and cell == value.isoformat()
    return _known(value) == _known(cell)


def _same_text(value: object, cell: str, how: FileFormat) -> bool:
    """Whether a text stands for a value; a text that means a missing value stands for no other."""
    if _known(value) is None:
        return cell == (how.missing[0] if how.missing else "")
    if isinstance(value, str):
        return cell == value and cell not in how.missing
    if isinstance(value, bool):
        return cell == str(value).lower()
    try:
        return _read(value, cell, how.decimal) == value
    except (ValueError, ArithmeticError):
        return False


def _read(value: object, cell: str, mark: str) -> object:
    """A text read as a value of the same type as another one."""
    if isinstance(value, datetime.datetime):
        return datetime.datetime.fromisoformat(cell)
    if isinstance(value, datetime.date):
        return datetime.date.fromisoformat(cell)
    if isinstance(value, int):
        return int(cell)
    plain = cell.replace(mark, ".")
    return decimal.Decimal(plain) if isinstance(value, decimal.Decimal) else float(plain)


def _require_read(cells: dict[str, _Cells]) -> None:
    wrong = {name: count for name, one in cells.items() if (count := one.wrong())}
    if wrong:
        listed = ", ".join(f"{count:,} of {name}" for name, count in wrong.items())
        raise PromiseError(
            "The release does not keep its promise and is withheld: some values read back "
            f"otherwise than they were written ({listed}). {WRITTEN_WRONG}"
        )


def _in_texts(promise: Promise, cells: dict[str, _Cells]) -> Promise:
    """A promise about values, as one about what is written for them."""
    if isinstance(promise, PopulationPromise):
        return _of_population_in_texts(promise, [cells[name].texts() for name in promise.columns])
    if isinstance(promise, Possible):
        return replace(promise, rules=tuple(_rule_in_texts(one, cells) for one in promise.rules))
    if not isinstance(promise, (Closeness, Disclosure, Likeness)):
        return promise
    texts = cells[promise.sensitive].texts()
    counts = tuple(
        (texts.get(_known(value), None if value is None else str(value)), count)
        for value, count in promise.counts
    )
    return replace(promise, counts=counts)


def _rule_in_texts(rule: tuple[Excluded, ...], cells: dict[str, _Cells]) -> tuple[Excluded, ...]:
    """A rule about values, with how these are written besides."""
    found = []
    for name, values, spans, dates in rule:
        texts = {str(value): cell for value, cell in cells[name].texts().items()}
        written = (texts[str(one)] for one in values if str(one) in texts)
        found.append((name, (*values, *written), spans, dates))
    return tuple(found)


def _of_population_in_texts(
    promise: PopulationPromise, columns: Sequence[dict[object, object]]
) -> PopulationPromise:
    """A promise about people with certain values, as one about what is written for these."""
    if isinstance(promise, Payout):
        kept = tuple(
            tuple((texts.get(_known(value), value), share) for value, share in values)
            for texts, values in zip(columns, promise.kept, strict=True)
        )
        promise = replace(promise, kept=kept)
    if promise.population is None:
        return promise
    return replace(promise, population=_population_in_texts(promise.population, columns))


def _population_in_texts(
    population: Population, columns: Sequence[dict[object, object]]
) -> Population:
    return tuple(
        (
            tuple(texts.get(_known(v), v) for texts, v in zip(columns, key, strict=True)),
            count,
        )
        for key, count in population
    )
