"""Random material for property tests."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def random_parents(draw: st.DrawFn, max_size: int = 14) -> dict[str, list[str]]:
    """A random rooted graph with multiple inheritance; ids are shuffled against depth."""
    size = draw(st.integers(2, max_size))
    names = draw(st.permutations([f"c{number:02d}" for number in range(size)]))
    parents: dict[str, list[str]] = {names[0]: []}
    for position in range(1, size):
        above = draw(st.sets(st.integers(0, position - 1), min_size=1, max_size=3))
        parents[names[position]] = [names[one] for one in sorted(above)]
    return parents


@st.composite
def random_attribute(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[str]]:
    """A random taxonomy and a column of its concepts, with repetitions."""
    parents = draw(random_parents())
    values = draw(st.lists(st.sampled_from(sorted(parents)), min_size=1, max_size=7))
    return parents, values
