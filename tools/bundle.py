"""Write the taxonomies that are shipped with the package from their sources.

    python tools/bundle.py FOLDER

FOLDER holds the source files named below. Run it only to take in a new version of a source.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from ontomask.taxonomy import icd10, store
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.bundled import FILES, BundledTaxonomy
from ontomask.taxonomy.readers import readers


@dataclass(frozen=True)
class Source:
    """One source file and what is said of it."""

    name: str
    file: str
    reader: str
    title: str
    version: str
    license: str
    origin: str


SOURCES = (
    Source(
        "icd9cm",
        "icd9cm_dx_2015.csv.gz",
        "concepts",
        "ICD-9-CM diagnoses",
        "2015",
        "public domain (CMS, NCHS)",
        "Centers for Medicare and Medicaid Services; National Center for Health Statistics",
    ),
    Source(
        "icd9cm-procedures",
        "icd9cm_proc_2015_pkgonly.csv.gz",
        "concepts",
        "ICD-9-CM procedures (volume 3)",
        "2015",
        "public domain (CMS, NCHS)",
        "Centers for Medicare and Medicaid Services",
    ),
    Source(
        "wordnet",
        "wordnet30-noun.tar.gz",
        "wordnet",
        "WordNet nouns",
        "3.0",
        "WordNet 3.0 license",
        "Princeton University",
    ),
    Source(
        "doid",
        "doid_2019-03-01.obo.gz",
        "obo",
        "Human Disease Ontology",
        "2019-03-01",
        "CC0 1.0",
        "Disease Ontology project, University of Maryland",
    ),
    Source(
        "nace",
        "nace_rev2_1.csv.gz",
        "concepts",
        "NACE economic activities",
        "Rev. 2.1",
        "free reuse with attribution",
        "European Union, Eurostat",
    ),
    Source(
        "naics",
        "naics_2022.csv.gz",
        "concepts",
        "NAICS economic activities",
        "2022",
        "public domain (US Census Bureau)",
        "United States Census Bureau",
    ),
)


def bundle(source: Source, folder: Path) -> BundledTaxonomy:
    """Read one source, write its compact file and return its line of the catalog."""
    draft = readers()[source.reader].read(folder / source.file)
    draft.version = source.version
    taxonomy = assemble(
        draft, name=source.name, license=source.license, origin=source.origin, single_root=True
    )
    store.save(taxonomy, FILES / f"{source.name}{store.SUFFIX}", overwrite=True)
    return BundledTaxonomy(source.name, source.title, source.version, len(taxonomy), source.license)


def icd10_entry() -> BundledTaxonomy:
    """The catalog's line for ICD-10-CM, which is not shipped but comes with an extra."""
    draft = icd10.read_icd10cm()
    return BundledTaxonomy(
        "icd10cm",
        "ICD-10-CM diagnoses",
        draft.version,
        len(draft),
        "public domain (CMS, NCHS)",
        needs='pip install "ontomask[icd10]"',
    )


def main() -> None:
    """Write all files and the catalog."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    entries = [*(bundle(source, folder) for source in SOURCES), icd10_entry()]
    catalog = json.dumps([dataclasses.asdict(entry) for entry in entries], indent=1)
    (FILES / "catalog.json").write_text(catalog + "\n", encoding="utf-8")
    for entry in entries:
        print(entry)


if __name__ == "__main__":
    main()
