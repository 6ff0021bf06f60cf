"""Every node of a lattice with all its figures, for a table of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

from ontomask.checks import AnyOf, Integer, Null, check
from ontomask.data.encoding import encode
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.methods.base import Progress, silent
from ontomask.methods.generalization.best_effort import visited
from ontomask.methods.generalization.encoding import encode_columns, make_problem, people_of
from ontomask.methods.generalization.lattice import Lattice
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
    most: int | None = None,
    progress: Progress = silent,
) -> NodeTable:
    """Evaluate combinations of levels: are they valid, how many classes, what is lost.

    Parameters
    ----------
    frame, schema
        The table, as for `protect`.
    method
        The generalization: its privacy models, limit and hierarchies are used, not its search.
    qualities
        Quality models to compute, by name or with parameters; the method's own by default. Models
        that share a name are told apart by their parameters, as in `loss(factor=0.1)`.
    most
        Of a lattice with more nodes than this only so many are looked at, those that a best-effort
        search visits; all by default.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [31, 36, 32, 38]})
    >>> rules = {"sex": [["f", "*"], ["m", "*"]], "age": {"intervals": [10]}}
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], hierarchies=rules)
    >>> schema = om.Schema(sex=om.Flat(), age=om.Numeric())
    >>> nodes = om.measuring.explore(frame, schema, method, ["loss"])
    >>> len(nodes), nodes.names
    (6, ('sex', 'age'))
    >>> nodes.levels[nodes.valid].tolist()
    [[0, 1], [0, 2], [1, 1], [1, 2]]
    """
    check("most", most, AnyOf(Integer(1), Null()))
    models = [quality_model(one) for one in (qualities or (method.quality,))]
    microdata = encode(open_table(frame), schema)
    people = people_of(method.population, microdata)
    columns = encode_columns(
        microdata, method.hierarchies, levels_by=method.levels_by, people=people
    )
    targets = [name for one in models for name in one.targets]
    problem = make_problem(microdata, columns, method.models, targets, method.hierarchies, people)

    size = Lattice(problem.heights).size
    shown = size if most is None else min(most, size)

    asked = problem, method.models, method.suppression_limit, _named(models)
    if shown < size:
        return visited(*asked, steps=shown, progress=progress)
    return exhaustive(*asked, progress=progress)


def _named(models: Sequence[Quality]) -> dict[str, Quality]:
    """Models by name; where several share one, with the parameters that are not the default."""
    often = Counter(model.name for model in models)
    return {one.name if often[one.name] == 1 else _described(one): one for one in models}


def _described(model: Quality) -> str:
    given = {one.name: getattr(model, one.name) for one in fields(model)}
    said = [
        f"{one.name}={given[one.name]!r}" for one in fields(model) if given[one.name] != one.default
    ]
    return f"{model.name}({', '.join(said)})" if said else model.name
