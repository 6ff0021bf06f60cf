"""Taxonomies from what a program holds already: links, nested dictionaries, graphs of NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ontomask.checks import Choice, check
from ontomask.errors import ParameterError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.json_text import json_reported
from ontomask.taxonomy.readers.json_tree import add_tree
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["from_dict", "from_edges", "from_networkx"]

TOWARDS = Choice("children", "parents")


def from_edges(
    edges: Iterable[tuple[str, str]],
    *,
    labels: Mapping[str, str] | None = None,
    name: str = "",
    single_root: bool = False,
) -> Taxonomy:
    """Build a taxonomy from pairs (child, parent); concepts are declared by being named."""
    draft = Draft(parents_declare=True)
    for identifier, label in (labels or {}).items():
        draft.add_concept(identifier, label)
    for number, edge in enumerate(edges):
        if isinstance(edge, str) or not isinstance(edge, Iterable):
            raise _no_pair(number, edge)
        ends = tuple(edge)
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            raise _no_pair(number, edge)
        draft.add_link(*ends, f"edge {number}")
    return assemble(draft, name=name, single_root=single_root)


def _no_pair(number: int, edge: object) -> ParameterError:
    return ParameterError(
        f"edges[{number}] must be a pair of texts (child, parent), not {edge!r}; turn numbers into "
        "texts."
    )


def from_dict(tree: Mapping[str, Any], *, name: str = "", single_root: bool = False) -> Taxonomy:
    """Build a taxonomy from nested dictionaries, in the forms that JSON trees have."""
    if not isinstance(tree, Mapping):
        raise ParameterError(
            f"tree must be a dictionary of dictionaries, not a {type(tree).__name__}; from_edges "
            "takes pairs (child, parent)."
        )
    draft = Draft("The dictionary")
    with json_reported(draft.source):
        add_tree(draft, dict(tree))
    return assemble(draft, name=name, single_root=single_root)


def from_networkx(
    graph: Any, *, towards: str = "children", name: str = "", single_root: bool = False
) -> Taxonomy:
    """Build a taxonomy from a directed graph, whose edges go towards children or parents.

    Nodes are ids; their attribute `label` or `name` is the label, `synonyms` a list of further
    names. Trees of NetworkX point to children, ontologies read by obonet to parents.
    """
    check("towards", towards, TOWARDS)
    is_directed = getattr(graph, "is_directed", None)
    if is_directed is None or not is_directed():
        raise ParameterError(
            "graph must be a directed graph of NetworkX (DiGraph); only directions say what is "
            "above what."
        )
    draft = Draft("The graph")
    for node, data in graph.nodes(data=True):
        label = data.get("label") or data.get("name") or ""
        draft.add_concept(str(node), str(label), synonyms=map(str, data.get("synonyms") or ()))
    for first, second in graph.edges():
        child, parent = (second, first) if towards == "children" else (first, second)
        draft.add_link(str(child), str(parent))
    return assemble(draft, name=name, single_root=single_root)
