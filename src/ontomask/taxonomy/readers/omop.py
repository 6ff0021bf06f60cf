"""The vocabulary folder of the OMOP common data model, as Athena delivers it: a folder or its zip.

What is read, at any depth, whatever the case of the names:

* ``CONCEPT.csv``: the concepts that are valid (no `invalid_reason`), of the chosen vocabularies and
  domains;
* ``CONCEPT_RELATIONSHIP.csv``: the valid links `Is a` between these;
* ``CONCEPT_ANCESTOR.csv``: for a concept without such a link (its parents may be of a vocabulary or
  domain that was not chosen, and drugs hang below their classes only here), the nearest chosen
  concepts above it;
* ``CONCEPT_SYNONYM.csv``, where there is one: further names.

Ids are the concept ids of OMOP or, with `ids="code"`, the codes of the source vocabulary. Never
both at once: a SNOMED CT code may well be the concept id of something else.

Files are UTF-8, separated by tabs, without any quoting: a name may hold a double quote.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from ontomask.checks import AnyOf, Choice, Flag, ListOf, Null, Text, checked
from ontomask.errors import DuplicateConceptError, FormatError, ParameterError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.sources import (
    Inside,
    base_name,
    check_encoding,
    files_inside,
    names_inside,
)

__all__ = ["READER", "Concept", "concepts_of", "rows_of_table", "tables_inside"]

COLUMNS = {
    "CONCEPT": (
        "concept_id",
        "concept_name",
        "domain_id",
        "vocabulary_id",
        "standard_concept",
        "concept_code",
        "invalid_reason",
    ),
    "CONCEPT_RELATIONSHIP": ("concept_id_1", "concept_id_2", "relationship_id", "invalid_reason"),
    "CONCEPT_ANCESTOR": (
        "ancestor_concept_id",
        "descendant_concept_id",
        "min_levels_of_separation",
    ),
    "CONCEPT_SYNONYM": ("concept_id", "concept_synonym_name"),
}
IS_A = b"Is a"
NAMES = AnyOf(Text(), ListOf(Text(), empty=False), Null())
SHOWN = 12

Tables = dict[str, Inside]
Chosen = Collection[str] | None


@dataclass(frozen=True, slots=True)
class Concept:
    """A row of the concept table."""

    number: bytes
    name: bytes
    vocabulary: bytes
    code: bytes


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize a folder or zip that holds a concept table."""
    return "concept.csv" in (name.lower() for name in names_inside(path, first_bytes))


@checked(vocabularies=NAMES, domains=NAMES, ids=Choice("concept_id", "code"), standard=Flag())
def read(
    path: Path,
    *,
    vocabularies: str | list[str] | None = None,
    domains: str | list[str] | None = None,
    ids: str = "concept_id",
    standard: bool = False,
) -> Draft:
    """Read a vocabulary folder or its zip.

    `vocabularies` ("SNOMED") and `domains` ("Condition") choose concepts, `standard` leaves only
    standard and classification concepts, `ids` says what a column holds.
    """
    draft = Draft(str(path))
    with files_inside(path) as inside:
        tables = tables_inside(inside, path)
        chosen = {
            one.number: one
            for one in concepts_of(tables, path, vocabularies, domains, standard=standard)
        }
        named = _identifiers(chosen, ids, path)
        synonyms = _synonyms(tables, chosen)
        for number, concept in chosen.items():
            label = concept.name.decode().strip()
            draft.add_concept(named[number], label, synonyms=synonyms.pop(number, ()))
        for child, parent in _links(tables, chosen, path):
            draft.add_link(named[child], named[parent])
    return draft


def tables_inside(inside: list[Inside], path: Path) -> Tables:
    """Return the tables of a vocabulary folder by their names."""
    tables: Tables = {}
    for name, opener in inside:
        table = base_name(name).upper().removesuffix(".CSV")
        if table in COLUMNS and base_name(name).lower().endswith(".csv"):
            tables.setdefault(table, (name, opener))
    if "CONCEPT" not in tables:
        raise FormatError(
            f"{path} holds no CONCEPT.csv; give the folder of an OMOP vocabulary download, or its "
            "zip."
        )
    return tables


def concepts_of(
    tables: Tables,
    path: Path,
    vocabularies: str | Chosen,
    domains: str | Chosen = None,
    *,
    standard: bool = False,
    valid: bool = True,
) -> Iterator[Concept]:
    """Yield the concepts of the chosen vocabularies and domains; none at all is an error."""
    wanted = [_bytes(vocabularies), _bytes(domains)]
    seen: list[set[bytes]] = [set(), set()]
    for number, name, domain, vocabulary, kind, code, reason in rows_of_table(tables, "CONCEPT"):
        seen[0].add(vocabulary)
        seen[1].add(domain)
        if (valid and reason) or (standard and not kind):
            continue
        if all(not w or v in w for w, v in zip(wanted, (vocabulary, domain), strict=True)):
            yield Concept(number, name, vocabulary, code)
    for option, names, there in zip(("vocabularies", "domains"), wanted, seen, strict=True):
        if unknown := names - there:
            raise _unknown(path, option, unknown, there)


def _bytes(names: str | Chosen) -> set[bytes]:
    return {name.encode() for name in ([names] if isinstance(names, str) else names or ())}


def _unknown(path: Path, option: str, unknown: set[bytes], there: set[bytes]) -> ParameterError:
    known = sorted(name.decode(errors="replace") for name in there)
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    asked = ", ".join(repr(name.decode()) for name in sorted(unknown))
    return ParameterError(
        f"{path} has no concept of {option}={asked}; it has {', '.join(known[:SHOWN])}{more}."
    )


def _identifiers(chosen: dict[bytes, Concept], ids: str, path: Path) -> dict[bytes, str]:
    """The id of every concept; a code that two concepts share is an error."""
    if ids == "concept_id":
        return {number: number.decode() for number in chosen}
    holders: dict[bytes, Concept] = {}
    for concept in chosen.values():
        other = holders.setdefault(concept.code, concept)
        if other is not concept:
            both = " and ".join(sorted({one.vocabulary.decode() for one in (other, concept)}))
            raise DuplicateConceptError(
                f"{path}: the code {concept.code.decode()!r} stands for two concepts ({both}); "
                "choose one of the vocabularies, or ids='concept_id'."
            )
    return {number: concept.code.decode() for number, concept in chosen.items()}


def _synonyms(tables: Tables, chosen: dict[bytes, Concept]) -> dict[bytes, dict[str, None]]:
    found: dict[bytes, dict[str, None]] = {}
    for number, name in rows_of_table(tables, "CONCEPT_SYNONYM"):
        if number in chosen and name != chosen[number].name:
            found.setdefault(number, {})[name.decode().strip()] = None
    return found


# Links --------------------------------------------------------------------------------------


def _links(
    tables: Tables, chosen: dict[bytes, Concept], path: Path
) -> Iterator[tuple[bytes, bytes]]:
    if not tables.keys() & {"CONCEPT_RELATIONSHIP", "CONCEPT_ANCESTOR"}:
        raise FormatError(
            f"{path} holds neither CONCEPT_RELATIONSHIP.csv nor CONCEPT_ANCESTOR.csv, so nothing "
            "says what is above what; add one of them from the same download."
        )
    alone = set(chosen)
    for child, parent, kind, reason in rows_of_table(tables, "CONCEPT_RELATIONSHIP"):
        if kind == IS_A and not reason and child in chosen and parent in chosen and child != parent:
            alone.discard(child)
            yield child, parent
    yield from _nearest_above(tables, chosen, alone)


def _nearest_above(
    tables: Tables, chosen: dict[bytes, Concept], alone: set[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    nearest: dict[bytes, tuple[int, list[bytes]]] = {}
    for above, below, levels in rows_of_table(tables, "CONCEPT_ANCESTOR"):
        if below in alone and above in chosen and above != below:
            steps = _steps(tables, above, levels)
            known = nearest.get(below, (steps + 1, []))
            if steps < known[0]:
                nearest[below] = (steps, [above])
            elif steps == known[0]:
                known[1].append(above)
    for below, (_, parents) in nearest.items():
        for above in parents:
            yield below, above


def _steps(tables: Tables, above: bytes, levels: bytes) -> int:
    if levels.isdigit():
        return int(levels)
    raise FormatError(
        f"{tables['CONCEPT_ANCESTOR'][0]}: the concept {above.decode()} stands "
        f"{levels.decode()!r} levels above another; this must be a number, fetch the file again."
    )


# Rows ---------------------------------------------------------------------------------------


def rows_of_table(tables: Tables, table: str) -> Iterator[tuple[bytes, ...]]:
    """Yield the needed cells of every row of a table; nothing if there is no such table."""
    if table not in tables:
        return
    name, opener = tables[table]
    with opener() as stream:
        header = (
            stream.readline().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").lower().split(b"\t")
        )
        picked = itemgetter(*_places(header, table, name))
        width = len(header)
        for number, line in enumerate(stream, start=2):
            row = line.rstrip(b"\r\n").split(b"\t")
            if len(row) == width:
                if not line.isascii():
                    check_encoding(line, number, name)
                yield picked(row)
            elif line.strip():
                raise FormatError(
                    f"{name}, line {number}: the row has {len(row)} columns and the header "
                    f"{width}; the file may be cut short or edited, fetch it again."
                )


def _places(header: list[bytes], table: str, name: str) -> list[int]:
    missing = [column for column in COLUMNS[table] if column.encode() not in header]
    if missing:
        raise FormatError(
            f"{name}, line 1: the header lacks {', '.join(missing)}; the tables of an OMOP "
            "vocabulary download are separated by tabs and name their columns, use them as they "
            "were delivered."
        )
    return [header.index(column.encode()) for column in COLUMNS[table]]


READER = Reader("omop", can_read, read)
