"""What is lost where the records of clusters are replaced by a reference."""

from __future__ import annotations

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import centroids, members_by_cluster
from ontomask.kernels.compiling import compiled
from ontomask.kernels.records import Points, replacement_cost

__all__ = ["candidate_losses", "loss", "loss_to"]


@compiled
def _fill_costs(points: Points, labels: Ints, references: Floats, result: Floats) -> None:
    """Write what it costs to replace a record of each point by its cluster's reference."""
    for point in range(result.size):
        result[point] = replacement_cost(points, references[labels[point]], point)


def loss_to(points: Points, labels: Ints, rows: Ints, numbers: Floats) -> float:
    """Sum over points of weight times the cost of replacement by the given centroids."""
    costs = np.empty(labels.size)
    _fill_costs(points, labels, np.concatenate([rows, numbers], axis=1), costs)
    return summed_products(points.weights, costs)


def loss(points: Points, labels: Ints, count: int) -> float:
    """Loss to the clusters' own centroids; on numbers alone with power 2 it is the SSE."""
    rows, numbers = centroids(points, labels, count, np.zeros(count, np.float64))
    return loss_to(points, labels, rows, numbers)


@compiled
def _fill_losses(
    points: Points,
    offsets: Longs,
    members: Longs,
    references: Floats,
    owners: Longs,
    result: Floats,
) -> None:
    """Write the loss of each reference as the center of the cluster that owns it."""
    for place in range(owners.size):
        total = 0.0
        for slot in range(offsets[owners[place]], offsets[owners[place] + 1]):
            cost = replacement_cost(points, references[place], members[slot])
            total += points.weights[members[slot]] * cost
        result[place] = total


def candidate_losses(
    points: Points, labels: Ints, rows: Ints, numbers: Floats, owners: Longs
) -> Floats:
    """The loss of each candidate as the center of the cluster named for it."""
    offsets, members = members_by_cluster(labels, int(labels.max()) + 1)
    result = np.empty(owners.size)
    references = np.concatenate([rows, numbers], axis=1).astype(np.float64)
    _fill_losses(points, offsets, members, references, owners.astype(np.int64), result)
    return result
