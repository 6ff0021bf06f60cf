"""From a table and a schema to microdata: every value is looked at here, once."""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings
from collections import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Codes, Floats, FloatValues, Longs, recoded
from ontomask.checks import did_you_mean
from ontomask.data.domains import Concepts, Domain, Labels, Listed, Numbers, Ranks, Vocabulary
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Column, Date, Flat, Nominal, Ordinal, Schema
from ontomask.data.tables import LARGEST_EXACT, Table
from ontomask.errors import (
    DataError,
    DependencyError,
    OntomaskError,
    OntomaskWarning,
    SchemaError,
    UnmappedValuesError,
)
from ontomask.taxonomy.bundled import load
from ontomask.taxonomy.mapping import Mapping
from ontomask.taxonomy.mapping_report import doubtful
from ontomask.wording import plural

__all__ = [
    "LEAST",
    "day_number",
    "day_value",
    "encode",
    "record_counts",
    "record_units",
    "survey_weights",
]

DATE_PARTS = (
    (r"(?<=[Hh]:)mm", "%M"),
    (r"YYYY|yyyy|JJJJ|jjjj", "%Y"),
    (r"YY|yy|JJ|jj", "%y"),
    (r"Y", "%Y"),
    (r"DD|dd|TT|tt|D|d", "%d"),
    (r"MM|mm|M|m", "%m"),
    (r"HH|hh", "%H"),
    (r"SS|ss", "%S"),
)
"""How spreadsheets write the parts of dates, and how Python does."""

SHOWN = 5
CODED = ("icd9cm", "icd10cm", "icd9cm-procedures", "nace", "naics")
FEWEST_CODES, SAMPLED_CODES = 3, 200
KNOWN_ELSEWHERE = 0.9
"""Another taxonomy is named where it knows so many of (a sample of) the unmapped values."""


ROOT = 0
LEAST = 3
"""A spelling that fewer records have may tell whose they are, whatever k is."""


def encode(
    table: Table,
    schema: Schema,
    least: int = LEAST,
    spellings: abc.Mapping[str, abc.Mapping[int, str]] | None = None,
    *,
    batch: bool = False,
) -> Microdata:
    """Encode the published columns of a table; all problems are collected and raised once.

    Parameters
    ----------
    table, schema
        The table, and what its columns are.
    least
        How many records must have a spelling of a concept before it is ever written.
    spellings
        For nominal columns how concepts are written, instead of what the table shows.
    batch
        Whether these are records to be treated like those of another table: they may be so few
        that nothing is known of a column.
    """
    _check_names(table, Schema.require(schema))
    counts = record_counts(table, schema)
    known = spellings or {}
    attributes, problems = {}, []
    for name in table.names:
        column = schema.get(name)
        if isinstance(column, Column) and name in schema.published:
            try:
                _require_values(table, name, batch)
                spelled = Spelled(counts, least, known.get(name))
                attributes[name] = _attribute(table, name, column, spelled)
            except OntomaskError as problem:
                problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "\n".join(f"  {number}. {one}" for number, one in enumerate(problems, start=1))
        raise SchemaError(f"The table does not fit the schema:\n{listed}")
    everything = Microdata(
        schema,
        attributes,
        counts,
        counts if schema.weight is None else counts * survey_weights(table, schema),
        np.arange(len(table)),
        np.empty(0, np.int64),
        lambda name: _flat(table, name, Flat(role="other")),
    )
    return _without_suppressed(replace(everything, units=record_units(table, schema)))


def _check_names(table: Table, schema: Schema) -> None:
    unknown = [name for name in schema if name not in table.names]
    if unknown:
        sentences = [
            f"The schema names a column {name!r} that the table does not have."
            f"{did_you_mean(name, table.names)}"
            for name in unknown
        ]
        raise SchemaError(" ".join(sentences))


@dataclass(frozen=True, eq=False)
class Spelled:
    """What decides how concepts are spelled: records, how many are enough, or what is given."""

    records: Floats
    least: int
    given: abc.Mapping[int, str] | None


def _require_values(table: Table, name: str, batch: bool) -> None:
    if not batch and not table.values(name)[1]:
        raise DataError(f"Column {name!r} holds missing values only; leave it out of the schema.")


def _attribute(table: Table, name: str, column: Column, spelled: Spelled) -> Attribute:
    if isinstance(column, Nominal):
        attribute = _nominal(table, name, column, spelled)
    else:
        attribute = _ENCODERS[column.kind](table, name, column)
    if attribute.has_missing and column.missing == "error":
        count = int(np.count_nonzero(attribute.codes == attribute.missing_code))
        raise DataError(
            f"Column {name!r} has {plural(count, 'missing value')}, which its rule missing='error' "
            "forbids; "
            "fill them, or say missing='own-category' or 'suppress'."
        )
    return attribute


def _numeric(table: Table, name: str, column: Column) -> Attribute:
    """Numbers as they are, with the nearest floats to compute with."""
    codes, distinct, numbers = table.distinct_numbers(name)
    values = distinct if isinstance(distinct, FloatValues) else tuple(distinct)
    domain = Numbers(values, numbers, bool((numbers == np.rint(numbers)).all()))
    if isinstance(values, FloatValues):  # which are in order
        gaps = codes < 0
        shown = np.where(gaps, np.int32(domain.size), codes) if gaps.any() else codes
        return Attribute(name, column, shown, domain, bool(gaps.any()))
    fits = table.fits_floats(name)
    order = np.argsort(numbers, kind="stable") if fits else _sorted_places(list(distinct))
    return _in_order(name, column, codes, domain, order)


def _date(table: Table, name: str, column: Column) -> Attribute:
    codes, distinct = table.distinct(name)
    written = column.format if isinstance(column, Date) else None
    found: Any = _plain_days(distinct)
    found = [_day(value, written) for value in distinct] if found is None else found
    wrong = [place for place, day in enumerate(found) if day is None]
    if wrong:
        records = np.flatnonzero(np.isin(codes, wrong)) + 1
        raise _no_date(name, written, records.tolist())
    days = np.array(found, np.float64)
    domain = Numbers(tuple(distinct), days, whole=True)
    return _in_order(name, column, codes, domain, np.argsort(days, kind="stable"))


def _plain_days(values: Sequence[object]) -> Floats | None:
    """Python's own dates and times as numbers of days, all at once; None for anything else."""
    if not {*map(type, values)} <= {datetime.date, datetime.datetime}:
        return None
    times = [
        ((one.hour * 60 + one.minute) * 60 + one.second) * 10**6 + one.microsecond
        if isinstance(one, datetime.datetime)
        else 0
        for one in values
    ]
    days = [one.toordinal() for one in values if isinstance(one, datetime.date)]
    return np.array(days, np.float64) + np.array(times, np.int64) / 1e6 / 86_400


def day_number(name: str, value: object, written: str | None) -> float:
    """A date as a number of days; times count as fractions of a day."""
    day = _day(value, written)
    if day is None:
        raise _no_date(name, written)
    return day


def _day(value: object, written: str | None) -> float | None:
    with contextlib.suppress(ValueError, OverflowError, NotImplementedError):
        if isinstance(value, str):
            value = (
                datetime.datetime.strptime(value, written)
                if written
                else datetime.datetime.fromisoformat(value)
            )
        if isinstance(value, datetime.datetime):
            midnight = datetime.datetime.combine(value.date(), datetime.time(), value.tzinfo)
            return value.date().toordinal() + (value - midnight).total_seconds() / 86_400
        if isinstance(value, datetime.date):
            return float(value.toordinal())
    return None


def _no_date(name: str, written: str | None, records: Sequence[int] = ()) -> DataError:
    wanted = written or "ISO dates such as 2024-01-31"
    where = f" (in {_numbered(records)})" if records else ""
    way_out = "correct them, give the column's format, or declare the column as flat"
    if written and "%" not in written:
        way_out = f"write the format as {_in_python(written)}"
    return DataError(
        f"Column {name!r} is said to hold dates ({wanted}) but holds values that are none{where}; "
        f"{way_out}."
    )


def _numbered(records: Sequence[int]) -> str:
    shown = ", ".join(str(one) for one in records[:SHOWN])
    more = f" and {len(records) - SHOWN:,} more" if len(records) > SHOWN else ""
    return f"record{'s' if len(records) > 1 else ''} {shown}{more}"


def _in_python(written: str) -> str:
    """A format of dates such as DD.MM.YYYY as Python writes it."""
    parts = dict(DATE_PARTS)
    pattern = "|".join(f"({one})" for one in parts)
    codes = list(parts.values())
    found = re.sub(pattern, lambda match: codes[(match.lastindex or 1) - 1], written)
    return found if "%" in found else "%d.%m.%Y, say"


def day_value(number: float, example: object, written: str | None) -> object:
    """The date of a (rounded) day number, of the same type and writing as an example."""
    day = datetime.date.fromordinal(round(number))
    if isinstance(example, str):
        return day.strftime(written) if written else day.isoformat()
    if isinstance(example, datetime.datetime):
        return _midnight(day, example.tzinfo)
    return day


def _midnight(day: datetime.date, zone: datetime.tzinfo | None) -> datetime.datetime:
    """The beginning of a day on the clock of a place, 1 o'clock where summer begins at midnight."""
    midnight = datetime.datetime.combine(day, datetime.time())
    # zones of pytz are one object per offset: only they know which one holds on that day
    localize = getattr(zone, "localize", None)
    aware: datetime.datetime = localize(midnight) if localize else midnight.replace(tzinfo=zone)
    if zone is not None:
        with contextlib.suppress(OverflowError):  # at the ends of the calendar
            return aware.astimezone(datetime.UTC).astimezone(aware.tzinfo)
    return aware


def _flat(table: Table, name: str, column: Column) -> Attribute:
    codes, known = table.narrow_values(name)
    distinct = list(known)
    if isinstance(column, Flat) and column.distances is not None:
        places = _listed(name, column, distinct)
        listed = Listed(tuple(distinct), places)
        return _in_order(name, column, codes, listed, np.argsort(places))
    return _in_order(name, column, codes, Labels(tuple(distinct)), _sorted_places(distinct))


def _listed(name: str, column: Flat, distinct: list[Any]) -> Longs:
    """The places of values in the list of those whose distances are known."""
    places = {value: place for place, value in enumerate(column.values)}
    unknown = [value for value in distinct if value not in places]
    if unknown:
        raise DataError(
            f"Column {name!r} holds {unknown[0]!r}, to which no distance is given; add it to its "
            f"values, or correct it.{did_you_mean(unknown[0], [str(one) for one in column.values])}"
        )
    return np.array([places[value] for value in distinct], np.int64)


def _sorted_places(distinct: list[Any]) -> Longs:
    """The places of values in their order; of those that have none, in that of their texts."""
    try:
        places = sorted(range(len(distinct)), key=distinct.__getitem__)
    except TypeError:
        places = sorted(range(len(distinct)), key=lambda place: str(distinct[place]))
    return np.array(places, np.int64)


def _ordinal(table: Table, name: str, column: Column) -> Attribute:
    codes, distinct = table.distinct(name)
    order = column.order if isinstance(column, Ordinal) else ()
    ranks = {value: rank for rank, value in enumerate(order)}
    unknown = [value for value in distinct if value not in ranks]
    if unknown:
        raise DataError(
            f"Column {name!r} holds {unknown[0]!r}, which is not in its order; add it to the order "
            f"or correct it.{did_you_mean(unknown[0], [str(one) for one in order])}"
        )
    places = np.array([*(ranks[value] for value in distinct), len(order)], np.int32)
    has_missing = bool((codes < 0).any())
    new = recoded(codes, places)  # a missing value has the code -1: the last place
    return Attribute(name, column, new, Ranks(tuple(order), np.arange(len(order))), has_missing)


def _nominal(table: Table, name: str, column: Nominal, spelled: Spelled) -> Attribute:
    assert column.taxonomy is not None
    codes, distinct = table.distinct(name)
    shown = codes >= 0
    counts = np.bincount(codes[shown], spelled.records[shown], len(distinct)).astype(np.int64)
    mapping = column.taxonomy.map(distinct, counts=counts.tolist(), overrides=column.overrides)
    try:
        found = np.append(mapping.resolve(column.unmapped), -1)[mapping.positions]
    except UnmappedValuesError as problem:
        raise UnmappedValuesError(f"Column {name!r}: {_elsewhere(mapping) or problem}") from None
    _warn_of_numbers(name, mapping)
    concepts, places = np.unique(found[found >= 0], return_inverse=True)
    if distinct and not concepts.size:
        raise DataError(
            f"Column {name!r}: none of its values has a concept in the taxonomy "
            f"{column.taxonomy.name!r}; take another taxonomy, or declare the column as flat."
        )
    value_codes = np.full(len(distinct) + 1, concepts.size, np.int32)
    value_codes[:-1][found >= 0] = places
    new = recoded(codes, value_codes)
    domain = Concepts.of(concepts, _vocabulary(column, mapping, spelled))
    return Attribute(name, column, new, domain, bool((new == concepts.size).any()))


def _warn_of_numbers(name: str, mapping: Mapping) -> None:
    """Say that numbers may stand for other codes; no value is named, for others may listen."""
    positions = doubtful(mapping)
    if positions:
        warnings.warn(
            f"Column {name!r} holds numbers, and {len(positions):,} of its {len(mapping):,} codes "
            "may have been others: as numbers, codes lose their zeros (250.0 may have been 250 or "
            "250.00); read the column as text from its source.",
            OntomaskWarning,
            stacklevel=2,
        )


def _vocabulary(column: Nominal, mapping: Mapping, spelled: Spelled) -> Vocabulary:
    """How the column writes concepts: as labels or ids, with or without dots, in which spelling."""
    taxonomy = mapping.index.taxonomy
    if column.output != "input":
        return Vocabulary(taxonomy, named=column.output == "label")
    spellings = _spellings(mapping, spelled.least) if spelled.given is None else spelled.given
    return Vocabulary(taxonomy, _is_named(mapping), _is_dotless(mapping), spellings)


def _elsewhere(mapping: Mapping) -> str:
    """A sentence on another taxonomy that knows the values, where this one knows few of them."""
    count, own = len(mapping.unmapped), mapping.index.taxonomy.name
    sample = [str(value).strip().casefold() for value in mapping.unmapped[:SAMPLED_CODES]]
    coded = sum(any(map(str.isdigit, text)) for text in sample)
    if count < max(FEWEST_CODES, len(mapping) / 2) or coded < KNOWN_ELSEWHERE * len(sample):
        return ""
    shares = {name: _known_share(name, sample) for name in CODED if name != own}
    best = max(shares, key=lambda name: shares[name])
    if shares[best] < KNOWN_ELSEWHERE:
        return ""
    whom = "them" if count <= SAMPLED_CODES else f"the {SAMPLED_CODES} most frequent of them"
    return (
        f"{count:,} of {len(mapping):,} values have no concept in the taxonomy {own!r}, but {best} "
        f"knows {int(100 * shares[best])}% of {whom}; take that taxonomy."
    )


def _known_share(name: str, sample: list[str]) -> float:
    """The share of some texts that are codes of a bundled taxonomy, with or without dots."""
    with contextlib.suppress(DependencyError):
        codes = [identifier.casefold() for identifier in load(name).ids]
        known = {*codes, *(code.replace(".", "") for code in codes)}
        return sum(text in known for text in sample) / len(sample)
    return 0.0


def _is_named(mapping: Mapping) -> bool:
    """Whether inner concepts are written as labels, because most records hold no codes."""
    coded = np.array([how in ("id", "code") for how in mapping.how], bool)
    return int(mapping.counts[coded].sum()) * 2 < int(mapping.counts.sum())


def _is_dotless(mapping: Mapping) -> bool:
    """Whether most codes that have a dot in the taxonomy are written without one here."""
    dotted = [
        "." in str(value)
        for value, found, how in zip(mapping.values, mapping.ids, mapping.how, strict=True)
        if found is not None and "." in found and how in ("id", "code")
    ]
    return 2 * sum(dotted) < len(dotted)


def _spellings(mapping: Mapping, least: int) -> dict[int, str]:
    """The most frequent spelling of each concept, where enough records have it.

    Others might be a remark about a single person that somebody mapped, or a name that only one
    office writes so. A text that has no concept is never a spelling, nor one of the root, which is
    all that can be said of such texts; nor one that would be read as something else.
    """
    best: dict[int, tuple[int, str]] = {}
    found = zip(mapping.values, mapping.concepts.tolist(), mapping.counts.tolist(), strict=True)
    for value, concept, count in found:
        if concept > ROOT and count >= least and isinstance(value, str):
            best[concept] = min(best.get(concept, (-count, value)), (-count, value))
    return {concept: text for concept, (_, text) in best.items()}


def _in_order(name: str, column: Column, codes: Codes, domain: Domain, order: Longs) -> Attribute:
    """A column after sorting its domain; -1, a missing value, becomes the code behind the last."""
    places = np.empty(order.size + 1, np.int32)
    places[order] = np.arange(order.size, dtype=np.int32)
    places[-1] = order.size
    if (order[:-1] > order[1:]).any():
        domain = domain.taken(order)
    return Attribute(name, column, recoded(codes, places), domain, bool((codes < 0).any()))


def record_counts(table: Table, schema: Schema) -> Floats:
    """How many equal records each one stands for: 1, unless a column counts them."""
    if schema.count is None:
        return np.ones(len(table))
    counts = table.numbers(schema.count)
    whole = np.isfinite(counts) & (counts >= 1) & (counts == np.rint(counts))
    if not whole.all():
        raise DataError(
            f"The counts in column {schema.count!r} must be whole numbers of at least 1, without "
            "gaps; correct them or leave the column out."
        )
    if counts.sum() > LARGEST_EXACT:
        raise DataError(
            f"The counts in column {schema.count!r} add up to more records than can be counted; "
            "correct them or leave the column out."
        )
    return counts


def record_units(table: Table, schema: Schema) -> Longs | None:
    """Whose record each one is, by number; None where every record is somebody else's."""
    if schema.unit is None:
        return None
    codes, _ = table.distinct(schema.unit)
    if (codes < 0).any():
        wanting = (np.flatnonzero(codes < 0) + 1).tolist()
        raise DataError(
            f"Column {schema.unit!r} says whose record it is, but has no value in "
            f"{_numbered(wanting)}; fill it, leave those records out, or give each of them a value "
            "of its own."
        )
    return codes.astype(np.int64)


def survey_weights(table: Table, schema: Schema) -> Floats:
    """How many people of the population each record stands for: 1, unless a column weighs them."""
    if schema.weight is None:
        return np.ones(len(table))
    weights = table.numbers(schema.weight)
    if np.isnan(weights).any() or (weights <= 0).any():
        raise DataError(
            f"The weights in column {schema.weight!r} must be numbers greater than 0, without "
            "gaps; correct them or leave the column out."
        )
    return weights


def _without_suppressed(microdata: Microdata) -> Microdata:
    """Leave out the records whose missing values are to be suppressed."""
    out: Bools = np.zeros(len(microdata), bool)
    for attribute in microdata.attributes.values():
        if attribute.has_missing and attribute.column.missing == "suppress":
            out |= attribute.codes == attribute.missing_code
    if not out.any():
        return microdata
    if out.all():
        raise DataError("Every record has a missing value that is to be suppressed; none is left.")
    kept = microdata.subset(~out)
    attributes = {
        name: replace(one, has_missing=one.has_missing and one.column.missing != "suppress")
        for name, one in kept.attributes.items()
    }
    left = microdata.subset(out)
    gone = {
        name: left.distribution(name)[: attributes[name].cardinality]
        for name in microdata.schema.with_role("sensitive")
    }
    return replace(kept, attributes=attributes, left_out=np.flatnonzero(out), gone=gone)


_ENCODERS: dict[str, Callable[[Table, str, Column], Attribute]] = {
    "numeric": _numeric,
    "date": _date,
    "flat": _flat,
    "ordinal": _ordinal,
}
