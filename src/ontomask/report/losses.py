"""What was lost, in sentences for the first screen."""

from __future__ import annotations

from ontomask.evaluation.statistics import Statistic
from ontomask.evaluation.utility import Loss
from ontomask.report.columns import ColumnFacts
from ontomask.report.discretion import Discretion
from ontomask.report.distributions import Bar
from ontomask.report.facts import Account
from ontomask.report.words import capital, listing, percent

__all__ = [
    "UNSHOWN",
    "combines",
    "correlations",
    "hides_correlations",
    "is_hidden",
    "left_out",
    "loss_words",
    "lost",
    "measured_loss",
    "shown_statistics",
    "told_columns",
]

SHIFTED = 0.10
"""The share of records that must have moved to another bar before a shift is spoken of."""
NAMED = 3
"""How many columns a sentence of the first screen tells about."""
COMBINING = ("microaggregation", "resampling", "hybrid")
"""Methods that choose records by all columns but make each column's new values on its own."""
CORRELATIONS = ("correlation", "semantic correlation", "distance correlation")
UNSHOWN = "leaving out those that few records make up"


def loss_words(loss: float) -> str:
    """An information loss, written alike wherever it stands."""
    return percent(loss, 1)


def measured_loss(account: Account, discretion: Discretion) -> Loss:
    """The loss; a public report does not let the records left out count as lost altogether."""
    return account.evaluation.loss if discretion.internal else account.evaluation.released


def shown_statistics(account: Account, discretion: Discretion) -> tuple[Statistic, ...]:
    """The statistics; those of a public report speak of what the release has something of."""
    return account.evaluation.statistics if discretion.internal else account.statistics


def told_columns(account: Account, discretion: Discretion) -> list[ColumnFacts]:
    """The columns whose loss is told: not where it would be that of a few records."""
    return [one for one in account.columns if discretion.internal or not one.few]


def lost(account: Account, discretion: Discretion) -> list[str]:
    """What was lost."""
    changed = measured_loss(account, discretion).values_changed
    share = capital(discretion.percent(changed, account.records))
    return [
        _loss(account, discretion),
        f"{share} of the values in the measured columns changed. {_gone(account, discretion)}",
        *_columns_lost(account, discretion),
        *_shifts(account),
        *_missing(account, discretion),
        *_relations_lost(account, discretion),
    ]


def _loss(account: Account, discretion: Discretion) -> str:
    if account.few_changed and not discretion.internal:
        return "No information loss is told: that of a few records would give them away."
    whose = "" if discretion.internal or account.left_out is None else " of the records released"
    loss = loss_words(measured_loss(account, discretion).loss)
    return (
        f"Information loss{whose} is {loss}, an average over columns: 0% is the original table, "
        "100% one in which every record is the same average one, or nothing but stars."
    )


def _gone(account: Account, discretion: Discretion) -> str:
    starred = account.evaluation.loss.starred
    stars = f" Records starred: {discretion.size(starred)}." if starred else ""
    if account.left_out is None:
        return f"No record was left out.{stars}"
    return f"Records left out: {left_out(account, discretion)}.{stars}"


def left_out(account: Account, discretion: Discretion) -> str:
    """How many records are not in the release, as exact as the report may be."""
    if account.left_out is None:
        return "none"
    if discretion.internal:
        gone = account.original_records - account.records
        return discretion.share(gone / account.original_records, account.original_records)
    first = account.left_out[0]
    return discretion.size(first) if first else f"{discretion.size(first)}, or none"


# Columns --------------------------------------------------------------------------------------


def _columns_lost(account: Account, discretion: Discretion) -> list[str]:
    moved = [
        one for one in told_columns(account, discretion) if one.loss is not None and one.changed > 0
    ]
    if not moved:
        return []
    by_loss = sorted(moved, key=lambda one: one.loss.semantic_loss if one.loss else 0.0)
    most, least, records = by_loss[-1], by_loss[0], account.records
    far = [
        _moved(one, discretion.distance(one.loss.semantic_loss, records), scale=one is most)
        for one in (most, least)
        if one.loss is not None
    ]
    told = [
        f"Most was lost in {most.name}: {discretion.share(most.changed, records)} of its values "
        f"changed; the mean distance of all to the original is {far[0]}."
    ]
    if len(moved) > 1:
        changed = discretion.share(least.changed, records)
        told.append(f"Least in {least.name}: {changed} changed, mean distance {far[1]}.")
    return [" ".join(told)]


def _moved(column: ColumnFacts, number: str, *, scale: bool) -> str:
    """How far a column moved; numbers have a unit, words a scale."""
    if column.kind in ("numeric", "date"):
        return f"{number} standard deviations"
    return f"{number} (0 = same, 1 = unrelated)" if scale else number


def _shifts(account: Account) -> list[str]:
    """Columns whose public chart looks clearly different before and after, in one line."""
    found = [(shift, one.name, bar) for one in account.columns for shift, bar in _shift(one)]
    found.sort(key=lambda one: (-one[0], one[1]))
    told = [_shift_words(name, bar) for _, name, bar in found[:NAMED]]
    more = len(found) - len(told)
    told += [f"{more} more" if more > 1 else found[-1][1]] if more else []
    return [f"Distributions shifted: {listing(told)}."] if told else []


def _shift(column: ColumnFacts) -> list[tuple[float, Bar]]:
    """The share of records that moved between bars, and the bar that changed most.

    Nothing for ranges in place of numbers: their bar is that of their middle, which says little.
    """
    if column.distribution is None or column.ranges:
        return []
    bars = column.distribution.public
    moves = [(abs(bar.after - bar.before), bar) for bar in bars if bar.before is not None]
    shift = sum(move for move, _ in moves) / 2.0
    return [(shift, max(moves, key=lambda one: one[0])[1])] if shift > SHIFTED else []


def _shift_words(name: str, bar: Bar) -> str:
    return f"{name} (“{bar.label}”: {percent(bar.before or 0.0)} → {percent(bar.after)})"


def _missing(account: Account, discretion: Discretion) -> list[str]:
    """Where missing values were filled or came up, in one line."""
    touched = [one for one in account.columns if one.missing.filled or one.missing.added]
    touched.sort(key=lambda one: (-one.missing.filled - one.missing.added, one.name))
    told = [_missing_words(one, discretion) for one in touched[:NAMED]]
    if rest := [one.name for one in touched[NAMED:]]:
        told.append(f"some more in {listing(rest)}")
    return [f"Missing values: {'; '.join(told)}."] if told else []


def _missing_words(column: ColumnFacts, discretion: Discretion) -> str:
    counts = {"filled": column.missing.filled, "added": column.missing.added}
    parts = [f"{discretion.size(count)} {what}" for what, count in counts.items() if count]
    return f"{' and '.join(parts)} in {column.name}"


# Relations of columns -------------------------------------------------------------------------


def correlations(account: Account, discretion: Discretion) -> tuple[Statistic, ...]:
    """The relations of two columns that were measured and may be shown, strongest first.

    A few outlying records can make up a Pearson correlation as they make up a spread: a public
    report leaves such pairs out.
    """
    found = [
        one
        for one in shown_statistics(account, discretion)
        if one.name in CORRELATIONS and not is_hidden(one, account, discretion)
    ]
    return tuple(sorted(found, key=lambda one: (-abs(float(one.original)), one.columns)))


def hides_correlations(account: Account, discretion: Discretion) -> bool:
    """Whether some correlation that was measured is not shown."""
    return any(
        one.name in CORRELATIONS and is_hidden(one, account, discretion)
        for one in shown_statistics(account, discretion)
    )


def is_hidden(one: Statistic, account: Account, discretion: Discretion) -> bool:
    """Whether few records make up a statistic, or its change."""
    if discretion.internal:
        return False
    numbers = one.name in ("mean", "variance", "correlation", "distance correlation")
    few = {
        each.name
        for each in account.columns
        if each.few or (numbers and each.dominated and each.kind in ("numeric", "date"))
    }
    return not few.isdisjoint(one.columns)


def _relations_lost(account: Account, discretion: Discretion) -> list[str]:
    found = correlations(account, discretion)
    if not found:
        return []
    worst = max(found, key=lambda one: abs(one.difference))
    pair = " and ".join(worst.columns)
    changed = f"{abs(worst.difference):.2f}"
    if len(found) == 1:
        fate = "is as before, to two digits" if changed == "0.00" else f"changed by {changed}"
        return [f"The correlation of {pair} {fate}."]
    which = "Correlations between published columns"
    which += f", {UNSHOWN}," if hides_correlations(account, discretion) else ""
    if changed == "0.00":
        return [f"{which} are as before, to two digits."]
    return [f"{which} changed by at most {changed} ({pair})."]


def combines(account: Account) -> bool:
    """Whether combinations can appear that nobody has."""
    return len(account.quasi) > 1 and any(step.name in COMBINING for step in account.steps)
