import polars as pl
import pytest

import ontomask as om
from ontomask.quality import Classification, Loss
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


def test_models_of_the_same_name_are_told_apart():
    cheap, dear = Loss(factor=0.1), Loss(factor=0.9)
    target = Classification("charge"), Classification("sex")
    found = om.explore(FRAME, mixed_schema(), METHOD, ["loss", cheap, dear, *target, "height"])
    assert list(found.losses) == [
        "loss",
        "loss(factor=0.1)",
        "loss(factor=0.9)",
        "classification(target='charge')",
        "classification(target='sex')",
        "height",
    ]
    for name, model in (("loss(factor=0.1)", cheap), ("classification(target='sex')", target[1])):
        alone = om.explore(FRAME, mixed_schema(), METHOD, [model]).losses
        assert list(alone) == [model.name]
        assert found.losses[name].tolist() == alone[model.name].tolist()
