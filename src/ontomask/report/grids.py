"""The report's tables of figures."""

from __future__ import annotations

from collections.abc import Iterator

from ontomask.evaluation.risk import SensitiveRisk
from ontomask.evaluation.statistics import Statistic
from ontomask.evaluation.structure import ClassRisk
from ontomask.report.discretion import Discretion
from ontomask.report.facts import Account
from ontomask.report.figures import KINDS, LISTED, ROLES, Grid
from ontomask.report.losses import (
    is_hidden,
    left_out,
    loss_words,
    measured_loss,
    shown_statistics,
    told_columns,
)
from ontomask.report.sentences import UNTOLD, judged, recounted
from ontomask.report.words import capital, coarse, distance, figure, percent

__all__ = [
    "columns_grid",
    "findings_grid",
    "intervals_grid",
    "limits_grid",
    "loss_grid",
    "risk_grid",
    "sensitive_grid",
    "sizes_grid",
    "statistics_grid",
]


WIDTHS = (0.01, 0.05, 0.1, 0.2)
UNSAID = "–"
"""Stands for a figure that would say nothing."""
VERDICTS = {True: "✗ exceeded", False: "✓ within", None: f"– {UNTOLD}"}


def findings_grid(account: Account, discretion: Discretion) -> Grid | None:
    """Every promise with what the recount found."""
    if account.promised is None:
        return None
    rows = tuple(
        (
            one.promise,
            capital(recounted(one, discretion)),
            "✓ kept" if one.kept else "✗ NOT KEPT",
        )
        for one in account.promised.findings
    )
    return Grid(("promise", "recount", "verdict"), rows, figures=False)


def limits_grid(account: Account, discretion: Discretion) -> Grid | None:
    """The limits of the plan."""
    rows = tuple(
        (one.name, one.measured, one.allowed, VERDICTS[one.exceeded])
        for one in judged(account, discretion)
    )
    return Grid(("limit", "measured", "allowed", "verdict"), rows) if rows else None


# Risk -----------------------------------------------------------------------------------------


def risk_grid(account: Account, discretion: Discretion) -> Grid | None:
    """The risks that follow from the groups, before and after."""
    if not account.quasi:
        return None
    old, new = account.evaluation.risk_before, account.evaluation.risk_after
    careful, count = discretion.of_groups(old, new), account.records
    highest = percent(old.highest_risk)
    if not careful.internal and old.smallest_class < careful.threshold:
        highest = f"more than {percent(1 / careful.threshold)}"
    average = old.average_risk
    if not careful.internal:
        average = coarse(average, careful.threshold, count)
    level, whom = percent(old.threshold), "record" if new.persons is None else "person"
    rows = (
        ("groups of records that look the same", careful.size(old.classes), f"{new.classes:,}"),
        ("smallest group", careful.size(old.smallest_class), f"{new.smallest_class:,}"),
        ("average group", figure(1.0 / average, 2), figure(new.average_class_size, 2)),
        (f"unique {whom}s", careful.share(old.uniques, count), _plain(new.uniques)),
        (f"highest risk of a {whom}", highest, percent(new.highest_risk)),
        (f"average risk of a {whom}", percent(average), percent(new.average_risk)),
        (
            f"{whom}s at a risk above {level}",
            careful.share(old.records_at_risk, count),
            _plain(new.records_at_risk),
        ),
        *_joined_risk(old, new, internal=careful.internal),
    )
    return Grid(("", "before", "after"), rows)


def _joined_risk(
    old: ClassRisk, new: ClassRisk, *, internal: bool
) -> Iterator[tuple[str, str, str]]:
    """The risk of any of a person's records, as of the members of a household."""
    if old.persons is not None and new.persons is not None:
        before = percent(old.persons.joined_average) if internal else UNSAID
        after = percent(new.persons.joined_average)
        yield "average risk that any record of a person is found", before, after


def _plain(share: float) -> str:
    return "none" if share == 0 else percent(share)


def sizes_grid(account: Account) -> Grid:
    """The smallest groups of the original table, for internal use."""
    rows = tuple(
        (f"{size:,}", f"{classes:,}", f"{size * classes:,}")
        for size, classes in account.evaluation.risk_before.sizes[:20]
    )
    return Grid(("size of the group", "groups before", "records before"), rows)


def sensitive_grid(account: Account, discretion: Discretion) -> Grid | None:
    """How varied sensitive columns are inside the groups; an original one may be too small."""
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    hidden = not discretion.internal and before.smallest_class < discretion.threshold
    scattered = {one.name for one in account.columns if one.scattered}
    rows = tuple(
        (new.column, UNSAID, UNSAID, UNSAID)
        if new.column in scattered
        else (new.column, *(now if hidden else f"{was} → {now}" for was, now in _varied(old, new)))
        for old, new in zip(before.sensitive, after.sensitive, strict=True)
    )
    head = (
        "sensitive column",
        "fewest values in a group",
        "entropy l",
        "farthest from the table (t)",
    )
    return Grid(head, rows) if rows else None


def _varied(old: SensitiveRisk, new: SensitiveRisk) -> Iterator[tuple[str, str]]:
    yield f"{old.distinct_l}", f"{new.distinct_l}"
    yield f"{old.entropy_l:.2f}", f"{new.entropy_l:.2f}"
    yield f"{old.closeness_t:.2f}", f"{new.closeness_t:.2f}"


def intervals_grid(account: Account, discretion: Discretion) -> Grid | None:
    """How near masked numbers are to the original, for columns that changed."""
    told = told_columns(account, discretion)
    numbers = {one.name for one in told if one.kind == "numeric" and one.changed > 0}
    found = [
        (name, one)
        for name, one in account.evaluation.intervals
        if name in numbers and one.shares is not None
    ]
    if not found:
        return None
    places = [place for place, width in enumerate(found[0][1].widths) if width in WIDTHS]
    head = ("column", *(f"within {100 * found[0][1].widths[place]:g}%" for place in places))
    rows = tuple(
        (
            name,
            *(discretion.percent((one.shares or ())[place], account.records) for place in places),
        )
        for name, one in found
    )
    return Grid(head, rows[:LISTED])


# Loss -----------------------------------------------------------------------------------------


def loss_grid(account: Account, discretion: Discretion) -> Grid:
    """What the table lost; nothing is measured that a few records make up."""
    loss, records = measured_loss(account, discretion), account.records
    starred = loss.starred
    rows = [
        ("values changed", discretion.percent(loss.values_changed, records)),
        ("records changed", discretion.share(loss.records_changed, records)),
        ("records left out", left_out(account, discretion)),
        ("records starred", discretion.size(starred) if starred else "none"),
        ("average group size", figure(loss.average_class_size, 2)),
    ]
    if discretion.internal or not account.few_changed:
        rows = [*_lost_rows(account, discretion), *rows]
    return Grid(("", "release"), tuple(rows))


def _lost_rows(account: Account, discretion: Discretion) -> Iterator[tuple[str, str]]:
    loss = measured_loss(account, discretion)
    yield "information loss", loss_words(loss.loss)
    if loss.numeric_loss is not None:
        yield "of the numeric columns", loss_words(loss.numeric_loss)
    moved = discretion.distance(loss.semantic_loss, account.records)
    yield "mean distance of new and original values", moved
    if account.evaluation.clustering is not None:
        apart = distance(account.evaluation.clustering.distance)
        yield "clusters before and after (0 same, 1 unrelated)", apart


DOMINATED = "made up by few records"
NAMES = {
    "mean": "mean",
    "variance": "standard deviation",
    "semantic variance": "semantic variance",
}


def statistics_grid(account: Account, discretion: Discretion) -> Grid | None:
    """Means and spreads; of semantic means a public report tells only how far they moved."""
    dates = {one.name for one in account.columns if one.kind == "date"}  # means would be days
    order = {one.name: place for place, one in enumerate(account.columns)}
    chosen = [
        one
        for one in shown_statistics(account, discretion)
        if (one.name in NAMES or one.name == "semantic mean") and one.columns[0] not in dates
    ]
    chosen.sort(key=lambda one: order.get(one.columns[0], 0))
    rows = tuple(_statistic(one, account, discretion) for one in chosen)
    return Grid(("", "before", "after"), rows[:LISTED]) if rows else None


def _statistic(one: Statistic, account: Account, discretion: Discretion) -> tuple[str, ...]:
    column = one.columns[0]
    hidden = is_hidden(one, account, discretion)
    if isinstance(one.original, str):
        if discretion.internal:
            return f"{column}, {one.name}", one.original, str(one.masked)
        if hidden:
            return f"{column}, {one.name}", "", DOMINATED
        moved = "unchanged" if one.difference == 0 else f"moved by {figure(one.difference, 2)}"
        return f"{column}, {one.name}", "", moved
    numbers = [float(one.original), float(one.masked)]
    if one.name == "variance":
        numbers = [number**0.5 for number in numbers]
    before, after = (figure(number) for number in numbers)
    return f"{column}, {NAMES[one.name]}", DOMINATED if hidden else before, after


# Columns --------------------------------------------------------------------------------------


def columns_grid(account: Account, discretion: Discretion) -> Grid:
    """Every column: what it is and what became of it."""
    rows = tuple(_column_rows(account, discretion))
    return Grid(("column", "kind", "role", "in the release"), rows, False)


def _column_rows(account: Account, discretion: Discretion) -> Iterator[tuple[str, ...]]:
    known = {one.name for one in account.columns}
    for one in account.columns:
        kind = KINDS[one.kind] + (f" ({one.taxonomy})" if one.taxonomy else "")
        share = discretion.share(one.changed, account.records)
        fate = f"{share} of the values changed" if one.changed else "unchanged"
        yield one.name, kind, ROLES[one.role], fate
    for name in account.published:
        if name not in known:
            yield name, "identifier", "identifier", "replaced"
    for name, kind in account.removed:
        yield name, kind, kind, "left out"
