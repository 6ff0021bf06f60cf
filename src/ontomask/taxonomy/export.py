"""Writing a taxonomy as a concept list that people and other tools can read."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from ontomask.errors import ParameterError
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["write_concepts"]

COLUMNS = ("id", "label", "parents", "synonyms")
JOINT = "|"


def write_concepts(taxonomy: Taxonomy, path: Path, *, overwrite: bool = False) -> None:
    """Write a CSV file with id, label, parents and synonyms; `load_taxonomy` reads it again."""
    if path.exists() and not overwrite:
        raise ParameterError(f"{path} exists already; choose another name or say overwrite=True.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            names = zip(taxonomy.ids, taxonomy.labels, taxonomy.synonyms, strict=True)
            for identifier, label, synonyms in names:
                above = JOINT.join(taxonomy.parents(identifier))
                writer.writerow((identifier, label, above, JOINT.join(synonyms)))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
