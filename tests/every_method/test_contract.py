"""What every method owes its users, run on the whole registry."""

import copy
import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask.checks import constraints_of
from ontomask.methods.registry import METHODS
from tables import mixed_columns, mixed_hierarchies, mixed_schema

CASES = [
    om.Recoding(3),
    om.Recoding(3, guide="discernibility"),
    om.Recoding(3, guide="random", order="any"),
    om.Microaggregation(3),
    om.Microaggregation(4, algorithm="mdav", operators="marginality", metric="s-distance"),
    om.Microaggregation(3, algorithm="v-mdav"),
    om.Microaggregation(3, operators="equality", refine=True),
    om.Microaggregation(5, operators="random"),
    om.Hybrid(3),
    om.Hybrid(4, partition="sa-mdav", operators="semantic", metric="euclidean"),
    om.Resampling(4),
    om.Resampling(3, variant="heer"),
    om.Suppression(2, how="star"),
    om.LocalSuppression(3),
    om.RankSwapping(k=5),
    om.RankSwapping(p=10, variant="fixed"),
    om.RankSwapping(k=5, variant="multivariate"),
    om.RankSwapping(variant="random"),
    om.Shuffling(confidential=("diagnosis", "age"), given=("sex", "charge")),
    om.Pram(columns=("diagnosis", "severity", "sex")),
    om.Noise(("age", "charge"), correlated=True),
    om.TopBottomCoding(("age",), top=50),
    om.Rounding(("charge",), base=10),
    om.Sampling(share=0.5),
    om.Pseudonyms(("sex",), key="a secret of the house"),
    om.DropColumns(("sex",)),
    *(
        om.Generalization(
            [om.KAnonymity(3)],
            suppression_limit=0.5,
            search=search,
            hierarchies=mixed_hierarchies(),
            **budget,
        )
        for search, budget in (
            ("optimal", {}),
            ("best-effort", {"steps": 50}),
            ("local", {}),
            ("mondrian", {}),
        )
    ),
    om.Generalization([om.KAnonymity(3)], search="tuple", hierarchies=mixed_hierarchies()),
    om.PrivateGeneralization(
        1.0,
        0.05,
        [{"diagnosis": 9, "age": 2, "admitted": 2, "severity": 1, "sex": 1}],
        hierarchies=mixed_hierarchies(),
    ),
]
IDS = [f"{method.name}-{place}" for place, method in enumerate(CASES)]
every_method = pytest.mark.parametrize("method", CASES, ids=IDS)

PUBLISHED = ["diagnosis", "age", "admitted", "severity", "sex", "charge"]


def schema_for(method):
    """A differentially private release has no column that is published as it is."""
    schema = mixed_schema()
    return (
        schema
        if method.repeatable
        else om.Schema.of({**dict(schema.items()), "charge": om.Identifier()})
    )


def protected(method, frame=None, seed=3):
    frame = pl.DataFrame(mixed_columns()) if frame is None else frame
    return om.protect(frame, schema_for(method), method, seed)


def test_every_registered_method_has_an_example():
    assert {method.name for method in CASES} == set(METHODS)


@every_method
def test_a_method_that_leaves_records_out_says_so(method):
    """Else a public report would tell none from few."""
    assert method.leaves_out or len(protected(method).frame) == 60


@pytest.mark.parametrize("method", [one for one in CASES if one.repeatable])
def test_the_same_seed_gives_the_same_release(method):
    one, two = protected(method), protected(method)
    assert one.digests == two.digests
    assert one.frame.equals(two.frame)


@every_method
def test_the_input_is_not_touched(method):
    columns = mixed_columns()
    frame = pd.DataFrame(columns)
    before = copy.deepcopy(frame)
    protected(method, frame)
    pd.testing.assert_frame_equal(frame, before)


@every_method
def test_only_published_columns_and_no_row_invented(method):
    release = protected(method)
    assert set(release.frame.columns) <= set(PUBLISHED)
    assert len(release.frame) + release.left_out == len(mixed_columns()["age"])
    assert release.verification.kept
    assert len(release.verification.findings) >= 2


@pytest.mark.parametrize("method", [one for one in CASES if one.repeatable])
def test_every_kind_of_frame_gives_the_same_values_and_itself(method):
    columns = mixed_columns()
    frames = {pd.DataFrame: pd.DataFrame(columns), pl.DataFrame: pl.DataFrame(columns)}
    frames[pa.Table] = pa.table(columns)
    digests = set()
    for kind, frame in frames.items():
        release = protected(method, frame)
        assert isinstance(release.frame, kind)
        digests.add(str(written(release.frame)))
    assert len(digests) == 1


def written(frame) -> list[list[str]]:
    columns = frame.to_dict("list") if isinstance(frame, pd.DataFrame) else None
    if columns is None:
        columns = (
            frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)
        )
    return [[name, *(plain(value) for value in values)] for name, values in columns.items()]


def plain(value) -> str:
    if value is None or value != value or value is pd.NA or value is pd.NaT:
        return "missing"
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return f"{float(value):.9g}"
    return str(value)[:10] if hasattr(value, "year") else str(value)


@every_method
def test_a_pandas_index_does_not_travel(method):
    frame = pd.DataFrame(mixed_columns()).set_index("patient", drop=False)
    release = protected(method, frame)
    assert release.frame.index.tolist() == list(range(len(release.frame)))
    assert release.frame.index.name is None


@every_method
def test_k_anonymous_methods_keep_their_k(method):
    release = protected(method)
    if release.verification.k is not None:
        quasi = [name for name in PUBLISHED[:-1] if name in release.frame.columns]
        smallest = release.frame.group_by(quasi).len()["len"].min()
        k = method.k if hasattr(method, "k") else method.privacy[0].k
        assert smallest >= k


@every_method
def test_progress_is_reported_and_can_stop_the_run(method):
    seen = []

    def note(fraction, message):
        assert 0 <= fraction <= 1
        assert message
        seen.append(fraction)

    frame = pl.DataFrame(mixed_columns())
    om.protect(frame, schema_for(method), method, 1, progress=note)
    assert seen
    assert seen[-1] == 1.0

    def stop(fraction, message):
        raise om.errors.CancelledError("stopped")

    with pytest.raises(om.errors.CancelledError):
        om.protect(frame, schema_for(method), method, 1, progress=stop)


def declared_parameters():
    for kind in METHODS.values():
        for parameter, constraint in constraints_of(kind).items():
            for wrong in constraint.wrong_values():
                name = f"{kind.name}-{parameter}-{type(wrong).__name__}"
                yield pytest.param(kind, parameter, wrong, id=name)


@pytest.mark.parametrize(("kind", "parameter", "wrong"), list(declared_parameters()))
def test_wrong_parameters_are_refused_by_name(kind, parameter, wrong):
    example = next(method for method in CASES if isinstance(method, kind))
    values = {one.name: getattr(example, one.name) for one in dataclasses.fields(example)}
    with pytest.raises(om.errors.ParameterError, match=f"^{parameter} must be "):
        kind(**{**values, parameter: wrong})
