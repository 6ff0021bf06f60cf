"""The commands about taxonomies: list, show, map, convert, distance."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from ontomask.cli.tables import Encoding, Header, Reading, Separator, Sheet, column_of
from ontomask.cli.voice import Force, Json, Quiet, Voice, grid
from ontomask.writing import require_new, writing

if TYPE_CHECKING:
    from ontomask.taxonomy.mapping import Mapping
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["app"]

app = typer.Typer(help="Look at, map to, convert and measure taxonomies.", no_args_is_help=True)

Source = Annotated[
    str,
    typer.Argument(help="A bundled name, or a file (OBO, OWL, CSV …).", show_default=False),
]
SHOWN = 20
SAME_WORD = 75
SHORTEST_WORD = 4
"""Two words of so many letters are taken for one if they are so many percent alike."""


@app.command("list")
def listed(json_: Json = False) -> None:
    """List the taxonomies that can be used by name.

    Example: `ontomask taxonomy list`
    """
    from ontomask.taxonomy.bundled import taxonomies

    voice = Voice(json_)
    table = grid("name", "what it is", "version", "concepts", "license", numbers=("concepts",))
    for one in taxonomies():
        table.add_row(
            f"[bold cyan]{one.name}", one.title, one.version, f"{one.concepts:,}", one.license
        )
    voice.say(table)
    voice.result({"taxonomies": [vars(one) for one in taxonomies()]})


@app.command()
def show(
    taxonomy: Source,
    concept: Annotated[str | None, typer.Argument(help="A code or a word.")] = None,
    json_: Json = False,
) -> None:
    """Show a taxonomy, or one concept with what is above and below it.

    Examples: `ontomask taxonomy show icd9cm`, `ontomask taxonomy show icd9cm 250.00`
    """
    voice = Voice(json_)
    with voice.answering():
        from ontomask.taxonomy.loading import load_taxonomy

        found = load_taxonomy(taxonomy)
        if concept is None:
            _show_whole(voice, found)
        else:
            _show_concept(voice, found, concept)


def _show_whole(voice: Voice, taxonomy: Taxonomy) -> None:
    top = taxonomy.children(taxonomy.root)
    facts = {
        "name": taxonomy.name,
        "version": taxonomy.version,
        "license": taxonomy.license,
        "concepts": len(taxonomy),
        "depth": taxonomy.max_depth,
        "root": taxonomy.root,
        "below the root": len(top),
    }
    table = grid("", "")
    for name, value in facts.items():
        table.add_row(f"[dim]{name}", Text(f"{value:,}" if isinstance(value, int) else str(value)))
    tree = Tree(_named(taxonomy, taxonomy.root))
    for one in top[:SHOWN]:
        tree.add(_named(taxonomy, one))
    if len(top) > SHOWN:
        tree.add(f"… and {len(top) - SHOWN:,} more")
    voice.say(table, "", tree)
    voice.result({**facts, "top": list(top)})


def _named(taxonomy: Taxonomy, identifier: str) -> Text:
    label = taxonomy.label_of(identifier)
    return Text.assemble((identifier, "bold cyan"), f" {label}" if label != identifier else "")


def _concept(taxonomy: Taxonomy, word: str) -> str:
    from ontomask.checks import Text as Word
    from ontomask.checks import check
    from ontomask.errors import UnknownConceptError

    check("A concept", word, Word())
    mapping = taxonomy.map([word])
    identifier = mapping.ids[0]
    if identifier is None:
        near = _near(taxonomy, mapping, word)
        hint = f" Near are: {'; '.join(near)}." if near else ""
        raise UnknownConceptError(f"{taxonomy.name} has no concept {word!r}.{hint}")
    return identifier


def _near(taxonomy: Taxonomy, mapping: Mapping, word: str) -> list[str]:
    """Concepts that were perhaps meant: by the word as it is, or else as others spell it."""
    found = mapping.suggestions(word) or mapping.suggestions(_respelled(taxonomy, word))
    return [f"{one.id} {one.label}" for one in found]


def _respelled(taxonomy: Taxonomy, text: str) -> str:
    """A text with each word replaced by the one that looks like it in the names of concepts."""
    from rapidfuzz import fuzz, process

    pattern = re.compile(rf"[^\W\d_]{{{SHORTEST_WORD},}}")
    known = {word for name in taxonomy.names for word in pattern.findall(name.casefold())}

    def closest(word: re.Match[str]) -> str:
        best = process.extractOne(word[0], sorted(known), scorer=fuzz.ratio, score_cutoff=SAME_WORD)
        return best[0] if best else word[0]

    return pattern.sub(closest, text.casefold())


def _show_concept(voice: Voice, taxonomy: Taxonomy, word: str) -> None:
    identifier = _concept(taxonomy, word)
    above = [one for one in taxonomy.ancestors(identifier) if one != identifier]
    below = taxonomy.children(identifier)
    branch = tree = Tree(_named(taxonomy, taxonomy.root))
    for one in _path(taxonomy, identifier)[1:]:
        branch = branch.add(_named(taxonomy, one))
    for one in below[:SHOWN]:
        branch.add(_named(taxonomy, one))
    if len(below) > SHOWN:
        branch.add(f"… and {len(below) - SHOWN:,} more")
    voice.say(tree)
    synonyms = taxonomy.synonyms[taxonomy.index_of(identifier)]
    if synonyms:
        voice.say(Text(f"also called: {', '.join(synonyms[:SHOWN])}", style="dim"))
    voice.result(
        {
            "id": identifier,
            "label": taxonomy.label_of(identifier),
            "synonyms": synonyms,
            "depth": taxonomy.depth(identifier),
            "parents": taxonomy.parents(identifier),
            "ancestors": above,
            "children": below,
        }
    )


def _path(taxonomy: Taxonomy, identifier: str) -> list[str]:
    """The way from the root to a concept along first parents."""
    way = [identifier]
    while parents := taxonomy.parents(way[0]):
        way.insert(0, parents[0])
    return way


@app.command("map")
def mapped(
    taxonomy: Source,
    data: Annotated[Path, typer.Argument(help="A table.", show_default=False)],
    column: Annotated[str, typer.Option("--column", "-c", help="The column.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a mapping file to edit and use in a plan."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", "-p", help="Read the table as this plan says.")
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which values of a column the taxonomy knows, and suggest concepts for the others.

    Example: `ontomask taxonomy map icd9cm patients.csv --column diagnosis -o mapping.csv`
    """
    voice = Voice(json_, quiet)
    with voice.answering():
        from ontomask.data.tables import open_table
        from ontomask.taxonomy.loading import load_taxonomy

        if output is not None:
            require_new(output, force=force)
        source = column_of(
            data, column, Reading(separator, encoding, sheet=sheet, header=header), plan
        )
        voice.aside(*(Text(note, style="dim") for note in source.guessed.values()))
        found = load_taxonomy(taxonomy).map(open_table(source.frame).column(column))
        voice.say(Text(found.summary()))
        if output is not None:
            with writing(output):
                found.to_csv(output, overwrite=force)
            shown, name = escape(str(output)), escape(output.name)
            voice.say(f'\n[bold]{shown}[/] is written; in a plan: mapping = "{name}"')
        coverage = found.coverage
        voice.result(
            {**vars(coverage), "unmapped": found.unmapped[:1000], "warnings": found.warnings}
        )


@app.command()
def convert(
    taxonomy: Source,
    output: Annotated[
        Path, typer.Argument(help="A .csv (id, label, parents) or a compact .ontomask file.")
    ],
    reader: Annotated[
        str | None, typer.Option("--format", help="The reader, if it is not recognized.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Read a taxonomy in any format and write it as a concept list or a compact file.

    Example: `ontomask taxonomy convert disease.owl disease.csv`
    """
    voice = Voice(False, quiet)
    with voice.answering():
        from ontomask.checks import Choice, check
        from ontomask.taxonomy import store
        from ontomask.taxonomy.loading import load_taxonomy

        check("The suffix of the output", output.suffix.lower(), Choice(".csv", store.SUFFIX))
        require_new(output, force=force)
        found = load_taxonomy(taxonomy, format=reader)
        with writing(output):
            store.save(found, output, overwrite=force)
        voice.say(f"{len(found):,} concepts are written to [bold]{escape(str(output))}[/].")


@app.command()
def distance(
    taxonomy: Source,
    first: Annotated[str, typer.Argument(help="A code or a word.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another one.", show_default=False)],
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="One measure; all by default.")
    ] = None,
    json_: Json = False,
) -> None:
    """Say how far apart two concepts are: 0 is the same, more is farther.

    Example: `ontomask taxonomy distance icd9cm 250.00 428.0`
    """
    voice = Voice(json_)
    with voice.answering():
        from ontomask.checks import Choice, check
        from ontomask.taxonomy.loading import load_taxonomy
        from ontomask.taxonomy.measures import MEASURES

        if measure is not None:
            check("measure", measure, Choice(*MEASURES))
        found = load_taxonomy(taxonomy)
        one, other = _concept(found, first), _concept(found, second)
        names = [measure] if measure else list(MEASURES)
        distances = {name: float(found.distance(one, other, name)) for name in names}
        voice.say(_named(found, one))
        voice.say(_named(found, other))
        voice.say(Text.assemble("in common: ", _named(found, found.lcs([one, other]))), "")
        table = grid("measure", "distance", numbers=("distance",))
        default = inspect.signature(found.distance).parameters["measure"].default
        for name, value in distances.items():
            table.add_row(f"[bold]{name}[/] (default)" if name == default else name, f"{value:.4f}")
        voice.say(table)
        voice.result({"first": one, "second": other, "distances": distances, "default": default})
