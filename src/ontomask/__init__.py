"""ontomask: release microdata that keeps its meaning.

Everything public is reached from here; a name is imported only when it is first used, so that
`import ontomask` is quick and needs no optional package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontomask import errors as errors
    from ontomask.checking import Checked as Checked
    from ontomask.checking import check as check
    from ontomask.comparison import Comparison as Comparison
    from ontomask.comparison import compare as compare
    from ontomask.comparison import judge_classification as judge_classification
    from ontomask.data.files.formats import FileFormat as FileFormat
    from ontomask.data.files.reading import read_file as read_file
    from ontomask.data.files.writing import write_file as write_file
    from ontomask.data.rules import Rule as Rule
    from ontomask.data.schema import Count as Count
    from ontomask.data.schema import Date as Date
    from ontomask.data.schema import Flat as Flat
    from ontomask.data.schema import Identifier as Identifier
    from ontomask.data.schema import Nominal as Nominal
    from ontomask.data.schema import Numeric as Numeric
    from ontomask.data.schema import Ordinal as Ordinal
    from ontomask.data.schema import Schema as Schema
    from ontomask.data.schema import Weight as Weight
    from ontomask.engines.measuring import file_risk as file_risk
    from ontomask.engines.measuring import minimal_unique_sets as minimal_unique_sets
    from ontomask.engines.release import protect as protect
    from ontomask.evaluation.clustering import partition_distance as partition_distance
    from ontomask.evaluation.evaluation import Evaluation as Evaluation
    from ontomask.evaluation.evaluation import evaluate as evaluate
    from ontomask.evaluation.linkage import record_linkage as record_linkage
    from ontomask.evaluation.risk import interval_disclosure as interval_disclosure
    from ontomask.evaluation.suggestion import (
        suggest_quasi_identifiers as suggest_quasi_identifiers,
    )
    from ontomask.methods.columns import DropColumns as DropColumns
    from ontomask.methods.columns import Pseudonyms as Pseudonyms
    from ontomask.methods.generalization.exploration import explore as explore
    from ontomask.methods.generalization.method import Generalization as Generalization
    from ontomask.methods.generalization.private import (
        PrivateGeneralization as PrivateGeneralization,
    )
    from ontomask.methods.hybrid import Hybrid as Hybrid
    from ontomask.methods.microaggregation import Microaggregation as Microaggregation
    from ontomask.methods.perturbation import Noise as Noise
    from ontomask.methods.perturbation import Rounding as Rounding
    from ontomask.methods.perturbation import Sampling as Sampling
    from ontomask.methods.perturbation import TopBottomCoding as TopBottomCoding
    from ontomask.methods.pram import Pram as Pram
    from ontomask.methods.presets import preset as preset
    from ontomask.methods.presets import presets as presets
    from ontomask.methods.rank_swapping import RankSwapping as RankSwapping
    from ontomask.methods.recoding import Recoding as Recoding
    from ontomask.methods.resampling import Resampling as Resampling
    from ontomask.methods.shuffling import Shuffling as Shuffling
    from ontomask.methods.suppression import LocalSuppression as LocalSuppression
    from ontomask.methods.suppression import Suppression as Suppression
    from ontomask.plan.execution import Outcome as Outcome
    from ontomask.plan.plan import Plan as Plan
    from ontomask.plan.schema import plan_schema as plan_schema
    from ontomask.population import population_uniqueness as population_uniqueness
    from ontomask.privacy import AverageRisk as AverageRisk
    from ontomask.privacy import BetaLikeness as BetaLikeness
    from ontomask.privacy import DeltaDisclosure as DeltaDisclosure
    from ontomask.privacy import DeltaPresence as DeltaPresence
    from ontomask.privacy import EstimatedKMap as EstimatedKMap
    from ontomask.privacy import KAnonymity as KAnonymity
    from ontomask.privacy import KMap as KMap
    from ontomask.privacy import LDiversity as LDiversity
    from ontomask.privacy import NoAttack as NoAttack
    from ontomask.privacy import PopulationNoAttack as PopulationNoAttack
    from ontomask.privacy import PopulationProfitability as PopulationProfitability
    from ontomask.privacy import PopulationUniques as PopulationUniques
    from ontomask.privacy import Profitability as Profitability
    from ontomask.privacy import RecordsAtRisk as RecordsAtRisk
    from ontomask.privacy import SampleUniqueness as SampleUniqueness
    from ontomask.privacy import TCloseness as TCloseness
    from ontomask.quality import Ambiguity as Ambiguity
    from ontomask.quality import AverageClassSize as AverageClassSize
    from ontomask.quality import Classification as Classification
    from ontomask.quality import Discernibility as Discernibility
    from ontomask.quality import EntropyLoss as EntropyLoss
    from ontomask.quality import Height as Height
    from ontomask.quality import KLDivergence as KLDivergence
    from ontomask.quality import Loss as Loss
    from ontomask.quality import NonUniformEntropy as NonUniformEntropy
    from ontomask.quality import Precision as Precision
    from ontomask.quality import Semantic as Semantic
    from ontomask.recommendation import Recommendation as Recommendation
    from ontomask.recommendation import recommend as recommend
    from ontomask.release import Release as Release
    from ontomask.samples import discharges as discharges
    from ontomask.semantics.dependence import semantic_correlation as semantic_correlation
    from ontomask.semantics.dependence import semantic_covariance as semantic_covariance
    from ontomask.semantics.dependence import semantic_mean as semantic_mean
    from ontomask.semantics.dependence import semantic_variance as semantic_variance
    from ontomask.semantics.marginality import marginality as marginality
    from ontomask.semantics.marginality import nominal_covariance as nominal_covariance
    from ontomask.semantics.marginality import nominal_mean as nominal_mean
    from ontomask.semantics.marginality import nominal_variance as nominal_variance
    from ontomask.semantics.marginality import s_distance as s_distance
    from ontomask.semantics.sample import Sample as Sample
    from ontomask.taxonomy.bundled import taxonomies as taxonomies
    from ontomask.taxonomy.crosswalks import Crosswalk as Crosswalk
    from ontomask.taxonomy.crosswalks import load_crosswalk as load_crosswalk
    from ontomask.taxonomy.from_data import cut_hierarchy as cut_hierarchy
    from ontomask.taxonomy.from_data import date_hierarchy as date_hierarchy
    from ontomask.taxonomy.from_data import date_taxonomy as date_taxonomy
    from ontomask.taxonomy.from_data import frequency_hierarchy as frequency_hierarchy
    from ontomask.taxonomy.from_data import interval_hierarchy as interval_hierarchy
    from ontomask.taxonomy.from_data import interval_taxonomy as interval_taxonomy
    from ontomask.taxonomy.from_data import masking_hierarchy as masking_hierarchy
    from ontomask.taxonomy.from_data import masking_taxonomy as masking_taxonomy
    from ontomask.taxonomy.from_data import nested_taxonomy as nested_taxonomy
    from ontomask.taxonomy.from_data import order_hierarchy as order_hierarchy
    from ontomask.taxonomy.hierarchies import Hierarchy as Hierarchy
    from ontomask.taxonomy.loading import load_taxonomy as load_taxonomy
    from ontomask.taxonomy.mapping import Mapping as Mapping
    from ontomask.taxonomy.measures import measures as measures
    from ontomask.taxonomy.taxonomy import Taxonomy as Taxonomy

__version__ = "0.1.0.dev0"

_HOMES = {
    "Ambiguity": "quality",
    "AverageClassSize": "quality",
    "AverageRisk": "privacy",
    "BetaLikeness": "privacy",
    "check": "checking",
    "Checked": "checking",
    "Classification": "quality",
    "compare": "comparison",
    "Comparison": "comparison",
    "Count": "data.schema",
    "Crosswalk": "taxonomy.crosswalks",
    "Date": "data.schema",
    "cut_hierarchy": "taxonomy.from_data",
    "date_hierarchy": "taxonomy.from_data",
    "date_taxonomy": "taxonomy.from_data",
    "DeltaDisclosure": "privacy",
    "DeltaPresence": "privacy",
    "Discernibility": "quality",
    "discharges": "samples",
    "DropColumns": "methods.columns",
    "EntropyLoss": "quality",
    "evaluate": "evaluation.evaluation",
    "Evaluation": "evaluation.evaluation",
    "explore": "methods.generalization.exploration",
    "file_risk": "engines.measuring",
    "FileFormat": "data.files.formats",
    "Flat": "data.schema",
    "frequency_hierarchy": "taxonomy.from_data",
    "Generalization": "methods.generalization.method",
    "PrivateGeneralization": "methods.generalization.private",
    "Height": "quality",
    "Hierarchy": "taxonomy.hierarchies",
    "Hybrid": "methods.hybrid",
    "Identifier": "data.schema",
    "Rule": "data.rules",
    "interval_disclosure": "evaluation.risk",
    "interval_hierarchy": "taxonomy.from_data",
    "interval_taxonomy": "taxonomy.from_data",
    "judge_classification": "comparison",
    "KAnonymity": "privacy",
    "KLDivergence": "quality",
    "KMap": "privacy",
    "RecordsAtRisk": "privacy",
    "PopulationUniques": "privacy",
    "PopulationNoAttack": "privacy",
    "PopulationProfitability": "privacy",
    "Profitability": "privacy",
    "NoAttack": "privacy",
    "EstimatedKMap": "privacy",
    "LDiversity": "privacy",
    "load_crosswalk": "taxonomy.crosswalks",
    "load_taxonomy": "taxonomy.loading",
    "LocalSuppression": "methods.suppression",
    "Loss": "quality",
    "Mapping": "taxonomy.mapping",
    "marginality": "semantics.marginality",
    "masking_hierarchy": "taxonomy.from_data",
    "masking_taxonomy": "taxonomy.from_data",
    "measures": "taxonomy.measures",
    "Microaggregation": "methods.microaggregation",
    "minimal_unique_sets": "engines.measuring",
    "nested_taxonomy": "taxonomy.from_data",
    "Noise": "methods.perturbation",
    "Nominal": "data.schema",
    "nominal_covariance": "semantics.marginality",
    "nominal_mean": "semantics.marginality",
    "nominal_variance": "semantics.marginality",
    "NonUniformEntropy": "quality",
    "Numeric": "data.schema",
    "order_hierarchy": "taxonomy.from_data",
    "Ordinal": "data.schema",
    "Outcome": "plan.execution",
    "partition_distance": "evaluation.clustering",
    "Plan": "plan.plan",
    "plan_schema": "plan.schema",
    "population_uniqueness": "population",
    "Pram": "methods.pram",
    "Precision": "quality",
    "preset": "methods.presets",
    "presets": "methods.presets",
    "protect": "engines.release",
    "Pseudonyms": "methods.columns",
    "RankSwapping": "methods.rank_swapping",
    "read_file": "data.files.reading",
    "Recoding": "methods.recoding",
    "recommend": "recommendation",
    "Recommendation": "recommendation",
    "record_linkage": "evaluation.linkage",
    "Release": "release",
    "Resampling": "methods.resampling",
    "Rounding": "methods.perturbation",
    "s_distance": "semantics.marginality",
    "Sample": "semantics.sample",
    "SampleUniqueness": "privacy",
    "Sampling": "methods.perturbation",
    "Schema": "data.schema",
    "Semantic": "quality",
    "semantic_correlation": "semantics.dependence",
    "semantic_covariance": "semantics.dependence",
    "semantic_mean": "semantics.dependence",
    "semantic_variance": "semantics.dependence",
    "Shuffling": "methods.shuffling",
    "suggest_quasi_identifiers": "evaluation.suggestion",
    "Suppression": "methods.suppression",
    "taxonomies": "taxonomy.bundled",
    "Taxonomy": "taxonomy.taxonomy",
    "TCloseness": "privacy",
    "TopBottomCoding": "methods.perturbation",
    "Weight": "data.schema",
    "write_file": "data.files.writing",
}

__all__ = ["__version__", "errors", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("ontomask.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'ontomask' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ontomask.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
