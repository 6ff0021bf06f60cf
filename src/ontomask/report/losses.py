"""What was lost, in sentences for the first screen."""

from __future__ import annotations

from ontomask.evaluation.statistics import Statistic
from ontomask.report.columns import ColumnFacts
from ontomask.report.discretion import Discretion
from ontomask.report.distributions import Bar
from ontomask.report.facts import Account
from ontomask.report.words import distance, listing, percent

__all__ = ["UNSHOWN", "correlations", "hides_correlations", "loss_words", "lost"]

SHIFTED = 0.10
"""The share of records that must have moved to another bar before a shift is spoken of."""
NAMED = 3
"""How many columns a sentence of the first screen tells about."""
COMBINING = ("microaggregation", "resampling", "hybrid")
"""Methods that choose records by all columns but make each column's new values on its own."""
UNSHOWN = "leaving out those that few records make up"
COMBINATIONS = (
    "New values are made column by column: combinations can appear that nobody has, such as a "
    "diagnosis that does not fit the sex. Strata in the plan prevent this for the columns they "
    "name."
)


def loss_words(loss: float) -> str:
    """An information loss in percent, written alike wherever it stands."""
    return percent(loss / 100.0, 1)


def lost(account: Account, discretion: Discretion) -> list[str]:
    """What was lost."""
    loss = account.evaluation.loss
    return [
        f"Information loss is {loss_words(loss.loss)}, an average over columns: 0% is the original "
        "table, 100% one in which every record is the same average one.",
        f"{percent(loss.values_changed)} of the values in the measured columns changed. "
        f"{_left_out(account, discretion)}",
        *_columns_lost(account),
        *_shifts(account),
        *_missing(account, discretion),
        *_relations_lost(account, discretion),
        *_combinations(account),
    ]


def _left_out(account: Account, discretion: Discretion) -> str:
    gone = account.original_records - account.records
    if not gone:
        return "No record was left out."
    share = discretion.share(gone / account.original_records, account.original_records)
    return f"Records left out: {share}."


# Columns --------------------------------------------------------------------------------------


def _columns_lost(account: Account) -> list[str]:
    moved = [one for one in account.columns if one.loss is not None and one.changed > 0]
    if not moved:
        return []
    by_loss = sorted(moved, key=lambda one: one.loss.semantic_loss if one.loss else 0.0)
    told = [
        f"Most was lost in {by_loss[-1].name}: {percent(by_loss[-1].changed)} of its values "
        f"changed; the mean distance of all to the original is {_moved(by_loss[-1])}."
    ]
    if len(moved) > 1:
        changed, far = percent(by_loss[0].changed), _moved(by_loss[0], scale=False)
        told.append(f"Least in {by_loss[0].name}: {changed} changed, mean distance {far}.")
    return [" ".join(told)]


def _moved(column: ColumnFacts, *, scale: bool = True) -> str:
    """How far a column moved; numbers have a unit, words a scale."""
    assert column.loss is not None
    number = distance(column.loss.semantic_loss)
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
        for one in account.evaluation.statistics
        if one.name == "semantic correlation"
        or (one.name == "correlation" and not _is_hidden(one, account, discretion))
    ]
    return tuple(sorted(found, key=lambda one: (-abs(float(one.original)), one.columns)))


def hides_correlations(account: Account, discretion: Discretion) -> bool:
    """Whether some correlation that was measured is not shown."""
    return any(
        one.name == "correlation" and _is_hidden(one, account, discretion)
        for one in account.evaluation.statistics
    )


def _is_hidden(one: Statistic, account: Account, discretion: Discretion) -> bool:
    dominated = {column.name for column in account.columns if column.dominated}
    return not discretion.internal and not dominated.isdisjoint(one.columns)


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
    which = "Correlations between measured columns"
    which += f", {UNSHOWN}," if hides_correlations(account, discretion) else ""
    if changed == "0.00":
        return [f"{which} are as before, to two digits."]
    return [f"{which} changed by at most {changed} ({pair})."]


def _combinations(account: Account) -> list[str]:
    makes = any(step.name in COMBINING for step in account.steps)
    return [COMBINATIONS] if makes and len(account.quasi) > 1 else []
