"""Taxonomies in files: a compact one of ontomask's own, the cache made of those, concept lists.

The compact file is a zip of plain NumPy arrays (`.npz`, never pickled): the integer arrays of the
taxonomy, its texts joined by NUL characters and encoded as UTF-8, and a small JSON header.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from ontomask.errors import FormatError, ParameterError, TaxonomyError
from ontomask.taxonomy.abbreviations import LANGUAGES
from ontomask.taxonomy.assembly import frozen
from ontomask.taxonomy.readers.sources import open_zip, stream_member
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.writing import replacing, write_rows

__all__ = ["SUFFIX", "cache_folder", "cached", "load", "save"]

SUFFIX = ".ontomask"
LAYOUT = 1
"""Raised whenever the arrays in the file change; older files are then read anew from the source."""

TEXTS = ("ids", "names", "glosses")
ARRAYS = ("name_offsets", "name_ranks", "parent_offsets", "parent_numbers", "depths")
FACTS = ("name", "version", "license", "origin", "language")
JOINT = "|"
NPY_VERSION = (1, 0)


def save(taxonomy: Taxonomy, path: Path, *, overwrite: bool = False) -> None:
    """Write a taxonomy to a compact file or, if it is called `.csv`, to a concept list.

    An existing file is kept unless `overwrite`; `load_taxonomy` reads both.
    """
    if path.exists() and not overwrite:
        raise ParameterError(f"{path} exists already; choose another name or say overwrite=True.")
    if path.suffix.lower() == ".csv":
        write_rows(path, _concept_rows(taxonomy))
        return
    header = {"layout": LAYOUT, **{fact: getattr(taxonomy, fact) for fact in FACTS}}
    arrays: dict[str, NDArray[Any]] = {"header": _packed([json.dumps(header)])}
    arrays |= {text: _packed(getattr(taxonomy, text)) for text in TEXTS}
    arrays |= {array: getattr(taxonomy, array) for array in ARRAYS}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def _concept_rows(taxonomy: Taxonomy) -> Iterator[tuple[str, ...]]:
    """Id, label, parents and synonyms; names that would come apart in reading are refused."""
    torn = [name for name in taxonomy.ids if set(name) & {JOINT, ";"} or name != name.strip()]
    torn += [name for names in taxonomy.synonyms for name in names if JOINT in name]
    if torn:
        raise ParameterError(
            f"{taxonomy.name} holds {torn[0]!r}, which a concept list cannot: | and ; separate "
            "parents and synonyms there; write an .ontomask file."
        )
    yield "id", "label", "parents", "synonyms"
    for identifier, label, synonyms in zip(
        taxonomy.ids, taxonomy.labels, taxonomy.synonyms, strict=True
    ):
        yield identifier, label, JOINT.join(taxonomy.parents(identifier)), JOINT.join(synonyms)


def load(path: Path) -> Taxonomy:
    """Read a taxonomy from a compact file and check that its arrays fit together."""
    try:
        with open_zip(path) as archive:
            arrays = {key: _array(archive, key) for key in ("header", *TEXTS, *ARRAYS)}
        header = json.loads(_unpacked(arrays["header"])[0])
        if header["layout"] != LAYOUT:
            raise FormatError(
                f"{path} was written with layout {header['layout']} and this version of ontomask "
                f"reads layout {LAYOUT}; convert it again from its source."
            )
        fields: dict[str, Any] = {text: _unpacked(arrays[text]) for text in TEXTS}
        fields |= {array: frozen(arrays[array]) for array in ARRAYS}
        fields |= {fact: str(header[fact]) for fact in FACTS if fact in header}
        taxonomy = Taxonomy(**fields)
        _check(taxonomy)
    except (KeyError, IndexError, ValueError, OSError) as error:
        raise FormatError(
            f"{path} is not a readable ontomask taxonomy file ({type(error).__name__}); "
            "make it again with taxonomy.save(path)."
        ) from error
    return taxonomy


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of a file; one that claims to be larger than its bytes is not believed."""
    with stream_member(archive, f"{name}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        if version != NPY_VERSION:
            raise ValueError("the array is of an unknown version")
        shape, _, kind = np.lib.format.read_array_header_1_0(stream)
        content = stream.read()
    if kind.hasobject or len(shape) != 1 or shape[0] * kind.itemsize != len(content):
        raise ValueError("the array is not what it claims to be")
    return np.frombuffer(content, kind)


def cache_folder() -> Path:
    """The folder in which parsed sources are kept; ONTOMASK_CACHE names another one."""
    chosen = os.environ.get("ONTOMASK_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("ontomask")) / "taxonomies"


def cached(
    files: Iterable[Path], settings: Mapping[str, object], build: Callable[[], Taxonomy]
) -> Taxonomy:
    """Return the taxonomy kept for exactly this content and these settings, or build and keep it.

    A cache that cannot be read or written never stands in the way.
    """
    path = cache_folder() / f"{_digest(files, settings)}{SUFFIX}"
    if path.exists():
        try:
            return load(path)
        except TaxonomyError:
            path.unlink(missing_ok=True)
    taxonomy = build()
    with contextlib.suppress(OSError):
        save(taxonomy, path, overwrite=True)
    return taxonomy


def _packed(texts: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\0".join(texts).encode(), dtype=np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\0"))


def _check(taxonomy: Taxonomy) -> None:
    """Raise ValueError unless the arrays form a taxonomy (parents before children, no gaps)."""
    count = len(taxonomy.ids)
    offsets, parents = taxonomy.parent_offsets, taxonomy.parent_numbers
    owners = np.repeat(np.arange(count), np.diff(offsets))
    sound = (
        len(set(taxonomy.ids)) == count == len(taxonomy.glosses) == taxonomy.depths.size
        and offsets.size == count + 1 == taxonomy.name_offsets.size
        and offsets[-1] == parents.size
        and taxonomy.name_offsets[-1] == len(taxonomy.names) == taxonomy.name_ranks.size
        and bool((np.diff(taxonomy.name_offsets) >= 1).all())
        and taxonomy.language in LANGUAGES
        and bool((parents >= 0).all() and (parents < owners).all())
        and bool((taxonomy.depths[parents] < taxonomy.depths[owners]).all())
    )
    if not sound:
        raise ValueError("the arrays do not fit together")


def _digest(files: Iterable[Path], settings: Mapping[str, object]) -> str:
    """A digest of the files' contents, the settings and the layout of the cache file."""
    digest = hashlib.blake2b(digest_size=20)
    digest.update(json.dumps([LAYOUT, sorted(settings.items())], default=str).encode())
    for path in sorted(files):
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "blake2b").digest())
    return digest.hexdigest()
