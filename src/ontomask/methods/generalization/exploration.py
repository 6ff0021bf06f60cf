"""Every node of a lattice with all its figures, for a table of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from ontomask.data.encoding import encode
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.methods.base import Progress, silent
from ontomask.methods.generalization.encoding import encode_columns, make_problem
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.generalization.search import NodeTable, exhaustive
from ontomask.quality import Quality, quality_model

__all__ = ["explore"]


def explore(
    frame: object,
    schema: Schema,
    method: Generalization,
    qualities: Sequence[str | Quality] = (),
    *,
    progress: Progress = silent,
) -> NodeTable:
    """Evaluate every combination of levels: is it valid, how many classes, what is lost.

    Parameters
    ----------
    frame, schema
        The table, as for `protect`.
    method
        The generalization: its privacy models, limit and hierarchies are used, not its search.
    qualities
        Quality models to compute, by name or with parameters; the method's own by default.
    """
    models = [quality_model(one) for one in (qualities or (method.quality,))]
    microdata = encode(open_table(frame), schema)
    columns = encode_columns(microdata, method.hierarchies, levels_by=method.levels_by)
    leading = next((one for one in models if one.targets), models[0])
    problem = make_problem(
        microdata, columns, method.privacy, leading, method.hierarchies, method.population
    )

    def report(checked: int, _pruned: int, total: int) -> None:
        progress(min(1.0, checked / total), f"{checked} of {total} nodes")

    named = {model.name: model for model in models}
    return exhaustive(problem, method.privacy, method.suppression_limit, named, report=report)
