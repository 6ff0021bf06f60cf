"""Many releases side by side as one HTML file: loss and risk as a picture, and all figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ontomask.errors import MethodError
from ontomask.report.charts import Dot, Scatter, scatter_chart
from ontomask.report.document import drawing, environment
from ontomask.report.figures import Grid
from ontomask.report.scatter import swatch
from ontomask.report.words import listing, plural, terse_percent

if TYPE_CHECKING:
    from ontomask.comparison import Cell, Comparison

__all__ = ["described", "picture", "render_comparison"]

TITLES = ("information loss, %", "records linked correctly, %")
PLACES = ("desk", "phone")
"""Where the page is read; each has a picture of its own width, of which one is seen."""
NAMED = 8
"""How many releases a description of the picture names."""


def render_comparison(
    comparison: Comparison, *, title: str = "", max_risk: float | None = None
) -> str:
    """Write a comparison as one HTML text.

    Parameters
    ----------
    comparison
        What `compare` found.
    title
        What to call the table.
    max_risk
        A linkage that is not to be exceeded.
    """
    cells = comparison.means()
    failed = [cell for cell in cells if cell.error]
    content: dict[str, Any] = {
        "title": title,
        "subtitle": ", ".join(_extent(comparison)),
        **drawn(comparison, max_risk),
        "recommended": _recommended(comparison, max_risk),
        "target": comparison.target,
        "before": _before(comparison),
        "grid": _grid(comparison),
        "failed": Grid(("release", "why"), tuple((one.title, one.error) for one in failed), False),
        "max_risk": max_risk,
    }
    return environment().get_template("comparison.html").render(content)


def _extent(comparison: Comparison) -> Iterator[str]:
    """How much was compared, in words."""
    if comparison.records:
        yield plural(comparison.records, "record")
    names = dict.fromkeys(cell.method for cell in comparison.cells)
    yield plural(len(names), "method")
    sizes = sorted({cell.k for cell in comparison.cells if cell.k is not None})
    if sizes:
        yield f"k = {listing([str(one) for one in sizes])}"
    seeds = len({cell.seed for cell in comparison.cells})
    if seeds > 1:
        yield f"averages over {seeds} seeds"


# The picture ----------------------------------------------------------------------------------


def _made(comparison: Comparison) -> list[Cell]:
    """The releases that were made, with both their numbers."""
    return [one for one in comparison.means() if one.loss is not None and one.risk is not None]


def drawn(comparison: Comparison, max_risk: float | None = None) -> dict[str, Any]:
    """The picture as it is drawn for each width, and a legend of colors and shapes."""
    charts = {name: picture(comparison, max_risk, wide=name == "desk") for name in PLACES}
    words = ("Loss and risk", described(comparison))
    return {
        "pictures": {name: drawing(chart, name, *words) for name, chart in charts.items()},
        "legend": [(name, swatch(place)) for place, name in enumerate(charts["desk"].series)],
    }


def picture(comparison: Comparison, max_risk: float | None = None, *, wide: bool = True) -> Scatter:
    """Loss across and risk up, with the frontier of what no other release beats in both."""
    best = {(cell.method, cell.k) for cell in comparison.frontier()}
    dots = [
        Dot(
            cell.method,
            "" if cell.k is None else str(cell.k),
            f"{cell.title}: {_two(cell)}",
            100.0 * (cell.loss or 0.0),
            100.0 * (cell.risk or 0.0),
            (cell.method, cell.k) in best,
        )
        for cell in _made(comparison)
    ]
    line = None if max_risk is None else 100.0 * max_risk
    return scatter_chart(dots, TITLES, line=line, wide=wide)


def _two(cell: Cell) -> str:
    assert cell.loss is not None
    assert cell.risk is not None
    return f"loss {terse_percent(cell.loss, 2)}, linkage {terse_percent(cell.risk, 2)}"


def described(comparison: Comparison) -> str:
    """What is to be seen in the picture."""
    count = plural(len(_made(comparison)), "release")
    named = [f"{cell.title} ({_two(cell)})" for cell in comparison.frontier()]
    beaten = f" None beats these in both: {listing(named, NAMED)}." if named else ""
    return f"Information loss across and record linkage up, of {count}.{beaten}"


# Words and figures ----------------------------------------------------------------------------


def _recommended(comparison: Comparison, max_risk: float | None) -> str:
    if max_risk is None:
        return ""
    try:
        best = comparison.best(max_risk)
    except MethodError as error:
        return str(error)
    return (
        f"Least loss with at most {100 * max_risk:g}% of the records linked: {best.title} "
        f"({_two(best)})."
    )


def _before(comparison: Comparison) -> str:
    """What the accuracy of the releases is to be compared with."""
    for cell in comparison.cells:
        if cell.accuracy_before is not None and cell.baseline is not None:
            return (
                f"From the original it is {terse_percent(cell.accuracy_before, 1)}, and "
                f"{terse_percent(cell.baseline, 1)} for always the most frequent value."
            )
    return ""


def _grid(comparison: Comparison) -> Grid:
    """All figures of the releases that were made, in the order of the comparison."""
    best = {(cell.method, cell.k) for cell in comparison.frontier()}
    accuracy = ("accuracy %",) if comparison.target else ()
    head = ("release", "frontier", "loss %", "linkage %", "exact match %", "score %", *accuracy)
    rows = tuple(
        (
            cell.title,
            "●" if (cell.method, cell.k) in best else "",
            *(_share(one) for one in (cell.loss, cell.risk, cell.matching_risk, cell.score)),
            *(_share(cell.accuracy) for _ in accuracy),
            _number(cell.suppressed, 0),
            _number(cell.stars, 0),
            _number(cell.seconds),
        )
        for cell in _made(comparison)
    )
    return Grid((*head, "suppressed", "stars", "seconds"), rows)


def _share(value: float | None) -> str:
    return _number(None if value is None else 100.0 * value)


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
