"""ontomask: release microdata that keeps its meaning.

Everything public is reached from here; a name is imported only when it is first used, so that
`import ontomask` is quick and needs no optional package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontomask import errors as errors
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
    from ontomask.taxonomy.from_data import date_taxonomy as date_taxonomy
    from ontomask.taxonomy.from_data import interval_taxonomy as interval_taxonomy
    from ontomask.taxonomy.from_data import masking_taxonomy as masking_taxonomy
    from ontomask.taxonomy.from_data import nested_taxonomy as nested_taxonomy
    from ontomask.taxonomy.loading import load_taxonomy as load_taxonomy
    from ontomask.taxonomy.measures import measures as measures
    from ontomask.taxonomy.taxonomy import Taxonomy as Taxonomy
    from ontomask.taxonomy.terms import Mapping as Mapping

__version__ = "0.1.0.dev0"

_HOMES = {
    "date_taxonomy": "taxonomy.from_data",
    "interval_taxonomy": "taxonomy.from_data",
    "load_taxonomy": "taxonomy.loading",
    "Mapping": "taxonomy.terms",
    "marginality": "semantics.marginality",
    "masking_taxonomy": "taxonomy.from_data",
    "measures": "taxonomy.measures",
    "nested_taxonomy": "taxonomy.from_data",
    "nominal_covariance": "semantics.marginality",
    "nominal_mean": "semantics.marginality",
    "nominal_variance": "semantics.marginality",
    "s_distance": "semantics.marginality",
    "Sample": "semantics.sample",
    "semantic_correlation": "semantics.dependence",
    "semantic_covariance": "semantics.dependence",
    "semantic_mean": "semantics.dependence",
    "semantic_variance": "semantics.dependence",
    "taxonomies": "taxonomy.bundled",
    "Taxonomy": "taxonomy.taxonomy",
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
