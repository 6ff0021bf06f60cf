"""`protect`: mask, decode, verify. The only way data leaves."""

from __future__ import annotations

import secrets
import time
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ontomask.arrays import Bools, Codes, Floats, Ints, Longs, places_in, stretches
from ontomask.checks import Flag, Integer, check
from ontomask.data.distinct import texts_of
from ontomask.data.domains import Domain, Numbers
from ontomask.data.encoding import LEAST, encode
from ontomask.data.grouping import group_sizes
from ontomask.data.masked import Masked, State
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.data.values import is_star
from ontomask.errors import DataError, MethodError, ParameterError
from ontomask.memory import keep_freed
from ontomask.methods.base import Context, Method, Progress, silent, sizes_asked
from ontomask.methods.persons import refuse_links
from ontomask.proof import Made, prove
from ontomask.release import AppliedScheme, Original, Release, digest_of, drawing, spellings_of

__all__ = ["generators", "protect", "released", "run_steps", "seed_of", "steps_of"]


def protect(
    frame: object,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    *,
    keep_index: bool = False,
    progress: Progress = silent,
) -> Release:
    """Protect a table that is held in memory; the parameters are those of `ontomask.protect`."""
    steps = steps_of(method)
    chosen = seed_of(seed)
    check("keep_index", keep_index, Flag())
    keep_freed()
    table = open_table(frame, keep_index=keep_index)
    started = time.perf_counter()
    least = max([LEAST, *sizes_asked(steps)])
    microdata = encode(table, Schema.require(schema).require_decided(), least)
    for name in microdata.schema.published:
        if name in microdata.attributes and name not in microdata.quasi:
            refuse_links(microdata[name], microdata)
    digest, fingerprint = digest_of(table, schema), table.fingerprint()
    timings = {"encode": time.perf_counter() - started}
    start = State.start(table, microdata)
    made, end = run_steps(steps, start, generators(steps, chosen, digest), progress, timings)
    if table.fingerprint() != fingerprint:
        raise DataError("The table was changed while it was being masked; run it again.")
    return released(steps, chosen, digest, made, end, timings)


def steps_of(method: Method | Sequence[Method]) -> tuple[Method, ...]:
    """The steps of a run, each of them a method."""
    steps = tuple(method) if isinstance(method, (list, tuple)) else (method,)
    if not steps or not all(isinstance(step, Method) for step in steps):
        raise ParameterError(
            "method must be a masking method or a list of them, such as Microaggregation(k=5), not "
            f"{method!r}."
        )
    return steps


def seed_of(seed: int | None) -> int:
    """The seed given, or a new one."""
    if seed is None:
        return secrets.randbits(63)
    check("seed", seed, Integer(0))
    return int(seed)


def run_steps(
    steps: tuple[Method, ...],
    state: State,
    sources: Sequence[np.random.Generator],
    progress: Progress,
    timings: dict[str, float],
) -> tuple[list[Made], State]:
    """Apply the steps one after the other."""
    made = []
    for place, (step, generator) in enumerate(zip(steps, sources, strict=True)):

        def report(fraction: float, message: str, place: int = place) -> None:
            progress((place + fraction) / len(steps), message)

        started = time.perf_counter()
        report(0.0, step.name)
        masked = step.run(state.microdata, Context(generator, report))
        report(1.0, step.name)
        timings[f"step {place + 1}: {step.name}"] = time.perf_counter() - started
        made.append(Made(step, state, masked))
        state = state.after(masked)
    return made, state


def generators(steps: Sequence[Method], seed: int, digest: str) -> list[np.random.Generator]:
    """One generator per step, so that adding a step does not change the draws of another."""
    seen: Counter[str] = Counter()
    result = []
    for step in steps:
        key = (zlib.crc32(step.name.encode()), seen[step.name])
        seen[step.name] += 1
        result.append(drawing(seed, digest, key))
    return result


def released(
    steps: tuple[Method, ...],
    seed: int,
    digest: str,
    made: list[Made],
    end: State,
    timings: dict[str, float],
) -> Release:
    """What the steps made, proved and with its account."""
    start, masks = made[0].before, [one.masked for one in made]
    table, schema = start.table, start.microdata.schema
    published = _published(table, schema, masks)
    if not published:
        raise MethodError("Nothing would be published: every column is an identifier or dropped.")
    table.forget(end.columns)
    if start.is_whole:
        table.expect({name: one.seen for name, one in start.microdata.attributes.items()})
    outgoing = open_table(end.frame(published))
    outgoing.expect({name: one.seen for name, one in end.columns.items()})
    started = time.perf_counter()
    verification = prove(outgoing, published, made, end)
    timings["verify"] = time.perf_counter() - started
    clusters = masks[-1].clusters
    if clusters is not None and masks[-1].kept is not None:
        clusters = clusters[masks[-1].kept]
    schemes = tuple(masked.scheme for masked in masks if masked.scheme is not None)
    spellings = spellings_of(start.microdata.attributes)
    scheme = AppliedScheme(schema, schemes, published, spellings)
    return Release(
        frame=outgoing.given,
        schema=schema,
        steps=steps,
        seed=seed,
        clusters=clusters,
        class_sizes=_class_sizes(end.microdata),
        changed=_changed(start, end),
        left_out=len(table) - len(end.microdata),
        starred=_starred(start, end),
        details=tuple(dict(masked.details) for masked in masks),
        verification=verification,
        timings=timings,
        digests={"input": digest, "output": outgoing.digest()},
        _scheme=scheme if len(schemes) == len(masks) else None,
        _rows=end.microdata.rows,
        _original=Original.of(table, start.microdata),
        _columns={
            name: end.columns.get(name, one).trimmed()
            for name, one in end.microdata.attributes.items()
            if name in published
        },
    )


def _published(table: Table, schema: Schema, masks: list[Masked]) -> tuple[str, ...]:
    dropped = {name for masked in masks for name in masked.dropped}
    added = [name for masked in masks for name in masked.columns if name not in schema.published]
    kept = [
        name
        for name in table.names
        if (name in schema.published or name in added) and name not in dropped
    ]
    return tuple(kept)


def _class_sizes(microdata: Microdata) -> dict[int, int]:
    if not microdata.quasi:
        return {}
    counts = np.bincount(_sizes(microdata).astype(np.int64))
    return {int(size): int(counts[size]) for size in np.flatnonzero(counts)}


def _sizes(microdata: Microdata) -> Floats:
    """How many records the classes have, or persons, where they are known."""
    if microdata.units is not None:
        return microdata.tuples().counts
    columns = [microdata[name] for name in microdata.quasi]
    sizes, counts = [one.cardinality for one in columns], microdata.counts
    codes = (one.narrow for one in columns)
    return group_sizes(codes, sizes, None if (counts == 1.0).all() else counts)


def _starred(start: State, end: State) -> int:
    """How many records have nothing but stars and gaps where they had quasi-identifiers."""
    before, kept = start.microdata, start.kept(end)
    empty: Longs | None = None
    for name in before.quasi:
        new = end.columns.get(name, before[name].of(kept))
        tells_nothing = np.append(_tells_nothing(new.domain), True)
        if empty is None:  # of many records a few, mostly none
            empty = places_in(new.narrow, tells_nothing)
        else:
            empty = empty[tells_nothing.take(new.narrow.take(empty))]
        if not empty.size:
            return 0
    if empty is None:
        return 0
    own = empty if isinstance(kept, slice) else kept[empty]
    known = np.zeros(own.size, bool)
    for name in before.quasi:
        old = before[name]
        told = np.array([not is_star(one) for one in old.values] + [False])
        known |= told.take(old.narrow.take(own))
    return int(before.counts[own[known]].sum())


def _tells_nothing(domain: Domain) -> Bools:
    """Which values are stars or gaps; among numbers and dates there is none to look for."""
    if isinstance(domain, Numbers):
        return np.zeros(domain.size, bool)
    return np.array([one is None or is_star(one) for one in domain.values], bool)


def _changed(start: State, end: State) -> dict[str, float]:
    """The share of the records whose value in each column reads otherwise than before."""
    kept, counts = start.kept(end), end.microdata.counts
    shares = dict.fromkeys(start.microdata.attributes, 0.0)
    for name in shares.keys() & end.columns.keys():
        differing = _differing(start.microdata[name].of(kept), end.columns[name], counts)
        shares[name] = differing / float(counts.sum()) if differing else 0.0
    return shares


def _differing(before: Attribute, after: Attribute, counts: Floats) -> int:
    """How many records have values that are not written alike."""
    kind = _plain_kind(before.domain)
    if kind is not None and kind is _plain_kind(after.domain):
        # a gap is NaN, which no value is, but the same as another one
        tables = [np.append(one.numbers, np.nan) for one in (before, after)]
        return _counted_unlike(tables, [before.narrow, after.narrow], counts)
    if after.domain is before.domain and np.array_equal(before.narrow, after.narrow):
        return 0
    texts: dict[str, int] = {}
    own, others = (
        np.array(
            [texts.setdefault(text, len(texts)) for text in texts_of(one.seen.values)], np.int32
        )
        for one in (before, after)
    )
    if own.max() < others.take(after.seen.used).min():  # none of it was written before
        return round(float(counts.sum()))
    return _counted_unlike([own, others], [before.narrow, after.narrow], counts)


def _counted_unlike(tables: Sequence[Floats | Ints], codes: Sequence[Codes], counts: Floats) -> int:
    """How many records have other values on one side; a stretch at a time, to hold little."""
    total = 0.0
    for part in stretches(counts.size):
        old, new = (table.take(one[part]) for table, one in zip(tables, codes, strict=True))
        unlike = (old != new) & ((old == old) | (new == new))
        total += float(counts[part][unlike].sum())
    return round(total)


def _plain_kind(domain: Domain) -> type | None:
    """The type of plain numbers, which read alike where they are equal."""
    if not isinstance(domain, Numbers) or not domain.values or not domain.fits_floats:
        return None
    kind = type(domain.values[0])
    return kind if kind in (int, float) else None
