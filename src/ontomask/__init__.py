"""ontomask: release microdata that keeps its meaning.

What is typed every day is reached from here, the rest in one module for each theme: `errors`,
`files`, `knowledge`, `measuring`, `privacy`, `quality`, `results`, `statistics`. A name is imported
only when it is first used, so that `import ontomask` is quick and needs no optional package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontomask import errors as errors
    from ontomask import files as files
    from ontomask import knowledge as knowledge
    from ontomask import measuring as measuring
    from ontomask import privacy as privacy
    from ontomask import quality as quality
    from ontomask import results as results
    from ontomask import statistics as statistics
    from ontomask.checking import check as check
    from ontomask.comparison import compare as compare
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
    from ontomask.engines.evaluating import evaluate as evaluate
    from ontomask.engines.measuring import file_risk as file_risk
    from ontomask.engines.release import protect as protect
    from ontomask.methods.columns import DropColumns as DropColumns
    from ontomask.methods.columns import Pseudonyms as Pseudonyms
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
    from ontomask.plan.plan import Plan as Plan
    from ontomask.recommendation import recommend as recommend
    from ontomask.release import Release as Release
    from ontomask.samples import discharges as discharges
    from ontomask.taxonomy.bundled import taxonomies as taxonomies
    from ontomask.taxonomy.hierarchies import Hierarchy as Hierarchy
    from ontomask.taxonomy.loading import load_taxonomy as load_taxonomy
    from ontomask.taxonomy.taxonomy import Taxonomy as Taxonomy

__version__ = "0.1.0.dev0"

_GROUPS = (
    "errors",
    "files",
    "knowledge",
    "measuring",
    "privacy",
    "quality",
    "results",
    "statistics",
)
"""Modules with the names of a theme."""

_HOMES = {
    "Count": "data.schema",
    "Date": "data.schema",
    "DropColumns": "methods.columns",
    "Flat": "data.schema",
    "Generalization": "methods.generalization.method",
    "Hierarchy": "taxonomy.hierarchies",
    "Hybrid": "methods.hybrid",
    "Identifier": "data.schema",
    "LocalSuppression": "methods.suppression",
    "Microaggregation": "methods.microaggregation",
    "Noise": "methods.perturbation",
    "Nominal": "data.schema",
    "Numeric": "data.schema",
    "Ordinal": "data.schema",
    "Plan": "plan.plan",
    "Pram": "methods.pram",
    "PrivateGeneralization": "methods.generalization.private",
    "Pseudonyms": "methods.columns",
    "RankSwapping": "methods.rank_swapping",
    "Recoding": "methods.recoding",
    "Release": "release",
    "Resampling": "methods.resampling",
    "Rounding": "methods.perturbation",
    "Rule": "data.rules",
    "Sampling": "methods.perturbation",
    "Schema": "data.schema",
    "Shuffling": "methods.shuffling",
    "Suppression": "methods.suppression",
    "Taxonomy": "taxonomy.taxonomy",
    "TopBottomCoding": "methods.perturbation",
    "Weight": "data.schema",
    "check": "checking",
    "compare": "comparison",
    "discharges": "samples",
    "evaluate": "engines.evaluating",
    "file_risk": "engines.measuring",
    "load_taxonomy": "taxonomy.loading",
    "preset": "methods.presets",
    "presets": "methods.presets",
    "protect": "engines.release",
    "recommend": "recommendation",
    "taxonomies": "taxonomy.bundled",
}

__all__ = ["__version__", *_GROUPS, *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _GROUPS:
        return importlib.import_module(f"ontomask.{name}")
    if name not in _HOMES:
        raise _MissingError(name)
    value = getattr(importlib.import_module(f"ontomask.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


class _MissingError(AttributeError):
    """Looks where the name is only when a person is told: Python and tools ask for names, too."""

    def __str__(self) -> str:
        name = self.args[0]
        return f"module 'ontomask' has no attribute {name!r}{_moved(name)}"


def _moved(name: str) -> str:
    """Where a name is that people look for at the root."""
    if name == "plan_schema":
        return "; it is om.Plan.json_schema()"
    rooms = ((group, importlib.import_module(f"ontomask.{group}")) for group in _GROUPS)
    there = next((group for group, room in rooms if name in room.__all__), None)
    return f"; it is om.{there}.{name}" if there else ""


def __dir__() -> list[str]:
    return sorted(__all__)
