"""What each column of a table is: its kind, its role, and how its values are to be understood."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Ints
from ontomask.brevity import LONGEST, cut
from ontomask.cards import card, table
from ontomask.checks import (
    AnyOf,
    Choice,
    Declared,
    Flag,
    Null,
    Real,
    Text,
    Typed,
    composed,
    did_you_mean,
    validate,
)
from ontomask.data.rules import Rule
from ontomask.errors import SchemaError
from ontomask.semantics.distances import ValueDistances, checked_table, column_space
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from ontomask.data.inference import Proposal

__all__ = [
    "AnyColumn",
    "Column",
    "Count",
    "Date",
    "Flat",
    "Identifier",
    "Nominal",
    "Numeric",
    "Ordinal",
    "Role",
    "Schema",
    "Weight",
    "value_distances",
]

Role = Literal["quasi", "sensitive", "other", "undecided"]
ROLES = get_args(Role)
MissingRule = Literal["own-category", "suppress", "error"]
MISSING = get_args(MissingRule)

SHOWN = 20
"""So many columns are shown where a schema is printed."""

Importance = Annotated[float, Real(0, open_low=True)]


@dataclass(frozen=True)
class Column(Declared):
    """What all kinds of columns have in common."""

    kind: ClassVar[str] = ""

    role: Annotated[
        Role,
        "`quasi` (an intruder may know it; it is masked), `sensitive` (to be kept from an "
        "intruder), `other` (published as it is) or `undecided` (nobody has said yet: it is "
        "not published, and nothing is released before somebody has).",
    ] = "quasi"
    missing: Annotated[
        MissingRule,
        "What a missing value is: `own-category` (a value like any other, at distance 1 from "
        "the rest), `suppress` (the record is left out and counted) or `error`.",
    ] = "own-category"
    weight: Annotated[Importance, "How much the column counts in the distance of two records."] = (
        1.0
    )


@dataclass(frozen=True)
class Identifier(Declared):
    """A column that names people (name, number, address): it is never published.

    Examples
    --------
    >>> frame = pl.DataFrame({"patient": ["Ann", "Ann", "Bob", "Cy"], "age": [34, 36, 71, 69]})
    >>> schema = om.Schema(patient=om.Identifier(unit=True), age=om.Numeric())
    >>> release = om.protect(frame, schema, om.Microaggregation(k=2), seed=1)
    >>> release.frame.columns
    ['age']
    >>> release.frame["age"].n_unique()  # two records of Ann are one person
    1
    """

    kind: ClassVar[str] = "identifier"
    role: ClassVar[str] = "identifier"

    unit: Annotated[
        bool,
        Flag(),
        "Whether its values say whose record it is, so that people rather than records are "
        "protected: every k then counts different values of this column. At most one column.",
    ] = False
    sequences: Annotated[
        bool,
        Flag(),
        "Whether the records of a person may be joined, by a pseudonym or else: persons are then "
        "masked as wholes, so that all records of one together are those of k. Needs `unit`.",
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sequences and not self.unit:
            raise SchemaError(
                "sequences says that persons are masked with all their records, but not whose each "
                "record is; say unit=True (in a plan unit = true) for the same column."
            )


@dataclass(frozen=True)
class Count:
    """A column of whole numbers: equal records stored once, with how many of them there are.

    A record counts that often towards every k. The column is published as it is, so that whoever
    has the release can count too.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 31, 70], "people": [1, 3, 2]})
    >>> schema = om.Schema(age=om.Numeric(), people=om.Count())
    >>> om.file_risk(frame, schema).prosecutor.average  # 3 classes of 6 people
    0.5
    """

    kind: ClassVar[str] = "count"
    role: ClassVar[str] = "count"


@dataclass(frozen=True)
class Weight:
    """A survey weight: how many people of the population a record stands for. It is not published.

    It enters statistics and centroids, and never k: an intruder who knows a person in the table
    finds one record, whomever else it stands for.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 50], "weight": [300.0, 100.0]})
    >>> schema = om.Schema(age=om.Numeric(), weight=om.Weight())
    >>> om.protect(frame, schema, om.Microaggregation(k=2), seed=1).frame.to_dict(as_series=False)
    {'age': [35, 35]}
    """

    kind: ClassVar[str] = "weight"
    role: ClassVar[str] = "weight"


@dataclass(frozen=True)
class Numeric(Column):
    """Numbers, compared by their difference in standard deviations.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [34, 36, 71, 69]})
    >>> schema = om.Schema(age=om.Numeric())
    >>> om.protect(frame, schema, om.Microaggregation(k=2), seed=1).frame["age"].to_list()
    [35, 35, 70, 70]
    """

    kind: ClassVar[str] = "numeric"


@dataclass(frozen=True)
class Date(Column):
    """Dates, compared by days; texts are read by `format`, ISO (2024-01-31) unless given.

    Examples
    --------
    >>> frame = pl.DataFrame({"born": ["01.02.1980", "03.02.1980", "07.11.1991", "09.11.1991"]})
    >>> schema = om.Schema(born=om.Date(format="%d.%m.%Y"))
    >>> om.protect(frame, schema, om.Microaggregation(k=2), seed=1).frame["born"].to_list()
    ['02.02.1980', '02.02.1980', '08.11.1991', '08.11.1991']
    """

    kind: ClassVar[str] = "date"

    format: Annotated[
        str | None,
        AnyOf(Text(), Null()),
        "How texts are written, as in `%d.%m.%Y`; ISO (2024-01-31) unless given.",
    ] = None


@dataclass(frozen=True)
class Flat(Column):
    """Words without a taxonomy: equal or not, or as far apart as somebody says.

    Examples
    --------
    >>> frame = pl.DataFrame({"county": ["Ash", "Ash", "Elm", "Oak"]})
    >>> release = om.protect(frame, om.Schema(county=om.Flat()), om.LocalSuppression(k=2), seed=1)
    >>> release.frame["county"].to_list()
    ['Ash', 'Ash', None, None]
    >>> near = om.Flat(values=["Ash", "Elm", "Oak"], distances=[[0, 3, 3], [3, 0, 1], [3, 1, 0]])
    >>> release = om.protect(frame, om.Schema(county=near), om.Microaggregation(k=2), seed=1)
    >>> release.frame["county"].to_list()
    ['Ash', 'Ash', 'Elm', 'Elm']
    """

    kind: ClassVar[str] = "flat"

    values: Annotated[
        tuple[object, ...] | list[object],
        Typed((list, tuple), "a list"),
        "Where distances are given, all values that the column may have, each once.",
    ] = field(default=(), kw_only=True)
    distances: Annotated[
        Any,
        "How far the values are apart, if they are more than equal or not: a square matrix, or a "
        "function of two values. The farthest two are 1 apart; larger numbers are scaled.",
    ] = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "values", tuple(self.values))
        if (self.distances is None) != (not self.values):
            raise SchemaError("values and distances go together: which values are how far apart.")
        if self.distances is not None:
            object.__setattr__(self, "distances", checked_table(self.values, self.distances))


@dataclass(frozen=True)
class Ordinal(Column):
    """Words with an order, given from lowest to highest; compared by rank.

    Examples
    --------
    >>> frame = pl.DataFrame({"pain": ["none", "mild", "strong", "strong", "strong", "none"]})
    >>> schema = om.Schema(pain=om.Ordinal(["none", "mild", "strong"]))
    >>> om.protect(frame, schema, om.Microaggregation(k=3), seed=1).frame["pain"].to_list()
    ['none', 'none', 'strong', 'strong', 'strong', 'none']
    """

    kind: ClassVar[str] = "ordinal"

    order: Annotated[
        tuple[object, ...] | list[object],
        Typed((list, tuple), "a list"),
        "Every value once, from lowest to highest.",
    ] = ()

    def __init__(
        self,
        order: Sequence[object] = (),
        role: Role = "quasi",
        *,
        missing: MissingRule = "own-category",
        weight: float = 1.0,
    ) -> None:
        _set_fields(self, locals())
        object.__setattr__(self, "order", tuple(self.order))
        plain = all(isinstance(value, Hashable) for value in self.order)
        if not self.order or not plain or len(set(self.order)) != len(self.order):
            raise SchemaError(
                "An ordinal column needs its order: every value once, from lowest to highest."
            )


@dataclass(frozen=True)
class Nominal(Column):
    """Words or codes whose meaning is in a taxonomy.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents(
    ...     {"pet": [], "cat": ["pet"], "dog": ["pet"], "beagle": ["dog"], "boxer": ["dog"]}
    ... )
    >>> frame = pl.DataFrame({"pet": ["beagle", "boxer", "dog", "cat", "cat", "cat"]})
    >>> schema = om.Schema(pet=om.Nominal(pets, measure="path"))
    >>> om.protect(frame, schema, om.Microaggregation(k=3), seed=1).frame["pet"].to_list()
    ['dog', 'dog', 'dog', 'cat', 'cat', 'cat']
    """

    kind: ClassVar[str] = "nominal"

    taxonomy: Annotated[
        Taxonomy | None,
        Typed(Taxonomy, "a taxonomy (see load_taxonomy)"),
        "A `Taxonomy`, as returned by `load_taxonomy`.",
    ] = None
    measure: Annotated[
        str,
        Choice(*MEASURES),
        "How far two concepts are apart: by the share of what above them they have in common "
        "(`logsc`), by steps (`path`, `leacock-chodorow`, `wu-palmer`, `weighted-path`), by how "
        "rare what they share is (`resnik`, `lin`, `jiang-conrath`, `tversky`), or only whether "
        "they are the same (`equality`).",
    ] = "logsc"
    root: Annotated[
        Literal["attribute", "taxonomy"],
        "Where measures that use depth count it from: the lowest concept above all values of the "
        "column (`attribute`), or the root of the whole `taxonomy`.",
    ] = "attribute"
    options: Annotated[
        Mapping[str, Any], "What the measure can be told besides, such as the weights of a path."
    ] = field(default_factory=dict)
    overrides: Annotated[
        Any, "Concepts of particular values, as a dictionary or a mapping file."
    ] = None
    unmapped: Annotated[
        Literal["error", "root", "suppress"],
        "What to do with values that have no concept: `error`, `root` (they mean anything) or "
        "`suppress` (they count as missing).",
    ] = "error"
    output: Annotated[
        Literal["input", "id", "label"],
        "Concepts come out as they went in (`input`), as their `id` or as their `label`.",
    ] = "input"

    def __init__(
        self,
        taxonomy: Taxonomy,
        role: Role = "quasi",
        *,
        measure: str = "logsc",
        root: Literal["attribute", "taxonomy"] = "attribute",
        options: Mapping[str, Any] | None = None,
        overrides: Any = None,
        unmapped: Literal["error", "root", "suppress"] = "error",
        output: Literal["input", "id", "label"] = "input",
        missing: MissingRule = "own-category",
        weight: float = 1.0,
    ) -> None:
        _set_fields(self, {**locals(), "options": dict(options or {})})
        MEASURES[measure].settings(self.options)


def _set_fields(column: Column, values: Mapping[str, Any]) -> None:
    """Fill a frozen column whose arguments come in another order than its fields."""
    for name in (one.name for one in fields(column)):
        object.__setattr__(column, name, values[name])
    validate(column)


AnyColumn = Column | Count | Identifier | Weight


def _is_the(what: str, column: AnyColumn) -> bool:
    """Whether a column is what only one column of a table can be."""
    return column.kind == what or (what == "unit" and getattr(column, "unit", False))


class Schema(Mapping[str, AnyColumn]):
    """The columns of a table by name; columns that it does not name are not published.

    ``Schema(age=Numeric(), diagnosis=Nominal(icd9))``, or ``Schema.of({"length of stay": …})`` for
    names that are no Python words. `with_rules` adds combinations that nobody can have, `replace`
    and ``|`` change declarations.

    Examples
    --------
    >>> schema = om.Schema(name=om.Identifier(), age=om.Numeric(), status=om.Flat(role="sensitive"))
    >>> schema.quasi
    ('age',)
    >>> schema.published
    ('age', 'status')
    >>> om.Schema.of({"length of stay": om.Numeric()}).quasi
    ('length of stay',)
    >>> (schema.replace(name=None) | {"zip": om.Flat()}).published
    ('age', 'status', 'zip')
    """

    rules: tuple[Rule, ...] = ()

    def __init__(self, /, *unnamed: object, **columns: AnyColumn) -> None:
        if unnamed:
            raise SchemaError(
                "Name the columns: Schema(age=Numeric()), or Schema.of({'length of stay': …})."
            )
        self._columns = {composed(name): column for name, column in columns.items()}
        if len(self._columns) < len(columns):
            raise SchemaError(
                "Two columns of the schema have one name, once with composed and once with "
                "separate accents; leave one of them out."
            )
        wrong = [
            name
            for name, column in columns.items()
            if not isinstance(column, AnyColumn) or type(column) is Column
        ]
        if wrong:
            raise SchemaError(
                f"Column {wrong[0]!r} must be declared as Identifier, Nominal, Flat, Ordinal, "
                f"Numeric, Date, Count or Weight, not as {columns[wrong[0]]!r}."
            )
        for what in ("count", "weight", "unit"):
            several = [name for name, column in columns.items() if _is_the(what, column)]
            if len(several) > 1:
                raise SchemaError(f"Only one column can be the {what}, not {', '.join(several)}.")
        if self.unit is not None and self.count is not None:
            raise SchemaError(
                f"Column {self.count!r} counts equal records, but those of a person (by "
                f"{self.unit!r}) are told apart; repeat each record as often as its count says, "
                "and leave the count out."
            )

    @classmethod
    def of(cls, columns: Mapping[str, AnyColumn]) -> Schema:
        """Make a schema from a mapping of names to columns."""
        strange = [name for name in columns if not isinstance(name, str)]
        if strange:
            raise SchemaError(f"The name of a column must be a text, not {strange[0]!r}.")
        return cls(**dict(columns))

    @classmethod
    def infer(cls, frame: object) -> Proposal:
        """Propose kinds and roles for a table's columns, each with its reason."""
        from ontomask.data.inference import infer_schema

        return infer_schema(frame)

    def with_rules(self, *rules: Rule) -> Schema:
        """The same schema with rules about combinations that nobody can have."""
        for rule in rules:
            if not isinstance(rule, Rule):
                raise SchemaError(f"Give rules as Rule(when={{…}}, never={{…}}), not {rule!r}.")
            for name, condition in rule.conditions.items():
                if name not in self:
                    hint = did_you_mean(name, list(self))
                    raise SchemaError(f"A rule names the column {name!r}, which is unknown.{hint}")
                column = self[name]
                if not isinstance(column, Column):
                    raise SchemaError(
                        f"A rule names the column {name!r}, which is {column.kind} and not "
                        "published; leave it out of the rules."
                    )
                condition.check(name, column)
        made = Schema.of(self)
        made.rules = (*self.rules, *rules)
        return made

    def replace(self, /, **columns: AnyColumn | None) -> Schema:
        """The same schema with other declarations of some columns; None leaves a column out.

        ``schema | {"length of stay": Numeric()}`` does the same for any name, and adds columns.
        """
        for name in columns:
            if name not in self:
                hint = did_you_mean(name, list(self))
                raise SchemaError(
                    f"There is no column {name!r} to replace; schema | {{{name!r}: …}} adds one."
                    f"{hint}"
                )
        declared = {**self, **columns}
        return self._with({name: one for name, one in declared.items() if one is not None})

    def __or__(self, other: Mapping[str, AnyColumn]) -> Schema:
        """The columns of both, and the rules of both; what `other` says of a column counts."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return self._with({**self, **other}).with_rules(*getattr(other, "rules", ()))

    def _with(self, columns: Mapping[str, AnyColumn]) -> Schema:
        """A schema of these columns with the rules that are only about them."""
        kept = [rule for rule in self.rules if columns.keys() >= set(rule.conditions)]
        return Schema.of(columns).with_rules(*kept)

    def __getitem__(self, name: str) -> AnyColumn:
        return self._columns[composed(name) if isinstance(name, str) else name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        parts = [f"{name}={column.kind} ({column.role})" for name, column in self.items()]
        more = f", and {len(parts) - SHOWN:,} more" if len(parts) > SHOWN else ""
        return f"Schema({cut(', '.join(parts[:SHOWN]), LONGEST - 30)}{more})"

    def _repr_html_(self) -> str:
        taxonomies = [getattr(one, "taxonomy", None) for one in self._columns.values()]
        rows = [
            (name, one.kind, one.role, *([getattr(tree, "name", "")] if any(taxonomies) else []))
            for (name, one), tree in zip(self._columns.items(), taxonomies, strict=True)
        ]
        rules = [("rules", len(self.rules))] if self.rules else []
        head = ["column", "kind", "role", *(["taxonomy"] if any(taxonomies) else [])]
        columns = table(head, rows)
        return card(f"Schema of {len(rows)} columns", rules, columns)

    def with_role(self, role: str) -> tuple[str, ...]:
        """The names of the columns with a role."""
        return tuple(name for name, column in self._columns.items() if column.role == role)

    @classmethod
    def require(cls, schema: object) -> Schema:
        """The schema itself; anything else is refused with a hint."""
        if isinstance(schema, Schema):
            return schema
        raise SchemaError(
            f"schema must be a Schema, not a {type(schema).__name__}: Schema(age=Numeric(), …), or "
            "Schema.of({…}) for a dictionary."
        )

    @functools.cached_property
    def quasi(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return self.with_role("quasi")

    @functools.cached_property
    def weight(self) -> str | None:
        """The name of the column of survey weights."""
        return next(iter(self.with_role("weight")), None)

    @functools.cached_property
    def count(self) -> str | None:
        """The name of the column that says how often a record occurs."""
        return next(iter(self.with_role("count")), None)

    @functools.cached_property
    def unit(self) -> str | None:
        """The name of the column that says whose record it is."""
        return next(
            (name for name, column in self._columns.items() if _is_the("unit", column)), None
        )

    @functools.cached_property
    def sequences(self) -> bool:
        """Whether persons are masked with all their records, which others may join."""
        return any(getattr(column, "sequences", False) for column in self.values())

    @functools.cached_property
    def published(self) -> tuple[str, ...]:
        """The names of the columns that a release holds."""
        return tuple(
            name
            for name, column in self._columns.items()
            if isinstance(column, (Column, Count)) and column.role != "undecided"
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """The names of the columns that nobody has decided on."""
        return self.with_role("undecided")

    def decided(self) -> Schema:
        """The schema without the columns that nobody has decided on, and rules about them."""
        return self._with({name: one for name, one in self.items() if one.role != "undecided"})

    def require_decided(self) -> Schema:
        """The schema itself; refused if somebody still has to decide on a column."""
        if not self.undecided:
            return self
        named = ", ".join(map(repr, self.undecided))
        raise SchemaError(
            f"Nobody has decided on {named}: give each the role 'quasi', 'sensitive' or 'other', "
            "declare it as Identifier(), or leave all of them out by schema.decided()."
        )

    def column(self, name: str) -> Column:
        """The declaration of a column that takes part in masking."""
        column = self[name]
        if not isinstance(column, Column) or column.role == "undecided":
            raise SchemaError(f"Column {name!r} is {column.role} and takes no part in masking.")
        return column


def value_distances(
    column: Column, concepts: Ints | None, measure: str | None = None
) -> ValueDistances:
    """How far the values of a column are apart, by its measure or another one.

    Parameters
    ----------
    concepts
        The concepts that occur, for a nominal column.
    """
    if isinstance(column, Ordinal):
        return ValueDistances(highest=len(column.order) - 1)
    if isinstance(column, Flat) and column.distances is not None:
        return ValueDistances(table=np.array(column.distances, np.float64))
    if not isinstance(column, Nominal) or column.taxonomy is None or concepts is None:
        return ValueDistances()
    chosen = measure or column.measure
    options = column.options if chosen == column.measure else {}
    return ValueDistances(column_space(column.taxonomy, concepts, chosen, column.root, options))
