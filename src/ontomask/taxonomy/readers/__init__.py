"""One module per format: each says what it can read and reads it into a draft.

The order is the order of asking: formats with an unmistakable mark first, plain texts last.
"""

from __future__ import annotations

from types import ModuleType

from ontomask.taxonomy.readers import (
    code_list,
    concepts,
    edges,
    hierarchy,
    indented,
    json_tree,
    mesh,
    obo,
    rdf,
    rf2,
    wordnet,
)

__all__ = ["READERS"]

READERS: dict[str, ModuleType] = {
    reader.NAME: reader
    for reader in (
        rf2,
        wordnet,
        mesh,
        rdf,
        obo,
        json_tree,
        edges,
        concepts,
        hierarchy,
        code_list,
        indented,
    )
}
