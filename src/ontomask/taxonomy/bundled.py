"""The taxonomies shipped with the package, and ICD-10-CM through a package of its own.

The files and their catalog are written by `tools/bundle.py`; the notices that their owners ask for
are in `files/NOTICES.md`.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from ontomask.taxonomy import icd10, store
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["NAMES", "BundledTaxonomy", "load", "taxonomies"]

FILES = Path(__file__).parent / "files"

NAMES = ("icd9cm", "icd9cm-procedures", "wordnet", "doid", "nace", "naics", "icd10cm")


@dataclass(frozen=True)
class BundledTaxonomy:
    """What is known of a bundled taxonomy without loading it."""

    name: str
    title: str
    version: str
    concepts: int
    license: str
    needs: str = ""

    def __str__(self) -> str:
        extra = f" (needs {self.needs})" if self.needs else ""
        size = f"{self.concepts:,} concepts"
        return f"{self.name}: {self.title}, {self.version}, {size}, {self.license}{extra}"


@functools.cache
def taxonomies() -> tuple[BundledTaxonomy, ...]:
    """List the taxonomies that `load_taxonomy` knows by name, with size, version and license.

    Examples
    --------
    >>> bundled = {one.name: one for one in om.taxonomies()}
    >>> "icd9cm" in bundled
    True
    >>> bundled["icd9cm"].license
    'public domain (CMS, NCHS)'
    """
    entries = json.loads((FILES / "catalog.json").read_text(encoding="utf-8"))
    return tuple(BundledTaxonomy(**entry) for entry in entries)


@functools.cache
def load(name: str) -> Taxonomy:
    """Load a bundled taxonomy; it is immutable, so one copy serves all."""
    if name == "icd10cm":
        return _icd10cm()
    return store.load(FILES / f"{name}{store.SUFFIX}")


def _icd10cm() -> Taxonomy:
    def build() -> Taxonomy:
        return assemble(icd10.read_icd10cm(), name="icd10cm", license="public domain (CMS, NCHS)")

    return store.cached([], {"icd10cm": icd10.version()}, build)
