"""What the values of a column look like: dates, intervals, scales, addresses, numbers, codes.

Every function takes the distinct values as texts and answers from all of them; none of them looks
at the name of the column.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ontomask.data.intervals import read_interval
from ontomask.errors import DependencyError
from ontomask.taxonomy.bundled import load
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "OF_ONE_PERSON",
    "SYSTEMS",
    "CodeSystem",
    "DateShape",
    "amounts",
    "answers",
    "date_shape",
    "free_text",
    "is_plain_number",
    "nouns",
    "ordered",
    "partial_dates",
    "personal_shape",
    "written_as_codes",
    "written_as_numbers",
]

# Dates ------------------------------------------------------------------------------------------

ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?")
DATE_FORMATS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"), ("%d.%m.%Y",)),
    (re.compile(r"\d{1,2}/\d{1,2}/\d{4}"), ("%d/%m/%Y", "%m/%d/%Y")),
    (re.compile(r"\d{1,2}-\d{1,2}-\d{4}"), ("%d-%m-%Y", "%m-%d-%Y")),
    (re.compile(r"\d{4}/\d{1,2}/\d{1,2}"), ("%Y/%m/%d",)),
    (re.compile(r"(?:19|20)\d{6}"), ("%Y%m%d",)),
    (re.compile(r"(?:19|20)\d\d-\d\d"), ("%Y-%m",)),
    (re.compile(r"\d{1,2}/(?:19|20)\d\d"), ("%m/%Y",)),
    (re.compile(r"\d{1,2}\.(?:19|20)\d\d"), ("%m.%Y",)),
)
"""How dates are written besides ISO, with the readings of each way."""


@dataclass(frozen=True)
class DateShape:
    """How the dates of a column are written.

    `format` is None for ISO; `others` are the formats that would read all values as well.
    """

    format: str | None = None
    others: tuple[str, ...] = ()


def date_shape(texts: Sequence[str]) -> DateShape | None:
    """How texts are written if all of them are dates, else None."""
    if not texts:
        return None
    if ISO.fullmatch(texts[0]):
        return DateShape() if all(map(_is_iso, texts)) else None
    for pattern, formats in DATE_FORMATS:
        if pattern.fullmatch(texts[0]) and all(map(pattern.fullmatch, texts)):
            fitting = [one for one in formats if _all_read(texts, one)]
            return DateShape(fitting[0], tuple(fitting[1:])) if fitting else None
    return None


OPEN = r"(?:\d{1,2}|\?{1,2}|[xX]{1,2}|__)"
PARTLY = re.compile(
    rf"(?:19|20)\d\d(?:[-/.]{OPEN}){{0,2}}|(?:{OPEN}[-/.]){{1,2}}(?:19|20)\d\d|(?:19|20)\d{{2,6}}"
)


def partial_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates, some of them without day or month, though not all mere years."""
    return bool(texts) and all(map(PARTLY.fullmatch, texts)) and not all(map(str.isdigit, texts))


def _is_iso(text: str) -> bool:
    with contextlib.suppress(ValueError):
        datetime.datetime.fromisoformat(text)
        return bool(ISO.fullmatch(text))
    return False


def _all_read(texts: Sequence[str], written: str) -> bool:
    try:
        for text in texts:
            datetime.datetime.strptime(text, written)
    except ValueError:
        return False
    return True


# Order ------------------------------------------------------------------------------------------

SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("low", "normal", "high"),
    ("low", "average", "high"),
    ("none", "minimal", "mild", "moderate", "severe", "extreme"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("very small", "small", "medium", "large", "very large"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("bad", "fair", "good"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("niedrig", "mittel", "hoch"),
    ("faible", "moyen", "élevé"),
    ("bajo", "medio", "alto"),
)
"""Words whose order nobody doubts, from lowest to highest."""

FEWEST_RANKS, MOST_RANKS = 3, 60


def ordered(texts: Sequence[str]) -> list[str] | None:
    """The texts from lowest to highest if they are intervals or a known scale, else None."""
    if not FEWEST_RANKS <= len(texts) <= MOST_RANKS:
        return None
    return _on_a_scale(texts) or _intervals(texts)


def _on_a_scale(texts: Sequence[str]) -> list[str] | None:
    spelled = {re.sub(r"[\s_-]+", " ", text.strip().casefold()): text for text in texts}
    for scale in SCALES:
        if len(spelled) == len(texts) and spelled.keys() <= set(scale):
            return [spelled[word] for word in scale if word in spelled]
    return None


def _intervals(texts: Sequence[str]) -> list[str] | None:
    spans = [read_interval(text) for text in texts]
    known = [one for one in spans if one is not None and one.low < one.high]
    closed = sum(math.isfinite(one.low) and math.isfinite(one.high) for one in known)
    if len(known) < len(texts) or closed * 2 < len(texts):
        return None
    pairs = sorted(((one.low, one.high), text) for one, text in zip(known, texts, strict=True))
    apart = all(first[0][1] <= second[0][0] for first, second in itertools.pairwise(pairs))
    return [text for _, text in pairs] if apart else None


# People -----------------------------------------------------------------------------------------

SEPARATED = re.compile(r"\+?\(?\d+\)?(?:[\s()./-]+\d+){2,}|\+\d[\d\s()./-]{6,}")


def _is_phone(text: str) -> bool:
    return bool(SEPARATED.fullmatch(text)) and 7 <= sum(map(str.isdigit, text)) <= 15


HEX = "[0-9A-Fa-f]"
LONG_CODE = re.compile(rf"(?=.*\d)(?=.{{12}}){HEX}{{8}}(?:{HEX}{{4,}})?(?:-{HEX}{{4,}})*")
PERSONAL: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}").fullmatch),
    ("social security numbers", re.compile(r"\d{3}-\d{2}-\d{4}").fullmatch),
    (
        "bank accounts (IBAN)",
        re.compile(r"[A-Z]{2}\d{2} ?(?:[A-Z\d]{4} ?){2,7}[A-Z\d]{1,4}").fullmatch,
    ),
    ("network addresses", re.compile(r"(?:\d{1,3}\.){3}\d{1,3}").fullmatch),
    ("web addresses", re.compile(r"https?://\S+").fullmatch),
    ("phone numbers", _is_phone),
    ("long codes", LONG_CODE.fullmatch),
)
"""Values that single people have, and how they are recognized."""

OF_ONE_PERSON = frozenset(
    ["e-mail addresses", "social security numbers", "bank accounts (IBAN)", "long codes"]
)
"""Of these, one that occurs again is of the same person, or nearly always."""

MOST = 0.9


def personal_shape(texts: Sequence[str]) -> str | None:
    """What most of the texts are if it is something that single people have."""
    for what, matches in PERSONAL:
        if sum(bool(matches(text)) for text in texts) >= MOST * len(texts) > 0:
            return what
    return None


# Numbers and codes ------------------------------------------------------------------------------

PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
DIGITS_AND_LETTERS = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9.]+")
PADDED = re.compile(r"0\d+(?:\.\d+)?")
PADDED_BEHIND = re.compile(r"\d+\.\d*0")


CURRENCY = r"(?:[$€£¥]|EUR|USD|GBP|CHF|Fr\.?)"
AMOUNT = re.compile(
    rf"{CURRENCY}?\s?[+-]?(?:\d+(?:,\d+)?|\d{{1,3}}(?:[.\s'’]\d{{3}})+(?:,\d+)?"
    rf"|\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+\.\d+)\s?{CURRENCY}?"
)
SENTENCE = 4
"""From so many words on a text is more than a label."""
ANSWERS = frozenset(
    [
        *("yes", "no", "y", "n", "true", "false", "t", "f", "0", "1", "known", "unknown"),
        *("ja", "nein", "j", "oui", "non", "o", "si", "sí"),
    ]
)


def amounts(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers and some have a comma, for decimals or for thousands."""
    return any("," in text for text in texts) and all(map(AMOUNT.fullmatch, texts))


def answers(texts: Sequence[str]) -> bool:
    """Whether all texts answer a question by yes or no."""
    return all(text.casefold() in ANSWERS for text in texts)


def free_text(texts: Sequence[str]) -> bool:
    """Whether most texts are sentences rather than labels: many words, or a line end."""
    long = sum(len(text.split()) >= SENTENCE or "\n" in text for text in texts)
    return long * 2 > len(texts)


def is_plain_number(text: str) -> bool:
    """Whether a text is a number as computers write it."""
    return PLAIN_NUMBER.fullmatch(text) is not None


def written_as_numbers(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers, none of them with a leading zero as codes have."""
    return all(map(PLAIN_NUMBER.fullmatch, texts)) and not any(map(PADDED.fullmatch, texts))


def written_as_codes(texts: Sequence[str]) -> bool:
    """Whether the writing shows that the texts are codes and no numbers.

    Codes have letters among the digits (V45.71), leading zeros (0389), or decimals of unequal
    length some of which end in a zero (250.00 besides 401.9).
    """
    if any(map(PADDED.fullmatch, texts)):
        return True
    if sum(map(bool, map(DIGITS_AND_LETTERS.fullmatch, texts))) * 20 >= len(texts):
        return True
    decimals = {len(text.partition(".")[2]) for text in texts}
    return len(decimals) > 1 and any(map(PADDED_BEHIND.fullmatch, texts))


@dataclass(frozen=True)
class CodeSystem:
    """A bundled taxonomy of codes, and how its codes are written with and without dots."""

    name: str
    title: str
    subject: str
    pattern: re.Pattern[str]

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The taxonomy; None where a package that it needs is not installed."""
        with contextlib.suppress(DependencyError):
            return load(self.name)
        return None

    def holds(self, texts: Sequence[str]) -> list[bool]:
        """For each text whether it is a code of the taxonomy."""
        known = _codes(self.name)
        return [text.strip().casefold() in known for text in texts]

    def resembling(self, texts: Sequence[str]) -> list[bool]:
        """For each text whether it is written like a code; the taxonomy is not loaded."""
        return [self.pattern.fullmatch(text) is not None for text in texts]


SYSTEMS = (
    CodeSystem(
        "icd9cm",
        "ICD-9-CM diagnoses",
        "diagnosis",
        re.compile(r"\d{1,3}(?:\.\d{1,2})?|\d{3,5}|[Vv]\d{2}\.?\d{0,2}|[Ee]\d{3}\.?\d?"),
    ),
    CodeSystem(
        "icd9cm-procedures",
        "ICD-9-CM procedures",
        "procedure",
        re.compile(r"\d{1,2}(?:\.\d{1,2})?|\d{2,4}"),
    ),
    CodeSystem(
        "icd10cm",
        "ICD-10-CM diagnoses",
        "diagnosis",
        re.compile(r"[A-Za-z]\d[0-9A-Za-z](?:\.?[0-9A-Za-z]{1,4})?"),
    ),
    CodeSystem(
        "nace",
        "NACE economic activities",
        "industry",
        re.compile(r"[A-Va-v]|\d{1,2}(?:\.\d{1,2})?|\d{2,4}"),
    ),
    CodeSystem("naics", "NAICS industries", "industry", re.compile(r"\d{2,6}|\d\d-\d\d")),
)
"""The bundled taxonomies whose codes are looked for."""


@functools.cache
def _codes(name: str) -> frozenset[str]:
    """The codes of a bundled taxonomy as they may be written: any case, with or without dots."""
    folded = [identifier.casefold() for identifier in load(name).ids]
    return frozenset([*folded, *(code.replace(".", "") for code in folded)])


@functools.cache
def _nouns() -> frozenset[str]:
    return frozenset(name.casefold() for name in load("wordnet").names)


def nouns(texts: Sequence[str]) -> int:
    """How many of the texts are English nouns (of WordNet)."""
    folded = (re.sub(r"[\s_-]+", " ", text.strip().casefold()) for text in texts)
    return sum(text in _nouns() or text.removesuffix("s") in _nouns() for text in folded)
