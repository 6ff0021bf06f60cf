"""The formats: each says what it can read and reads it into a draft.

The order is the order of asking: formats with an unmistakable mark first, plain texts last.
"""

from __future__ import annotations

from ontomask.taxonomy.draft import Reader
from ontomask.taxonomy.readers import (
    atc,
    claml,
    fhir,
    hierarchy,
    icd11,
    indented,
    json_tree,
    lists,
    loinc,
    mesh,
    obo,
    omop,
    rdf,
    rf2,
    wordnet,
)

__all__ = ["READERS"]

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        rf2.READER,
        omop.READER,
        wordnet.READER,
        mesh.READER,
        claml.READER,
        fhir.READER,
        rdf.READER,
        obo.READER,
        json_tree.READER,
        icd11.READER,
        loinc.READER,
        atc.READER,
        lists.EDGES,
        lists.CONCEPTS,
        hierarchy.READER,
        lists.CODES,
        indented.READER,
    )
}
