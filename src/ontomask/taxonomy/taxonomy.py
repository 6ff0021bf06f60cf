"""The taxonomy: an immutable rooted graph of is-a links, kept as integer arrays.

Concepts are numbered by (depth, id): the root is 0, a parent's number is smaller than its
child's, and the same content gives the same arrays whatever order it was read in. Inside the
package concepts travel as these numbers; outside they are their ids.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ontomask.arithmetic import power_of_two
from ontomask.arrays import Bools, Floats, Ints, Longs, Shorts
from ontomask.cards import card
from ontomask.checks import Integer, check, did_you_mean
from ontomask.errors import ParameterError, UnknownConceptError
from ontomask.kernels import concepts as kernel

if TYPE_CHECKING:
    from ontomask.taxonomy.mapping import Mapping as TermMapping
    from ontomask.taxonomy.measures import Space
    from ontomask.taxonomy.term_index import TermIndex
    from ontomask.taxonomy.tree import Tree

__all__ = ["Taxonomy"]

REMEMBERED = 2**16
"""The ancestors of so many concepts are kept for questions about single ones."""

FOR_ROOMS = {
    *("ancestor_arrays", "children_arrays", "depths", "depths_below", "hyponym_counts", "ids_of"),
    *("index_of", "indices_of", "lcs_number", "leaf_counts", "leaf_mask", "name_offsets"),
    *("minimum_hierarchy_numbers", "name_ranks", "parent_numbers", "parent_offsets", "space"),
    *("subsumer_counts", "term_index", "totals", "ways_up"),
}
"""What other rooms ask of a taxonomy, in numbers; an editor does not offer it."""


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """A rooted directed acyclic graph of is-a links between named concepts.

    Make one with `load_taxonomy`, `Taxonomy.from_parents`, `from_edges`, `from_dict` and
    `from_networkx`, or one of the builders from data; the constructor itself takes arrays whose
    invariants have been checked.

    Attributes
    ----------
    ids
        The concepts' unique ids, by (depth, id); the first is the root.
    names
        Label and synonyms of all concepts, one concept after the other.
    name_offsets
        Where each concept's names begin in `names`; the first of them is its label.
    name_ranks
        For each name, which of its senses this concept is (1 = most frequent, 0 = not ranked).
    glosses
        A definition of each concept, or an empty text.
    parent_offsets, parent_numbers
        The parents of concept c are `parent_numbers[parent_offsets[c]:parent_offsets[c + 1]]`.
    depths
        Number of nodes on the longest path from the root, both ends included (root = 1).
    name, version, license, origin
        What the taxonomy is, for people.
    language
        The language of its names, by whose rules words are stemmed.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents(
    ...     {"pet": [], "cat": ["pet"], "dog": ["pet"], "beagle": ["dog"], "boxer": ["dog"]}
    ... )
    >>> pets.lcs(["beagle", "boxer"])
    'dog'
    >>> pets.ancestors("beagle")
    ('pet', 'dog', 'beagle')
    >>> pets.distance("beagle", "cat", measure="path")
    3.0
    >>> om.Taxonomy.from_edges([("cat", "pet"), ("dog", "pet")]).children("pet")
    ('cat', 'dog')
    >>> om.Taxonomy.from_dict({"pet": {"dog": ["beagle", "boxer"], "cat": {}}}).root
    'pet'
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    name_offsets: Longs
    name_ranks: Shorts
    glosses: tuple[str, ...]
    parent_offsets: Longs
    parent_numbers: Ints
    depths: Ints
    name: str = ""
    version: str = ""
    license: str = ""
    origin: str = ""
    language: str = "english"

    @staticmethod
    def from_parents(
        parents: Mapping[str, Iterable[str]],
        *,
        labels: Mapping[str, str] | None = None,
        synonyms: Mapping[str, Iterable[str]] | None = None,
        name: str = "",
        single_root: bool = False,
    ) -> Taxonomy:
        """Build a taxonomy from a mapping of each concept's id to the ids of its parents."""
        from ontomask.taxonomy.assembly import assemble
        from ontomask.taxonomy.draft import Draft

        labels, synonyms = labels or {}, synonyms or {}
        draft = Draft()
        for identifier, above in parents.items():
            known_as = tuple(synonyms.get(identifier, ()))
            draft.add_concept(identifier, labels.get(identifier, ""), synonyms=known_as)
            if isinstance(above, str):
                raise ParameterError(
                    f"parents[{identifier!r}] must be a list of ids, not the text {above!r}; "
                    f"write [{above!r}]."
                )
            for parent in above:
                draft.add_link(identifier, parent)
        return assemble(draft, name=name, single_root=single_root)

    @staticmethod
    def from_edges(edges: Iterable[tuple[str, str]], **options: Any) -> Taxonomy:
        """Build a taxonomy from pairs (child, parent); `labels`, `name` and `single_root` as above.

        Concepts are declared by being named.
        """
        from ontomask.taxonomy.builders import from_edges

        return from_edges(edges, **options)

    @staticmethod
    def from_dict(tree: Mapping[str, Any], **options: Any) -> Taxonomy:
        """Build a taxonomy from nested dictionaries, in the forms that JSON trees have.

        A key is a concept, its value holds its children: a dictionary, a list, or nothing.
        """
        from ontomask.taxonomy.builders import from_dict

        return from_dict(tree, **options)

    @staticmethod
    def from_networkx(graph: Any, *, towards: str = "children", **options: Any) -> Taxonomy:
        """Build a taxonomy from a directed graph whose edges go towards "children" or "parents".

        The attribute `label` or `name` of a node is its label, `synonyms` a list of further names.
        """
        from ontomask.taxonomy.builders import from_networkx

        return from_networkx(graph, towards=towards, **options)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __repr__(self) -> str:
        called = f"{self.name!r}, " if self.name else ""
        several = int(np.count_nonzero(np.diff(self.parent_offsets) > 1))
        return (
            f"Taxonomy({called}{len(self):,} concepts, {self.parent_numbers.size:,} links, "
            f"depth {self.max_depth}, {several:,} with several parents)"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the content only, not what was derived from it."""
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def _repr_html_(self) -> str:
        facts = [
            ("concepts", f"{len(self):,}"),
            ("links", f"{self.parent_numbers.size:,}"),
            ("depth", self.max_depth),
            ("version", self.version),
            ("license", self.license),
            ("from", self.origin),
        ]
        below = self.tree(depth=1)._repr_html_()
        return card(f"Taxonomy {self.name}".strip(), [one for one in facts if one[1]], below)

    def __deepcopy__(self, memo: object) -> Taxonomy:
        """Itself: nothing in it changes, and it may have 100,000 concepts."""
        return self

    # Names ----------------------------------------------------------------------------------

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """The concepts' labels, in the order of `ids`."""
        return tuple(self.names[start] for start in self.name_offsets[:-1].tolist())

    @functools.cached_property
    def synonyms(self) -> tuple[tuple[str, ...], ...]:
        """The concepts' further names, in the order of `ids`."""
        bounds = self.name_offsets.tolist()
        return tuple(self.names[start + 1 : stop] for start, stop in itertools.pairwise(bounds))

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        return {identifier: number for number, identifier in enumerate(self.ids)}

    def index_of(self, identifier: str) -> int:
        """Return the number of a concept."""
        number = self._numbers.get(identifier)
        if number is None:
            raise self._unknown(identifier)
        return number

    def indices_of(self, identifiers: Iterable[str]) -> Ints:
        """Return the numbers of several concepts, in the order given."""
        if isinstance(identifiers, str):
            raise ParameterError(
                f"Give a list of concept ids, not the single text {identifiers!r}."
            )
        numbers = self._numbers
        try:
            return np.array([numbers[identifier] for identifier in identifiers], dtype=np.int32)
        except (KeyError, TypeError) as error:
            missing = next(
                value for value in identifiers if not isinstance(value, str) or value not in numbers
            )
            raise self._unknown(missing) from error

    def ids_of(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Return the ids of the concepts with these numbers."""
        return tuple(self.ids[number] for number in numbers)

    def label_of(self, identifier: str) -> str:
        """Return the label of a concept."""
        return self.names[int(self.name_offsets[self.index_of(identifier)])]

    def _unknown(self, identifier: object) -> UnknownConceptError:
        called = f"taxonomy {self.name!r}" if self.name else "this taxonomy"
        hint = did_you_mean(identifier, self.ids if len(self) <= 10_000 else ())
        return UnknownConceptError(
            f"{identifier!r} is not the id of a concept of {called}.{hint} "
            "Use taxonomy.map(values) to find the concepts of words or codes."
        )

    # Structure ------------------------------------------------------------------------------

    @property
    def root(self) -> str:
        """The id of the concept above all others."""
        return self.ids[0]

    @property
    def max_depth(self) -> int:
        """Number of nodes on the longest path from the root."""
        return int(self.depths.max())

    @functools.cached_property
    def children_arrays(self) -> tuple[Longs, Ints]:
        """Offsets and numbers of the children of each concept."""
        return kernel.transpose(self.parent_offsets, self.parent_numbers, len(self))

    @functools.cached_property
    def leaf_mask(self) -> Bools:
        """Whether each concept has no specialization."""
        leaves: Bools = np.diff(self.children_arrays[0]) == 0
        return leaves

    def parents(self, identifier: str) -> tuple[str, ...]:
        """Return the ids of the concepts directly above."""
        number = self.index_of(identifier)
        start, stop = self.parent_offsets[number : number + 2]
        return self.ids_of(self.parent_numbers[start:stop].tolist())

    def children(self, identifier: str) -> tuple[str, ...]:
        """Return the ids of the concepts directly below."""
        number = self.index_of(identifier)
        offsets, numbers = self.children_arrays
        return self.ids_of(numbers[offsets[number] : offsets[number + 1]].tolist())

    def depth(self, identifier: str) -> int:
        """Number of nodes on the longest path from the root, both included (root = 1)."""
        return int(self.depths[self.index_of(identifier)])

    def ancestors(self, identifier: str) -> tuple[str, ...]:
        """Return T(c): the ancestors of a concept, itself and the root included, root first."""
        return self.ids_of(sorted(self.ways_up(self.index_of(identifier))))

    def up(self, identifier: str, ancestor: str) -> int:
        """Number of links on the shortest path from a concept up to one of its ancestors."""
        links = self.ways_up(self.index_of(identifier)).get(self.index_of(ancestor))
        if links is None:
            raise ParameterError(f"{ancestor!r} is not an ancestor of {identifier!r}.")
        return links

    def lcs(self, identifiers: Iterable[str]) -> str:
        """Return the least common subsumer: the most specific concept above all those given.

        Among the common ancestors the deepest; ties by the smallest sum of path lengths, then
        by id.
        """
        return self.ids[self.lcs_number(self.indices_of(identifiers))]

    def path(self, first: str, second: str) -> tuple[str, ...]:
        """Return the shortest way up from a concept to the LCS of both, and down to the other.

        Examples
        --------
        >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
        >>> pets.path("cat", "dog")
        ('cat', 'pet', 'dog')
        """
        shared = self.lcs([first, second])
        return (*self._climbed(first, shared), *self._climbed(second, shared)[-2::-1])

    def _climbed(self, identifier: str, ancestor: str) -> list[str]:
        """A shortest way from a concept up to one of its ancestors, both included."""
        way = [identifier]
        while way[-1] != ancestor:
            above = [one for one in self.parents(way[-1]) if ancestor in self.ancestors(one)]
            way.append(min(above, key=lambda one: self.up(one, ancestor)))
        return way

    def subtree(self, identifier: str) -> tuple[str, ...]:
        """Return a concept and all its specializations."""
        below = self.depths_below(self.index_of(identifier))
        return self.ids_of(np.flatnonzero(below).tolist())

    def minimum_hierarchy(self, identifiers: Iterable[str]) -> tuple[str, ...]:
        """Return the concepts on any is-a path between the values and their LCS, ends included."""
        return self.ids_of(self.minimum_hierarchy_numbers(self.indices_of(identifiers)).tolist())

    # Structure, in numbers ------------------------------------------------------------------

    @functools.cached_property
    def ways_up(self) -> Callable[[int], Mapping[int, int]]:
        """For one concept, the number of links on the shortest way up to each of its ancestors."""
        offsets, parents = self.parent_offsets.tolist(), self.parent_numbers.tolist()

        @functools.lru_cache(maxsize=REMEMBERED)
        def climb(number: int) -> Mapping[int, int]:
            ways, level, links = {number: 0}, [number], 0
            while level:
                links += 1
                above = [p for one in level for p in parents[offsets[one] : offsets[one + 1]]]
                level = [parent for parent in dict.fromkeys(above) if parent not in ways]
                ways.update(dict.fromkeys(level, links))
            return ways

        return climb

    @functools.cached_property
    def weighted_ways_up(self) -> Callable[[int], Mapping[int, float]]:
        """For one concept, the least sum of weights on a way up to each of its ancestors.

        A link weighs 2^-d, d the depth of its child: sums of powers of 2 are exact.
        """
        offsets, parents = self.parent_offsets.tolist(), self.parent_numbers.tolist()
        weights = power_of_two(-self.depths).tolist()
        ways_up = self.ways_up

        @functools.lru_cache(maxsize=REMEMBERED)
        def climb(number: int) -> Mapping[int, float]:
            ways = dict.fromkeys(ways_up(number), math.inf)
            ways[number] = 0.0
            # numbers ascend from parent to child: at its turn, all ways up to a concept are known
            for child in sorted(ways, reverse=True):
                length = ways[child] + weights[child]
                for parent in parents[offsets[child] : offsets[child + 1]]:
                    ways[parent] = min(ways[parent], length)
            return ways

        return climb

    def ancestor_arrays(self, numbers: Ints) -> tuple[Longs, Ints, Ints]:
        """Offsets, members (ascending) and shortest ways up of each concept's ancestor set."""
        return kernel.ancestor_sets(self.parent_offsets, self.parent_numbers, numbers)

    def depths_below(self, top: int) -> Ints:
        """Longest depth of each concept from a top on, itself 1, in nodes; 0 outside."""
        return kernel.depths_below(*self.children_arrays, top)

    def lcs_number(self, numbers: Ints) -> int:
        """The least common subsumer of a set of concepts, all in numbers."""
        distinct = np.unique(numbers)
        if distinct.size == 0:
            raise ParameterError("The least common subsumer of no concept at all is not defined.")
        _, members, ups = self.ancestor_arrays(distinct)
        found, position, shared = np.unique(members, return_inverse=True, return_counts=True)
        ways = np.bincount(position, weights=ups)
        common = shared == distinct.size
        order = np.lexsort((found[common], ways[common], -self.depths[found[common]]))
        return int(found[common][order[0]])

    def minimum_hierarchy_numbers(self, numbers: Ints) -> Ints:
        """The minimum hierarchy of a set of concepts, all in numbers, ascending."""
        distinct = np.unique(numbers)
        top = self.lcs_number(distinct)
        _, members, _ = self.ancestor_arrays(distinct)
        below = self.depths_below(top)
        candidates = np.unique(members)
        return candidates[below[candidates] > 0].astype(np.int32)

    @functools.cached_property
    def subsumer_counts(self) -> Longs:
        """The number of ancestors of each concept, itself included."""
        everything = np.arange(len(self), dtype=np.int32)
        return np.diff(self.ancestor_arrays(everything)[0])

    @functools.cached_property
    def hyponym_counts(self) -> Floats:
        """The number of proper specializations of each concept."""
        return self.totals(np.ones(len(self))) - 1.0

    @functools.cached_property
    def leaf_counts(self) -> Floats:
        """The number of leaves properly below each concept (0 for a leaf)."""
        leaves = self.leaf_mask.astype(np.float64)
        return self.totals(leaves) - leaves

    def totals(self, weights: Floats) -> Floats:
        """For every concept the sum of the weights of its specializations, itself included."""
        return kernel.ancestor_totals(self.parent_offsets, self.parent_numbers, weights)

    # Terms ----------------------------------------------------------------------------------

    @functools.cached_property
    def term_index(self) -> TermIndex:
        """The dictionaries by which words and codes find concepts."""
        from ontomask.taxonomy.term_index import TermIndex

        return TermIndex(self)

    def map(
        self,
        values: Sequence[object],
        *,
        counts: Sequence[int] | None = None,
        overrides: Mapping[str, str] | str | os.PathLike[str] | None = None,
    ) -> TermMapping:
        """Map the values of a column to concepts; see `ontomask.taxonomy.mapping`."""
        from ontomask.taxonomy.mapping import map_values

        chosen = Path(overrides) if isinstance(overrides, os.PathLike) else overrides
        return map_values(self, values, counts=counts, overrides=chosen)

    def tree(
        self, concept: str | None = None, *, depth: int = 2, values: Sequence[object] | None = None
    ) -> Tree:
        """A part of the taxonomy to look at, as text or in a notebook.

        Parameters
        ----------
        concept
            Where to begin; the root by default.
        depth
            How many levels below it are shown.
        values
            A column whose values are counted: only concepts that occur are shown then, the most
            frequent first. Values without a concept are not counted.
        """
        from ontomask.taxonomy.tree import tree_of

        check("depth", depth, Integer(0))
        return tree_of(self, self.ids[0] if concept is None else concept, depth, values)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - FOR_ROOMS)

    # Distances ------------------------------------------------------------------------------

    def distances(
        self,
        values: Sequence[str],
        measure: str = "logsc",
        root: str = "attribute",
        **options: Any,
    ) -> Floats:
        """Distances between all pairs of the given concepts, as a square matrix in their order.

        `root="attribute"` lets measures that use depth count it from the LCS of the values,
        `root="taxonomy"` from the taxonomy's own root; see `ontomask.measures()`.
        """
        numbers = self.indices_of(values)
        return self.space(numbers, measure, root, **options).between(numbers, numbers)

    def between(
        self,
        rows: Sequence[str],
        columns: Sequence[str],
        measure: str = "logsc",
        root: str = "attribute",
        **options: Any,
    ) -> Floats:
        """Distances from each concept of `rows` to each of `columns`.

        Rows and columns together are the attribute.
        """
        first, second = self.indices_of(rows), self.indices_of(columns)
        space = self.space(np.concatenate([first, second]), measure, root, **options)
        return space.between(first, second)

    def paired(
        self,
        first: Sequence[str],
        second: Sequence[str],
        measure: str = "logsc",
        root: str = "attribute",
        **options: Any,
    ) -> Floats:
        """Distances of the concepts at the same places of two lists of equal length.

        Both lists together are the attribute.
        """
        rows, columns = self.indices_of(first), self.indices_of(second)
        if rows.size != columns.size:
            raise ParameterError(
                f"first and second must have the same length, not {rows.size} and {columns.size}."
            )
        space = self.space(np.concatenate([rows, columns]), measure, root, **options)
        return space.paired(rows, columns)

    def distance(
        self, a: str, b: str, measure: str = "logsc", root: str = "taxonomy", **options: Any
    ) -> float:
        """Distance of two concepts; depth counts from the taxonomy's root unless said otherwise."""
        space = self._own_space(measure, root, options)
        if space is None:
            return float(self.paired([a], [b], measure, root, **options)[0])
        return space.distance(self.index_of(a), self.index_of(b))

    def _own_space(self, measure: str, root: str, options: Mapping[str, Any]) -> Space | None:
        """A measure where it depends on two concepts alone, ready for any; others have none."""
        asked = (measure, root, *sorted(options.items())) if options else (measure, root)
        try:
            if asked not in self._own_spaces:
                space = self.space(np.zeros(1, np.int32), measure, root, **options)
                self._own_spaces[asked] = space if space.is_of_pairs else None
            return self._own_spaces[asked]
        except TypeError:  # frequencies that may be others next time
            return None

    @functools.cached_property
    def _own_spaces(self) -> dict[tuple[Any, ...], Space | None]:
        """The measures that single pairs were compared by."""
        return {}

    def space(
        self, numbers: Ints, measure: str = "logsc", root: str = "attribute", **options: Any
    ) -> Space:
        """A measure made ready for one attribute, given by the numbers of its values."""
        from ontomask.taxonomy.measures import Space

        return Space.of(self, numbers, measure, root, **options)

    # Files ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write ontomask's own compact file or, for a path that ends in `.csv`, a concept list."""
        from ontomask.taxonomy.store import save

        save(self, Path(path), overwrite=overwrite)
