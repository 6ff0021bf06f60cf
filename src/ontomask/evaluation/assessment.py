"""The risk of a table as it is, asked of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ontomask.data.encoding import encode
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.evaluation import risk as rooms
from ontomask.evaluation import uniques
from ontomask.evaluation.risk import FileRisk
from ontomask.evaluation.uniques import UniqueSets

__all__ = ["file_risk", "minimal_unique_sets"]


def file_risk(
    frame: object,
    schema: Schema,
    columns: Sequence[str] | None = None,
    *,
    threshold: float = 0.2,
    fraction: float | None = None,
    population: object = None,
) -> FileRisk:
    """Measure the risk of a table in memory; the parameters are those of `ontomask.file_risk`."""
    microdata = encode(open_table(frame), schema)
    sizes = None
    if population is not None:
        names = tuple(columns) if columns is not None else microdata.quasi
        known = Schema.of({name: schema[name] for name in names})
        sizes = rooms.count_in_population(microdata, encode(open_table(population), known), names)
    return rooms.file_risk(
        microdata, columns, threshold=threshold, fraction=fraction, population_sizes=sizes
    )


def minimal_unique_sets(
    frame: object, schema: Schema, columns: Sequence[str] | None = None, max_size: int = 3
) -> UniqueSets:
    """Find which combinations of columns single records out; see `evaluation.uniques`."""
    microdata = replace(encode(open_table(frame), schema), units=None)
    return uniques.minimal_unique_sets(microdata, columns, max_size)
