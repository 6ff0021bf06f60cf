import dataclasses
import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings

import ontomask as om
from ontomask import errors
from ontomask.taxonomy.taxonomy import Taxonomy
from reference.knowledge import SlowTaxonomy
from strategies import random_attribute, random_parents

DIAMOND = {"top": [], "left": ["top"], "right": ["top"], "bottom": ["left", "right"]}


@given(random_parents())
@settings(deadline=None, max_examples=60)
def test_structure_agrees_with_the_definitions(parents):
    slow, fast = SlowTaxonomy(parents), Taxonomy.from_parents(parents)
    assert sorted(fast.ids) == sorted(parents)
    assert fast.root == slow.root
    for concept in parents:
        assert fast.depth(concept) == slow.depth(concept)
        assert set(fast.ancestors(concept)) == slow.ancestors(concept)
        assert set(fast.subtree(concept)) == slow.subtree(concept)
        assert sorted(fast.parents(concept)) == sorted(parents[concept])
        for ancestor in slow.ancestors(concept):
            assert fast.up(concept, ancestor) == slow.up(concept, ancestor)


@given(random_attribute())
@settings(deadline=None, max_examples=100)
def test_lcs_and_minimum_hierarchy_agree_with_the_definitions(attribute):
    parents, values = attribute
    slow, fast = SlowTaxonomy(parents), Taxonomy.from_parents(parents)
    assert fast.lcs(values) == slow.lcs(values)
    assert set(fast.minimum_hierarchy(values)) == slow.minimum_hierarchy(values)


@given(random_attribute())
@settings(deadline=None, max_examples=50)
def test_a_path_is_a_shortest_way_over_the_lcs(attribute):
    parents, (first, *_, last) = attribute[0], (*attribute[1], *attribute[1])
    slow, path = SlowTaxonomy(parents), Taxonomy.from_parents(parents).path(first, last)
    shared = slow.lcs([first, last])
    assert (path[0], path[-1]) == (first, last)
    assert len(path) - 1 == slow.up(first, shared) + slow.up(last, shared)
    place = path.index(shared)
    both = [*itertools.pairwise(path[: place + 1]), *itertools.pairwise(path[place:][::-1])]
    assert all(upper in parents[lower] for lower, upper in both)


@given(random_parents())
@settings(deadline=None, max_examples=30)
def test_the_order_of_reading_does_not_matter(parents):
    shuffled = list(parents.items())
    random.Random(1).shuffle(shuffled)
    one, two = Taxonomy.from_parents(parents), Taxonomy.from_parents(dict(shuffled))
    assert one.ids == two.ids
    assert np.array_equal(one.parent_numbers, two.parent_numbers)
    assert np.array_equal(one.parent_offsets, two.parent_offsets)


def test_concepts_are_ordered_by_depth_and_id():
    taxonomy = Taxonomy.from_parents(DIAMOND)
    assert taxonomy.ids == ("top", "left", "right", "bottom")
    assert taxonomy.depths.tolist() == [1, 2, 2, 3]


def test_depth_is_the_longest_path_and_up_the_shortest():
    taxonomy = Taxonomy.from_parents({"a": [], "b": ["a"], "c": ["b", "a"]})
    assert taxonomy.depth("c") == 3
    assert taxonomy.up("c", "a") == 1


def test_lcs_ties_are_broken_by_ways_then_id():
    parents = {"top": [], "z": ["top"], "y": ["top"], "m": ["z"], "one": ["z", "y"]}
    taxonomy = Taxonomy.from_parents({**parents, "two": ["m", "y"]})
    assert taxonomy.lcs(["one", "two"]) == "y"  # z is as deep but one link farther from two
    taxonomy = Taxonomy.from_parents({**parents, "two": ["z", "y"]})
    assert taxonomy.lcs(["one", "two"]) == "y"  # a full tie: the smaller id


def test_labels_synonyms_and_ids():
    taxonomy = Taxonomy.from_parents(
        DIAMOND, labels={"left": "Left hand"}, synonyms={"left": ["sinister", "Left hand", ""]}
    )
    assert len(taxonomy) == 4
    assert taxonomy.labels == ("top", "Left hand", "right", "bottom")
    assert taxonomy.synonyms == ((), ("sinister",), (), ())
    assert taxonomy.label_of("left") == "Left hand"
    assert "left" in taxonomy
    assert "sinister" not in taxonomy
    assert taxonomy.children("top") == ("left", "right")


def test_several_roots_get_a_virtual_one_that_counts():
    taxonomy = Taxonomy.from_parents({"a": [], "b": [], "c": ["a"]})
    assert taxonomy.ids == ("*", "a", "b", "c")
    assert taxonomy.depth("c") == 3
    assert taxonomy.lcs(["b", "c"]) == "*"


def test_the_virtual_root_avoids_an_id_that_is_taken():
    assert Taxonomy.from_parents({"*": [], "b": []}).root == "**"


def test_a_repeated_link_counts_once():
    taxonomy = Taxonomy.from_parents({"a": [], "b": ["a", "a"]})
    assert taxonomy.parents("b") == ("a",)


def test_a_taxonomy_cannot_be_changed():
    taxonomy = Taxonomy.from_parents(DIAMOND)
    with pytest.raises(dataclasses.FrozenInstanceError):
        taxonomy.ids = ()
    with pytest.raises(ValueError, match="read-only"):
        taxonomy.parent_numbers[0] = 2


def test_a_long_chain_does_not_exhaust_the_stack():
    chain = {f"{number:06d}": [f"{number - 1:06d}"] if number else [] for number in range(20_000)}
    taxonomy = Taxonomy.from_parents(chain)
    assert taxonomy.max_depth == 20_000
    assert taxonomy.lcs(["019999", "010000"]) == "010000"


def test_a_long_cycle_is_named_shortly():
    loop = {f"n{number}": [f"n{(number + 1) % 50}"] for number in range(50)}
    with pytest.raises(errors.CycleError) as caught:
        Taxonomy.from_parents(loop)
    assert "…" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_repr_tells_the_size():
    assert repr(om.Taxonomy.from_parents(DIAMOND, name="toy")) == (
        "Taxonomy('toy', 4 concepts, 4 links, depth 3, 1 with several parents)"
    )


def test_one_concept_is_a_taxonomy():
    taxonomy = Taxonomy.from_parents({"only": []})
    for measure in om.knowledge.measures():
        assert taxonomy.distances(["only", "only"], measure.name).tolist() == [[0, 0], [0, 0]]
