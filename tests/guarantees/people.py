"""Random tables about people, each made by one generator: small, odd, and full of repetitions."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import ontomask as om

PARENTS: dict[str, list[str]] = {
    "d0": [],
    "d1": ["d0"],
    "d2": ["d0"],
    "d3": ["d0"],
    "d11": ["d1"],
    "d12": ["d1"],
    "d13": ["d1", "d2"],
    "d21": ["d2"],
    "d22": ["d2", "d3"],
    "d31": ["d3"],
    "d311": ["d31"],
}
LABELS = {
    "d0": "disease",
    "d1": "infection",
    "d2": "lung disease",
    "d3": "cancer",
    "d11": "flu",
    "d12": "cold",
    "d13": "pneumonia",
    "d21": "asthma",
    "d22": "lung cancer",
    "d31": "melanoma",
    "d311": "acral melanoma",
}
SYNONYMS = {"d11": ["influenza", "the grippe"], "d12": ["coryza"]}
DISEASES = om.Taxonomy.from_parents(PARENTS, labels=LABELS, synonyms=SYNONYMS, name="toy")

NAMES = [
    "age",
    "sex",
    "job, or task",
    'a "word"',
    "two\nlines",
    "größe",
    "日本",
    "a'b",
    "x;y",
    "ward",
]
RECORD, IDENTIFIER, COUNT, WEIGHT = "record", "person", "copies", "survey weight"
SECRET = "person-{:04d}-miller"
REMARK = "zzq remark {:04d}"
ORDER = ("low", "middle", "high", "top")
DAY = datetime.date(2024, 1, 30)

LIBRARIES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame}

Generator = np.random.Generator


@dataclass(frozen=True)
class Trait:
    """A published column: its values, what they mean, and how they are generalized.

    Attributes
    ----------
    settings
        The parameters of the column's declaration.
    rows
        A hierarchy by the test's own rule: values as they are looked up, groups, the root.
    concepts
        Of a nominal column, what each spelling means.
    """

    name: str
    kind: str
    role: str
    values: Sequence[Any]
    settings: Mapping[str, Any]
    rows: Sequence[Sequence[str]]
    concepts: Mapping[str, str] = field(default_factory=dict)

    def declared(self) -> Any:
        kinds = {"numeric": om.Numeric, "date": om.Date, "flat": om.Flat}
        if self.kind == "nominal":
            return om.Nominal(DISEASES, self.role, **self.settings)
        if self.kind == "ordinal":
            return om.Ordinal(role=self.role, order=ORDER, **self.settings)
        known = self.settings.get("distances") and {"values": self._distinct()}
        return kinds[self.kind](role=self.role, **(known or {}), **self.settings)

    def _distinct(self) -> list[Any]:
        """The values that are there, each once."""
        return list(dict.fromkeys(value for value in self.values if shown(value)))

    def meaning(self, text: str) -> str:
        """A written text by what it means, so that only true changes are seen."""
        if self.kind in ("numeric", "flat"):
            try:
                return repr(float(text) + 0.0)
            except ValueError:
                return text
        return self.concepts.get(text, text)

    def meanings(self) -> list[str]:
        return [self.meaning(shown(value)) for value in self.values]

    @property
    def is_left_out(self) -> list[bool]:
        """Which records the column's rule for missing values leaves out."""
        rule = self.settings.get("missing") == "suppress"
        return [rule and not meaning for meaning in self.meanings()]

    def looked_up(self, meaning: str) -> str:
        """What a hierarchy calls a value of that meaning."""
        try:
            return looked_up(float(meaning))
        except ValueError:
            return meaning

    def stands_for(self, general: str, value: Any) -> bool:
        """Whether a released text is a value, or stands above it in the hierarchy."""
        meaning = self.meaning(shown(value))
        row = next((one for one in self.rows if one[0] == self.looked_up(meaning)), ())
        return general == "*" or self.meaning(general) == meaning or general in row

    def covers(self, general: str, value: Any) -> bool:
        """The same, in the hierarchy or the taxonomy."""
        meaning = self.meaning(shown(value))
        above = ancestors(meaning) if meaning in PARENTS else ancestors("d0")
        in_group = GROUPS.get(self.kind, _no_group)(general, shown(value))
        return self.stands_for(general, value) or general in above or in_group


def _no_group(_general: str, _value: str) -> bool:
    return False


def _interval(general: str, value: str) -> bool:
    """[20, 22) stands for 21."""
    ends = re.fullmatch(r"\[(.+), (.+)\)", general)
    return bool(ends and value) and float(ends[1]) <= float(value) < float(ends[2])


def _part_of_a_date(general: str, value: str) -> bool:
    """2024, 2024-Q1 and 2024-02 stand for 2024-02-03."""
    if not value:
        return False
    day = datetime.date.fromisoformat(value[:10])
    return general in (f"{day:%Y}", f"{day:%Y}-Q{(day.month + 2) // 3}", f"{day:%Y-%m}")


def _ranks(general: str, value: str) -> bool:
    """low – middle stands for middle."""
    first, _, last = general.partition(" – ")
    known = {first, last, value} <= set(ORDER)
    return known and ORDER.index(first) <= ORDER.index(value) <= ORDER.index(last)


GROUPS: dict[str, Callable[[str, str], bool]] = {
    "numeric": _interval,
    "date": _part_of_a_date,
    "ordinal": _ranks,
}
"""What stands for a value in the hierarchies of columns for which none is given."""


def ancestors(concept: str) -> set[str]:
    """The ids and labels of a concept and of those above it."""
    return {concept, LABELS[concept]}.union(*(ancestors(parent) for parent in PARENTS[concept]))


@dataclass(frozen=True)
class People:
    """A table with what its columns are."""

    traits: tuple[Trait, ...]
    others: Mapping[str, Sequence[Any]]
    library: str

    def __getitem__(self, name: str) -> Trait:
        return next(trait for trait in self.traits if trait.name == name)

    def __len__(self) -> int:
        return len(self.traits[0].values)

    def named(self, role: str = "", *kinds: str) -> tuple[str, ...]:
        """The names of the columns with a role (any) and of some kinds (all)."""
        return tuple(
            one.name
            for one in self.traits
            if one.name != RECORD
            and one.role == (role or one.role)
            and one.role != "undecided"
            and (not kinds or one.kind in kinds)
        )

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.named("quasi")

    @property
    def count(self) -> str | None:
        return COUNT if COUNT in self.others else None

    @property
    def columns(self) -> dict[str, Sequence[Any]]:
        return {**self.others, **{one.name: one.values for one in self.traits}}

    @property
    def published(self) -> tuple[str, ...]:
        undecided = [one.name for one in self.traits if one.role == "undecided"]
        hidden = (IDENTIFIER, WEIGHT, "undeclared", *undecided)
        return tuple(name for name in self.columns if name not in hidden)

    @property
    def frame(self) -> Any:
        return LIBRARIES[self.library](self.columns)

    @property
    def schema(self) -> om.Schema:
        kinds = {IDENTIFIER: om.Identifier, COUNT: om.Count, WEIGHT: om.Weight}
        declared = {name: kinds[name]() for name in self.others if name in kinds}
        declared |= {one.name: one.declared() for one in self.traits}
        return om.Schema.of(declared).decided()

    @property
    def is_left_out(self) -> list[bool]:
        marks = [one.is_left_out for one in self.traits if one.role != "undecided"]
        return [any(them) for them in zip(*marks, strict=True)]

    def amounts(self, *names: str) -> list[float]:
        """The product of some of the columns count and weight, 1 where there is none."""
        factors = [self.others.get(name, [1.0] * len(self)) for name in names]
        return [float(np.prod(one)) for one in zip(*factors, strict=True)]

    @property
    def hierarchies(self) -> dict[str, Sequence[Sequence[str]]]:
        return {one.name: one.rows for one in self.traits if one.name != RECORD}

    def population(self, generator: Generator) -> Any:
        """People drawn from the table's values; concepts by their ids."""
        columns = {}
        for name in self.quasi:
            known = self[name].meanings() if self[name].concepts else self[name].values
            found = [one for one, out in zip(known, self[name].is_left_out, strict=True) if not out]
            drawn = [found[place] for place in generator.integers(0, len(found), 2 * len(self))]
            columns[name] = [None if one == "" else one for one in drawn]
        return LIBRARIES[self.library](columns)


# Making tables --------------------------------------------------------------------------------


def random_people(generator: Generator, forced: Mapping[str, Mapping[str, Any]]) -> People:
    """A table; `forced` are settings of columns by kind, of which there is then at least one."""
    count = int(generator.integers(8, 41))
    persons = int(generator.integers(2, count + 1))
    owners = generator.integers(0, persons, count)
    names = iter(generator.permutation(NAMES).tolist())
    traits = [
        _trait(generator, next(names), kind, role, owners, dict(forced.get(kind, {})))
        for kind, role in _plan_of(generator, forced)
    ]
    if generator.random() < 0.85:
        numbers = list(range(1000, 1000 + count))
        traits.insert(0, Trait(RECORD, "numeric", "other", numbers, {}, ()))
    library = str(generator.choice(list(LIBRARIES)))
    return People(tuple(traits), _others(generator, count), library)


def _plan_of(
    generator: Generator, forced: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Which kinds of columns there are, and what they are for."""
    kinds = list(DRAWN)
    roles = ["quasi"] * int(generator.integers(1, 5))
    roles += ["sensitive"] * int(generator.integers(0, 3)) + ["other"] * int(generator.integers(2))
    chosen = generator.choice(kinds, len(roles)).tolist()
    planned = list(zip(chosen, roles, strict=True))
    return planned + [(kind, "quasi") for kind in forced if kind not in chosen]


def _others(generator: Generator, count: int) -> dict[str, list[Any]]:
    """Columns that are not masked: identifiers, counts, survey weights, and one nobody declares."""
    columns = {
        IDENTIFIER: [SECRET.format(number) for number in range(count)],
        COUNT: generator.integers(1, 4, count).tolist(),
        WEIGHT: generator.uniform(0.5, 900.0, count).round(2).tolist(),
        "undeclared": [SECRET.format(number) for number in range(count)],
    }
    chances = {IDENTIFIER: 0.5, COUNT: 0.2, WEIGHT: 0.25, "undeclared": 0.2}
    return {name: one for name, one in columns.items() if generator.random() < chances[name]}


def _trait(
    generator: Generator,
    name: str,
    kind: str,
    role: str,
    owners: np.ndarray,
    settings: dict[str, Any],
) -> Trait:
    role = settings.pop("role", role)
    size = len(owners) if role != "quasi" else int(owners.max()) + 1
    rules, chances = ["own-category", "suppress", "error"], [0.6, 0.2, 0.2]
    settings.setdefault("missing", str(generator.choice(rules, p=chances)))
    values, concepts, more = DRAWN[kind](generator, size, settings)
    settings = {**more, **settings}
    if settings["missing"] != "error" and generator.random() < 0.5:
        values = _with_gaps(generator, values)
    if role == "quasi":
        values = [values[owner] for owner in owners.tolist()]
    rows = _hierarchy(generator, name, [*values, *(ORDER if kind == "ordinal" else ())], concepts)
    return Trait(name, kind, role, values, settings, rows, concepts)


def _with_gaps(generator: Generator, values: list[Any]) -> list[Any]:
    """Some values missing, but never the first one."""
    gaps = generator.random(len(values)) < 0.15
    gaps[0] = False
    return [None if gap else value for gap, value in zip(gaps.tolist(), values, strict=True)]


Drawn = tuple[list[Any], dict[str, str], dict[str, Any]]


def _numeric(generator: Generator, size: int, settings: dict[str, Any]) -> Drawn:
    pools: list[list[Any]] = [
        [20, 30, 40, 41, 55],
        [7],
        [10**12, 10**12 + 1, 10**12 + 5, -3],
        [0.0, -0.0, 1.5, -2.25],
        [0.1, 0.2, 0.1 + 0.2, 1e15],
        [-1, 0, 1],
        [2**60, 2**60 + 2**20, 2**60 + 2**21],
        generator.integers(0, 99, size).tolist(),
        generator.normal(50, 20, size).round(1).tolist(),
    ]
    pool = pools[int(generator.integers(len(pools)))]
    return [pool[place] for place in generator.integers(0, len(pool), size)], {}, {}


def _date(generator: Generator, size: int, settings: dict[str, Any]) -> Drawn:
    days = generator.integers(0, int(generator.choice([1, 4, 40])), size).tolist()
    found = [DAY + datetime.timedelta(days=day) for day in days]
    if "format" in settings and settings["format"] is not None:
        return [day.strftime(settings["format"]) for day in found], {}, {}
    return found, {}, {}


def _flat(generator: Generator, size: int, settings: dict[str, Any]) -> Drawn:
    pools = [["f", "m"], ["x"], ["a,b", 'c"d', "e\nf", "ü"], [True, False], [1, 2, 3]]
    pool: list[Any] = pools[int(generator.integers(len(pools)))]
    return [pool[place] for place in generator.integers(0, len(pool), size)], {}, {}


def _ordinal(generator: Generator, size: int, settings: dict[str, Any]) -> Drawn:
    values = [*ORDER, *generator.choice(ORDER, size).tolist()][:size]
    return generator.permutation(values).tolist(), {}, {}


def _nominal(generator: Generator, size: int, settings: dict[str, Any]) -> Drawn:
    pool = generator.choice(list(PARENTS)[1:], int(generator.integers(1, 6)), replace=False)
    mixed = generator.random() < 0.4
    concepts: dict[str, str] = {}
    values = []
    for concept in generator.choice(pool, size).tolist():
        text = str(generator.choice(_spellings(concept))) if mixed else LABELS[concept]
        values.append(text)
    for concept, label in LABELS.items():
        concepts |= dict.fromkeys([concept, label, *_spellings(concept)], concept)
    rule = settings.get("unmapped", str(generator.choice(["error", "root", "suppress"])))
    if rule == "root" or (rule == "suppress" and settings.get("missing") != "error"):
        remarks = np.flatnonzero(generator.random(size) < 0.1)[: size - 1]
        for place in remarks.tolist():
            values[place] = REMARK.format(place)
            concepts[values[place]] = "d0" if rule == "root" else ""
    output = str(generator.choice(["input", "id", "label"], p=[0.6, 0.2, 0.2]))
    return values, concepts, {"unmapped": rule, "output": output, "root": "taxonomy"}


def _spellings(concept: str) -> list[str]:
    label = LABELS[concept]
    return [concept, label, label.upper(), label.title(), *SYNONYMS.get(concept, [])]


DRAWN: dict[str, Callable[[Generator, int, dict[str, Any]], Drawn]] = {
    "numeric": _numeric,
    "date": _date,
    "flat": _flat,
    "ordinal": _ordinal,
    "nominal": _nominal,
}


def _hierarchy(
    generator: Generator, name: str, values: Sequence[Any], concepts: Mapping[str, str]
) -> list[list[str]]:
    """Values in the order of their texts, united in pairs, those in pairs, up to the root."""
    texts = sorted({looked_up(one) for one in values if one is not None} - set(concepts))
    texts += sorted(set(concepts.values()) - {""})
    height = int(generator.integers(1, 4))
    rows = [
        [text, *(f"{name} {level}.{place >> level}" for level in range(1, height)), "*"]
        for place, text in enumerate(texts)
    ]
    return [rows[place] for place in generator.permutation(len(rows)).tolist()]


# Texts ----------------------------------------------------------------------------------------


def looked_up(value: Any) -> str:
    """A value as a hierarchy names it: whole numbers without decimal point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return shown(value)


def shown(value: Any) -> str:
    """A value as a reader of a file sees it."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat()
    return str(value)


def written(columns: Mapping[str, Sequence[Any]]) -> str:
    """A table as the text of a CSV file."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        zip(*([shown(one) for one in values] for values in columns.values()), strict=True)
    )
    return buffer.getvalue()


def released(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame of either library."""
    if isinstance(frame, pd.DataFrame):
        return {name: frame[name].tolist() for name in frame.columns}
    return dict(frame.to_dict(as_series=False))
