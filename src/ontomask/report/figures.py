"""The report's charts with their words and the tables behind them; still not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ontomask.evaluation.structure import ClassRisk
from ontomask.report.charts import Chart, Mark, columns_chart, dumbbell_chart, pairs_chart
from ontomask.report.columns import ColumnFacts
from ontomask.report.discretion import Discretion
from ontomask.report.distributions import Bar
from ontomask.report.facts import Account
from ontomask.report.losses import UNSHOWN, correlations, hides_correlations, told_columns
from ontomask.report.sentences import linked_before
from ontomask.report.vega import vega_lite
from ontomask.report.words import listing, percent, plural, terse_percent

__all__ = [
    "Figure",
    "Grid",
    "class_sizes",
    "classification",
    "column_losses",
    "distribution",
    "linkage",
    "relations",
]

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
SHOWN = 12
"""How many rows a chart shows; its table has more."""
LISTED = 100
"""How many rows a table shows."""
FEW = "few"


@dataclass(frozen=True)
class Grid:
    """A table of texts; the first column names the row, the others are figures if `figures`."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: bool = True


@dataclass(frozen=True)
class Figure:
    """A chart with its words and the table behind it.

    Attributes
    ----------
    note
        A line under the title.
    text
        What the chart shows, for those who do not see it.
    sides
        Whether it compares before and after, and so needs a legend.
    detail
        A line for internal reports.
    """

    title: str
    note: str
    text: str
    chart: Chart
    grid: Grid
    sides: bool = True
    detail: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite dictionary."""
        return vega_lite(self.chart)


# Distributions --------------------------------------------------------------------------------

KINDS = {
    "numeric": "number",
    "date": "date",
    "flat": "category",
    "ordinal": "ordered category",
    "nominal": "nominal",
}
ROLES = {"quasi": "quasi-identifier", "sensitive": "sensitive", "other": "other"}


def distribution(column: ColumnFacts, discretion: Discretion, records: int) -> Figure | None:
    """A column of so many records before and after; None where there is too little to show."""
    found = column.distribution
    bars = discretion.bars(found) if found is not None else ()
    if found is None or not bars:
        return None
    chart = columns_chart if found.shape == "histogram" else pairs_chart
    ticks = found.shape == "histogram"
    marks = [_bar_mark(bar, bar.tick if ticks else bar.label, discretion) for bar in bars]
    if not column.changed:  # the same bars twice would say nothing more
        marks = [replace(mark, before=None, before_text="") for mark in marks]
    sides = "before and after masking" if column.changed else "which masking did not change"
    return Figure(
        column.name,
        _about(column, discretion, records),
        f"Share of records by {column.name}, {sides}, in "
        f"{plural(len(bars), 'group')}; the largest is {_largest(bars)}.",
        chart(marks),
        _bar_grid(column, bars, discretion),
        sides=column.changed > 0,
        detail=_rare_words(column) if discretion.internal else "",
    )


def _about(column: ColumnFacts, discretion: Discretion, records: int) -> str:
    kind = KINDS[column.kind] + (f", grouped by {column.taxonomy}" if column.taxonomy else "")
    share = discretion.share(column.changed, records)
    fate = f"{share} changed" if column.changed else "unchanged"
    ranges = " · ranges are drawn at their middle" if column.ranges else ""
    return f"{ROLES[column.role]} · {kind} · {fate}{ranges}"


def _bar_mark(bar: Bar, label: str, discretion: Discretion) -> Mark:
    before, after = discretion.drawn(bar.before), discretion.drawn(bar.after)
    return Mark(label, before, after, _drawn_text(bar.before), _drawn_text(bar.after))


def _drawn_text(share: float | None) -> str:
    if share is None:
        return FEW
    return terse_percent(share)


def _largest(bars: Sequence[Bar]) -> str:
    return max(bars, key=lambda bar: bar.before or 0.0).label


def _bar_grid(column: ColumnFacts, bars: Sequence[Bar], discretion: Discretion) -> Grid:
    if not column.changed:
        return Grid((column.name, "share"), tuple((bar.label, percent(bar.after)) for bar in bars))
    if discretion.internal:
        rows = tuple(
            (
                bar.label,
                percent(bar.before or 0.0, 1),
                f"{bar.before_count:,}",
                percent(bar.after, 1),
                f"{bar.after_count:,}",
            )
            for bar in bars
        )
        return Grid((column.name, "before", "records", "after", "records"), rows)
    plain = tuple(
        (
            bar.label,
            f"fewer than {discretion.threshold} records"
            if bar.before is None
            else percent(bar.before),
            percent(bar.after),
        )
        for bar in bars
    )
    return Grid((column.name, "before", "after"), plain)


def _rare_words(column: ColumnFacts) -> str:
    """What only the house may know of a column."""
    assert column.distribution is not None
    parts = []
    if column.distribution.extremes is not None:
        least, greatest = column.distribution.extremes
        parts.append(f"original values from {least} to {greatest}")
    if column.distribution.rare:
        listed = ", ".join(f"{value} ({count})" for value, count in column.distribution.rare)
        parts.append(f"rare original values: {listed}")
    found = column.missing
    parts += [f"{found.original:,} missing"] if found.original else []
    parts += [f"{found.suppressed:,} values suppressed"] if found.suppressed else []
    parts += [f"{found.unmapped:,} without a concept"] if found.unmapped else []
    return "; ".join(parts)


# Risk -----------------------------------------------------------------------------------------


def class_sizes(account: Account, discretion: Discretion) -> Figure | None:
    """Share of records in groups of which size."""
    if not account.quasi:
        return None
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    careful = discretion.of_groups(before, after)
    old, new = _by_size(before), _by_size(after)
    used = np.flatnonzero(old + new)
    total = max(float(old.sum()), 1.0)
    places = range(int(used.min()), int(used.max()) + 1)
    labels = [_size_label(place) for place in places]
    marks, rows = [], []
    for place, label in zip(places, labels, strict=True):
        few = not careful.internal and 0 < old[place] < careful.threshold
        was, now = old[place] / total, new[place] / total
        drawn = None if few else careful.drawn(was, total)
        marks.append(Mark(label, drawn, discretion.drawn(now)))
        rows.append((label, careful.share(was, total), "none" if now == 0 else percent(now)))
    return Figure(
        "Group sizes",
        "Share of records by the number of records that look the same to an intruder",
        f"Share of records in groups of equal {listing(account.quasi)} by group size. The smallest "
        f"group of the release has {after.smallest_class} records.",
        columns_chart(marks),
        Grid(("records in the group", "before", "after"), tuple(rows)),
    )


def _by_size(risk: ClassRisk) -> Any:
    """How many records are in groups of each range of sizes."""
    sums = np.zeros(len(SIZES))
    for size, classes in risk.sizes:
        sums[int(np.searchsorted(SIZES, size, side="right")) - 1] += size * classes
    return sums


def _size_label(place: int) -> str:
    if place == len(SIZES) - 1:
        return f"{SIZES[place]}+"
    first, last = SIZES[place], SIZES[place + 1] - 1
    return str(first) if first == last else f"{first}–{last}"


DISTANCES = {
    "semantic": "nearest by meaning",
    "matching": "exact match",
    "s-distance": "nearest by marginality (S-distance)",
    "euclidean": "nearest by Euclidean distance",
}


def linkage(account: Account, discretion: Discretion) -> Figure | None:
    """How many records are linked correctly, before and after, by each distance."""
    links = account.evaluation.linkage
    if not links:
        return None
    before, text = linked_before(account, discretion)
    marks = [
        Mark(
            DISTANCES.get(one.distance, one.distance),
            round(before),
            round(100 * one.risk),
            text,
            terse_percent(one.risk),
        )
        for one in links
    ]
    rows = tuple(
        (mark.label, mark.before_text, mark.after_text, terse_percent(one.chance, 1))
        for mark, one in zip(marks, links, strict=True)
    )
    return Figure(
        "Record linkage",
        "Share of records that an intruder who knows the quasi-identifiers links correctly",
        "Share of records linked correctly, before and after masking, by each way to compare.",
        pairs_chart(marks, highest=max(100.0 if before > 40 else round(before), 1.0)),
        Grid(("way to compare", "before", "after", "by chance"), rows),
    )


# Loss -----------------------------------------------------------------------------------------


def column_losses(account: Account, discretion: Discretion) -> Figure | None:
    """How far the values of each column moved, where more than a few did."""
    moved = [(one.name, one.loss) for one in told_columns(account, discretion) if one.loss]
    if not moved:
        return None
    ordered = sorted(moved, key=lambda one: (-one[1].semantic_loss, one[0]))
    marks, rows = [], []
    for name, loss in ordered[:LISTED]:
        far, root = (
            discretion.distance(one, account.records) for one in (loss.semantic_loss, loss.rmse)
        )
        marks.append(Mark(name, None, float(far.lstrip("<")), "", far))
        rows.append((name, discretion.share(loss.changed, account.records), far, root))
    return Figure(
        "Information loss per column",
        "Mean distance of the new value to the original: for numbers and dates in standard "
        "deviations, else between 0 (same) and 1 (unrelated)",
        f"Mean distance moved per column; {ordered[0][0]} moved most.",
        pairs_chart(marks[:SHOWN], highest=max(0.2, *(mark.after or 0.0 for mark in marks))),
        Grid(("column", "changed", "mean distance", "root mean square"), tuple(rows)),
        sides=False,
    )


CORRELATED = {
    "correlation": "Pearson",
    "semantic correlation": "semantic",
    "distance correlation": "distance",
}
"""What correlations are called in a table."""


def relations(account: Account, discretion: Discretion) -> Figure | None:
    """Correlations before and after."""
    found = correlations(account, discretion)
    if not found:
        return None
    marks = [
        Mark(" – ".join(one.columns), round(float(one.original), 2), round(float(one.masked), 2))
        for one in found[:SHOWN]
    ]
    rows = tuple(
        (
            " – ".join(one.columns),
            CORRELATED[one.name],
            f"{one.original:.2f}",
            f"{one.masked:.2f}",
            f"{one.difference:+.2f}",
        )
        for one in found[:LISTED]
    )
    more = f", the {SHOWN} strongest of {len(found)}" if len(found) > SHOWN else ""
    more += f", {UNSHOWN}" if hides_correlations(account, discretion) else ""
    return Figure(
        "Correlations",
        "Between all published columns: pairs of numbers (Pearson, from -1 to 1) and all others "
        f"(distance correlation, from 0 to 1){more}",
        f"Correlations of {plural(len(marks), 'pair')} of columns before and after masking.",
        dumbbell_chart(marks),
        Grid(("columns", "kind", "before", "after", "change"), rows),
    )


CLASSIFIERS = {
    "zero-r": "most frequent value",
    "logistic": "logistic regression",
    "tree": "decision tree",
    "naive-bayes": "naive Bayes",
    "forest": "random forest",
}


def classification(account: Account, discretion: Discretion) -> Figure | None:
    """Accuracy of classifiers trained on the original and on the masked table."""
    report = account.classification if discretion.internal else account.released_classification
    if report is None:
        return None
    rows, marks = [], []
    for one in report.classifiers:
        name = CLASSIFIERS.get(one.name, one.name)
        texts = percent(one.original.accuracy), percent(one.masked.accuracy)
        shares = round(100 * one.original.accuracy), round(100 * one.masked.accuracy)
        marks.append(Mark(name, *shares, *texts))
        kept = "–" if one.relative_accuracy is None else percent(one.relative_accuracy)
        rows.append((name, *texts, percent(report.baseline.accuracy), kept))
    return Figure(
        f"Predicting {report.target}",
        f"Share of correct predictions among {plural(len(report.classes), 'value')}; dashed: "
        f"always the most frequent one ({percent(report.baseline.accuracy)})",
        "Accuracy of classifiers trained on the original and on the masked table.",
        pairs_chart(marks, highest=100.0, line=round(100 * report.baseline.accuracy)),
        Grid(
            ("classifier", "original", "masked", "baseline", "kept of the advantage"), tuple(rows)
        ),
    )
