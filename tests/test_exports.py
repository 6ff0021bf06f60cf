"""The public names are a promise: a change of this list is a change of the interface."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask import errors
from public import PUBLIC, names_in

ROOT = [
    "Count",
    "Date",
    "DropColumns",
    "Flat",
    "Generalization",
    "Hierarchy",
    "Hybrid",
    "Identifier",
    "LocalSuppression",
    "Microaggregation",
    "Noise",
    "Nominal",
    "Numeric",
    "Ordinal",
    "Plan",
    "Pram",
    "PrivateGeneralization",
    "Pseudonyms",
    "RankSwapping",
    "Recoding",
    "Release",
    "Resampling",
    "Rounding",
    "Rule",
    "Sampling",
    "Schema",
    "Shuffling",
    "Suppression",
    "Taxonomy",
    "TopBottomCoding",
    "Weight",
    "__version__",
    "check",
    "compare",
    "discharges",
    "errors",
    "evaluate",
    "file_risk",
    "files",
    "knowledge",
    "load_taxonomy",
    "measuring",
    "preset",
    "presets",
    "privacy",
    "protect",
    "quality",
    "recommend",
    "results",
    "statistics",
    "taxonomies",
]
GROUPS = {
    "files": [
        "FileFormat",
        "read_file",
        "write_file",
    ],
    "knowledge": [
        "Crosswalk",
        "Mapping",
        "cut_hierarchy",
        "date_hierarchy",
        "date_taxonomy",
        "frequency_hierarchy",
        "interval_hierarchy",
        "interval_taxonomy",
        "load_crosswalk",
        "masking_hierarchy",
        "masking_taxonomy",
        "measures",
        "nested_taxonomy",
        "order_hierarchy",
    ],
    "measuring": [
        "explore",
        "interval_disclosure",
        "judge_classification",
        "minimal_unique_sets",
        "partition_distance",
        "population_uniqueness",
        "record_linkage",
        "suggest_quasi_identifiers",
    ],
    "privacy": [
        "AverageRisk",
        "BetaLikeness",
        "DeltaDisclosure",
        "DeltaPresence",
        "EstimatedKMap",
        "KAnonymity",
        "KMap",
        "LDiversity",
        "NoAttack",
        "PopulationNoAttack",
        "PopulationProfitability",
        "PopulationUniques",
        "Profitability",
        "RecordsAtRisk",
        "SampleUniqueness",
        "TCloseness",
    ],
    "quality": [
        "Ambiguity",
        "AverageClassSize",
        "Classification",
        "Discernibility",
        "EntropyLoss",
        "Height",
        "KLDivergence",
        "Loss",
        "NonUniformEntropy",
        "Precision",
        "Semantic",
    ],
    "results": [
        "Checked",
        "Comparison",
        "Evaluation",
        "Outcome",
        "Recommendation",
    ],
    "statistics": [
        "Sample",
        "marginality",
        "nominal_covariance",
        "nominal_mean",
        "nominal_variance",
        "s_distance",
        "semantic_correlation",
        "semantic_covariance",
        "semantic_mean",
        "semantic_variance",
    ],
}


def test_public_names_are_pinned():
    assert sorted(om.__all__) == dir(om) == ROOT
    assert {group: names_in(group) for group in om._GROUPS if group != "errors"} == GROUPS
    assert all(getattr(om, name) is not None for name in ROOT)


def test_a_name_has_one_place():
    grouped = [name for names in GROUPS.values() for name in names]
    assert len({*grouped, *ROOT}) == len(grouped) + len(ROOT)
    assert len([name for name in ROOT if name not in (*om._GROUPS, "__version__")]) <= 45


def test_an_editor_is_offered_nothing_internal():
    """What a module imports for itself is none of its names."""
    assert names_in("errors") == sorted(errors.__all__)
    for name, thing in PUBLIC.items():
        assert thing.__module__.startswith("ontomask."), name


def offered(thing):
    return [name for name in dir(thing) if not name.startswith("_")]


def test_objects_offer_what_users_ask_of_them():
    pets = om.Taxonomy.from_parents({"pet": [], "dog": ["pet"]})
    assert [one for one in offered(pets) if isinstance(getattr(pets, one), np.ndarray)] == []
    assert {"ancestors", "distances", "map"} <= {*offered(pets)}
    assert offered(om.privacy.KAnonymity(3)) == ["k", "name"]
    assert offered(om.Rounding(["a"], base=5)) == sorted(
        ["algorithm", "base", "columns", "keeps", "name", "strata"]
    )
    frame = pl.DataFrame({"age": [1, 2, 3, 4]})
    release = om.protect(frame, om.Schema(age=om.Numeric()), om.Microaggregation(2), seed=1)
    assert {"evaluate", "frame", "report"} <= {*offered(release)}
    assert not {"paired", "generator"} & {*offered(release)}


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(om, "pickle")


def test_the_error_tree_in_the_docstring_is_complete():
    for name in errors.__all__:
        assert name in (errors.__doc__ or "")
        assert issubclass(getattr(errors, name), (errors.OntomaskError, errors.OntomaskWarning))


@pytest.mark.parametrize(("group", "names"), GROUPS.items())
def test_a_name_that_is_not_at_the_root_is_told_where_it_is(group, names):
    for name in names:
        with pytest.raises(AttributeError, match=rf"it is om\.{group}\.{name}$"):
            getattr(om, name)


def test_names_that_are_nowhere_are_no_attributes():
    with pytest.raises(AttributeError, match=r"it is om\.Plan\.json_schema\(\)$"):
        _ = om.plan_schema
    for name in ("nonsense", "_ipython_display_"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(om, name)


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_is_quick_and_loads_nothing_heavy():
    code = """
import sys, time
start = time.perf_counter()
import ontomask
seconds = time.perf_counter() - start
heavy = {"numpy", "numba", "rdflib", "pandas", "polars", "rich", "typer"} & set(sys.modules)
print(f"{seconds:.3f}", *sorted(heavy))
"""
    seconds, *heavy = run(code).split()
    assert heavy == []
    assert float(seconds) < 0.3
