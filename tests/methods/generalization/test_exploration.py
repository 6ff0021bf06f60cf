import polars as pl
import pytest

import ontomask as om
from ontomask.quality import Classification, Loss
from tables import mixed_columns, mixed_hierarchies, mixed_schema

FRAME = pl.DataFrame(mixed_columns())
METHOD = om.Generalization(
    [om.privacy.KAnonymity(3)], suppression_limit=0.5, hierarchies=mixed_hierarchies()
)


def test_the_optimum_is_the_best_valid_node_of_the_whole_lattice():
    nodes = pl.DataFrame(
        om.measuring.explore(FRAME, mixed_schema(), METHOD, ["loss", "height"]).columns()
    )
    release = om.protect(FRAME, mixed_schema(), METHOD, seed=1)
    best = nodes.filter("valid")["loss"].min()
    assert release.quality == pytest.approx(best)
    chosen = nodes.filter(*(pl.col(name) == level for name, level in release.levels.items()))
    assert chosen["loss"].item() == pytest.approx(best)
    assert chosen["height"].item() == sum(release.levels.values())
    assert release.details[0]["optimal"]


def test_progress_is_reported():
    seen = []
    om.measuring.explore(
        FRAME, mixed_schema(), METHOD, progress=lambda share, _: seen.append(share)
    )
    assert seen
    assert all(0 < share <= 1 for share in seen)


def test_models_of_the_same_name_are_told_apart():
    cheap, dear = Loss(factor=0.1), Loss(factor=0.9)
    target = Classification("charge"), Classification("sex")
    found = om.measuring.explore(
        FRAME, mixed_schema(), METHOD, ["loss", cheap, dear, *target, "height"]
    )
    assert list(found.losses) == [
        "loss",
        "loss(factor=0.1)",
        "loss(factor=0.9)",
        "classification(target='charge')",
        "classification(target='sex')",
        "height",
    ]
    for name, model in (("loss(factor=0.1)", cheap), ("classification(target='sex')", target[1])):
        alone = om.measuring.explore(FRAME, mixed_schema(), METHOD, [model]).losses
        assert list(alone) == [model.name]
        assert found.losses[name].tolist() == alone[model.name].tolist()


def test_of_a_large_lattice_the_visited_part_has_the_figures_of_all():
    whole = om.measuring.explore(FRAME, mixed_schema(), METHOD)
    part = om.measuring.explore(FRAME, mixed_schema(), METHOD, most=20)
    assert 0 < len(part) <= 20 < len(whole)
    assert part.total == whole.total == len(whole)
    assert part.level_names == whole.level_names
    known = {tuple(levels): place for place, levels in enumerate(whole.levels.tolist())}
    places = [known[tuple(levels)] for levels in part.levels.tolist()]
    assert places == sorted(places)
    for name, column in part.columns().items():
        assert column.tolist() == whole.columns()[name][places].tolist(), name
    assert part.valid.any()


def test_every_level_has_a_name():
    found = om.measuring.explore(FRAME, mixed_schema(), METHOD, most=5)
    heights = [len(names) - 1 for names in found.level_names]
    assert found.levels.max(axis=0).tolist() == heights
    assert all(isinstance(word, str) and word for names in found.level_names for word in names)
