"""Draws from windows around values, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from ontomask.kernels.windows import draw_near, window_widths


def coarse_distances(seed: int, size: int) -> np.ndarray:
    """Distances with very many ties, 0 from a value to itself."""
    distances = np.random.default_rng(seed).integers(1, 4, (size, size)) / 3.0
    distances = np.minimum(distances, distances.T)
    np.fill_diagonal(distances, 0.0)
    return distances


@pytest.mark.parametrize("seed", range(3))
def test_a_draw_is_the_ranked_value_of_its_window(seed):
    distances, generator = coarse_distances(seed, 30), np.random.default_rng(seed)
    codes = generator.integers(0, 30, 200).astype(np.int32)
    widths, uniforms = generator.choice([0.0, 1 / 3, 0.5, 1.0], 200), generator.random(200)
    uniforms[:2] = 0.0, np.nextafter(1.0, 0.0)
    expected = []
    for code, width, uniform in zip(codes, widths, uniforms, strict=True):
        order = sorted(range(30), key=lambda value, code=code: (distances[code, value], value))
        within = [value for value in order if distances[code, value] <= width]
        expected.append(within[int(uniform * len(within))])
    assert draw_near(codes, widths, distances, uniforms).tolist() == expected


def test_a_window_reaches_to_the_farthest_value_of_the_cluster():
    distances, codes = coarse_distances(1, 9), np.array([3, 8, 1, 5, 5, 0], np.int32)
    offsets, members = np.array([0, 2, 6]), np.array([4, 0, 1, 2, 3, 5])
    expected = np.zeros(6)
    for cluster in (members[:2], members[2:]):
        for record in cluster:
            expected[record] = max(distances[codes[record], codes[other]] for other in cluster)
    assert window_widths(codes, offsets, members, distances, 0).tolist() == expected.tolist()
    # rows of some values only: records of others get none
    some = window_widths(codes, offsets, members, distances[4:], 4)
    assert some.tolist() == np.where(codes >= 4, expected, 0.0).tolist()
