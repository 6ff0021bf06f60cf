"""Every option of everything that can be declared, taken from the declared constraints.

An `Option` sets one parameter (sometimes with others that it needs) for a given table. What the
constraints say is enough for words, flags and numbers; what must fit the table is drawn by the
functions in `FITTING`. A parameter with neither is an error, so that no new one goes untested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

import ontomask as om
from guarantees.people import People
from ontomask import privacy
from ontomask.checks import AnyOf, Choice, Flag, Integer, Null, Real, constraints_of
from ontomask.methods.registry import METHODS
from ontomask.quality import QUALITIES

Generator = np.random.Generator
Draw = Callable[[People, Generator], dict[str, Any]]

ATTEMPTS = 30
KEY = "a secret of the house"
GUARDED = {name: kind for name, kind in METHODS.items() if kind.repeatable}
"""The methods that are tried at random: what fails must be repeatable by its seed. Private
generalization, which draws from the operating system, has tests of its own."""
COLUMNS = (om.Numeric, om.Date, om.Flat, om.Ordinal, om.Nominal)
GIVEN_BY_THE_TABLE = {"taxonomy", "order", "options", "overrides", "values"}
"""What `people` decides for a column by itself."""


class Unsuitable(Exception):  # noqa: N818 - no error: another table will do
    """The table has no column that the option could be about."""


@dataclass(frozen=True)
class Option:
    """One way to set a parameter."""

    kind: type
    parameter: str
    label: str
    draw: Draw

    def __str__(self) -> str:
        return f"{self.kind.__name__}-{self.parameter}-{self.label}"


def privacy_models() -> list[type]:
    """Every model of ours that can be made; other tests make models of their own."""
    found, queue = [], [privacy.PrivacyModel]
    while queue:
        kind = queue.pop()
        queue.extend(kind.__subclasses__())
        ours = kind.__module__.startswith("ontomask.")
        if ours and not getattr(kind, "__abstractmethods__", None):
            found.append(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def options_of(kind: type) -> list[Option]:
    """All options of all parameters of a method, a model or a column."""
    constraints = constraints_of(kind)
    found: list[Option] = []
    for one in fields(kind):
        if kind in COLUMNS and one.name in GIVEN_BY_THE_TABLE:
            continue
        named = FITTING.get((kind.__name__, one.name)) or FITTING.get(("", one.name))
        drawn = named() if named else list(_allowed(one.name, constraints.get(one.name)))
        if not drawn:
            raise LookupError(
                f"{kind.__name__}.{one.name} is not covered: say in FITTING how to draw it."
            )
        found += [Option(kind, one.name, label, draw) for label, draw in drawn]
    return found


def _allowed(name: str, constraint: Any) -> Iterator[tuple[str, Draw]]:
    """What a constraint says by itself."""
    if isinstance(constraint, AnyOf):
        for part in constraint.constraints:
            yield from _allowed(name, part)
    elif isinstance(constraint, Choice):
        for option in constraint.options:
            yield option, lambda _p, _g, option=option: {name: option}
    elif isinstance(constraint, Flag):
        for flag in (True, False):
            yield str(flag), lambda _p, _g, flag=flag: {name: flag}
    elif isinstance(constraint, Null):
        yield "None", lambda _p, _g: {name: None}
    elif isinstance(constraint, Integer):
        high = int(min(constraint.high, constraint.low + 3))
        yield "number", lambda _p, g: {name: int(g.integers(constraint.low, high + 1))}
    elif isinstance(constraint, Real):
        high = min(constraint.high, constraint.low + 1.0)
        yield (
            "number",
            lambda _p, g: {name: round(float(g.uniform(constraint.low, high)), 3) or 0.5},
        )


def made(kind: type, people: People, generator: Generator, *wished: Option) -> Any:
    """An instance with random parameters besides the wished ones."""
    for _ in range(ATTEMPTS):
        try:
            return kind(**_parameters(kind, people, generator, wished))
        except om.errors.OntomaskError:
            continue  # parameters that do not go together
    raise Unsuitable(f"{kind.__name__} with {', '.join(map(str, wished))}")


def _parameters(
    kind: type, people: People, generator: Generator, wished: tuple[Option, ...]
) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for option in wished:
        parameters |= option.draw(people, generator)
    by_name: dict[str, list[Option]] = {}
    for option in options_of(kind):
        by_name.setdefault(option.parameter, []).append(option)
    required = {one.name for one in fields(kind) if _is_required(kind, one)}
    for name, options in by_name.items():
        if name not in parameters and (name in required or generator.random() < 0.3):
            chosen = options[int(generator.integers(len(options)))]
            parameters = {**_drawn(chosen, people, generator, name in required), **parameters}
    return parameters


def _drawn(option: Option, people: People, generator: Generator, needed: bool) -> dict[str, Any]:
    try:
        return option.draw(people, generator)
    except Unsuitable:
        if needed:
            raise
        return {}


def _is_required(kind: type, one: Any) -> bool:
    """Whether a parameter must be drawn: it has no default, or one that seldom fits."""
    without = one.default is MISSING and one.default_factory is MISSING
    return without or one.name == "column" or (kind is om.Pram and one.name == "columns")


# What must fit the table ----------------------------------------------------------------------


def _some(names: tuple[str, ...], generator: Generator, most: int = 3) -> tuple[str, ...]:
    if not names:
        raise Unsuitable
    count = int(generator.integers(1, min(most, len(names)) + 1))
    return tuple(generator.permutation(names).tolist()[:count])


def _columns(*kinds: str, most: int = 3) -> Callable[[], list[tuple[str, Draw]]]:
    """Some columns of some kinds."""
    return lambda: [
        ("some", lambda people, g: {"columns": _some(people.named("", *kinds), g, most)})
    ]


def _or_none(
    options: Callable[[], list[tuple[str, Draw]]],
) -> Callable[[], list[tuple[str, Draw]]]:
    return lambda: [*options(), ("None", lambda _p, _g: {"columns": None})]


def _strata() -> list[tuple[str, Draw]]:
    """Columns with few values, so that strata are not too small."""

    def draw(people: People, generator: Generator) -> dict[str, Any]:
        few = [n for n in people.named() if len(set(people[n].meanings())) <= 3]
        return {"strata": _some(tuple(few), generator, 1)}

    return [("some", draw), ("none", lambda _p, _g: {"strata": ()})]


def _confidential() -> list[tuple[str, Draw]]:
    def draw(people: People, generator: Generator) -> dict[str, Any]:
        chosen = _some(people.named(), generator)
        rest = tuple(
            name
            for name in people.named()
            if name not in chosen and len(set(people[name].meanings())) > 1
        )
        given = _some(rest, generator) if rest and generator.random() < 0.7 else ()
        return {"confidential": chosen, "given": given}

    return [("some", draw)]


def _pseudonyms() -> list[tuple[str, Draw]]:
    def draw(people: People, generator: Generator) -> dict[str, Any]:
        hidden = tuple(name for name in people.others if name == "person")
        return {"columns": _some((*hidden, *people.named("", "flat")), generator)}

    return [("some", draw)]


def _all_but_one() -> list[tuple[str, Draw]]:
    return [
        ("some", lambda people, g: {"columns": _some(people.named()[1:], g)}),
        ("first", lambda people, g: {"columns": people.named()[:1]}),
    ]


def _matrix() -> list[tuple[str, Draw]]:
    """Own probabilities for the values of a flat or ordinal column."""

    def draw(people: People, generator: Generator) -> dict[str, Any]:
        (name,) = _some(people.named("", "flat", "ordinal"), generator, 1)
        known = list(dict.fromkeys(one for one in people[name].values if one is not None))
        order = [*known, None]
        rows = generator.dirichlet(np.ones(len(order)), len(order))
        return {"columns": (name,), "order": order, "matrix": rows.tolist()}

    return [("own", draw), ("None", lambda _p, _g: {"matrix": None, "order": None})]


def _limit(side: str) -> Callable[[], list[tuple[str, Draw]]]:
    """A number out of the first of the columns."""

    def draw(people: People, generator: Generator) -> dict[str, Any]:
        (name,) = _some(people.named("", "numeric"), generator, 1)
        known = [float(one) for one in people[name].values if one is not None]
        return {"columns": (name,), side: float(generator.choice(known))}

    return lambda: [("number", draw), ("None", lambda _p, _g: {side: None})]


def _importance() -> list[tuple[str, Draw]]:
    return [
        ("some", lambda people, g: {"importance": dict.fromkeys(_some(people.quasi, g), 3.0)}),
        ("none", lambda _p, _g: {"importance": {}}),
    ]


def _size() -> list[tuple[str, Draw]]:
    return [
        ("number", lambda people, g: {"size": int(g.integers(1, len(people) + 1))}),
        ("None", lambda _p, _g: {"size": None}),
    ]


def _k() -> list[tuple[str, Draw]]:
    return [("number", lambda people, g: {"k": int(g.integers(2, 5))})]


# Generalization -------------------------------------------------------------------------------


def _models() -> list[tuple[str, Draw]]:
    """Each option of each privacy model, usually beside k-anonymity."""
    return [
        (f"{option}", lambda people, g, option=option: _with_model(option, people, g))
        for kind in privacy_models()
        for option in options_of(kind)
    ]


def _with_model(option: Option, people: People, generator: Generator) -> dict[str, Any]:
    model = made(option.kind, people, generator, option)
    models = [model]
    if generator.random() < 0.6:
        models.insert(0, om.privacy.KAnonymity(int(generator.integers(2, 5))))
    needed = {"population": people.population(generator)} if model.needs_population else {}
    return {"privacy": models, "hierarchies": people.hierarchies, **needed}


def _models_of_clusters() -> list[tuple[str, Draw]]:
    """None, and each option of each privacy model that clusters can have."""

    def draw(option: Option, people: People, generator: Generator) -> dict[str, Any]:
        return {"privacy": [_without_rows(made(option.kind, people, generator, option))]}

    return [
        ("none", lambda _p, _g: {"privacy": ()}),
        *(
            (f"{option}", lambda people, g, option=option: draw(option, people, g))
            for kind in privacy_models()
            if not kind.needs_information
            if kind.takes_weights or not kind.needs_population
            for option in options_of(kind)
            if option.label != "hierarchical"
        ),
    ]


def _without_rows(model: Any) -> Any:
    """A model that needs no hierarchy: clusters are given none, and take that of the taxonomy."""
    if getattr(model, "ground", "") == "hierarchical":
        raise Unsuitable
    return model


def _ways() -> list[tuple[str, Draw]]:
    """Each way to form clusters, with a model that it can be about."""

    def draw(way: str, people: People, generator: Generator) -> dict[str, Any]:
        model = _without_rows(made(privacy.TCloseness, people, generator))
        return {"privacy_by": way, "privacy": [model], "strata": ()}

    constraint = constraints_of(om.Microaggregation)["privacy_by"]
    return [(way, lambda people, g, way=way: draw(way, people, g)) for way in constraint.options]


def _sensitive(*kinds: str, gaps: bool = True) -> Draw:
    def draw(people: People, generator: Generator) -> dict[str, Any]:
        names = people.named("sensitive", *kinds)
        full = tuple(name for name in names if gaps or None not in people[name].values)
        return {"column": _some(full, generator, 1)[0]}

    return draw


def _grounds() -> list[tuple[str, Draw]]:
    """Each ground distance with a column that has it."""
    kinds = {"ordered": ("numeric", "ordinal", "date"), "semantic": ("nominal",)}
    constraint = constraints_of(privacy.TCloseness)["ground"]
    return [
        (
            ground,
            lambda people, g, ground=ground: {
                "ground": ground,
                **_sensitive(*kinds.get(ground, ()), gaps=ground != "ordered")(people, g),
            },
        )
        for ground in constraint.options
    ]


def _hierarchies() -> list[tuple[str, Draw]]:
    """For all columns, or for those that have no taxonomy."""

    def without(people: People, _g: Generator) -> dict[str, Any]:
        rows = people.hierarchies
        return {"hierarchies": {n: rows[n] for n in rows if people[n].kind != "nominal"}}

    return [
        ("all", lambda people, _g: {"hierarchies": people.hierarchies}),
        ("without taxonomies", without),
    ]


def _qualities() -> list[tuple[str, Draw]]:
    """Each quality model by name, and each option of each."""

    def draw(option: Option, people: People, generator: Generator) -> dict[str, Any]:
        return {"quality": made(option.kind, people, generator, option)}

    by_name = [
        (name, lambda _p, _g, name=name: {"quality": name})
        for name in QUALITIES
        if name != "classification"  # it needs a target, as the next ones have
    ]
    return by_name + [
        (str(option), lambda people, g, option=option: draw(option, people, g))
        for kind in QUALITIES.values()
        for option in options_of(kind)
    ]


def _weights() -> list[tuple[str, Draw]]:
    return [
        ("some", lambda people, g: {"weights": dict.fromkeys(_some(people.quasi, g), 2.0)}),
        ("None", lambda _p, _g: {"weights": None}),
    ]


def _target() -> list[tuple[str, Draw]]:
    return [
        ("one", lambda people, g: {"target": _some(people.named(), g, 1)[0]}),
        ("several", lambda people, g: {"target": _some(people.named(), g, 2)}),
    ]


def _budget(name: str, amount: float) -> Callable[[], list[tuple[str, Draw]]]:
    return lambda: [
        ("some", lambda _p, _g: {"algorithm": "best-effort", name: amount}),
        ("None", lambda _p, _g: {name: None}),
    ]


def _searches() -> list[tuple[str, Draw]]:
    """Each search, with the budget that it may need."""
    constraint = constraints_of(om.Generalization)["algorithm"]
    return [
        (search, lambda _p, _g, search=search: {"algorithm": search, "steps": 40})
        for search in constraint.options
    ]


def _levels() -> list[tuple[str, Draw]]:
    """None, and a level for each quasi-identifier, often the highest."""

    def draw(people: People, generator: Generator) -> dict[str, Any]:
        rows = people.hierarchies
        heights = {name: len(rows[name][0]) - 1 for name in people.quasi}
        levels = {name: int(generator.integers(0, high + 3)) for name, high in heights.items()}
        chosen = {name: min(level, heights[name]) for name, level in levels.items()}
        return {"levels": chosen, "hierarchies": rows, "algorithm": "optimal"}

    return [("none", lambda _p, _g: {"levels": {}}), ("some", draw)]


def _bounds() -> list[tuple[str, Draw]]:
    """Bounds of presence that leave some freedom."""

    def draw(_p: People, generator: Generator) -> dict[str, Any]:
        low, high = generator.uniform(0.0, 0.4), generator.uniform(0.5, 1.0)
        return {"minimum": float(generator.choice([0.0, low])), "maximum": float(high)}

    return [("both", draw)]


def _number(name: str, low: float, high: float) -> Callable[[], list[tuple[str, Draw]]]:
    return lambda: [("number", lambda _p, g: {name: round(float(g.uniform(low, high)), 3)})]


def _apart(one: object, other: object) -> float:
    """A distance of one's own: how much longer a word is."""
    return float(one != other) + abs(len(str(one)) - len(str(other)))


FITTING: dict[tuple[str, str], Callable[[], list[tuple[str, Draw]]]] = {
    ("Flat", "distances"): lambda: [
        ("None", lambda _p, _g: {"distances": None}),
        ("function", lambda _p, _g: {"distances": _apart}),
    ],
    ("", "strata"): _strata,
    ("", "k"): _k,
    ("", "key"): lambda: [("text", lambda _p, _g: {"key": KEY})],
    ("RankSwapping", "k"): lambda: [*_k(), ("None", lambda _p, _g: {"k": None})],
    ("RankSwapping", "columns"): _or_none(_columns()),
    ("RankSwapping", "share"): lambda: [
        ("number", lambda _p, g: {"share": float(g.uniform(0.1, 0.6))}),
        ("None", lambda _p, _g: {"share": None}),
    ],
    ("Pram", "columns"): _or_none(_columns("flat", "ordinal", "nominal")),
    ("Pram", "matrix"): _matrix,
    ("Pram", "order"): _matrix,
    ("Shuffling", "confidential"): _confidential,
    ("Shuffling", "given"): _confidential,
    ("Noise", "columns"): _columns("numeric", "date"),
    ("Rounding", "columns"): _columns("numeric"),
    ("Rounding", "base"): lambda: [
        ("number", lambda _p, g: {"base": float(g.choice([0.5, 2, 5, 10]))})
    ],
    ("TopBottomCoding", "columns"): _columns("numeric", "date"),
    ("TopBottomCoding", "top"): _limit("top"),
    ("TopBottomCoding", "bottom"): _limit("bottom"),
    ("Sampling", "size"): _size,
    ("Pseudonyms", "columns"): _pseudonyms,
    ("DropColumns", "columns"): _all_but_one,
    ("LocalSuppression", "importance"): _importance,
    ("Generalization", "privacy"): _models,
    ("", "privacy"): _models_of_clusters,
    ("", "privacy_by"): _ways,
    ("Generalization", "quality"): _qualities,
    ("Generalization", "hierarchies"): _hierarchies,
    ("Generalization", "population"): lambda: [
        ("some", lambda people, g: {"population": people.population(g)}),
        ("None", lambda _p, _g: {"population": None}),
    ],
    ("Generalization", "algorithm"): _searches,
    ("Generalization", "levels"): _levels,
    ("Generalization", "steps"): _budget("steps", 40),
    ("Generalization", "seconds"): _budget("seconds", 0.2),
    ("", "adversary_gain"): _number("adversary_gain", 1.0, 8.0),
    ("", "adversary_cost"): _number("adversary_cost", 1.0, 4.0),
    ("DeltaPresence", "minimum"): _bounds,
    ("DeltaPresence", "maximum"): _bounds,
    ("LDiversity", "l"): _number("l", 1.0, 3.0),
    ("LDiversity", "c"): _number("c", 0.5, 4.0),
    ("TCloseness", "ground"): _grounds,
    ("", "column"): lambda: [("some", _sensitive())],
    ("", "weights"): _weights,
    ("Classification", "target"): _target,
    ("Date", "format"): lambda: [
        ("day first", lambda _p, _g: {"format": "%d.%m.%Y"}),
        ("None", lambda _p, _g: {"format": None}),
    ],
}


def every_option() -> list[Option]:
    """All options of all registered methods."""
    return [option for kind in GUARDED.values() for option in options_of(kind)]


def column_options() -> list[Option]:
    """All options of all kinds of columns."""
    return [option for kind in COLUMNS for option in options_of(kind)]
