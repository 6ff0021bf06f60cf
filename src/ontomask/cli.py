"""The command line: the only room that prints."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import typer
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress import Progress
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ontomask.arrays import Floats
from ontomask.errors import OntomaskError
from ontomask.semantics.dependence import semantic_mean
from ontomask.semantics.sample import Sample
from ontomask.taxonomy.bundled import taxonomies
from ontomask.taxonomy.loading import load_taxonomy
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.taxonomy.terms import Mapping

__all__ = ["app", "main"]

app = typer.Typer(
    help="Release microdata that keeps its meaning.", no_args_is_help=True, add_completion=True
)

DISCHARGES = (
    *["250.00"] * 4,
    *["Diabetes mellitus"] * 2,
    *["25013"] * 3,
    *["250.60"] * 4,
    *["250.80"] * 3,
    *["244.9"] * 2,
    *["Pure hypercholesterolemia"] * 2,
    *["obesity, morbid"] * 1,
    *["acute myocardial infarctions"] * 1,
    *["428.0"] * 2,
    "8.45",
    "hart failure",
)
"""A small column of diagnoses as hospitals write them: codes, codes without dots, words, slips."""


@app.callback()
def start() -> None:
    """Release microdata that keeps its meaning."""


@app.command("taxonomies")
def list_taxonomies() -> None:
    """List the taxonomies that can be used by name."""
    Console(width=max(100, Console().width)).print(_catalog())


@app.command("warm")
def compile_kernels() -> None:
    """Compile everything once, so that the first run of each method is quick."""
    from ontomask.warming import warm  # other commands start quicker without the methods

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("compiling", total=1.0)
        for share, name in warm():
            progress.update(task, completed=share, description=f"compiling {name}")
    Console(stderr=True).print("The kernels are compiled.")


@app.command()
def demo() -> None:
    """Show the knowledge layer at work on a column of diagnoses."""
    console = Console(width=max(100, Console().width))
    taxonomy = load_taxonomy("icd9cm")
    mapping = taxonomy.map(DISCHARGES)
    found = {value: one for value, one in zip(mapping.values, mapping.ids, strict=True) if one}
    column = [found[value] for value in DISCHARGES if value in found]
    sample = Sample.of(column, taxonomy)
    console.print(_step("1", "What is bundled", _catalog()))
    console.print(_step("2", "Words and codes become concepts", _mapping(mapping, taxonomy)))
    console.print(_step("3", "How far apart are the diagnoses? (logSC)", _matrix(sample)))
    console.print(_step("4", "Which concept stands best for all of them?", _centroid(sample)))


def main() -> None:
    """Run the command line; a user's mistake is answered with a sentence, not a traceback."""
    try:
        app()
    except OntomaskError as error:
        Console(stderr=True).print(f"[bold red]Error:[/] {error}")
        sys.exit(2)


def _step(number: str, title: str, content: RenderableType) -> Panel:
    return Panel(content, title=f"[bold]{number}. {title}", title_align="left", padding=(1, 2))


def _catalog() -> Table:
    table = Table("name", "what it is", "version", box=None, header_style="dim")
    table.add_column("concepts", justify="right")
    table.add_column("license")
    for entry in taxonomies():
        table.add_row(
            f"[bold cyan]{entry.name}",
            entry.title,
            entry.version,
            f"{entry.concepts:,}",
            entry.license,
        )
    return table


def _mapping(mapping: Mapping, taxonomy: Taxonomy) -> Group:
    table = Table("value", "records", "concept", "found by", "label", box=None, header_style="dim")
    rows = zip(mapping.values, mapping.counts, mapping.ids, mapping.how, strict=True)
    for value, count, identifier, how in rows:
        if identifier:
            label = _short(taxonomy.label_of(identifier), 48)
            table.add_row(str(value), str(count), f"[cyan]{identifier}", str(how), label)
        else:
            table.add_row(f"[yellow]{value}", str(count), "[yellow]?", "", _guess(mapping, value))
    coverage = mapping.coverage
    line = Text(f"\n{coverage}", style="bold")
    return Group(table, line, *(Text(warning, style="yellow") for warning in mapping.warnings))


def _guess(mapping: Mapping, value: object) -> str:
    first = next(iter(mapping.suggestions(value, 1)), None)
    return f"[yellow]perhaps {first.id} {_short(first.label)}: {first.reason}" if first else ""


def _matrix(sample: Sample) -> Table:
    ids = sample.taxonomy.ids_of(sample.concepts.tolist())
    table = Table("", *ids, box=None, header_style="dim", padding=(0, 0))
    for identifier, row in zip(ids, sample.matrix, strict=True):
        label = sample.taxonomy.label_of(identifier)
        name = Text(f"{identifier:>7} {_short(label, 24)} ", no_wrap=True)
        table.add_row(name, *(_cell(float(value)) for value in row))
    return table


def _cell(distance: float) -> Text:
    """A cell shaded by distance: green is near, red is far."""
    red, green = int(70 + 150 * distance), int(170 - 120 * distance)
    return Text(f"  {distance:4.2f} ", Style(bgcolor=f"rgb({red},{green},80)", color="white"))


def _short(label: str, width: int = 34) -> str:
    return label if len(label) <= width else label[: width - 1] + "…"


def _centroid(sample: Sample) -> Group:
    taxonomy, numbers = sample.taxonomy, sample.taxonomy.minimum_hierarchy_numbers(sample.concepts)
    sums = sample.space.between(numbers, sample.concepts) @ sample.counts
    best = semantic_mean(sample)
    ids = taxonomy.ids_of(numbers.tolist())
    tree = _hierarchy(sample, ids, sums, best)
    values = taxonomy.ids_of(sample.concepts[sample.codes].tolist())
    lcs, mode = taxonomy.lcs(values), Counter(values).most_common(1)[0][0]
    costs = dict(zip(ids, sums, strict=True))
    table = Table("choice", "concept", "label", box=None, header_style="dim")
    table.add_column("sum of distances", justify="right")
    chosen = (("semantic centroid", best), ("most frequent value", mode), ("common ancestor", lcs))
    for name, one in chosen:
        style = "bold green" if one == best else ""
        table.add_row(
            name, one, _short(taxonomy.label_of(one), 44), f"{costs[one]:.2f}", style=style
        )
    return Group(tree, Text(), table)


def _hierarchy(sample: Sample, ids: tuple[str, ...], sums: Floats, best: str) -> Tree:
    taxonomy = sample.taxonomy
    counts = dict(zip(taxonomy.ids_of(sample.concepts.tolist()), sample.counts, strict=True))
    branches: dict[str, Tree] = {}
    for identifier, total in zip(ids, np.asarray(sums), strict=True):
        records = f" [cyan]×{counts[identifier]:.0f}[/]" if identifier in counts else ""
        star = "[bold green]★ " if identifier == best else ""
        label = _short(taxonomy.label_of(identifier), 50)
        text = f"{star}[bold]{identifier}[/] {label}{records} [dim]{total:.2f}[/]"
        above = next(
            (branches[one] for one in taxonomy.parents(identifier) if one in branches), None
        )
        branches[identifier] = above.add(text) if above else Tree(text)
    return branches[ids[0]]
