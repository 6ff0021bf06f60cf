"""Single figures of a table, or of a table and what became of it."""

from ontomask.comparison import judge_classification
from ontomask.engines.measuring import minimal_unique_sets
from ontomask.evaluation.clustering import partition_distance
from ontomask.evaluation.linkage import record_linkage
from ontomask.evaluation.risk import interval_disclosure
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.methods.generalization.exploration import explore
from ontomask.population import population_uniqueness

__all__ = [
    "explore",
    "interval_disclosure",
    "judge_classification",
    "minimal_unique_sets",
    "partition_distance",
    "population_uniqueness",
    "record_linkage",
    "suggest_quasi_identifiers",
]
