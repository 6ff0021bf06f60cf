"""What is known about values: hierarchies made from them, terms, codes of other vocabularies."""

from ontomask.taxonomy.crosswalks import Crosswalk, load_crosswalk
from ontomask.taxonomy.from_data import (
    date_hierarchy,
    date_taxonomy,
    frequency_hierarchy,
    masking_hierarchy,
    masking_taxonomy,
    nested_taxonomy,
    order_hierarchy,
)
from ontomask.taxonomy.from_numbers import cut_hierarchy, interval_hierarchy, interval_taxonomy
from ontomask.taxonomy.mapping import Mapping
from ontomask.taxonomy.measures import measures

__all__ = [
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
]
