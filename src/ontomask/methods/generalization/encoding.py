"""From encoded microdata to the arrays of a problem, and back to columns of a release."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Codes, Ints, Longs, Narrow, occurring, recoded, stretches
from ontomask.checks import did_you_mean
from ontomask.data.domains import ConceptGroups, Concepts, Domain, Groups, LabelGroups
from ontomask.data.encoding import encode
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import (
    DataError,
    MethodError,
    OntomaskError,
    ParameterError,
    UnmappedValuesError,
)
from ontomask.methods.generalization.problem import Problem, Sensitive, looks_of
from ontomask.methods.generalization.recipes import (
    drafted,
    from_recipe,
    from_taxonomy,
    value_text,
    value_texts,
)
from ontomask.privacy import Ground, PrivacyModel, TCloseness, chosen_column
from ontomask.taxonomy.hierarchies import ROOT, Hierarchy
from ontomask.toml_text import toml_value

__all__ = [
    "EncodedColumn",
    "default_hierarchies",
    "encode_columns",
    "make_problem",
    "misnamed",
    "people_of",
    "require_quasi",
    "sensitive_columns",
]

MISSING = "(missing)"
"""The name of a missing value inside a hierarchy."""


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """The hierarchy of a quasi-identifier, and how its values are written; it holds no records.

    Attributes
    ----------
    shown
        For each level how the generalized values are written in a release.
    concepts
        For each level the concepts of the generalized values, for columns with a taxonomy.
    domain, places
        The values that it was made for, and the row of each, and of a missing one.
    """

    hierarchy: Hierarchy
    shown: tuple[tuple[object, ...], ...]
    concepts: tuple[Longs, ...] | None
    domain: Domain
    places: Ints

    @functools.cached_property
    def looks(self) -> Ints:
        """For each level and row a number for how the generalized value is written."""
        # values that are no texts themselves are found by them
        pairs = zip(self.shown[0], self.hierarchy.values, strict=True)
        texts = [one if one is None or isinstance(one, str) else text for one, text in pairs]
        return looks_of([texts, *self.shown[1:]], self.hierarchy.levels)

    def written(self, *, texts: bool) -> dict[int, object]:
        """How each look is written, all of them as texts where any value is generalized."""
        numbers, firsts = np.unique(self.looks, return_index=True)
        levels, rows = np.unravel_index(firsts, self.looks.shape)
        codes = self.hierarchy.levels[levels, rows]
        values = [
            self.shown[level][code]
            for level, code in zip(levels.tolist(), codes.tolist(), strict=True)
        ]
        return {
            0: ROOT,
            **dict(zip(numbers.tolist(), _as_texts(values) if texts else values, strict=True)),
        }

    def rows(self, attribute: Attribute) -> Narrow:
        """The row of the hierarchy of each record of an attribute."""
        return recoded(attribute.narrow, self._rows(attribute))

    def _rows(self, attribute: Attribute) -> Ints:
        """The row of each code of an attribute."""
        if attribute.domain is self.domain and attribute.cardinality <= self.places.size:
            return self.places[: attribute.cardinality]
        return _hierarchy_rows(attribute, self.hierarchy)

    def recode(self, attribute: Attribute, levels: Ints | int, suppressed: Bools) -> Attribute:
        """The generalized column, each record at its level; suppressed records get the root.

        Where any value is generalized, all of them are texts; otherwise the column stays.
        """
        begins = np.append(np.zeros(1, np.int64), np.cumsum(self.hierarchy.widths))
        rows = self._rows(attribute)
        numbers = begins[:-1, None] + self.hierarchy.levels[:, rows]
        # the star is behind the values of all levels
        table = np.concatenate([numbers, np.full((1, rows.size), begins[-1])])
        cases = _cases(attribute, levels, suppressed, len(numbers))
        held = occurring(cases, table.size)
        found = table.ravel().take(held)
        used = np.unique(found)
        if used[-1] < begins[1]:
            return attribute
        texts = _as_texts(self._written(used, begins))
        below = table[:, : attribute.size]
        domain, looks = self._generalized(attribute.domain, below, used, texts)
        codes = np.zeros(held[-1] + 1, np.int32)
        codes[held] = looks.take(np.searchsorted(used, found))
        return replace(
            attribute,
            codes=recoded(cases, codes),
            domain=domain,
            has_missing=None in texts,
        )

    def _written(self, numbers: Longs, begins: Longs) -> list[object]:
        """What is written for values that are numbered level by level, and the star behind them."""
        levels = np.searchsorted(begins, numbers, side="right") - 1
        places = numbers - begins[levels]
        every = [*self.shown, (ROOT,)]
        pairs = zip(levels.tolist(), places.tolist(), strict=True)
        return [every[level][place] for level, place in pairs]

    def _generalized(
        self, below: Domain, numbers: Longs, used: Longs, texts: list[str | None]
    ) -> tuple[Domain, Ints]:
        """The domain of the values in use, and where each of them is in it.

        `numbers` tells what each value below is generalized to, level by level.
        """
        values = sorted({text for text in texts if text is not None})
        # a missing value has the code behind the last
        places = {text: place for place, text in enumerate([*values, None])}
        looks = np.array([places[text] for text in texts], np.int32)
        groups = Groups.over(below, _pairs(numbers, used, looks), len(values))
        if self.concepts is None or not isinstance(below, Concepts):
            return LabelGroups(tuple(values), groups), looks
        concepts = np.zeros(len(values) + 1, np.int32)
        concepts[looks] = np.concatenate([*self.concepts, [0]])[used]
        return ConceptGroups(tuple(values), concepts[:-1], below.vocabulary, groups), looks


def _cases(attribute: Attribute, levels: Ints | int, suppressed: Bools, star: int) -> Narrow:
    """What becomes of each record as one number: its value at its level, the last one for stars.

    Many records share a case, and a table of what values become at each level tells of all of them.
    """
    codes, width = attribute.narrow, attribute.cardinality
    cases = np.empty(codes.size, np.min_scalar_type((star + 1) * width))
    for part in stretches(codes.size):
        lines = levels if isinstance(levels, int) else levels[part]
        cases[part] = codes[part] + width * np.where(suppressed[part], star, lines)
    return cases


def _pairs(numbers: Longs, used: Longs, looks: Ints) -> Longs:
    """The places of values in use, each with a value below it; `numbers` tells them by level."""
    found = np.minimum(np.searchsorted(used, numbers), used.size - 1)
    levels, members = np.nonzero(used[found] == numbers)
    return np.stack([looks[found[levels, members]], members])


def _as_texts(values: Sequence[object]) -> list[str | None]:
    return [None if value is None else value_text(value) for value in values]


def encode_columns(
    microdata: Microdata,
    hierarchies: Mapping[str, Any],
    *,
    levels_by: str,
    people: Mapping[str, Attribute] = MappingProxyType({}),
) -> dict[str, EncodedColumn]:
    """Give every quasi-identifier its hierarchy; unknown names and missing ones are errors.

    Hierarchies that are made of values are made of those of the people of a population, too.
    """
    for name in hierarchies:
        if name not in microdata.attributes:
            raise ParameterError(
                f"hierarchies names {name!r}, which is not a published column."
                f"{did_you_mean(name, microdata.attributes)}"
            )
    if not microdata.quasi:
        raise MethodError("No column has the role 'quasi'; say which columns an intruder may know.")
    return {
        name: encode_column(microdata[name], hierarchies.get(name), levels_by, people.get(name))
        for name in microdata.quasi
    }


def encode_column(
    own: Attribute, given: Any, levels_by: str, people: Attribute | None = None
) -> EncodedColumn:
    """Give a quasi-identifier its hierarchy, which must have a row for each of its values."""
    attribute = own if people is None else _joined(own, people)
    hierarchy = hierarchy_of(attribute, given, levels_by)
    encoded = _encoded(attribute, hierarchy, given)
    if people is None:
        return encoded
    return replace(encoded, domain=own.domain, places=_hierarchy_rows(own, encoded.hierarchy))


def unfit_hierarchies(
    microdata: Microdata, columns: Sequence[str], hierarchies: Mapping[str, Any], levels_by: str
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The columns whose hierarchy is missing, wrong, or incomplete, each with a sentence."""
    for name in columns:
        try:
            encode_column(microdata[name], hierarchies.get(name), levels_by)
        except (OntomaskError, OSError) as error:
            yield ("hierarchies", name), str(error)


def default_hierarchies(microdata: Microdata, given: Mapping[str, Any]) -> dict[str, str]:
    """How the hierarchies of quasi-identifiers are built for which none is given, in words."""
    columns = {name: microdata[name] for name in microdata.quasi if name not in given}
    drafts = {name: drafted(column) for name, column in columns.items()}
    return {name: toml_value(recipe) for name, recipe in drafts.items() if recipe}


def hierarchy_of(attribute: Attribute, given: Any, levels_by: str) -> Hierarchy:
    """The hierarchy that was given for a column, or that of its taxonomy, or one by default."""
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Hierarchy.from_csv(given)
    if isinstance(given, Mapping):
        return from_recipe(attribute, given)
    if given is not None:
        return Hierarchy.from_rows(given, f"the hierarchy of {attribute.name!r}")
    if isinstance(attribute.domain, Concepts):
        return from_taxonomy(attribute, levels_by)
    return from_recipe(attribute, drafted(attribute))


def _encoded(attribute: Attribute, hierarchy: Hierarchy, given: Any) -> EncodedColumn:
    if attribute.has_missing:
        hierarchy = hierarchy.with_missing_value(MISSING)
    column = attribute.column
    if given is None and isinstance(column, Nominal) and column.taxonomy is not None:
        concepts, shown = [], []
        for labels in hierarchy.labels:
            known = [label for label in labels if label != MISSING]
            numbers = column.taxonomy.indices_of(known)
            concepts.append(np.append(numbers, [-1] * (len(labels) - len(known))).astype(np.int64))
            written = attribute.as_concepts.vocabulary.written(numbers.tolist())
            shown.append((*written, *[None] * (len(labels) - len(known))))
        rows = _hierarchy_rows(attribute, hierarchy)
        return EncodedColumn(hierarchy, tuple(shown), tuple(concepts), attribute.domain, rows)
    is_built = given is None or isinstance(given, Mapping)
    if is_built and hierarchy.rows == attribute.cardinality:  # of these values, in their order
        rows = np.arange(hierarchy.rows, dtype=np.int32)
    else:
        rows = _hierarchy_rows(attribute, hierarchy)
    values = _shown(attribute, hierarchy, rows)
    return EncodedColumn(hierarchy, values, None, attribute.domain, rows)


def _hierarchy_rows(attribute: Attribute, hierarchy: Hierarchy) -> Ints:
    """The row of each code of an attribute."""
    texts = value_texts(attribute)
    column = attribute.column
    if isinstance(attribute.domain, Concepts) and isinstance(column, Nominal) and column.taxonomy:
        # the rows may be written in any spelling, not only as the release writes the concepts
        rows = column.taxonomy.map(hierarchy.values, overrides=column.overrides)
        by_concept = dict(zip(rows.concepts.tolist(), map(str, rows.values), strict=True))
        concepts = attribute.concepts.tolist()
        texts = [by_concept.get(one, text) for one, text in zip(concepts, texts, strict=True)]
    return hierarchy.encode(texts + [MISSING] * attribute.has_missing, attribute.name)


def _shown(
    attribute: Attribute, hierarchy: Hierarchy, rows: Ints
) -> tuple[tuple[object, ...], ...]:
    """Original values at level 0, labels above; a missing value stays missing."""
    original: list[object] = list(hierarchy.values)
    for value, row in zip(attribute.values, rows.tolist(), strict=False):
        original[row] = value
    levels = [tuple(original), *hierarchy.labels[1:]]
    return tuple(tuple(None if one == MISSING else one for one in level) for level in levels)


def make_problem(
    microdata: Microdata,
    columns: Mapping[str, EncodedColumn],
    privacy: Sequence[PrivacyModel],
    targets: Sequence[str],
    hierarchies: Mapping[str, Any],
    people: Mapping[str, Attribute],
) -> Problem:
    """Bring everything together as arrays; `targets` are the columns to be predicted."""
    names = tuple(columns)
    others = [name for name in dict.fromkeys(targets) if name not in names]
    for name in others:
        _check_target(name, microdata)
    return Problem(
        tuple(one.hierarchy for one in columns.values()),
        _rows(microdata.attributes, columns),
        names,
        np.rint(microdata.counts).astype(np.int64),
        sensitive_columns(microdata, privacy, hierarchies),
        {name: _plain(microdata[name]) for name in others},
        _rows(people, columns) if people else None,
        None if microdata.schema.weight is None else microdata.weights,
        tuple(one.looks for one in columns.values()),
        None if microdata.units is None else microdata.units.astype(np.int32),
    )


def sensitive_columns(
    microdata: Microdata, privacy: Sequence[PrivacyModel], hierarchies: Mapping[str, Any]
) -> dict[str, Sensitive]:
    """The sensitive columns by name, with the distances that the models ask for."""
    protected = microdata.schema.with_role("sensitive")
    return {
        name: replace(
            _sensitive(microdata[name], grounds(privacy, name, protected), hierarchies),
            totals=microdata.distribution(name),
        )
        for name in protected
    }


def grounds(privacy: Sequence[PrivacyModel], name: str, protected: Sequence[str]) -> set[str]:
    """The ground distances that t-closeness of a sensitive column is to be measured with."""
    meant = (name, None) if len(protected) == 1 else (name,)
    return {one.ground for one in privacy if isinstance(one, TCloseness) and one.column in meant}


def misnamed(
    privacy: Sequence[PrivacyModel], microdata: Microdata
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The models that mean no sensitive column of the table, each with its place."""
    sensitive = dict.fromkeys(microdata.schema.with_role("sensitive"))
    for place, model in enumerate(privacy):
        try:
            if hasattr(model, "column"):
                chosen_column(model.column, sensitive)
        except ParameterError as error:
            yield ("privacy", place), str(error)


def _check_target(name: str, microdata: Microdata) -> None:
    if name in microdata.attributes:
        return
    declared = microdata.schema.get(name)
    if declared is not None:
        raise ParameterError(
            f"target names {name!r}, which is declared as {declared.kind} and not published; "
            "predict a column that is in the release."
        )
    raise ParameterError(
        f"target names {name!r}, which is not a published column."
        f"{did_you_mean(name, microdata.attributes)}"
    )


def _plain(attribute: Attribute) -> Sensitive:
    return Sensitive(attribute.codes, attribute.cardinality)


def _sensitive(
    attribute: Attribute, grounds: set[str], hierarchies: Mapping[str, Any]
) -> Sensitive:
    """A sensitive column, with the distances that the models ask for."""
    levels = distances = None
    if "ordered" in grounds and not attribute.domain.ordered:
        raise ParameterError(
            f"The ordered ground distance needs a column with an order, but {attribute.name!r} is "
            f"{attribute.column.kind}; declare it as Ordinal([…]), Numeric or Date, or choose "
            "another ground."
        )
    if "hierarchical" in grounds:
        hierarchy = _own_hierarchy(attribute, hierarchies)
        encoded = _encoded(attribute, hierarchy, hierarchies.get(attribute.name))
        levels = encoded.hierarchy.levels[:, encoded.places]
    if "semantic" in grounds:
        distances = _distances(attribute)
    return Sensitive(attribute.codes, attribute.cardinality, levels, distances)


def _own_hierarchy(attribute: Attribute, hierarchies: Mapping[str, Any]) -> Hierarchy:
    """The hierarchy of a sensitive column; distances by a default would mean nothing."""
    given = hierarchies.get(attribute.name)
    if given is None and not isinstance(attribute.domain, Concepts):
        raise ParameterError(
            f"The hierarchical ground distance needs a hierarchy, but {attribute.name!r} has none; "
            "give it one in hierarchies, or choose another ground."
        )
    return hierarchy_of(attribute, given, "steps")


def _distances(attribute: Attribute) -> Ground:
    """Semantic distances of all values; a missing value is at distance 1 from the rest."""
    if not isinstance(attribute.domain, Concepts):
        raise ParameterError(
            f"The semantic ground distance needs a nominal column with a taxonomy, but "
            f"{attribute.name!r} is {attribute.column.kind}; choose another ground."
        )
    return Ground(attribute.distances().between(attribute.numbered, attribute.numbered))


def people_of(population: Any, microdata: Microdata) -> dict[str, Attribute]:
    """The quasi-identifiers of a population table, if there is one, read as those of the table."""
    if population is None:
        return {}
    table = open_table(population)
    declared = {name: microdata.schema.column(name) for name in microdata.quasi}
    for name in declared:
        require_quasi(table, name)
    written = [
        name for name, one in declared.items() if one.kind == "numeric" and table.is_text(name)
    ]
    every = {name: replace(one, missing="own-category") for name, one in declared.items()}
    try:
        return dict(encode(table.with_numbers(written), Schema.of(every)).attributes)
    except (DataError, UnmappedValuesError) as error:
        raise type(error)(f"The population table does not fit. {error}") from None


def _joined(own: Attribute, people: Attribute) -> Attribute:
    """A column with the values of the table and, unless it was generalized, of the population."""
    if type(own.domain) is not type(people.domain):
        return own
    domain = own.domain.followed_by([people.domain])
    gaps = [domain.size] * (own.has_missing or people.has_missing)
    codes = np.append(np.arange(domain.size), gaps).astype(np.int32)
    return replace(own, codes=codes, domain=domain, has_missing=bool(gaps)).settled()


def _rows(records: Mapping[str, Attribute], columns: Mapping[str, EncodedColumn]) -> Codes:
    """The rows of records in the hierarchies of all columns, in as few bytes as they need."""
    last = max(one.hierarchy.rows for one in columns.values()) - 1
    count = records[next(iter(columns))].narrow.size
    rows = np.empty((len(columns), count), np.min_scalar_type(last))
    for line, (name, column) in zip(rows, columns.items(), strict=True):
        line[:] = column.rows(records[name])
    return rows


def require_quasi(population: Table, name: str) -> None:
    """Refuse a population of which a quasi-identifier is not known."""
    if name not in population.names:
        raise ParameterError(
            f"The population table has no column {name!r}; it needs every quasi-identifier."
        )
