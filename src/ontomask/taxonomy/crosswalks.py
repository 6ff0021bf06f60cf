"""From one vocabulary to another: what a FHIR ConceptMap or the relations of OMOP say.

A crosswalk is given as the `overrides` of a column, so that codes of one vocabulary find concepts
of another. It must not say more than its source does:

* a target that is narrower than the code is left out, since it would claim what nobody coded;
* several targets that mean the same code become their least common subsumer, unless that is the
  root, which would say nothing;
* targets that the taxonomy does not hold are left out.

What is left without a concept is an unmapped value like any other, and listed as such.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontomask.brevity import Brief
from ontomask.checks import AnyOf, Choice, Null, Text, Typed, checked
from ontomask.errors import EmptyTaxonomyError, FormatError, ParameterError
from ontomask.taxonomy.draft import place
from ontomask.taxonomy.readers.fhir import read_resource
from ontomask.taxonomy.readers.omop import concepts_of, rows_of_table, tables_inside
from ontomask.taxonomy.readers.sources import files_inside
from ontomask.wording import plural

if TYPE_CHECKING:
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Crosswalk", "load_crosswalk"]

EQUIVALENT, WIDER, NARROWER, RELATED = "equivalent", "wider", "narrower", "related"
RELATIONS = {
    "equivalent": EQUIVALENT,
    "equal": EQUIVALENT,
    "source-is-narrower-than-target": WIDER,
    "wider": WIDER,
    "subsumes": WIDER,
    "source-is-broader-than-target": NARROWER,
    "narrower": NARROWER,
    "specializes": NARROWER,
    "related-to": RELATED,
    "relatedto": RELATED,
    "inexact": RELATED,
    "": RELATED,
}
"""What R5 (`relationship`) and R4 (`equivalence`) say of a target, seen from the source; other
words, such as "not-related-to" and "unmatched", say that there is none."""

MAPS_TO = b"Maps to"
Targets = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Crosswalk(Brief, Mapping[str, tuple[str, ...]]):
    """For codes of one vocabulary the codes of another, the closest relation first.

    Examples
    --------
    >>> pairs = {"I21": {"22298006": "equivalent"}}
    >>> walk = om.knowledge.Crosswalk(pairs, source="ICD-10", target="SNOMED")
    >>> walk["I21"]
    ('22298006',)
    >>> snomed = om.Taxonomy.from_parents({"56265001": [], "22298006": ["56265001"]})
    >>> snomed.map(["I21"], overrides=walk).ids
    ('22298006',)
    """

    targets: Mapping[str, Mapping[str, str]] = field(repr=False)
    source: str = ""
    target: str = ""

    def __getitem__(self, code: str) -> tuple[str, ...]:
        return self._ordered[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def __str__(self) -> str:
        ends = f" from {self.source or 'a vocabulary'} to {self.target or 'another'}"
        return f"A crosswalk of {plural(len(self), 'code')}{ends}"

    @functools.cached_property
    def _ordered(self) -> dict[str, tuple[str, ...]]:
        rank = [EQUIVALENT, WIDER, RELATED, NARROWER].index
        return {
            code: tuple(sorted(found, key=lambda one, f=found: (rank(f[one]), one)))  # type: ignore[misc]
            for code, found in self.targets.items()
        }

    def into(self, taxonomy: Taxonomy) -> dict[str, str]:
        """Return the concept of a taxonomy that each code, with or without dots, is taken for."""
        found = {code: self._concept(code, taxonomy) for code in self.targets}
        without = {code.replace(".", ""): concept for code, concept in found.items()}
        return {code: concept for code, concept in (without | found).items() if concept}

    def _concept(self, code: str, taxonomy: Taxonomy) -> str:
        known = {one: how for one, how in self.targets[code].items() if one in taxonomy}
        exact = [one for one, how in known.items() if how == EQUIVALENT]
        usable = exact or [one for one, how in known.items() if how != NARROWER]
        if len(usable) < 2:
            return usable[0] if usable else ""
        common = taxonomy.lcs(usable)
        return "" if common == taxonomy.root else common


@checked(
    path=AnyOf(Text(), Typed(os.PathLike, "the path of a file or folder")),
    source=AnyOf(Text(), Null()),
    target=AnyOf(Text(), Null()),
    ids=Choice("concept_id", "code"),
)
def load_crosswalk(
    path: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    ids: str = "code",
) -> Crosswalk:
    """Read what one vocabulary's codes are in another.

    Parameters
    ----------
    path
        A FHIR ConceptMap as JSON, or the folder (or zip) of an OMOP vocabulary download.
    source
        The vocabulary that is mapped from; in a ConceptMap the address of a code system, which is
        needed only if it has several groups.
    target
        The vocabulary that is mapped to, alike.
    ids
        Of OMOP: whether targets are source codes or concept ids.

    Examples
    --------
    >>> om.knowledge.load_crosswalk("no-such-file.json")
    Traceback (most recent call last):
    ...
    ontomask.errors.SourceNotFoundError: There is no file 'no-such-file.json'; check the path.
    """
    found = Path(path)
    is_map = found.is_file() and not found.name.lower().endswith(".zip")
    if is_map or not found.exists():
        walk = _concept_map(found, source, target)
    else:
        walk = _omop(found, source, target, ids)
    if not walk:
        raise EmptyTaxonomyError(f"{path} maps no code at all from {walk.source} to {walk.target}.")
    return walk


# FHIR ---------------------------------------------------------------------------------------


def _concept_map(path: Path, source: str | None, target: str | None) -> Crosswalk:
    resource = read_resource(path, "ConceptMap")
    groups = [group for group in _objects(path, resource, "group") if group]
    chosen = [
        one for one in groups if _fits(one, "source", source) and _fits(one, "target", target)
    ]
    ends = sorted({(_plain(one, "source"), _plain(one, "target")) for one in chosen})
    if len(ends) != 1:
        known = {(_plain(one, "source"), _plain(one, "target")) for one in groups}
        listed = "; ".join(f"from {first} to {second}" for first, second in sorted(known))
        raise ParameterError(
            f"{path}: choose one pair of vocabularies by source=… and target=…; the ConceptMap "
            f"goes {listed or 'nowhere'}."
        )
    targets: Targets = {}
    for number, group in enumerate(chosen):
        for element in _objects(path, group, "element"):
            _add_element(path, targets, element, f"group[{number}]")
    return Crosswalk(targets, *ends[0])


def _add_element(path: Path, targets: Targets, element: dict[str, Any], where: str) -> None:
    code = _plain(element, "code")
    if not code:
        raise FormatError(f"{place(str(path), where)}: an element has no code; add one.")
    for one in _objects(path, element, "target"):
        said = _plain(one, "relationship") or _plain(one, "equivalence")
        relation = RELATIONS.get(said)
        if relation is not None and _plain(one, "code"):
            targets.setdefault(code, {})[_plain(one, "code")] = relation


def _objects(path: Path, node: dict[str, Any], key: str) -> list[dict[str, Any]]:
    listed = node.get(key) or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise FormatError(f"{place(str(path), key)}: a list of objects is needed here.")
    return listed


def _plain(node: dict[str, Any], key: str) -> str:
    """A text; an address without the version behind its bar."""
    value = node.get(key)
    return value.partition("|")[0].strip() if isinstance(value, str) else ""


def _fits(group: dict[str, Any], end: str, wanted: str | None) -> bool:
    return wanted is None or _plain(group, end) == wanted


# OMOP ---------------------------------------------------------------------------------------


def _omop(path: Path, source: str | None, target: str | None, ids: str) -> Crosswalk:
    if source is None or target is None:
        raise ParameterError(
            f"{path} holds many vocabularies; say which two, for instance "
            "source='ICD10CM' and target='SNOMED'."
        )
    with files_inside(path) as inside:
        tables = tables_inside(inside, path)
        # old data hold codes that are not valid any more; where they map to still is
        given = {one.number: one for one in concepts_of(tables, path, source, valid=False)}
        wanted = {one.number: one for one in concepts_of(tables, path, target)}
        targets: Targets = {}
        for first, second, kind, reason in rows_of_table(tables, "CONCEPT_RELATIONSHIP"):
            if kind == MAPS_TO and not reason and first in given and second in wanted:
                code, found = given[first].code.decode(), wanted[second]
                name = found.code if ids == "code" else found.number
                targets.setdefault(code, {})[name.decode()] = RELATED
    return Crosswalk(targets, source, target)
