import polars as pl
import pytest

import ontomask as om
from tables import mixed_columns, mixed_hierarchies, mixed_schema

FRAME = pl.DataFrame(mixed_columns())
METHOD = om.Generalization(
    [om.KAnonymity(3)], suppression_limit=0.5, hierarchies=mixed_hierarchies()
)


def test_the_optimum_is_the_best_valid_node_of_the_whole_lattice():
    nodes = pl.DataFrame(om.explore(FRAME, mixed_schema(), METHOD, ["loss", "height"]).columns())
    release = om.protect(FRAME, mixed_schema(), METHOD, seed=1)
    best = nodes.filter("valid")["loss"].min()
    assert release.quality == pytest.approx(best)
    chosen = nodes.filter(*(pl.col(name) == level for name, level in release.levels.items()))
    assert chosen["loss"].item() == pytest.approx(best)
    assert chosen["height"].item() == sum(release.levels.values())
    assert release.details[0]["optimal"]


def test_progress_is_reported():
    seen = []
    om.explore(FRAME, mixed_schema(), METHOD, progress=lambda share, _: seen.append(share))
    assert seen
    assert all(0 < share <= 1 for share in seen)
