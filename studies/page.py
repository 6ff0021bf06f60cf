"""Findings as pages of the documentation: Markdown, CSV tables, SVG figures, and the score."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import vl_convert

from studies.study import VERDICTS, Cell, Claim, Figure, Findings, ResultTable

__all__ = ["read_claims", "render_page", "score", "shown", "svg", "write_index", "write_page"]

THEME: dict[str, Any] = {
    "background": "white",
    "font": "sans-serif",
    "view": {"continuousWidth": 380, "continuousHeight": 240, "stroke": None},
    "axis": {"gridColor": "#e3e6ea", "domainColor": "#9aa2ad", "tickColor": "#9aa2ad"},
    "line": {"strokeWidth": 2},
    "point": {"size": 36, "filled": True},
    "legend": {"orient": "right", "labelLimit": 260},
    "title": {"fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "range": {
        "category": [
            "#0072b2",
            "#d55e00",
            "#009e73",
            "#cc79a7",
            "#e69f00",
            "#56b4e9",
            "#6b6b6b",
            "#000000",
        ]
    },
}

CLAIM_COLUMNS = ("claim", "where", "verdict", "figure", "why")

INTRODUCTION = """\
# The literature on public data

The papers behind ontomask used hospital data that is not public. Each of their experiments is
repeated here on public tables, by the programs in the folder `studies/`; every statement of the
papers is a row below, with the verdict that the program reached from its numbers:

* **holds**: so it is on these data;
* **partly**: in some of the cases that the statement speaks of;
* **does not hold**: in none of them;
* **cannot be tested here**: these data or public tools do not allow it (the page says why).

`make studies DATA=FOLDER` runs everything again and rebuilds these pages. Verdicts on
running times depend on the machine and can change from run to run; all others stay the same.
"""


# Cells and tables -----------------------------------------------------------------------------


def shown(cell: Cell, digits: int = 4) -> str:
    """A cell as a person reads it."""
    if cell is None:
        return "—"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return _shown_float(cell, digits)
    return cell.replace("|", "\\|").replace("\n", " ")


def _shown_float(number: float, digits: int) -> str:
    if number != number:
        return "—"
    size = abs(number)
    if size >= 1e9 or 0 < size < 1e-4:
        return f"{number:.{digits - 1}e}"
    return f"{number:,.0f}" if size >= 10 ** (digits - 1) else f"{number:.{digits}g}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], digits: int = 4) -> str:
    """A table in Markdown; columns of numbers only are aligned to the right."""
    rows = [tuple(row) for row in rows]
    numeric = [
        all(not isinstance(row[at], str) for row in rows) and bool(rows)
        for at in range(len(columns))
    ]
    head = " | ".join(shown(one) for one in columns)
    rule = " | ".join("---:" if one else "---" for one in numeric)
    body = [" | ".join(shown(cell, digits) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in (head, rule, *body))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV; floats with ten significant digits."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([f"{cell:.10g}" if isinstance(cell, float) else cell for cell in row])
    return buffer.getvalue()


def svg(figure: Figure) -> str:
    """The drawing of a figure, in the theme of all studies."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    spec = {"$schema": schema, **figure.spec, "config": THEME}
    return str(vl_convert.vegalite_to_svg(spec))


# The page of a study --------------------------------------------------------------------------


def score(claims: Iterable[Claim]) -> dict[str, int]:
    """How many claims there are of each verdict."""
    verdicts = [claim.verdict for claim in claims]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def _score_line(claims: Sequence[Claim]) -> str:
    counts = score(claims)
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    plural = parts.replace("holds", "hold").replace("does not", "do not")
    return f"**{len(claims)} statements: {plural}.**"


def _claims_table(claims: Iterable[Claim]) -> str:
    columns = ("statement", "where printed", "verdict", "our figure", "remark")
    rows = [(one.claim, one.where, f"**{one.verdict}**", one.figure, one.why) for one in claims]
    return markdown_table(columns, rows)


def _table_part(table: ResultTable, name: str) -> str:
    link = f"[{table.name}.csv]({name}/{table.name}.csv)"
    parts = [f"### {table.title}"]
    if table.on_page:
        parts.append(markdown_table(table.columns, table.rows, table.digits))
    if table.note:
        parts.append(table.note)
    parts.append(f"All digits: {link}." if table.on_page else f"The table is in {link}.")
    return "\n\n".join(parts)


def _figure_part(figure: Figure, name: str) -> str:
    return f"### {figure.title}\n\n![{figure.alt}]({name}/{figure.name}.svg)"


def _items(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"* {item}" for item in items]
    return [f"## {title}", "\n".join(listed)] if listed else []


def render_page(name: str, findings: Findings) -> str:
    """The page of a study; nothing but the section on time changes from run to run."""
    times = [(part, float(seconds)) for part, seconds in findings.seconds.items()]
    total = ("all", sum(seconds for _, seconds in times))
    parts = [
        f"# {findings.title}",
        findings.paper,
        _score_line(findings.claims),
        "## Data",
        findings.data,
        "## Setup",
        findings.setup,
        "## What the paper says, and what is found here",
        _claims_table(findings.claims),
        f"As a file: [claims.csv]({name}/claims.csv).",
        "## Results",
        *(_table_part(table, name) for table in findings.tables),
        *(_figure_part(figure, name) for figure in findings.figures),
        *_items("The printed figures", findings.printed_notes),
        *_items("Where the results differ, and why", findings.discrepancies),
        "## Time",
        "Seconds of the run that made this page (this section alone changes from run to run).",
        markdown_table(("part", "seconds"), [*times, total], digits=3),
    ]
    return "\n\n".join(parts) + "\n"


def write_page(folder: Path, name: str, findings: Findings) -> Path:
    """Write the page of a study with its tables and figures; returns the page."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    for stale in (*home.glob("*.csv"), *home.glob("*.svg")):
        stale.unlink()
    for table in findings.tables:
        _write(home / f"{table.name}.csv", csv_text(table.columns, table.rows))
    for figure in findings.figures:
        _write(home / f"{figure.name}.svg", svg(figure))
    rows = [tuple(getattr(claim, field) for field in CLAIM_COLUMNS) for claim in findings.claims]
    _write(home / "claims.csv", csv_text(CLAIM_COLUMNS, rows))
    page = folder / f"{name}.md"
    _write(page, render_page(name, findings))
    return page


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


# The index ------------------------------------------------------------------------------------


def read_claims(folder: Path, name: str) -> list[Claim]:
    """The claims of a study as its page was last written; none where there is no page."""
    path = folder / name / "claims.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Claim(**cast("dict[str, Any]", row)) for row in csv.DictReader(file)]


def _title(folder: Path, name: str) -> str:
    first = (folder / f"{name}.md").read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("# ")


def write_index(folder: Path, names: Iterable[str]) -> Path:
    """Write index.md: the score of each study that has a page, and every claim as a row."""
    known = {name: claims for name in names if (claims := read_claims(folder, name))}
    every = [claim for claims in known.values() for claim in claims]
    rows: list[tuple[Cell, ...]] = [
        (f"[{_title(folder, name)}]({name}.md)", len(claims), *score(claims).values())
        for name, claims in known.items()
    ]
    rows.append(("**all**", len(every), *score(every).values()))
    parts = [
        INTRODUCTION.rstrip("\n"),
        "## The score",
        markdown_table(("study", "statements", *VERDICTS), rows),
        "## Every statement",
    ]
    for name, claims in known.items():
        parts += [f"### [{_title(folder, name)}]({name}.md)", _claims_table(claims)]
    page = folder / "index.md"
    _write(page, "\n\n".join(parts) + "\n")
    return page
