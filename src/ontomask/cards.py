"""What an object looks like in a notebook: a title, facts and tables, in a few lines of HTML.

Everything is escaped, nothing is loaded and nothing runs; colors are those of the page around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["card", "table"]

SHOWN = 20
LONGEST = 120
FACTS = "display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em;margin:.4em 0"
CELL = "text-align:left;padding:.15em .8em .15em 0;border-bottom:1px solid rgba(128,128,128,.3)"
NUMBER = CELL.replace("left", "right")


def card(title: str, facts: Iterable[tuple[str, object]] = (), *parts: str) -> str:
    """A title, facts with their names, and tables under them.

    Parameters
    ----------
    title
        What the object is.
    facts
        Names and values, as texts.
    parts
        HTML made by `table` or `card`.
    """
    listed = "".join(
        f'<dt style="opacity:.7">{_text(name)}</dt><dd style="margin:0">{_text(value)}</dd>'
        for name, value in facts
    )
    inside = f'<dl style="{FACTS}">{listed}</dl>' if listed else ""
    return (
        '<div style="max-width:60em;font-size:.95em;line-height:1.4">'
        f"<strong>{_text(title)}</strong>{inside}{''.join(parts)}</div>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of the first rows; numbers stand right. It says how many more there are."""
    top = "".join(f'<th style="{CELL}" scope="col">{_text(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:SHOWN])
    more = f"<p>and {len(rows) - SHOWN:,} more</p>" if len(rows) > SHOWN else ""
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums"
    return (
        f'<div style="overflow-x:auto"><table style="{style}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>{more}</div>"
    )


def _cell(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td style="{NUMBER}">{value:,.4g}</td>'
    return f'<td style="{CELL}">{_text(value)}</td>'


def _text(value: object) -> str:
    said = str(value)
    if len(said) > LONGEST:
        said = said[: LONGEST - 1] + "…"
    return escape("".join(one if one.isprintable() else " " for one in said))
