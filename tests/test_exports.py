"""The public names are a promise: a change of this list is a change of the interface."""

import subprocess
import sys

import ontomask as om
from ontomask import errors

PUBLIC = [
    "Ambiguity",
    "AverageClassSize",
    "AverageRisk",
    "BetaLikeness",
    "Checked",
    "Classification",
    "Comparison",
    "Count",
    "Crosswalk",
    "Date",
    "DeltaDisclosure",
    "DeltaPresence",
    "Discernibility",
    "DropColumns",
    "EntropyLoss",
    "EstimatedKMap",
    "Evaluation",
    "FileFormat",
    "Flat",
    "Generalization",
    "Height",
    "Hierarchy",
    "Hybrid",
    "Identifier",
    "KAnonymity",
    "KLDivergence",
    "KMap",
    "LDiversity",
    "LocalSuppression",
    "Loss",
    "Mapping",
    "Microaggregation",
    "NoAttack",
    "Noise",
    "Nominal",
    "NonUniformEntropy",
    "Numeric",
    "Ordinal",
    "Outcome",
    "Plan",
    "PopulationNoAttack",
    "PopulationProfitability",
    "PopulationUniques",
    "Pram",
    "Precision",
    "PrivateGeneralization",
    "Profitability",
    "Pseudonyms",
    "RankSwapping",
    "Recoding",
    "Recommendation",
    "RecordsAtRisk",
    "Release",
    "Resampling",
    "Rounding",
    "Rule",
    "Sample",
    "SampleUniqueness",
    "Sampling",
    "Schema",
    "Semantic",
    "Shuffling",
    "Suppression",
    "TCloseness",
    "Taxonomy",
    "TopBottomCoding",
    "Weight",
    "__version__",
    "check",
    "compare",
    "cut_hierarchy",
    "date_hierarchy",
    "date_taxonomy",
    "discharges",
    "errors",
    "evaluate",
    "explore",
    "file_risk",
    "frequency_hierarchy",
    "interval_disclosure",
    "interval_hierarchy",
    "interval_taxonomy",
    "judge_classification",
    "load_crosswalk",
    "load_taxonomy",
    "marginality",
    "masking_hierarchy",
    "masking_taxonomy",
    "measures",
    "minimal_unique_sets",
    "nested_taxonomy",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "order_hierarchy",
    "partition_distance",
    "plan_schema",
    "population_uniqueness",
    "preset",
    "presets",
    "protect",
    "read_file",
    "recommend",
    "record_linkage",
    "s_distance",
    "semantic_correlation",
    "semantic_covariance",
    "semantic_mean",
    "semantic_variance",
    "suggest_quasi_identifiers",
    "taxonomies",
    "write_file",
]


def test_public_names_are_pinned():
    assert sorted(om.__all__) == PUBLIC
    assert dir(om) == PUBLIC
    assert all(getattr(om, name) is not None for name in PUBLIC)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(om, "pickle")


def test_the_error_tree_in_the_docstring_is_complete():
    for name in errors.__all__:
        assert name in (errors.__doc__ or "")
        assert issubclass(getattr(errors, name), (errors.OntomaskError, errors.OntomaskWarning))


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
