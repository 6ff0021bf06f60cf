"""One HTML file from an account: no script, no request, the same bytes for the same account."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ontomask.evaluation.evaluation import DEFINITIONS
from ontomask.report import figures, grids, losses, sentences
from ontomask.report.charts import Chart
from ontomask.report.discretion import Discretion, internal_plan, public_plan
from ontomask.report.drawing import draw
from ontomask.report.facts import UNCHANGED, Account, Pairs
from ontomask.report.figures import Figure
from ontomask.report.words import grouped, step, terse_percent

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["drawing", "environment", "render"]

CODE = re.compile(r"`([^`]+)`")
ORIGINAL = ("input", "original")
"""What runs and evaluations call the table that is kept from the reader."""


@dataclass(frozen=True)
class Drawn:
    """A figure with its drawing; None where there was not enough memory for one."""

    figure: Figure
    svg: Markup | None


def render(account: Account, *, internal: bool = False) -> str:
    """Write the report of a release as one HTML text.

    Parameters
    ----------
    account
        What `gather` collected.
    internal
        Add exact counts, rare values, the seed and timings, and mark every page as internal. By
        default nothing in the report stems from fewer original records than the account's
        threshold, and it may be published with the release.
    """
    discretion = Discretion(account.threshold, internal)
    template = environment().get_template("report.html")
    return template.render(_content(account, discretion))


def _content(account: Account, discretion: Discretion) -> dict[str, Any]:
    """Everything that the template names."""
    records = account.records
    charts = [figures.distribution(one, discretion, records) for one in account.columns]
    shown = [one for one in charts if one is not None]
    return {
        "account": account,
        "internal": discretion.internal,
        "threshold": discretion.threshold,
        "step": f"{step(discretion.threshold, account.records):.0%}",
        "headline": sentences.headline(account, discretion),
        "badges": sentences.badges(account, discretion),
        "promised": sentences.promised(account),
        "kept": sentences.kept(account, discretion),
        "lost": losses.lost(account, discretion),
        "combines": losses.combines(account),
        "risk": sentences.risk(account, discretion),
        "beyond": sentences.beyond(account),
        "two_risks": sentences.two_risks(account),
        "key_figures": _key_figures(account, discretion),
        "findings": grids.findings_grid(account, discretion),
        "limits": grids.limits_grid(account, discretion),
        "untold": any(one.exceeded is None for one in sentences.judged(account, discretion)),
        "risk_grid": grids.risk_grid(account, discretion),
        "sensitive": grids.sensitive_grid(account, discretion),
        "unsaid": _unsaid(account),
        "intervals": grids.intervals_grid(account, discretion),
        "sizes": grids.sizes_grid(account) if discretion.internal and account.quasi else None,
        "class_sizes": _drawn(figures.class_sizes(account, discretion), "sizes"),
        "linkage": _drawn(figures.linkage(account, discretion), "linkage"),
        "losses": _drawn(figures.column_losses(account, discretion), "losses"),
        "loss_grid": grids.loss_grid(account, discretion),
        "distributions": [_drawn(one, f"column-{place}") for place, one in enumerate(shown)],
        "uncharted": _uncharted(account, [one.title for one in shown]),
        "relations": _drawn(figures.relations(account, discretion), "relations"),
        "statistics": grids.statistics_grid(account, discretion),
        "classification": _drawn(figures.classification(account, discretion), "classification"),
        "columns": grids.columns_grid(account, discretion),
        "plan": _plan(account, discretion),
        "digests": _digests(account, discretion),
        "formulas": {name: grouped(text) for name, text in DEFINITIONS.items()},
    }


def _drawn(figure: Figure | None, name: str) -> Drawn | None:
    if figure is None:
        return None
    return Drawn(figure, drawing(figure.chart, name, figure.title, figure.text))


def drawing(chart: Chart, name: str, title: str, text: str) -> Markup | None:
    """A chart as part of a page; None where there is not enough memory. `name` is unique in it."""
    from markupsafe import Markup

    try:
        return Markup(draw(chart, f"chart-{name}", title, text))
    except MemoryError:
        return None


def _key_figures(account: Account, discretion: Discretion) -> list[tuple[str, str, str]]:
    """The few figures of the first screen: figure, what it is, what it was."""
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    shown = []
    if account.quasi:
        unique = terse_percent(after.uniques)
        was = discretion.of_groups(before, after).share(before.uniques, account.records)
        whom = "record" if after.persons is None else "person"
        records = whom if after.smallest_class == 1 else f"{whom}s"
        shown += [
            (f"{after.smallest_class:,}", f"{records} in the smallest group", ""),
            ("0" if after.uniques == 0 else unique, f"unique {whom}s", f"before: {was}"),
        ]
    if account.evaluation.unchanged.columns:
        alone = terse_percent(account.evaluation.unchanged.alone)
        shown.append((alone, "of records alone by unchanged columns", _limit_of_unchanged(account)))
    if account.evaluation.linkage:
        linked = terse_percent(account.evaluation.risk)
        was = sentences.linked_before(account, discretion)[1]
        shown.append((linked, "of records linked correctly", f"before: {was}"))
    if discretion.internal or not account.few_changed:
        lost = terse_percent(losses.measured_loss(account, discretion).loss, 1)
        shown.append((lost, "information loss", "average over columns; see below"))
    return shown


def _limit_of_unchanged(account: Account) -> str:
    allowed = [one.allowed for one in account.limits if one.name == UNCHANGED]
    return f"the plan allows {100 * allowed[0]:g}%" if allowed else "the plan sets no limit"


def _unsaid(account: Account) -> str:
    """The sign for figures that would say nothing, if it is used and needs to be explained."""
    used = any(one.scattered and one.role == "sensitive" for one in account.columns)
    return grids.UNSAID if used else ""


def _uncharted(account: Account, titles: list[str]) -> tuple[str, ...]:
    """Columns that deserve a chart but have too little, or too much company, to show one."""
    return tuple(one.name for one in account.columns if one.name not in titles)


def _digests(account: Account, discretion: Discretion) -> Pairs:
    """Digests of what the reader has; with that of the original a guess of it could be proven."""
    return tuple(
        (name, digest)
        for name, digest in account.digests.items()
        if discretion.internal or name not in ORIGINAL
    )


def _plan(account: Account, discretion: Discretion) -> str:
    if account.plan is None:
        return ""
    if discretion.internal:
        return internal_plan(account.plan)
    named = [*account.published, *(name for name, _ in account.removed)]
    return public_plan(account.plan, named)


@functools.cache
def environment() -> Environment:
    """What fills the templates of pages."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ontomask.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _coded
    return environment


def _coded(text: str) -> Markup:
    """Text with what stands in backticks as code."""
    from markupsafe import Markup, escape

    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))
