"""What was lost and what is still at risk, asked of two tables of any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw

from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.engines.files import opened_paths
from ontomask.engines.libraries import LazyPolars, Library, library_of
from ontomask.engines.pairing import pairs_of
from ontomask.errors import DataError
from ontomask.evaluation.evaluation import Evaluation, Settings, evaluate_paired
from ontomask.evaluation.pairing import pair_tables

__all__ = ["evaluate"]


def evaluate(
    original: object,
    masked: object,
    schema: Schema,
    *,
    columns: Sequence[str] | None = None,
    distances: Sequence[str] = ("semantic", "matching"),
    k: int | None = None,
    threshold: float = 0.2,
    subdomains: int = 0,
    fraction: float = 0.1,
    clustering: bool = False,
    alpha: float = 0.5,
    seed: int = 0,
    hierarchies: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Evaluation:
    """Compare an original and a masked table, record by record.

    Parameters
    ----------
    original, masked
        Tables with corresponding records; the masked one may come from any tool. Both may be
        larger than memory, or the paths of files, as in `protect`: the pairs of combinations are
        then counted, so figures are exact.
    schema
        What the columns are.
    columns
        Columns whose loss is measured: quasi-identifiers and changed ones by default; of tables
        that may be larger than memory quasi-identifiers and sensitive columns.
    distances
        How an intruder may link: `semantic`, `matching`, `s-distance`, `euclidean`.
    k
        For the class size relative to k.
    threshold
        Records whose risk 1 / class size is above it are counted.
    subdomains, fraction
        Also compare the statistics on so many random subsamples of that size.
    clustering
        Also compare Ward clusterings before and after.
    alpha
        The weight of loss against risk in the score.
    seed
        For the random subsamples.
    hierarchies
        For columns with labels that stand for several values their hierarchies, as
        `Generalization` takes them; intervals, periods, stars and concepts are read without.
    key
        A column of both tables that tells which records correspond, and the masked one may lack
        some; by default they are in the same order.

    Examples
    --------
    >>> original = pl.DataFrame({"age": [30, 40, 50, 60]})
    >>> masked = pl.DataFrame({"age": [35, 35, 55, 55]})
    >>> evaluation = om.evaluate(original, masked, om.Schema(age=om.Numeric()))
    >>> evaluation.risk_before.smallest_class, evaluation.risk_after.smallest_class
    (1, 2)
    >>> evaluation.risk  # the share of records that an intruder links correctly
    0.5
    """
    settings = Settings(
        columns, distances, k, threshold, subdomains, fraction, clustering, alpha, seed
    )
    Schema.require(schema)
    kinds = {name: one.kind for name, one in schema.items()}
    before, after = opened_paths([original, masked], kinds)
    library = library_of(before) or library_of(after) or (None if key is None else LazyPolars())
    if library is None:
        return evaluate_paired(
            pair_tables(before, after, schema, hierarchies=hierarchies), settings
        )
    first, second = _of_one_kind(before, after, library)
    chosen = [*schema.quasi, *schema.with_role("sensitive"), *(columns or ())]
    pairs = pairs_of(first, second, schema, list(dict.fromkeys(chosen)), key, library)
    paired = pair_tables(
        pairs.before, pairs.after, pairs.schema, rows=pairs.rows, hierarchies=hierarchies
    )
    return replace(evaluate_paired(paired, settings), unchanged=pairs.unchanged)


def _of_one_kind(before: Any, after: Any, library: Library) -> Iterator[Any]:
    """Both tables where one library holds them; a frame in memory is brought there."""
    large = before if library_of(before) else after
    for one in (before, after):
        own = library_of(one)
        if own is None:
            frame: nw.DataFrame[Any] = open_table(one).frame
            yield library.lent(frame.to_polars(), large)
        elif own != library:
            raise DataError(
                f"The original and the masked table are of different kinds ({library.name} and "
                f"{own.name}), so nothing can put them side by side; open both with one of them."
            )
        else:
            yield one
