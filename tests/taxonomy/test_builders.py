"""Taxonomies from links, nested dictionaries and graphs; what cannot be one is refused."""

import sys

import pytest

import ontomask as om
from ontomask.errors import (
    CycleError,
    EmptyTaxonomyError,
    FormatError,
    ParameterError,
    UnknownParentError,
)

PETS = om.Taxonomy.from_parents(
    {"pet": [], "cat": ["pet"], "dog": ["pet"], "beagle": ["dog"], "boxer": ["dog"]}
)
EDGES = [("boxer", "dog"), ("cat", "pet"), ("dog", "pet"), ("beagle", "dog")]


class Graph:
    """What is used of a directed graph of NetworkX."""

    def __init__(self, edges, data=None, directed=True):
        self.pairs, self.data, self.directed = edges, data or {}, directed

    def is_directed(self):
        return self.directed

    def edges(self):
        return list(self.pairs)

    def nodes(self, data):
        assert data
        names = dict.fromkeys(end for pair in self.pairs for end in pair)
        return [(name, self.data.get(name, {})) for name in names]


def same(first, second):
    return first.ids == second.ids and all(
        first.parents(one) == second.parents(one) for one in first.ids
    )


def test_the_same_taxonomy_four_ways():
    assert same(om.Taxonomy.from_edges(EDGES), PETS)
    assert same(om.Taxonomy.from_dict({"pet": {"cat": {}, "dog": ["beagle", "boxer"]}}), PETS)
    assert same(om.Taxonomy.from_networkx(Graph(EDGES), towards="parents"), PETS)
    down = Graph([(parent, child) for child, parent in EDGES])
    assert same(om.Taxonomy.from_networkx(down), PETS)


def test_a_graph_of_networkx_itself():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([(parent, child) for child, parent in EDGES])
    graph.nodes["dog"]["label"] = "Dog"
    taxonomy = om.Taxonomy.from_networkx(graph, name="pets")
    assert same(taxonomy, PETS)
    assert taxonomy.label_of("dog") == "Dog"
    assert taxonomy.name == "pets"


def test_labels_and_synonyms():
    labeled = om.Taxonomy.from_edges(EDGES, labels={"dog": "Dog"})
    assert labeled.label_of("dog") == "Dog"
    graph = Graph(EDGES, {"dog": {"name": "Dog", "synonyms": ["hound"]}})
    assert om.Taxonomy.from_networkx(graph, towards="parents").map(["hounds"]).ids == ("dog",)


def test_several_roots_get_one_above_them():
    assert om.Taxonomy.from_dict({"cat": {}, "dog": {}}).root == "*"
    assert om.Taxonomy.from_networkx(Graph([(1, 2), (3, 4)])).children("*") == ("1", "3")


@pytest.mark.parametrize("edge", ["ab", ("a",), ("a", 3), 7])
def test_what_is_no_pair(edge):
    with pytest.raises(ParameterError, match=r"edges\[1\] must be a pair of texts"):
        om.Taxonomy.from_edges([("dog", "pet"), edge])


def test_what_is_no_taxonomy():
    with pytest.raises(CycleError, match="Edge 0"):
        om.Taxonomy.from_edges([("a", "b"), ("b", "a")])
    with pytest.raises(EmptyTaxonomyError):
        om.Taxonomy.from_edges([])
    with pytest.raises(ParameterError, match="tree must be a dictionary of dictionaries"):
        om.Taxonomy.from_dict([("a", "b")])
    with pytest.raises(FormatError, match="The dictionary, a: the key 'a' holds 3"):
        om.Taxonomy.from_dict({"a": 3})
    with pytest.raises(ParameterError, match="must be a directed graph"):
        om.Taxonomy.from_networkx(Graph(EDGES, directed=False))
    with pytest.raises(ParameterError, match="must be a directed graph"):
        om.Taxonomy.from_networkx({"a": ["b"]})
    with pytest.raises(ParameterError, match="towards must be one of 'children', 'parents'"):
        om.Taxonomy.from_networkx(Graph(EDGES), towards="up")


def test_a_dictionary_nested_too_deeply():
    tree = {}
    for _ in range(sys.getrecursionlimit()):
        tree = {"a": tree}
    with pytest.raises((FormatError, CycleError)):
        om.Taxonomy.from_dict(tree)


def test_links_of_declared_concepts_only_in_graphs():
    class Broken(Graph):
        def nodes(self, data):
            return super().nodes(data)[:-1]

    with pytest.raises(UnknownParentError):
        om.Taxonomy.from_networkx(Broken(EDGES), towards="parents")
