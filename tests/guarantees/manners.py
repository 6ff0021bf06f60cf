"""What the methods say of single records: seen where a release is one step away from its table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from guarantees.counting import ROUNDING
from guarantees.promised import Seen, masked_columns

Complaints = Iterator[str]
Manner = Callable[[Seen, Any], Complaints]


def mannered(seen: Seen) -> Complaints:
    """What a single step did otherwise than it says."""
    step = seen.steps[0]
    if seen.origins is not None and step.name in MANNERS:
        yield from MANNERS[step.name](seen, step)


def _pairs(seen: Seen, name: str) -> Iterator[tuple[str, str]]:
    """What each released record meant before, and what it means now."""
    before = seen.people[name].meanings()
    assert seen.origins is not None
    yield from zip((before[one] for one in seen.origins), seen.meanings(name), strict=True)


def _covered(seen: Seen, _step: Any) -> Complaints:
    """Generalization is truthful: what is released stands for what was."""
    assert seen.origins is not None
    for name in seen.quasi:
        trait = seen.people[name]
        cells = zip(seen.text.column(name), seen.origins, strict=True)
        wrong = sum(not trait.covers(general, trait.values[origin]) for general, origin in cells)
        if wrong:
            yield f"{wrong} values of {name!r} do not stand for what they were"


def _known_tuples(seen: Seen, _step: Any) -> Complaints:
    """Recoding makes no new combination."""
    columns = [seen.people[name].meanings() for name in seen.quasi]
    known = set(zip(*columns, strict=True))
    new = zip(*(seen.meanings(name) for name in seen.quasi), strict=True)
    if not set(new) <= known:
        yield "a combination that nobody had"


def _kept_or_starred(seen: Seen, _step: Any) -> Complaints:
    """Suppression changes nothing but to missing."""
    for name in seen.quasi:
        if any(after not in ("", "*", before) for before, after in _pairs(seen, name)):
            yield f"a value of {name!r} is neither what it was nor starred"


def _of_the_column(seen: Seen, step: Any) -> Complaints:
    """Drawn values are values of the column."""
    for name in masked_columns(step, seen.people):
        if not set(seen.meanings(name)) <= set(seen.people[name].meanings()):
            yield f"a value of {name!r} that nobody had"


def _numbers(seen: Seen, name: str) -> Iterator[tuple[float, float]]:
    for before, after in _pairs(seen, name):
        if before and after:
            yield float(before), float(after)


def _rounded(seen: Seen, step: Any) -> Complaints:
    for name in step.columns:
        for before, after in _numbers(seen, name):
            share = after / step.base
            far = (
                abs(after - before)
                > step.base * (0.5 if step.algorithm == "nearest" else 1) + ROUNDING
            )
            if not math.isclose(share, round(share), abs_tol=1e-6) or far:
                yield f"{name!r}: {before} became {after} by multiples of {step.base}"


def _within(seen: Seen, step: Any) -> Complaints:
    numbers = [name for name in step.columns if seen.people[name].kind == "numeric"]
    for name in numbers:
        for before, after in _numbers(seen, name):
            beyond = (step.top is not None and before > step.top) or (
                step.bottom is not None and before < step.bottom
            )
            free = step.top_share is not None or step.bottom_share is not None
            if not beyond and not free and before != after:
                yield f"{name!r}: {before} within the limits became {after}"
            if step.replace == "limit" and step.top is not None and after > step.top:
                yield f"{name!r}: {after} is above the top"


def _sampled(seen: Seen, step: Any) -> Complaints:
    given = sum(not out for out in seen.people.is_left_out)
    expected = step.size if step.share is None else max(1, round(step.share * given))
    if not step.strata and len(seen.text) != expected:
        yield f"{len(seen.text)} records instead of {expected}"


def _hidden(seen: Seen, step: Any) -> Complaints:
    """Pseudonyms are hexadecimal digits, one for each value."""
    assert seen.origins is not None
    columns = seen.people.columns
    for name in step.columns:
        pairs = {
            (str(columns[name][origin]), text)
            for origin, text in zip(seen.origins, seen.text.column(name), strict=True)
            if text
        }
        texts = [text for _, text in pairs]
        if any(len(one) != step.length or set(one) - set("0123456789abcdef") for one in texts):
            yield f"{name!r} holds what is no pseudonym"
        if len({value for value, _ in pairs}) != len(set(texts)) or len(texts) != len(set(texts)):
            yield f"{name!r} has not one pseudonym for each value"


def _in_range(seen: Seen, step: Any) -> Complaints:
    for name in step.columns if step.keep_range else ():
        trait = seen.people[name]
        if trait.kind == "numeric":
            known = [float(one) for one in trait.values if one is not None]
            if any(not min(known) <= after <= max(known) for _, after in _numbers(seen, name)):
                yield f"{name!r} leaves its range"


MANNERS: dict[str, Manner] = {
    "generalization": _covered,
    "recoding": _known_tuples,
    "suppression": _kept_or_starred,
    "local-suppression": _kept_or_starred,
    "pram": _of_the_column,
    "rounding": _rounded,
    "top-bottom-coding": _within,
    "sampling": _sampled,
    "pseudonyms": _hidden,
    "noise": _in_range,
}
