"""Writing a taxonomy as a concept list that people and other tools can read."""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import ParameterError
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.writing import write_rows

__all__ = ["write_concepts"]

COLUMNS = ("id", "label", "parents", "synonyms")
JOINT = "|"


def write_concepts(taxonomy: Taxonomy, path: Path, *, overwrite: bool = False) -> None:
    """Write a CSV file with id, label, parents and synonyms; `load_taxonomy` reads it again."""
    if path.exists() and not overwrite:
        raise ParameterError(f"{path} exists already; choose another name or say overwrite=True.")
    _check_joints(taxonomy)
    names = zip(taxonomy.ids, taxonomy.labels, taxonomy.synonyms, strict=True)
    rows = (
        (identifier, label, JOINT.join(taxonomy.parents(identifier)), JOINT.join(synonyms))
        for identifier, label, synonyms in names
    )
    write_rows(path, (COLUMNS, *rows))


def _check_joints(taxonomy: Taxonomy) -> None:
    """Refuse names that would come apart when the file is read again."""
    torn = [name for name in taxonomy.ids if set(name) & {JOINT, ";"} or name != name.strip()]
    torn += [name for names in taxonomy.synonyms for name in names if JOINT in name]
    if torn:
        raise ParameterError(
            f"{taxonomy.name} holds {torn[0]!r}, which a concept list cannot: | and ; separate "
            "parents and synonyms there; write an .ontomask file."
        )
