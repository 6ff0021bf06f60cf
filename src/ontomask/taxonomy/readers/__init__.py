"""The formats: each says what it can read and reads it into a draft.

The order is the order of asking: formats with an unmistakable mark first, then those of other
packages, plain texts last.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ontomask.extensions import declared
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
    umls,
    wordnet,
)

__all__ = ["readers"]

_MARKED, _PLAIN = (
    (
        rf2.READER,
        omop.READER,
        umls.READER,
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
    ),
    (
        lists.EDGES,
        lists.CONCEPTS,
        hierarchy.READER,
        lists.CODES,
        indented.READER,
    ),
)


@functools.cache
def readers() -> Mapping[str, Reader]:
    """All formats by name, in the order of asking; other packages are looked for only now."""
    own = {reader.name: reader for reader in (*_MARKED, *_PLAIN)}
    others = declared("readers", Reader, own)
    return {reader.name: reader for reader in (*_MARKED, *others, *_PLAIN)}
