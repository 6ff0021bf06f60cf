"""Sums of distances that are not held are those of distances that are, and computed once."""

import weakref

import numpy as np

import ontomask as om
from ontomask.semantics.sample import Sample


def test_distances_in_blocks_are_computed_once_for_sums_and_squares(monkeypatch):
    rng = np.random.default_rng(1)
    parents = {"0": []} | {str(one): [str(rng.integers(0, one))] for one in range(1, 60)}
    values = [str(one) for one in rng.integers(0, 60, 90)]
    taxonomy, blocks = om.Taxonomy.from_parents(parents), []
    whole = Sample.of(values, taxonomy)
    expected = whole.sums, whole.variance
    monkeypatch.setattr("ontomask.memory.LARGEST_TABLE", 500)
    kernel = Sample.distances_of
    monkeypatch.setattr(
        Sample, "distances_of", lambda self, block: blocks.append(block) or kernel(self, block)
    )
    parts = Sample.of(values, taxonomy)
    np.testing.assert_array_equal(parts.sums, expected[0])
    assert parts.variance == expected[1]
    assert len(blocks) > 1
    assert len({block.start for block in blocks}) == len(blocks)


def test_one_block_of_distances_is_held_at_a_time(monkeypatch):
    monkeypatch.setattr("ontomask.memory.LARGEST_TABLE", 500)
    parents = {"0": []} | {str(one): ["0"] for one in range(1, 60)}
    sample = Sample.of([*parents], om.Taxonomy.from_parents(parents))
    held, kernel = [], Sample.distances_of

    def noted(self, block):
        assert not [one for one in held if one() is not None]
        distances = kernel(self, block).copy()
        held.append(weakref.ref(distances))
        return distances

    monkeypatch.setattr(Sample, "distances_of", noted)
    assert sample.sums.size == 60
    assert len(held) > 1


def test_no_distances_are_computed_to_sets_that_are_not_there(monkeypatch):
    monkeypatch.setattr("ontomask.evaluation.sides.LARGEST_TABLE", 0)
    taxonomy = om.Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    table = {"code": [*"abcabc"]}
    schema, asked = om.Schema(code=om.Nominal(taxonomy)), []
    release = om.protect(table, schema, om.RankSwapping(algorithm="random"), seed=1)
    sides = om.evaluation.sides.CodedSides
    kernel = sides.originals_apart
    monkeypatch.setattr(
        sides, "originals_apart", lambda self, *given: asked.append(1) or kernel(self, *given)
    )
    release.evaluate(table)
    assert len(asked) == 2  # for a star, which is a set of all, and for statistics of the column
