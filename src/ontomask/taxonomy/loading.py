"""`load_taxonomy`: a bundled name or a file in any known format becomes a taxonomy."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ontomask.checks import AnyOf, Choice, Flag, Null, Text, Typed, check, checked, did_you_mean
from ontomask.errors import EmptyTaxonomyError, FormatError, ParameterError, SourceNotFoundError
from ontomask.taxonomy import bundled, store
from ontomask.taxonomy.abbreviations import LANGUAGES
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Reader
from ontomask.taxonomy.readers import readers
from ontomask.taxonomy.readers.sources import first_bytes
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["load_taxonomy"]

CACHED_FROM = 2**20
"""Sources of so many bytes or more are kept parsed in the cache folder."""

SOURCE = AnyOf(Text(), Typed(os.PathLike, "the path of a file or folder"))


@checked(
    source=SOURCE,
    format=AnyOf(Text(), Null()),
    name=AnyOf(Text(), Null()),
    single_root=Flag(),
    cache=Flag(),
    stemming=AnyOf(Choice(*LANGUAGES), Null()),
)
def load_taxonomy(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - what a user calls it
    name: str | None = None,
    single_root: bool = False,
    cache: bool = True,
    stemming: str | None = None,
    **options: Any,
) -> Taxonomy:
    """Load a bundled taxonomy by name, or read one from a file or folder.

    Parameters
    ----------
    source
        A name listed by `ontomask.taxonomies()`, or the path of a file or folder.
    format
        The name of a reader, when the format should not be recognized from the content.
    name
        What to call the taxonomy; the file's name by default.
    single_root
        Refuse a source with several roots instead of putting a virtual one above them.
    cache
        Keep large sources parsed in the user's cache folder, keyed by their content.
    stemming
        The language of the names, by which words are stemmed and abbreviations understood: English
        unless said otherwise.
    options
        Options of the reader, such as `language="es"` or `by_prefix=[2, 3, 4]`.

    Examples
    --------
    >>> icd9 = om.load_taxonomy("icd9cm")
    >>> icd9.label_of("428.0")
    'Congestive heart failure, unspecified'
    >>> icd9.lcs(["250.00", "250.13"])
    '250'
    """
    check("format", format, AnyOf(Choice(*readers()), Null()))
    if isinstance(source, str) and source in bundled.NAMES and not Path(source).exists():
        _refuse_options(source, {"format": format, "stemming": stemming, **options})
        return bundled.load(source)
    path = Path(source)
    if not path.exists():
        raise SourceNotFoundError(
            f"There is no file or bundled taxonomy {str(source)!r}; bundled are "
            f"{', '.join(bundled.NAMES)}.{did_you_mean(source, bundled.NAMES)}"
        )
    if format is None and path.name.endswith(store.SUFFIX):
        kept = store.load(path)
        return replace(kept, language=stemming) if stemming else kept
    reader = _reader(path, format, options)
    _check_options(reader, options)
    title = name or path.name.split(".")[0]

    def build() -> Taxonomy:
        draft = reader.read(path, **options)
        return assemble(
            draft, name=title, single_root=single_root, language=stemming or LANGUAGES[0]
        )

    files = _files(path)
    if not cache or sum(file.stat().st_size for file in files) < CACHED_FROM:
        return build()
    settings = {"reader": reader.name, "name": title, "single_root": single_root, **options}
    settings |= {"stemming": stemming} if stemming else {}
    return store.cached(files, settings, build)


def _reader(path: Path, format_name: str | None, options: dict[str, Any]) -> Reader:
    if format_name is not None:
        return readers()[format_name]
    if "by_prefix" in options:
        return readers()["codes"]
    beginning = first_bytes(path)
    if path.is_file() and not beginning.strip():
        raise EmptyTaxonomyError(f"{path} is empty.")
    for reader in readers().values():
        if reader.can_read(path, beginning):
            return reader
    raise FormatError(
        f"{path} is in no format that ontomask recognizes; if you know it, say format=… with one "
        f"of {', '.join(readers())}."
    )


def _check_options(reader: Reader, options: dict[str, Any]) -> None:
    allowed = [name for name in inspect.signature(reader.read).parameters if name != "path"]
    for option in options:
        if option not in allowed:
            raise ParameterError(
                f"The reader for {reader.name!r} has no option {option!r}; its options: "
                f"{', '.join(allowed) or 'none'}."
            )


def _refuse_options(source: str, options: dict[str, Any]) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise ParameterError(
            f"The bundled taxonomy {source!r} takes no option {given[0]!r}; leave it out."
        )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())
