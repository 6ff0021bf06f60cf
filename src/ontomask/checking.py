"""Whether a table, whoever made it, satisfies privacy models: counted by the code of the recount.

The table is taken as a reader sees it, so it may be an original, a release, or what another tool
has masked: quasi-identifiers are compared as they are written. Only sensitive columns are
understood by the schema, since some models ask how far their values are apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ontomask.brevity import Brief, abridged
from ontomask.cards import card, table
from ontomask.checks import ListOf, Typed
from ontomask.checks import check as require
from ontomask.data.encoding import encode
from ontomask.data.microdata import Microdata
from ontomask.data.schema import AnyColumn, Column, Flat, Schema
from ontomask.data.tables import Table, framed, open_table
from ontomask.engines.files import opened_paths
from ontomask.engines.libraries import library_of
from ontomask.engines.measuring import condensed
from ontomask.engines.tables import LargeTable
from ontomask.errors import DataError, MethodError
from ontomask.evaluation.labels import Words
from ontomask.findings import Failing, Finding
from ontomask.methods.generalization.encoding import require_quasi, sensitive_columns
from ontomask.methods.generalization.evaluation import refuse_without_people
from ontomask.methods.generalization.promised import class_promise
from ontomask.privacy import DeltaPresence, PrivacyModel
from ontomask.promises import MapSize, Population, Presence, Promise
from ontomask.release import spellings_of
from ontomask.tallies import Rows
from ontomask.verify import verify
from ontomask.wording import plural

__all__ = ["Checked", "CheckedModel", "check"]


@dataclass(frozen=True)
class CheckedModel(Brief):
    """A privacy model, and what was counted of it.

    Attributes
    ----------
    model
        The model.
    finding
        What was counted.
    """

    model: PrivacyModel
    finding: Finding

    @property
    def holds(self) -> bool:
        """Whether the table satisfies the model."""
        return self.finding.kept

    @property
    def asked(self) -> str:
        """What the model asks, in words."""
        return self.finding.promise.describe()

    @property
    def found(self) -> float:
        """What was found: the smallest class, the least diversity, the largest distance, …."""
        return self.finding.figure

    @property
    def failing(self) -> Failing | None:
        """In how many classes, of how many records, it does not hold; None if it is about all."""
        return self.finding.failing

    def __str__(self) -> str:
        where = f"; {self._where}" if self._where else ""
        return f"{'holds' if self.holds else 'FAILS'}: {self.finding.statement}{where}"

    @property
    def _where(self) -> str:
        if self.failing is None or not self.failing.classes:
            return ""
        classes, records = self.failing
        return f"not in {plural(classes, 'class', 'classes')} of {plural(records, 'record')}"

    @property
    def row(self) -> tuple[str, str, str, str]:
        """What a table shows of it."""
        verdict = "holds" if self.holds else "FAILS"
        return verdict, self.asked, self.finding.measured, self._where


@dataclass(frozen=True)
class Checked(Brief):
    """Whether a table satisfies privacy models; it is true if it satisfies all of them.

    Attributes
    ----------
    models
        Each model with what was counted.
    columns
        The quasi-identifiers by which records were put into classes.
    records
        How many there are.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [34, 34, 34, 70], "ill": ["flu", "flu", "gout", "flu"]})
    >>> schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    >>> checked = om.check(frame, schema, [om.privacy.KAnonymity(2), om.privacy.LDiversity(1)])
    >>> [(one.holds, one.found, one.failing.records) for one in checked.models]
    [(False, 1.0, 1), (True, 1.0, 0)]
    >>> bool(checked)
    False
    """

    models: tuple[CheckedModel, ...]
    columns: tuple[str, ...]
    records: int

    @property
    def holds(self) -> bool:
        """Whether all models hold."""
        return all(one.holds for one in self.models)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return abridged([str(one) for one in self.models], "checked.models has them all")

    def _repr_html_(self) -> str:
        facts = [
            ("known to an intruder", ", ".join(self.columns)),
            ("records", f"{self.records:,}"),
        ]
        title = "The table satisfies all models" if self.holds else "The table FAILS"
        rows = [one.row for one in self.models]
        return card(title, facts, table(["", "asked", "found", "where it fails"], rows))


def check(
    frame: object,
    schema: Schema,
    models: PrivacyModel | Sequence[PrivacyModel],
    *,
    original: object = None,
    population: object = None,
) -> Checked:
    """Tell whether a table satisfies privacy models, and by how much; nothing is changed.

    Parameters
    ----------
    frame
        A data frame, the path of a table file, or a table of any size as in `protect`: an original,
        a release, or what any other tool has masked.
    schema
        What its columns are. Quasi-identifiers are compared as they are written, whatever their
        kind, and those that the table does not have are left out.
    models
        The privacy models, such as ``[KAnonymity(5), TCloseness(0.2)]``.
    original
        The table as it was, with whose distribution of sensitive values classes are compared; the
        table itself by default.
    population
        A table of the population, for `KMap`, `PopulationNoAttack` and `DeltaPresence`. Its values
        are compared by what they mean (34.0 is 34, a code its name); what was generalized must be
        written there as it is in the table.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": ["30-39", "30-39", "60-69"], "sex": ["f", "f", "m"]})
    >>> schema = om.Schema(age=om.Numeric(), sex=om.Flat())
    >>> checked = om.check(frame, schema, om.privacy.KAnonymity(2))
    >>> print(checked.models[0].asked)
    every combination of age, sex is shared by at least 2
    >>> checked.holds, checked.models[0].found, checked.models[0].failing
    (False, 1.0, Failing(classes=1, records=1))
    """
    asked = [models] if isinstance(models, PrivacyModel) else models
    wanted = Typed(PrivacyModel, "a privacy model such as KAnonymity(5)")
    require("models", asked, ListOf(wanted, empty=False))
    shown = _shown(*_opened(frame, _as_written(Schema.require(schema))))
    whole = shown.microdata if original is None else _whole(original, schema, shown)
    people = None if population is None else _people(population, schema, shown)
    found = verify(
        shown.table.native,
        [_promise(model, shown.quasi, whole, people) for model in asked],
        published=shown.table.names,
        records=len(shown.table),
        counts=shown.microdata.counts,
        weights=shown.microdata.weights,
        units=shown.microdata.units,
    )
    made = tuple(map(CheckedModel, asked, found.findings[2:]))
    return Checked(made, shown.quasi, round(float(shown.microdata.counts.sum())))


# The table as it is seen -----------------------------------------------------------------------


def _as_written(schema: Schema) -> Schema:
    """The schema of a table that may be masked: quasi-identifiers are what is written there."""
    return Schema.of(
        {
            name: Flat() if column.role == "quasi" else column
            for name, column in schema.items()
            if column.role not in ("other", "undecided")
        }
    )


def _opened(frame: object, schema: Schema) -> tuple[Table, Schema]:
    """A table that fits into memory, whatever was given; and what its columns are."""
    (given,) = opened_paths([frame], {name: one.kind for name, one in schema.items()})
    frame = framed(given)
    library = library_of(frame)
    if library is not None:
        names = LargeTable.of(frame, library).names
        asked = [*schema.quasi, *schema.with_role("sensitive")]
        frame, schema = condensed(frame, library, schema, [one for one in asked if one in names])
    return open_table(frame), schema


class _Shown(NamedTuple):
    """A table with sensitive values written in one way, as they are understood."""

    table: Table
    microdata: Microdata
    quasi: tuple[str, ...]


def _shown(table: Table, schema: Schema) -> _Shown:
    quasi = tuple(name for name in schema.quasi if name in table.names)
    if not quasi:
        raise DataError(
            "The table has none of the schema's quasi-identifiers, so there are no classes to "
            "look at; declare what an intruder may know with role='quasi'."
        )
    microdata = encode(table, _understood(table, schema))
    written = {name: one.seen for name, one in microdata.attributes.items()}
    frame = table.released((*quasi, *written), written, None)
    return _Shown(open_table(frame), microdata, quasi)


def _understood(table: Table, schema: Schema) -> Schema:
    """The columns that models ask more about than how they are written."""
    kept: dict[str, AnyColumn] = {}
    for name, column in schema.items():
        if isinstance(column, Column) and column.role == "sensitive":
            kept[name] = replace(column, missing="own-category")
        elif column.role in ("count", "weight") or name == schema.unit:
            kept[name] = column
    lacking = [name for name in kept if name not in table.names]
    if lacking:
        raise DataError(
            f"The table has no column {lacking[0]!r}, which the schema declares as "
            f"{kept[lacking[0]].role}; give a table that has it, or leave it out by "
            f"schema.replace({lacking[0]}=None)."
        )
    return Schema.of(kept)


def _whole(original: object, schema: Schema, shown: _Shown) -> Microdata:
    """The original, its sensitive values written as those of the table that is looked at."""
    table = _opened(original, _as_written(schema))[0]
    spellings = spellings_of(shown.microdata.attributes)
    return encode(table, _understood(table, schema), spellings=spellings)


def _people(population: object, schema: Schema, shown: _Shown) -> Population:
    """How many people have each combination, with values as the table writes them."""
    table, people = open_table(population), Counter[tuple[object, ...]]()
    for name in shown.quasi:
        require_quasi(table, name)
    rows = Rows(table, np.ones(len(table)), np.ones(len(table)))
    firsts = np.unique(rows.classes(shown.quasi), return_index=True)[1].tolist()
    columns = []
    for name in shown.quasi:
        seen, ours = rows.column(name), shown.table.seen(name).values
        columns.append((seen.codes, _alike(Words(name, schema.column(name)), seen.values, ours)))
    for first, size in zip(firsts, rows.sizes(shown.quasi).tolist(), strict=True):
        people[tuple(values[codes[first]] for codes, values in columns)] += size
    return tuple(people.items())


def _alike(words: Words, theirs: Sequence[object], ours: Sequence[object]) -> list[object]:
    """Values as another table writes those that mean the same: 34.0 as 34, a code as its name."""
    own, asked = ([one for one in side if one is not None] for side in (ours, theirs))
    words.remember(own)
    known = dict(zip(words.read(own).tolist(), own, strict=True))
    meant = dict(zip(asked, words.read(asked).tolist(), strict=True))
    return [known.get(meant.get(value), value) for value in theirs]


def _promise(
    model: PrivacyModel, quasi: tuple[str, ...], whole: Microdata, people: Population | None
) -> Promise:
    """What a table promises if it satisfies a model."""
    if model.needs_population and people is None:
        refuse_without_people(model, weighted=whole.schema.weight is not None)
    if isinstance(model, DeltaPresence):
        return Presence(quasi, model.minimum, model.maximum, population=people)
    sensitive = sensitive_columns(whole, [model], {})
    promise = class_promise(model, quasi, whole, sensitive)
    if promise is None:
        raise MethodError(
            f"A table does not show by itself whether {type(model).__name__} holds; leave it out, "
            "or protect a table by it."
        )
    if isinstance(promise, MapSize):
        return replace(promise, population=people)
    return promise
