"""Proposing a schema for a table: kinds and roles, each with its reason.

Every column is looked at once (`Evidence`); then the questions of `QUESTIONS` are asked in order,
and the first that has an answer decides. Names of columns and values of columns both count, and
where they do not say enough the proposal leaves the role undecided.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ontomask.arrays import different
from ontomask.brevity import abridged
from ontomask.cards import card, table
from ontomask.data import column_names as names
from ontomask.data.evidence import OFTEN_DISTINCT, Evidence, evidence_of, records_sampled, sampled
from ontomask.data.files.reading import read_file
from ontomask.data.profile import Profile, profile_of
from ontomask.data.schema import (
    AnyColumn,
    Column,
    Date,
    Flat,
    Identifier,
    Nominal,
    Numeric,
    Ordinal,
    Role,
    Schema,
)
from ontomask.data.tables import Table, first_records
from ontomask.data.value_shapes import (
    OF_ONE_PERSON,
    SYSTEMS,
    CodeSystem,
    amounts,
    answers,
    date_shape,
    free_text,
    nouns,
    ordered,
    partial_dates,
    personal_shape,
    written_as_codes,
)
from ontomask.wording import enumerated, plural

__all__ = ["Proposal", "infer_schema"]

COVERED = 0.7
SURELY_COVERED = 0.9
MOSTLY_DISTINCT = 0.9
SELDOM_REPEATED = 0.1
FEW_VALUES = 20
MANY_VALUES = 100
LONG_NUMBER = 6
SAMPLED_WORDS = 200
RESEMBLING = 200
FEWEST_WORDS, SHORTEST_WORD = 5, 4
UNDECIDED: Final = "undecided"
"""The role of a column that a person must decide on: it is not published before."""

COMPACT = ("%Y%m%d", "%Y-%m", "%m/%Y", "%m.%Y")
"""Ways to write dates that other things may be written like."""

HARDLY_EVER = 0.01
"""A column that varies within so few of the persons is named as nearly constant."""

GAPS = "; some records have none: leave them out, so that persons can be counted (unit = true)"
FREE = "which may name people: read it before you publish it"


@dataclass(frozen=True, eq=False, repr=False)
class Proposal(Schema):
    """A proposed schema, why each column is proposed as it is, and which a person must check.

    It is a schema itself; what nobody has decided on is refused until somebody has.

    Attributes
    ----------
    schema
        The proposed schema.
    reasons
        For each column a clause that says why, to be shown to a person.
    unsure
        The columns whose name and values do not say enough, or contradict each other.
    records
        How many records were looked at, of how many.
    profiles
        What each column looks like; it shows single values, so keep it to yourself.
    """

    schema: Schema
    reasons: Mapping[str, str]
    unsure: frozenset[str] = field(default_factory=frozenset)
    records: tuple[int, int] = (0, 0)
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vars(self).update(vars(self.schema))

    @property
    def notes(self) -> tuple[str, ...]:
        """That only some of the records were looked at, if so."""
        looked_at, there = self.records
        if looked_at == there:
            return ()
        said = f"{looked_at:,} of {there:,} records were looked at"
        return (f"{said}; other values may be in the rest.",)

    def _repr_html_(self) -> str:
        rows = [
            (name, one.kind, one.role, self.reasons[name], "check" if name in self.unsure else "")
            for name, one in self.schema.items()
        ]
        columns = table(["column", "kind", "role", "why", ""], rows)
        return card("Proposed schema", [("note", one) for one in self.notes], columns)

    def __str__(self) -> str:
        lines = [
            f"{name}: {column.kind}, {column.role} ({self.reasons[name]}"
            f"{'; please check' if name in self.unsure else ''})"
            for name, column in self.schema.items()
        ]
        return "\n".join([abridged(lines, "proposal.reasons has them all"), *self.notes])


@dataclass(frozen=True)
class Guess:
    """What a column probably is."""

    column: AnyColumn
    reason: str
    unsure: bool = False
    repeats: bool = False
    """Whether it numbers persons, who have several records each."""


def infer_schema(frame: object) -> Proposal:
    """Propose kinds and roles for the columns of a table; a person should look at them."""
    table, there = first_records(_read(frame), records_sampled)
    # the first records of a query are a sample, too: another table than the whole
    sample = sampled(table) if there == len(table) else replace(table)
    known = {name: evidence_of(table, sample, name) for name in table.names}
    guesses = {name: _guess(one) for name, one in known.items()}
    guesses |= _with_unit(table, known, guesses)
    return Proposal(
        Schema.of({name: guess.column for name, guess in guesses.items()}),
        {name: guess.reason for name, guess in guesses.items()},
        frozenset(name for name, guess in guesses.items() if guess.unsure),
        (len(sample), there),
        {name: profile_of(one) for name, one in known.items()},
    )


def _read(frame: object) -> object:
    """A table; what is at a path is read, its numbers as numbers."""
    return read_file(frame) if isinstance(frame, (str, os.PathLike)) else frame


def _with_unit(
    table: Table, known: Mapping[str, Evidence], guesses: Mapping[str, Guess]
) -> dict[str, Guess]:
    """The identifier of persons who have several records as the unit of protection.

    Of several that repeat, the one with most values: a patient rather than a household.
    """
    repeats = {name: known[name].whole for name, guess in guesses.items() if guess.repeats}
    repeated = {name: distinct for name, (distinct, held) in repeats.items() if held == len(table)}
    if not repeated:
        found = [(name, guesses[name]) for name in repeats]
        return {name: replace(one, reason=one.reason + GAPS, unsure=True) for name, one in found}
    unit = max(repeated, key=lambda name: repeated[name])
    said = "; so persons are counted, not records"
    if constant := _constant(table, unit, guesses):
        said += f"; the same in all records of a person: {enumerated(constant)}"
    guess = guesses[unit]
    return {unit: replace(guess, column=Identifier(unit=True), reason=guess.reason + said)}


def _constant(table: Table, unit: str, guesses: Mapping[str, Guess]) -> list[str]:
    """The columns that others may know, and that never, or hardly ever, change within persons."""
    whose = table.distinct(unit)[0]
    _, firsts, places = np.unique(whose, return_index=True, return_inverse=True)
    found = []
    for name in (name for name, guess in guesses.items() if guess.column.role == "quasi"):
        codes = table.distinct(name)[0]
        varied = int(different(places[codes[firsts][places] != codes]).size)
        if varied <= HARDLY_EVER * firsts.size:
            found.append(f"{name} (but for {plural(varied, 'person')})" if varied else name)
    return found


def _guess(evidence: Evidence) -> Guess:
    answers = (question(evidence) for question in QUESTIONS)
    guess = next(answer for answer in answers if answer is not None)
    if not evidence.marks or not isinstance(guess.column, (Numeric, Date)):
        return guess
    reason = f"{guess.reason}; {evidence.marks[0]!r} seems to stand for a missing value: declare it"
    return replace(guess, reason=reason, unsure=True)


# Questions, in the order in which they are asked ------------------------------------------------


def _is_empty(evidence: Evidence) -> Guess | None:
    if evidence.texts:
        return None
    return Guess(Flat(role=UNDECIDED), "it holds missing values only; leave it out", True)


def _names_directly(evidence: Evidence) -> Guess | None:
    """Names, addresses, numbers of persons: never published, even where some of them repeat."""
    hints = evidence.hints
    if hints.has(names.MEASURES):
        return None
    if _names_whoever_repeats(evidence):
        return _naming(evidence, names.NAMES | names.NAMES_OF_ANYTHING | names.CONTACTS)
    if not hints.has(names.DIRECT) or hints.has(names.GEOGRAPHY) or _has_few(evidence):
        return None
    reason = f"its name ({hints.said(names.DIRECT)}) says that it names people"
    return Guess(Identifier(), reason, repeats=evidence.share < 1)


def _names_whoever_repeats(evidence: Evidence) -> bool:
    """Whether texts name people or their addresses, however few of them there are."""
    hints = evidence.hints
    if evidence.reads_as_numbers or hints.classifies or answers(evidence.texts):
        return False
    return hints.names_people or hints.only_names or hints.contacts


def _naming(evidence: Evidence, words: frozenset[str]) -> Guess:
    """An identifier; where few values repeat, only a name of people leaves no doubt."""
    reason = f"its name ({evidence.hints.said(words)}) says that it names people"
    if _has_few(evidence) and not evidence.hints.names_people:
        return Guess(Identifier(), f"{reason}, though it has {evidence.told} only", unsure=True)
    return Guess(Identifier(), reason)


def _has_few(evidence: Evidence) -> bool:
    return evidence.distinct <= FEW_VALUES and evidence.share <= OFTEN_DISTINCT


def _is_date(evidence: Evidence) -> Guess | None:
    if evidence.table.is_date(evidence.name):
        return _dated(evidence, Date(), "its values are dates")
    shape = date_shape(evidence.texts)
    if shape is None or (shape.format in COMPACT and not _is_compact_date(evidence)):
        return None
    if shape.format is None:
        return _dated(evidence, Date(), "its values are dates (year-month-day)")
    reason = f"its values are dates written as {shape.format}"
    if shape.others:
        reason += f", though all of them could be {shape.others[0]} as well"
    if evidence.is_number:
        reason += "; they are held as numbers: read the column as text"
    unsure = bool(shape.others) or evidence.is_number
    return _dated(evidence, Date(format=shape.format), reason, unsure)


def _is_partial_date(evidence: Evidence) -> Guess | None:
    """Dates that nobody can read as days, but that others may know all the same."""
    if evidence.is_number or not partial_dates(evidence.texts):
        return None
    reason = (
        "its values are dates, some without day or month or written otherwise, so they are "
        "compared as words; "
        "outsiders may know them"
    )
    return Guess(Flat(), reason, unsure=True)


def _is_compact_date(evidence: Evidence) -> bool:
    """Whether so few signs are dates: one number of eight digits in 270 would be by chance."""
    return evidence.hints.has(names.DATES | names.EVENTS) or len(evidence.texts) >= 3


def _dated(evidence: Evidence, column: Date, reason: str, unsure: bool = False) -> Guess:
    """Dates are quasi-identifiers: others may have noticed what happened then."""
    noticed = evidence.hints.has(names.KNOWN_TO_OTHERS | names.EVENTS)
    return Guess(column, reason, unsure or not noticed)


def _is_frequency(evidence: Evidence) -> Guess | None:
    """Counts of equal records, which nobody but the steward may confirm: they soften every k."""
    is_named = len(evidence.hints.words) == 1 and evidence.hints.has(names.FREQUENCIES)
    if not is_named or not evidence.is_number or not evidence.is_whole:
        return None
    if min(float(text) for text in evidence.texts) < 1 or _has_gaps(evidence):
        return None
    reason = (
        "its name and its whole numbers may say how often a record occurs; declare it as a count "
        "if they do, since a record then counts so often towards k"
    )
    return Guess(Numeric(role=UNDECIDED), reason, unsure=True)


def _has_gaps(evidence: Evidence) -> bool:
    return bool(np.isnan(evidence.table.numbers(evidence.name)).any())


def _is_weight(evidence: Evidence) -> Guess | None:
    if not evidence.hints.has(names.WEIGHTS) or not evidence.reads_as_numbers:
        return None
    if evidence.hints.labels or evidence.hints.has(names.KNOWN_TO_OTHERS):
        return None
    hint = (
        "its name says weight; make it quasi if it is a body weight, or of the kind weight if a "
        "record stands for so many people"
    )
    return Guess(Numeric(role=UNDECIDED), hint, unsure=True)


def _is_coded(evidence: Evidence) -> Guess | None:
    """Codes of a bundled taxonomy, told by the name, by how they are written, and by look-up."""
    subject = evidence.hints.subject
    if len(evidence.texts) < 3 or evidence.hints.has(names.GEOGRAPHY):
        return None
    proven = not evidence.is_number and written_as_codes(evidence.texts)
    if subject is None and (evidence.hints.has(OTHER_MEANINGS) or not proven):
        return None
    if subject in (None, "any") and not _has_long_codes(evidence):
        return None
    fitting = _fitting(evidence, subject, proven)
    if not fitting:
        return _would_be_icd10(evidence)
    best, coverage = fitting[0]
    rivals = [system.title for system, share in fitting[1:] if share >= coverage - 0.02]
    told = subject == best.subject
    return _coded(evidence, best, rivals=[] if told and best.name not in RIVALS else rivals)


OTHER_MEANINGS = names.LABELS | names.PERSONS | names.MEASURES | names.KNOWN_TO_OTHERS
"""Words that rule codes out where the name does not speak of them."""

RIVALS = ("nace", "naics")
"""Systems for the same subject with codes that look the same."""


def _has_long_codes(evidence: Evidence) -> bool:
    """Whether digits alone can prove anything: nearly every number of three digits is a code."""
    return float(np.mean([len(text) for text in evidence.texts])) >= 4


def _fitting(
    evidence: Evidence, subject: str | None, proven: bool
) -> list[tuple[CodeSystem, float]]:
    """The systems that know enough of the codes, those of the subject first."""
    found = [(system, _coverage(evidence, system)) for system in SYSTEMS]
    wanted = {
        system: share
        for system, share in found
        if share >= (COVERED if system.subject == subject else SURELY_COVERED)
        and (proven or system.subject == subject or subject == "any")
    }
    named = evidence.hints.known

    def preference(pair: tuple[CodeSystem, float]) -> tuple[bool, bool, float]:
        system, share = pair
        return system.name not in named, system.subject != subject, -share

    return sorted(wanted.items(), key=preference)


def _coverage(evidence: Evidence, system: CodeSystem) -> float:
    """The share of the records whose value is a code of the system."""
    if _resemblance(evidence, system) < COVERED / 2 or system.taxonomy is None:
        return 0.0
    found = np.array(system.holds(evidence.texts))
    return float(evidence.counts[found].sum() / evidence.counts.sum())


def _resemblance(evidence: Evidence, system: CodeSystem) -> float:
    """The share of the records whose value is written like a code; no taxonomy is loaded."""
    alike = np.array(system.resembling(evidence.texts[:RESEMBLING]))
    counts = evidence.counts[:RESEMBLING]
    return float(counts[alike].sum() / counts.sum())


def _would_be_icd10(evidence: Evidence) -> Guess | None:
    system = next(one for one in SYSTEMS if one.name == "icd10cm")
    if _resemblance(evidence, system) < SURELY_COVERED or system.taxonomy is not None:
        return None
    reason = "its values look like ICD-10 codes; install ontomask[icd10] to see what they mean"
    return Guess(Flat(), reason, unsure=True)


def _coded(evidence: Evidence, system: CodeSystem, rivals: Sequence[str]) -> Guess:
    """Propose the taxonomy, after looking all values of the column up."""
    taxonomy = system.taxonomy
    assert taxonomy is not None
    codes, values = evidence.table.distinct(evidence.name)
    known = np.array([bool(str(value).strip()) for value in values])
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    lost = known & ~np.array(system.holds([str(value) for value in values]))
    share = 1 - counts[lost].sum() / max(1, counts[known].sum())
    reason = f"{_percent(share)} of its records hold codes of {system.name} ({system.title})"
    if lost.any():
        reason += f"; {_values(int(lost.sum()))} not found and may then mean anything"
    if evidence.is_number:
        reason += "; as numbers, codes lose their zeros: read the column as text"
    if rivals:
        reason += f"; they could also be {' or '.join(rivals)}"
    column = Nominal(taxonomy, unmapped="root" if lost.any() else "error")
    told = evidence.hints.subject == system.subject
    return Guess(column, reason, bool(lost.any() or rivals or evidence.is_number or not told))


def _percent(share: float) -> str:
    """A share in percent; never 100% where something is missing."""
    return f"{np.floor(share * 1000) / 10:g}%"


def _values(count: int) -> str:
    return f"{count:,} distinct values are" if count > 1 else "1 value is"


def _names_by_number(evidence: Evidence) -> Guess | None:
    """Identifiers of persons and cases: the name says so, and the values could be such."""
    hints = evidence.hints
    if not hints.has(names.PERSONS) or hints.counts or answers(evidence.texts):
        return None
    other = hints.has(names.KNOWN_TO_OTHERS | names.MEASURES) and not hints.numbers
    if other or _has_decimals(evidence):
        return None
    seldom = evidence.share >= SELDOM_REPEATED and evidence.distinct > MANY_VALUES
    if evidence.share > OFTEN_DISTINCT or seldom:
        said = f"its name ({hints.said(names.PERSONS)}) and its many values point to single people"
        return _numbering(evidence, said)
    if not hints.numbers_people or (_has_few(evidence) and not hints.has(names.NAMING)):
        return None
    reason = f"its name ({hints.said(names.PERSONS)}) says that it numbers people or cases"
    return _numbering(evidence, reason, unsure=_has_few(evidence))


def _numbering(evidence: Evidence, reason: str, *, unsure: bool = False) -> Guess:
    """An identifier of persons; that it repeats is counted in the whole table."""
    if evidence.share >= 1:
        return Guess(Identifier(), reason, unsure)
    distinct, records = evidence.whole
    values = plural(distinct, "value")
    said = f"; there are several records per person ({values} in {plural(records, 'record')})"
    by_number = not evidence.hints.has(frozenset({"name"}))
    return Guess(Identifier(), reason + said, unsure, by_number)


def _has_decimals(evidence: Evidence) -> bool:
    written = evidence.reads_as_numbers and not evidence.is_whole
    return written or (not evidence.is_number and amounts(evidence.texts))


def _looks_personal(evidence: Evidence) -> Guess | None:
    """E-mail addresses, phone numbers and the like, whatever the name of the column is."""
    if evidence.is_number or evidence.distinct < 3:
        return None
    what = personal_shape(evidence.texts)
    if what is None:
        return None
    of_one = what in OF_ONE_PERSON and evidence.share < 1
    return Guess(Identifier(), f"its values look like {what}", repeats=of_one)


def _has_order(evidence: Evidence) -> Guess | None:
    found = None if evidence.is_number else ordered(evidence.texts)
    if found is None:
        return None
    if evidence.marks:
        reason = f"its values have an order, but {evidence.marks[0]!r} has no place in it"
        return Guess(_with_role(evidence, Flat()), reason, unsure=True)
    shown = found if len(found) <= 4 else [*found[:2], "…", found[-1]]
    column = Ordinal(role=_role(evidence), order=tuple(found))
    return Guess(column, f"its values have an order: {', '.join(shown)}", _is_unclear(evidence))


def _numbers_people(evidence: Evidence) -> Guess | None:
    """Running numbers and long numbers of equal length that hardly repeat."""
    if not evidence.is_whole or evidence.hints.has(names.MEASURES | names.KNOWN_TO_OTHERS):
        return None
    if evidence.share <= MOSTLY_DISTINCT or evidence.distinct <= FEW_VALUES:
        return None
    numbers = [float(text) for text in evidence.texts]
    span = max(numbers) - min(numbers) + 1
    if not evidence.is_sampled and len(numbers) == evidence.distinct and span <= 1.2 * len(numbers):
        return Guess(Identifier(), "its whole numbers count the records")
    lengths = {len(str(int(number))) for number in numbers}
    if len(lengths) == 1 and lengths.pop() >= LONG_NUMBER:
        reason = f"{_percent(evidence.share)} of its long whole numbers are distinct"
        return Guess(Identifier(), reason, unsure=True)
    return _kept(evidence, Numeric(), f"its {evidence.told} are whole numbers", unsure=True)


def _is_numeric(evidence: Evidence) -> Guess | None:
    if not evidence.reads_as_numbers:
        return None
    if evidence.distinct <= 2:
        return _labeled(evidence, f"it has {evidence.told}")
    if evidence.is_whole and evidence.hints.labels:
        said = evidence.hints.said(names.LABELS)
        return _labeled(evidence, f"its name ({said}) says that its numbers are labels")
    written = "" if evidence.is_number else " written as text"
    return _kept(evidence, Numeric(), f"its {evidence.told} are numbers{written}")


def _is_amount(evidence: Evidence) -> Guess | None:
    """Numbers that cannot be read as they are written, and name nobody however they differ."""
    if evidence.is_number or not amounts(evidence.texts):
        return None
    reason = (
        f"its {evidence.told} are numbers with commas, which were not read as numbers; say the "
        "decimal mark, or save them without separators of thousands"
    )
    return _kept(evidence, Flat(), reason, unsure=True)


def _is_mostly_distinct(evidence: Evidence) -> Guess | None:
    if evidence.share <= MOSTLY_DISTINCT or evidence.distinct <= FEW_VALUES:
        return None
    known = evidence.hints.has(names.KNOWN_TO_OTHERS)
    return Guess(Identifier(), f"{_percent(evidence.share)} of its values are distinct", known)


def _is_word(evidence: Evidence) -> Guess:
    has_digits = any(map(str.isdigit, "".join(evidence.texts[:SAMPLED_WORDS])))
    reason = f"its {evidence.told} are words" + (" or codes" if has_digits else "")
    if _role(evidence) != "quasi" and free_text(evidence.texts):
        return Guess(Flat(role=UNDECIDED), f"its {evidence.told} are free text, {FREE}", True)
    if evidence.distinct <= 2:
        return _labeled(evidence, f"it has {evidence.told}")
    words = [text for text in evidence.texts[:SAMPLED_WORDS] if len(text) >= SHORTEST_WORD]
    found = nouns(words) if len(words) > FEWEST_WORDS else 0
    if found * 2 > len(words):
        reason += f", {found} of {len(words)} found in WordNet: the taxonomy 'wordnet' can be tried"
    elif evidence.distinct > FEW_VALUES:
        reason += "; give a taxonomy if there is one"
    return _labeled(evidence, reason)


QUESTIONS: tuple[Callable[[Evidence], Guess | None], ...] = (
    _is_empty,
    _names_directly,
    _is_date,
    _is_partial_date,
    _is_frequency,
    _is_weight,
    _is_coded,
    _names_by_number,
    _looks_personal,
    _has_order,
    _numbers_people,
    _is_numeric,
    _is_amount,
    _is_mostly_distinct,
    _is_word,
)


# Roles ------------------------------------------------------------------------------------------


def _role(evidence: Evidence) -> Role:
    """The role that the name of a column suggests; where it suggests none a person decides."""
    hints = evidence.hints
    if hints.has(names.CONFIDENTIAL):
        return UNDECIDED if hints.numbers and not _has_few(evidence) else "sensitive"
    subjects = names.SUBJECTS["diagnosis"] | names.SUBJECTS["procedure"]
    known = hints.has(names.KNOWN_TO_OTHERS) or (hints.has(subjects) and not hints.counts)
    return "quasi" if known else UNDECIDED


def _is_unclear(evidence: Evidence) -> bool:
    return _role(evidence) == UNDECIDED


def _with_role(evidence: Evidence, column: Column) -> Column:
    return type(column)(role=_role(evidence))


def _labeled(evidence: Evidence, reason: str) -> Guess:
    return _kept(evidence, Flat(), reason)


def _kept(evidence: Evidence, column: Column, reason: str, unsure: bool = False) -> Guess:
    """A column that names nobody, with the role that its name suggests."""
    role = _role(evidence)
    if role == UNDECIDED:
        reason += "; nothing in its name says whether outsiders could know it"
    elif role == "sensitive":
        reason += f"; its name ({evidence.hints.said(names.CONFIDENTIAL)}) sounds confidential"
    else:
        reason += "; outsiders may know it"
    return Guess(_with_role(evidence, column), reason, unsure or role == UNDECIDED)
