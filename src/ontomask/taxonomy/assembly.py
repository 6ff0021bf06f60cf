"""From a draft to a taxonomy: every invariant is checked here, once."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import Ints, Longs, Shorts, offsets_of
from ontomask.errors import (
    CycleError,
    EmptyTaxonomyError,
    SeveralRootsError,
    UnknownParentError,
)
from ontomask.kernels import concepts as kernel
from ontomask.taxonomy.draft import Draft, Line, place
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["ROOT_ID", "ROOT_LABEL", "assemble", "frozen"]

ROOT_ID = "*"
"""The id of the virtual root above several parentless concepts (more stars if that is taken)."""

ROOT_LABEL = "anything"

SHOWN = 5

Kind = TypeVar("Kind", bound=np.generic)


def assemble(
    draft: Draft,
    *,
    name: str = "",
    single_root: bool = False,
    license: str = "",  # noqa: A002 - the taxonomy's own word for it
    origin: str = "",
    language: str = "english",
) -> Taxonomy:
    """Check a draft and make the taxonomy.

    Several parentless concepts get a virtual root above them, or are an error when
    `single_root` is True.
    """
    if not len(draft) and not draft.links:
        raise EmptyTaxonomyError(f"{place(draft.source, None)} holds no concept at all.")
    children, parents = _numbered_links(draft)
    children, parents = _with_root(draft, children, parents, single_root)
    depths = _depths(draft, children, parents)
    ids = list(draft.positions)
    order = _canonical_order(ids, depths)
    offsets, numbers = _renumbered(order, children, parents)
    names, name_offsets, ranks = _names(draft, ids, order)
    return Taxonomy(
        ids=tuple(ids[position] for position in order),
        names=names,
        name_offsets=frozen(name_offsets),
        name_ranks=frozen(ranks),
        glosses=tuple(draft.glosses[position] for position in order),
        parent_offsets=frozen(offsets),
        parent_numbers=frozen(numbers),
        depths=frozen(depths[order]),
        name=name,
        version=draft.version,
        license=license,
        origin=origin,
        language=language,
    )


def frozen(array: NDArray[Kind]) -> NDArray[Kind]:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def _numbered_links(draft: Draft) -> tuple[Ints, Ints]:
    """Links as positions in the draft, without repetitions; unknown ends declared or refused."""
    positions = draft.positions
    for child, parent, line in draft.links:
        for identifier in (child, parent):
            if identifier not in positions:
                if not draft.parents_declare:
                    raise _unknown_parent(draft, child, parent, line)
                draft.add_concept(identifier, line=line)
    # one number for both ends: pairs of numbers are sorted far more slowly
    width, count = len(positions), len(draft.links)
    ends = (positions[child] * width + positions[parent] for child, parent, _ in draft.links)
    children, parents = np.divmod(np.unique(np.fromiter(ends, np.int64, count)), max(width, 1))
    return children.astype(np.int32), parents.astype(np.int32)


def _unknown_parent(draft: Draft, child: str, parent: str, line: Line) -> UnknownParentError:
    missing, role = (parent, "parent") if parent not in draft.positions else (child, "child")
    return UnknownParentError(
        f"{place(draft.source, line)}: {child!r} is said to be a {parent!r}, but there is no "
        f"concept {missing!r}; add a row for the {role} or correct its id."
    )


def _with_root(draft: Draft, children: Ints, parents: Ints, single_root: bool) -> tuple[Ints, Ints]:
    """Put a virtual root above several parentless concepts."""
    has_parent = np.zeros(len(draft), bool)
    has_parent[children] = True
    roots = np.flatnonzero(~has_parent).astype(np.int32)
    if roots.size <= 1:
        return children, parents
    if single_root:
        ids = list(draft.positions)
        raise SeveralRootsError(
            f"{place(draft.source, None)}: {roots.size} concepts have no parent "
            f"({_listed([ids[root] for root in roots])}) and a single root is demanded; "
            "link them to one root, or allow a virtual root with single_root=False."
        )
    root_id = ROOT_ID
    while root_id in draft.positions:
        root_id += ROOT_ID
    top = np.full(roots.size, len(draft), np.int32)
    draft.add_concept(root_id, ROOT_LABEL)
    return np.concatenate([children, roots]), np.concatenate([parents, top])


def _depths(draft: Draft, children: Ints, parents: Ints) -> Ints:
    """Longest depth of every concept; a cycle is an error that names it."""
    offsets, targets = _links_by_child(children, parents, len(draft))
    reverse_offsets, sources = kernel.transpose(offsets, targets, len(draft))
    depths = kernel.longest_depths(offsets, reverse_offsets, sources)
    if not depths.all():
        raise _cycle(draft, offsets, targets, depths)
    return depths


def _links_by_child(children: Ints, parents: Ints, count: int) -> tuple[Longs, Ints]:
    order = np.lexsort((parents, children))
    return offsets_of(children, count), parents[order]


def _cycle(draft: Draft, offsets: Longs, targets: Ints, depths: Ints) -> CycleError:
    """Walk up from a concept that has no depth until one repeats: that is a cycle."""
    ids = list(draft.positions)
    current = int(np.flatnonzero(depths == 0)[0])
    walked: list[int] = []
    while current not in walked:
        walked.append(current)
        above = targets[offsets[current] : offsets[current + 1]]
        current = int(above[depths[above] == 0][0])
    loop = [ids[position] for position in [*walked[walked.index(current) :], current]]
    line = next(
        (line for child, parent, line in draft.links if (child, parent) == (loop[0], loop[1])), None
    )
    shown = loop if len(loop) <= 2 * SHOWN else [*loop[:SHOWN], "…", *loop[-SHOWN:]]
    return CycleError(
        f"{place(draft.source, line)}: the is-a links run in a circle "
        f"({' → '.join(shown)}); remove one of these links."
    )


def _canonical_order(ids: list[str], depths: Ints) -> list[int]:
    """Positions sorted by (depth, id)."""
    levels = depths.tolist()
    return sorted(range(len(ids)), key=lambda position: (levels[position], ids[position]))


def _renumbered(order: list[int], children: Ints, parents: Ints) -> tuple[Longs, Ints]:
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return _links_by_child(ranks[children], ranks[parents], len(order))


def _names(draft: Draft, ids: list[str], order: list[int]) -> tuple[tuple[str, ...], Longs, Shorts]:
    """Flat names: the label (the id where there is none) and the synonyms that differ from it."""
    names: list[str] = []
    ranks: list[int] = []
    ends = [0]
    for position in order:
        label = draft.labels[position] or ids[position]
        known = {label: draft.label_ranks[position]}
        if draft.synonyms[position]:
            pairs = zip(draft.synonyms[position], draft.synonym_ranks[position], strict=True)
            for synonym, rank in pairs:
                if synonym:
                    known.setdefault(synonym, rank)
        names.extend(known)
        ranks.extend(known.values())
        ends.append(len(names))
    return tuple(names), np.array(ends, np.int64), np.array(ranks, np.int16)


def _listed(ids: list[str]) -> str:
    shown = ", ".join(repr(identifier) for identifier in ids[:SHOWN])
    return shown if len(ids) <= SHOWN else f"{shown} and {len(ids) - SHOWN} more"
