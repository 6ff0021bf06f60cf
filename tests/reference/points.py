"""Small random points with every kind of attribute, for the tests of the kernels."""

from __future__ import annotations

import numpy as np

from ontomask.kernels.records import Attribute, Points, pack_points
from ontomask.semantics.operators import Coded, coded_operators, outlined


def coded_operator(*given) -> Coded:
    """The operator of a single column; parameters as in `outlined`."""
    return coded_operators([outlined(*given)])[0]


def hierarchy(rng, rule: int, missing: bool, nodes: int = 9, power: int = 1) -> Attribute:
    """A random DAG under one root, distances by shared ancestors; some nodes are the values."""
    depths, above = [1], [{0}]
    for node in range(1, nodes):
        parents = rng.choice(node, size=min(node, 1 + int(rng.random() < 0.3)), replace=False)
        above.append({node}.union(*(above[parent] for parent in parents)))
        depths.append(1 + max(depths[parent] for parent in parents))
    order = sorted(range(nodes), key=lambda node: (depths[node], node))
    place = {node: row for row, node in enumerate(order)}
    above = [{place[a] for a in above[node]} for node in order]
    depths = [depths[node] for node in order]
    chosen = sorted(rng.choice(nodes, size=5, replace=False).tolist())
    rng.shuffle(chosen)
    if missing:
        above.append({nodes})
        depths.append(99)
        chosen.append(nodes)
    return from_sets(above, depths, chosen, rule, len(chosen) - 1 if missing else -1, power)


def from_sets(above, depths, chosen, rule: int, missing: int, power: int) -> Attribute:
    """Eighths, so that sums are exact and ties are true ties."""
    rows = len(above)
    table = np.ones((rows, len(chosen)))
    for row in range(rows):
        for value, own in enumerate(chosen):
            if above[row] & above[own]:
                differing = len(above[row] ^ above[own])
                table[row, value] = min(differing, 8) / 8
    return Attribute(
        table=table**power,
        costs=(table**power).T,
        own_rows=np.array(chosen, np.int32),
        row_depths=np.array(depths, np.int32),
        row_above_offsets=np.cumsum([0] + [len(members) for members in above]),
        row_above=np.array([a for members in above for a in sorted(members)], np.int32),
        rule=rule,
        missing=missing,
    )


def flat(values: int, rule: int) -> Attribute:
    """A nominal attribute without taxonomy: distance 0 or 1."""
    return from_sets([{v} for v in range(values)], [1] * values, list(range(values)), rule, -1, 1)


def random_points(
    rng,
    size: int,
    *,
    rules: tuple[int, ...] = (0,),
    numeric: int = 1,
    holes: bool = False,
    weighted: bool = False,
    sized: bool = False,
    power: int = 2,
) -> Points:
    """Points with many ties and duplicates: numbers are quarters, values few.

    Sizes are 1 unless `sized`; weights have nothing to do with them.
    """
    attributes = [hierarchy(rng, rule, holes, power=power) for rule in rules]
    codes = [rng.integers(attribute.own_rows.size, size=size) for attribute in attributes]
    numbers = rng.integers(-8, 9, size=(numeric, size)) / 4
    if holes:
        numbers[rng.random(numbers.shape) < 0.2] = np.nan
    weights = rng.integers(1, 6, size=size).astype(float) if weighted else np.ones(size)
    return pack_points(
        attributes,
        np.array(codes, np.int32).reshape(len(rules), size),
        numbers,
        rng.integers(1, 5, size=size).astype(float) if sized else np.ones(size),
        weights,
        weights**power if weighted else np.ones(size),
        np.ones(numeric),
        power,
    )


def only_numbers(table, power: int = 2) -> Points:
    """Records of numbers alone."""
    columns = np.asarray(table, float).T
    size = columns.shape[1]
    return pack_points(
        [],
        np.empty((0, size), np.int32),
        columns,
        *[np.ones(size)] * 3,
        np.ones(columns.shape[0]),
        power,
    )


def shuffled(points: Points, order) -> Points:
    """The same points in another order."""
    return points._replace(
        codes=np.ascontiguousarray(points.codes[:, order]),
        numbers=np.ascontiguousarray(points.numbers[:, order]),
        sizes=points.sizes[order],
        weights=points.weights[order],
        factors=points.factors[order],
    )
