"""Semantic distances, by name.

Every measure is a distance: 0 for identical concepts, symmetric. A `Space` is a measure made ready
for one attribute: it knows the attribute's root, depths and scale, and answers for any rectangle of
concepts with a few operations on ancestor arrays built for just those concepts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ontomask.arithmetic import log, log2
from ontomask.arrays import Floats, Ints, Longs
from ontomask.checks import Choice, Constraint, Flag, check
from ontomask.errors import ParameterError
from ontomask.extensions import declared
from ontomask.kernels import formulas
from ontomask.kernels.chains import chains_of, farthest_along
from ontomask.memory import LARGEST_TABLE, SMALL_TABLE, require_memory, row_blocks
from ontomask.taxonomy.content import IC_KINDS, INTRINSIC, InformationContent
from ontomask.taxonomy.pairs import AncestorSets, Pair, Pairs, Summaries
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["MEASURES", "Measure", "Space", "measures"]


MANY = 2**15
"""Of fewer pairs it takes longer to find out what they have in common than to compute distances."""
BLOCK = 2**21
"""So many pairs are worked on at a time: the memory beyond the result stays small."""

COPIES = 5
"""A curve becomes two, for contributions and costs, which then lie in the arrays of kernels."""

AnyPairs = Any
"""`Pairs`, a single `Pair` or `Summaries`, which answer the same questions."""

Result = Any
"""An array of distances, or a single one."""

Formula = Callable[["Space", AnyPairs], Result]


@dataclass(frozen=True)
class Measure:
    """A distance between concepts: its name, formula, source and options.

    Attributes
    ----------
    uses_depth
        Whether depth enters, and with it the option `root`.
    of_sample
        Whether the distance of two values depends on what other values there are.
    bounded
        Whether distances lie in [0, 1] without scaling.
    summary
        What the distance of two concepts follows from, a way of `kernels.formulas`; a measure
        without one needs a table of all distances, however large.
    ancestors_dominate
        Whether a concept that adds nothing shared with a value to its one parent is never nearer
        to that value than the parent is (so that it can be left out of a search for a centroid).
    """

    name: str
    formula: str
    citation: str
    compute: Formula = field(repr=False)
    summary: int | None = None
    uses_depth: bool = False
    of_sample: bool = False
    bounded: bool = True
    ancestors_dominate: bool = True
    options: Mapping[str, Constraint] = field(default_factory=dict, repr=False)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}: {self.formula} [{self.citation}]"

    def settings(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults overlaid with checked options."""
        for name, value in options.items():
            if name not in self.options:
                allowed = ", ".join(self.options) or "none"
                raise ParameterError(
                    f"The measure {self.name!r} has no option {name!r}; its options: {allowed}."
                )
            check(name, value, self.options[name])
        return {**self.defaults, **options}


@dataclass(frozen=True, eq=False)
class Space:
    """A measure made ready for one attribute of a taxonomy.

    Attributes
    ----------
    values
        The numbers of the attribute's values, with repetitions where they repeat.
    root
        The number of the concept that depths are counted from.
    depths
        Depth of every concept counted from `root`, 0 for concepts outside its subtree.
    rebased
        Whether `root` is that of the values, which other values may move.
    """

    taxonomy: Taxonomy
    values: Ints
    measure: Measure
    root: int
    depths: Ints
    settings: Mapping[str, Any]
    rebased: bool = False

    @classmethod
    def of(cls, taxonomy: Taxonomy, values: Ints, measure: str, root: str, **options: Any) -> Space:
        """Make a measure ready for the attribute with these values."""
        check("measure", measure, Choice(*MEASURES))
        check("root", root, Choice("attribute", "taxonomy"))
        if values.size == 0:
            raise ParameterError("Distances need at least one value, and the list is empty.")
        chosen = MEASURES[measure]
        settings = chosen.settings(options)
        rebased = root == "attribute" and chosen.uses_depth
        top = taxonomy.lcs_number(values) if rebased else 0
        depths = taxonomy.depths
        if top:
            depths = taxonomy.depths_below(top)
        own = np.asarray(values, np.int32)
        return cls(taxonomy, own, chosen, top, depths, settings, rebased)

    @functools.cached_property
    def distinct(self) -> Ints:
        """The distinct values, ascending."""
        return np.unique(self.values)

    @functools.cached_property
    def max_depth(self) -> int:
        """The largest depth below the root, in nodes."""
        return int(self.depths.max())

    @functools.cached_property
    def sample_depth(self) -> int:
        """The largest depth of a value: the depth of the tree pruned to the sample."""
        return int(self.depths[self.distinct].max())

    @functools.cached_property
    def content(self) -> InformationContent:
        """The information content of every concept, by the option `ic`."""
        kind, counts = self.settings["ic"], self.settings.get("counts")
        return InformationContent.of(self.taxonomy, kind, counts, self.values)

    @functools.cached_property
    def scale(self) -> float:
        """The largest distance between two values of the attribute, or 1 if all are equal."""
        self.check_inside(self.distinct)
        told = replace(self, settings={**self.settings, "scaled": False}).stepped(self.distinct)
        chains = None if told is None else chains_of(told)
        if chains is not None:
            return farthest_along(chains) or 1.0
        sets = AncestorSets.of(self.taxonomy, self.depths, self.distinct, self.distinct)
        return max(float(distances.max()) for _, distances in self._blocks(sets)) or 1.0

    @property
    def is_of_pairs(self) -> bool:
        """Whether single pairs have distances that depend on nothing but the pair."""
        measure, settings = self.measure, self.settings
        # the least way of two concepts depends on them alone, too
        of_sample = measure.of_sample and measure.summary != formulas.LENGTH
        of_values = settings.get("ic", "seco") not in INTRINSIC
        return not (of_sample or of_values or settings.get("scaled") or self.rebased)

    def without_values(self) -> Space:
        """The same distances; of the values only what the distances need of them is kept."""
        facts: dict[str, Any] = {"sample_depth": self.sample_depth}
        if "ic" in self.settings:
            facts["content"] = self.content
        if self.settings.get("scaled"):
            facts["scale"] = self.scale
        bare = replace(self, values=np.empty(0, np.int32))
        bare.__dict__.update(facts)  # where the cached properties look first
        return bare

    def between(
        self, rows: Iterable[int], columns: Iterable[int], room: Floats | None = None
    ) -> Floats:
        """Distances from each concept of `rows` to each of `columns`, in numbers.

        They are written to `room`, a table or a part of one, where that is given.
        """
        first, second = np.asarray(rows, np.int32), np.asarray(columns, np.int32)
        distances = self._rectangle(first, second, room)
        if self.settings.get("scaled"):
            distances /= self.scale
        return distances

    def paired(self, first: Iterable[int], second: Iterable[int]) -> Floats:
        """Distances of the concepts at the same places of two sequences, in numbers."""
        rows, columns = np.asarray(first, np.int32), np.asarray(second, np.int32)
        self.check_inside(rows, columns)
        unique_rows, row_places = np.unique(rows, return_inverse=True)
        unique_columns, column_places = np.unique(columns, return_inverse=True)
        sets = AncestorSets.of(self.taxonomy, self.depths, unique_rows, unique_columns)
        order = np.argsort(row_places, kind="stable")
        starts = np.searchsorted(row_places[order], np.arange(unique_rows.size + 1))
        result = np.empty(rows.size)
        result[order] = self.measure.compute(self, sets.listed(starts, column_places[order]))
        return self.scaled(result)

    def distance(self, first: int, second: int) -> float:
        """Distance of two concepts, counted from the taxonomy's own root, unscaled."""
        taxonomy, weighted = self.taxonomy, self.measure.summary == formulas.LENGTH
        ways_up = taxonomy.weighted_ways_up if weighted else taxonomy.ways_up
        pair = Pair(self.depths, (first, second), (ways_up(first), ways_up(second)))
        return float(self.measure.compute(self, pair))

    def scaled(self, distances: Floats) -> Floats:
        """Distances as they are between columns that are mixed, if the measure has no bound."""
        return distances / self.scale if self.settings.get("scaled") else distances

    def _rectangle(self, rows: Ints, columns: Ints, room: Floats | None) -> Floats:
        self.check_inside(rows, columns)
        unique_rows, row_places = np.unique(rows, return_inverse=True)
        unique_columns, column_places = np.unique(columns, return_inverse=True)
        if unique_rows.size == rows.size and unique_columns.size == columns.size:
            table = np.empty((rows.size, columns.size)) if room is None else room
            self._write_table(rows, columns, table)
            return table
        table = np.empty((unique_rows.size, unique_columns.size))
        self._write_table(unique_rows, unique_columns, table)
        repeated = table[np.ix_(row_places, column_places)]
        if room is None:
            return repeated
        room[...] = repeated
        return room

    def _write_table(self, rows: Ints, columns: Ints, room: Floats) -> None:
        """Write the distances of different concepts, in any order."""
        sets = AncestorSets.of(self.taxonomy, self.depths, rows, columns)
        # where most pairs have in common what others have, distances are looked up
        many = rows.size * columns.size >= MANY
        told = self.by_profiles(sets, rows.size * columns.size // 8) if many else None
        if told is not None:
            profiles, curve = told
            both = profiles[: rows.size], profiles[rows.size :]
            sets.rectangle(slice(0, rows.size)).write_on_curve(curve, *both, room)
            return
        for block, distances in self._blocks(sets):
            room[block] = distances

    def _blocks(self, sets: AncestorSets) -> Iterator[tuple[slice, Floats]]:
        """The distances of rows and columns, some rows at a time."""
        rows, columns = sets.rows.concepts, sets.columns.concepts
        step = max(1, BLOCK // max(1, columns.size))
        for start in range(0, rows.size, step):
            block = slice(start, min(start + step, rows.size))
            yield block, self.measure.compute(self, sets.rectangle(block))

    def formula(self, concepts: Ints) -> formulas.Formula:
        """How the distances between some concepts, ascending, follow from their ancestors."""
        self.check_inside(concepts)
        sets = AncestorSets.of(self.taxonomy, self.depths, concepts, concepts[:0])
        way, plain = self.measure.summary, sets.formula()
        assert way is not None
        told = self._shared(sets, math.inf if way == formulas.SHARED else concepts.size**2 // 8)
        if told is not None:
            return told
        if way == formulas.SUBSUMER:
            classes, curve = self.by_classes(sets)
            return plain._replace(way=way, classes=classes, curve=curve, width=curve.shape[-1])
        if way == formulas.PATH:
            curve = self.by_links(sets)
            return plain._replace(way=way, curve=curve, width=curve.size)
        if way == formulas.LENGTH:
            ways = sets.weighted_ways(sets.rows, self.sample_depth)
            divisor = self.scale if self.settings.get("scaled") else 1.0
            return plain._replace(way=way, ways=ways, divisor=divisor)
        if way in (formulas.CONTENT, formulas.RELATIVE):
            contents = self.content.values[sets.local]
            return plain._replace(way=way, contents=contents, divisor=2.0 * self.content.maximum)
        return plain

    def _shared(self, sets: AncestorSets, most: float) -> formulas.Formula | None:
        told = self.by_profiles(sets, most)
        if told is None:
            return None
        profiles, curve = told[0], self.scaled(told[1])
        shared = {"profiles": profiles, "curve": curve, "width": curve.shape[-1]}
        return sets.formula()._replace(way=formulas.SHARED, **shared)

    def stepped(self, concepts: Ints) -> formulas.Formula | None:
        """The same for many concepts of a tree, if what they share tells their distances."""
        if concepts.size**2 <= SMALL_TABLE:
            return None
        self.check_inside(concepts)
        sets = AncestorSets.of(self.taxonomy, self.depths, concepts, concepts[:0])
        return self._shared(sets, concepts.size**2 // 8) if sets.chains else None

    def by_profiles(
        self, sets: AncestorSets, most: float = math.inf
    ) -> tuple[Longs, Floats] | None:
        """Profiles of rows and columns, and distances by two of them and the common ancestors.

        Concepts of the same profile share as much with others, and are as far from them. None where
        that does not tell distances, or where more of them than `most` would have to be computed.
        """
        sides = sets.rows, sets.columns
        sizes = np.concatenate([np.diff(side.offsets) for side in sides])
        if self.measure.summary != formulas.SHARED:
            return self._by_chains(sets, sizes, most)
        concepts = np.concatenate([side.concepts for side in sides])
        keys = np.stack([sizes, self.depths[concepts] * self.measure.uses_depth])
        _, firsts, profiles = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        if firsts.size**2 * int(sizes.max() + 1) > most:
            return None
        return profiles.ravel(), self._curve(concepts[firsts], sizes[firsts])

    def _by_chains(
        self, sets: AncestorSets, sizes: Longs, most: float
    ) -> tuple[Longs, Floats] | None:
        """The same where ways go through the deepest common ancestor of a tree.

        It is as deep as common ancestors are many.
        """
        way, width = self.measure.summary, int(sizes.max(initial=0)) + 1
        if way not in (formulas.PATH, formulas.SUBSUMER) or "ic" in self.settings:
            return None
        lengths, profiles = np.unique(sizes, return_inverse=True)
        if lengths.size**2 * width > most or not sets.rooted:
            return None
        first, second = lengths[:, None, None], lengths[None, :, None]
        shared = np.clip(np.arange(width), 1, np.minimum(first, second))
        links = first + second - 2 * shared
        if way == formulas.PATH:
            return profiles, self._of_links(sets)[links]
        classes, curve = self.by_classes(sets)
        by_depth = np.zeros(width, np.int64)
        by_depth[sets.depths] = classes
        return profiles, curve[by_depth[shared], links]

    def _curve(self, concepts: Ints, sizes: Longs) -> Floats:
        """The distances of concepts with so many ancestors, by how many of them are common."""
        width, others = int(sizes.max()) + 1, sizes[None, :, None]
        _require_curve(sizes.size, width)
        curve = np.empty((sizes.size, sizes.size, width))
        for block in row_blocks(sizes.size, sizes.size * width, BLOCK):
            own = sizes[block, None, None]
            shared = np.minimum(np.arange(width), np.minimum(own, others))
            both = concepts[block, None, None], concepts[None, :, None]
            pairs = Summaries(common=shared, sizes=(own, others), concepts=both)
            curve[block] = self.measure.compute(self, pairs)
        return curve

    def by_links(self, sets: AncestorSets) -> Floats:
        """Distances by the links on the least way."""
        return self.scaled(self._of_links(sets))

    def _of_links(self, sets: AncestorSets) -> Floats:
        lengths = Summaries(path=np.arange(2 * sets.farthest_up + 1))
        return np.asarray(self.measure.compute(self, lengths), np.float64)

    def by_classes(self, sets: AncestorSets) -> tuple[Longs, Floats]:
        """Pairs whose deepest common ancestor is of the same class are as far apart."""
        keys = [self.depths[sets.local].astype(np.float64)]
        if "ic" in self.settings:
            keys.append(self.content.values[sets.local])
        _, firsts, classes = np.unique(
            np.stack(keys), axis=1, return_index=True, return_inverse=True
        )
        links = np.arange(2 * sets.farthest_up + 1)
        subsumers = sets.local[firsts][:, None]
        # identical concepts, and no others, are no link apart
        pairs = Summaries(
            subsumer=(subsumers, links[None, :]), concepts=(links[None, :], np.int64(0))
        )
        return classes.ravel(), np.asarray(self.measure.compute(self, pairs), np.float64)

    def check_inside(self, *groups: Ints) -> None:
        """Refuse concepts that are not below the attribute's root."""
        for numbers in groups:
            outside = numbers[self.depths[numbers] == 0]
            if outside.size:
                concept, root = self.taxonomy.ids_of([int(outside[0]), self.root])
                raise ParameterError(
                    f"Concept {concept!r} is not below {root!r}, the root of the attribute; count "
                    'depth from the root of the taxonomy (root="taxonomy") or add the concept to '
                    "the attribute's values."
                )


def _require_curve(kinds: int, width: int) -> None:
    """Refuse what does not fit into memory, with what kernels make of it."""
    entries = kinds**2 * width
    if entries > LARGEST_TABLE:
        require_memory(
            *(8 * COPIES * entries, f"What {kinds:,} kinds of concepts can have in common"),
            "choose a measure by which concepts are not told apart by their depth (logsc) or by "
            "all that they have in common (path, wu-palmer), or use a machine with more",
        )


MEASURES: dict[str, Measure] = {}


def _measure(name: str, formula: str, citation: str, **facts: Any) -> Callable[[Formula], Formula]:
    """Register what computes a distance under its name."""

    def register(compute: Formula) -> Formula:
        MEASURES[name] = Measure(name, formula, citation, compute, **facts)
        return compute

    return register


def measures() -> tuple[Measure, ...]:
    """List the distances with their formulas and citations.

    Examples
    --------
    >>> measure = next(one for one in om.knowledge.measures() if one.name == "path")
    >>> measure.formula
    'least number of is-a links from c1 to c2 through a common ancestor'
    """
    return tuple(MEASURES.values())


@dataclass(frozen=True)
class _Counts:
    """A constraint: frequencies of concepts, as a mapping or a file."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, (str, Mapping)) or hasattr(value, "__fspath__")

    def describe(self) -> str:
        return "a mapping from concept ids to frequencies, or the path of a file with them"

    def wrong_values(self) -> list[object]:
        return [12, ["250.00"]]

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["string", "object"], "description": self.describe()}


_SCALED: dict[str, Any] = {"options": {"scaled": Flag()}, "defaults": {"scaled": False}}
_BY_CONTENT: dict[str, Any] = {
    "options": {"ic": Choice(*IC_KINDS), "counts": _Counts()},
    "defaults": {"ic": "seco"},
}


@_measure(
    "path",
    "least number of is-a links from c1 to c2 through a common ancestor",
    "Rada et al. 1989",
    summary=formulas.PATH,
    bounded=False,
    **_SCALED,
)
def _path(_space: Space, pairs: AnyPairs) -> Result:
    return pairs.path_lengths()


@_measure(
    "leacock-chodorow",
    "log(Np) / log(2 D), Np nodes on the shortest path, D the maximum depth in nodes",
    "Leacock and Chodorow 1998",
    summary=formulas.PATH,
    uses_depth=True,
)
def _leacock_chodorow(space: Space, pairs: AnyPairs) -> Result:
    distances: Result = log(pairs.path_lengths() + 1.0) / math.log(2.0 * space.max_depth)
    return distances


@_measure(
    "wu-palmer",
    "1 - 2 N3 / (N1 + N2 + 2 N3), N1 and N2 links up to the LCS, N3 depth of the LCS in nodes "
    "(depth='links': in links)",
    "Wu and Palmer 1994",
    summary=formulas.SUBSUMER,
    uses_depth=True,
    options={"depth": Choice("nodes", "links")},
    defaults={"depth": "nodes"},
)
def _wu_palmer(space: Space, pairs: AnyPairs) -> Result:
    subsumers, ways = pairs.subsumers()
    level = 2.0 * (space.depths[subsumers] - (space.settings["depth"] == "links"))
    both = ways + level
    # the root is 0 links deep: 0 / 0 is the distance of the root to itself
    return ways / (both + (both < 1.0))


@_measure(
    "logsc",
    "log2(1 + (|T1 ∪ T2| - |T1 ∩ T2|) / |T1 ∪ T2|), T the ancestors and the concept itself",
    "Sánchez, Batet, Isern and Valls 2012",
    summary=formulas.SHARED,
)
def _logsc(_space: Space, pairs: AnyPairs) -> Result:
    shared, (first, second) = pairs.shared(), pairs.sizes
    return log2(2.0 - shared / (first + second - shared))


@_measure(
    "resnik",
    "1 - IC(LCS) / IC_max, 0 for identical concepts",
    "Resnik 1995",
    summary=formulas.SUBSUMER,
    **_BY_CONTENT,
)
def _resnik(space: Space, pairs: AnyPairs) -> Result:
    first, second = pairs.concepts
    common = space.content.values[pairs.subsumers()[0]]
    return (first != second) * (1.0 - common / space.content.maximum)


@_measure(
    "lin",
    "1 - 2 IC(LCS) / (IC1 + IC2)",
    "Lin 1998",
    summary=formulas.RELATIVE,
    **_BY_CONTENT,
)
def _lin(space: Space, pairs: AnyPairs) -> Result:
    both, common = _contents(space, pairs)
    # where nothing tells anything, all is alike; to add is quick for single pairs, too
    return (both - common) / (both + (both <= 0.0))


@_measure(
    "jiang-conrath",
    "(IC1 + IC2 - 2 IC(LCS)) / (2 IC_max)",
    "Jiang and Conrath 1997",
    summary=formulas.CONTENT,
    **_BY_CONTENT,
)
def _jiang_conrath(space: Space, pairs: AnyPairs) -> Result:
    both, common = _contents(space, pairs)
    return (both - common) / (2.0 * space.content.maximum)


def _contents(space: Space, pairs: AnyPairs) -> tuple[Result, Result]:
    content, (first, second) = space.content.values, pairs.concepts
    return content[first] + content[second], 2.0 * content[pairs.subsumers()[0]]


@_measure(
    "tversky",
    "1 - |A ∩ B| / (|A ∩ B| + g |A - B| + (1 - g) |B - A|), A the ancestors of the shallower "
    "concept, g = d1 / (d1 + d2) with its depth d1 and the other's d2",
    "Tversky 1977; Rodríguez and Egenhofer 2003",
    summary=formulas.SHARED,
    uses_depth=True,
    ancestors_dominate=False,
)
def _tversky(space: Space, pairs: AnyPairs) -> Result:
    shared, sizes = pairs.shared(), pairs.sizes
    first, second = (space.depths[concepts] for concepts in pairs.concepts)
    # g is each side's share of both depths, whichever is the shallower
    apart = (first * (sizes[0] - shared) + second * (sizes[1] - shared)) / (first + second)
    return apart / (shared + apart)


@_measure(
    "weighted-path",
    "sum of the weights along the path on the tree pruned to the sample; a link from depth i - "
    "1 to i weighs 2^(L - i), L the depth of that tree",
    "Domingo-Ferrer, Muralidhar and Rufian-Torrell 2012",
    summary=formulas.LENGTH,
    uses_depth=True,
    of_sample=True,
    bounded=False,
    **_SCALED,
)
def _weighted_path(space: Space, pairs: Pairs) -> Result:
    return pairs.weighted_path_lengths(space.sample_depth)


@_measure(
    "equality",
    "0 if identical, 1 otherwise",
    "the baseline without semantics",
    summary=formulas.EQUAL,
)
def _equality(_space: Space, pairs: AnyPairs) -> Result:
    first, second = pairs.concepts
    return (first != second) * 1.0


for _other in declared("measures", Measure, MEASURES):
    MEASURES[_other.name] = _other
