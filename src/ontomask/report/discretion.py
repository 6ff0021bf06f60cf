"""What a public report may say, and what only an internal one.

The rule: nothing in a public report stems from fewer original records than a threshold, not even
after subtracting what the release itself shows. The threshold is the k of the release, since k
records are what its reader has been promised to hide among, and never less than 3: of two records
that share a figure, each would learn the other's. So a public report speaks of the records of the
release alone, and counts of the original are rounded (see `rounding`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ontomask.evaluation.structure import ClassRisk
from ontomask.report.distributions import Bar, Distribution
from ontomask.report.steps import COUNTING
from ontomask.report.words import STEPS, bucket, coarse, percent, step
from ontomask.toml_text import toml_key, toml_value

__all__ = ["LEAST", "Discretion", "internal_plan", "public_plan", "threshold"]

LEAST = 3
SECRETS = ("key", "secret", "salt", "password")
SHOWN_LISTS = ("distances", "classifiers", "missing", "intervals", "dates")
HIDDEN = "(not shown)"


def threshold(k: int | None) -> int:
    """The fewest original records that anything in a public report stems from."""
    return max(LEAST, k or 0)


@dataclass(frozen=True)
class Discretion:
    """How exact a report is.

    Attributes
    ----------
    threshold
        The fewest original records that a public report speaks of; 0 for what the release shows.
    internal
        Whether the report is for the house only and may say everything.
    """

    threshold: int
    internal: bool

    def share(self, share: float, of: float) -> str:
        """A share of so many original records, in words."""
        if share == 0:
            return "none"
        count = share * of
        if self.internal:
            return f"{percent(share, 1)} ({count:,.0f})"
        if count < self.threshold - 0.5:
            return f"fewer than {self.threshold}"
        return self.percent(share, of)

    def percent(self, share: float, of: float) -> str:
        """A share that is measured on so many original records, as a percentage."""
        if self.internal:
            return percent(share)
        width = step(self.threshold, of)
        if 0.0 < share < width / 2.0:
            return f"less than {width:.0%}"
        if 1.0 - width / 2.0 < share < 1.0:
            return f"more than {1.0 - width:.0%}"
        return percent(coarse(share, self.threshold, of))

    def distance(self, number: float, of: float) -> str:
        """A mean over so many original records of numbers that are 1 for a value suppressed."""
        width = STEPS[0] if self.internal else step(self.threshold, of)
        if 0.0 < number < width / 2.0:
            return f"<{width:.2f}"
        return f"{round(number / width) * width:.2f}"

    def drawn(self, share: float | None, of: float = math.inf) -> float | None:
        """A share in percent, as exact as a chart of it may be."""
        if share is None:
            return None
        if self.internal:
            return round(100.0 * share, 2)
        return float(round(100.0 * coarse(share, self.threshold, of)))

    def size(self, count: int) -> str:
        """A number of original records or groups of them."""
        if self.internal or not self.threshold:
            return f"{count:,}"
        first, last = bucket(count, self.threshold)
        return f"{first:,} to {last:,}" if first else f"fewer than {self.threshold}"

    def of_groups(self, before: ClassRisk, after: ClassRisk) -> Discretion:
        """How exactly to speak of original groups: those that did not change are in the release."""
        return self if before != after else replace(self, threshold=0)

    def bars(self, distribution: Distribution) -> tuple[Bar, ...]:
        """The bars to be shown; none where there is too little to tell."""
        bars = distribution.full if self.internal else distribution.public
        return bars if len(bars) > 1 else ()


# The plan -------------------------------------------------------------------------------------


def public_plan(text: str, columns: Sequence[str]) -> str:
    """The plan without comments, seed, secrets, folders and lists of values; empty if unreadable.

    It is read and written anew, so that nothing travels along that was not looked at.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ""
    content.pop("about", None)  # the report begins with it
    return "\n".join(_table_lines(_public_table(content, frozenset(columns)), ())).strip()


def internal_plan(text: str) -> str:
    """The plan as it is written; if it holds secrets, written anew without them."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ""
    open_content = _without_secrets(content)
    return text if open_content == content else "\n".join(_table_lines(open_content, ())).strip()


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        # a table of such a name is a column that is called so
        kept = {k: v for k, v in value.items() if k not in SECRETS or isinstance(v, dict)}
        return {key: _without_secrets(one) for key, one in kept.items()}
    return [_without_secrets(one) for one in value] if isinstance(value, list) else value


def _public_table(table: Mapping[str, Any], columns: frozenset[str]) -> dict[str, Any]:
    return {
        key: _public_value(key, value, columns)
        for key, value in table.items()
        if key not in ("seed", *SECRETS)
    }


def _public_value(key: str, value: Any, columns: frozenset[str]) -> Any:
    counting = any(key in names for names in COUNTING.values())
    if counting and isinstance(value, (int, float)) and value > 0:
        return HIDDEN
    if isinstance(value, dict):
        if key == "columns":
            return {name: _public_column(one, columns) for name, one in value.items()}
        return _public_table(value, columns)
    if isinstance(value, list):
        if value and all(isinstance(one, dict) for one in value):
            return [_public_table(one, columns) for one in value]
        shown = key in SHOWN_LISTS or all(str(one) in columns for one in value)
        return value if shown else HIDDEN
    if isinstance(value, str):
        return value.replace("\\", "/").rpartition("/")[2]
    return value


def _public_column(column: Any, columns: frozenset[str]) -> Any:
    """The declaration of a column; tables inside it hold values of the column."""
    if not isinstance(column, dict):
        return column
    hidden = {key: HIDDEN for key, value in column.items() if isinstance(value, dict)}
    return {**_public_table(column, columns), **hidden}


def _table_lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """A table as TOML: first its plain values, then the tables inside."""
    lines = [
        f"{toml_key(key)} = {toml_value(value)}"
        for key, value in table.items()
        if not isinstance(value, dict) and not _is_tables(value)
    ]
    for key, value in table.items():
        inner = (*path, toml_key(key))
        if isinstance(value, dict):
            head = [] if value and all(isinstance(one, dict) for one in value.values()) else [""]
            head += [f"[{'.'.join(inner)}]"] if head else []
            lines += [*head, *_table_lines(value, inner)]
        elif _is_tables(value):
            for one in value:
                lines += ["", f"[[{'.'.join(inner)}]]", *_table_lines(one, inner)]
    return lines


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
