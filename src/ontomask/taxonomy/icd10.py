"""ICD-10-CM through the optional package simple-icd-10-cm, which carries the official release.

Chapters get the ids `Chapter 1` to `Chapter 22` (the package calls them `1` to `22`, which any
column of small numbers would match). Some blocks consist of a single category and bear its code;
they get the id of a range (`B20-B20`), so that both levels stay. Inclusion terms are synonyms.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections import Counter
from typing import Any

from ontomask.extras import EXTRAS, not_installed, optional
from ontomask.taxonomy.draft import Draft

__all__ = ["ROOT", "read_icd10cm", "version"]

ROOT = "ICD10CM"
MODULE = "simple_icd_10_cm"
PACKAGE = EXTRAS[MODULE].package


def read_icd10cm() -> Draft:
    """Return all chapters, blocks, categories and codes below one root.

    Raises
    ------
    DependencyError
        If the package is not installed.
    """
    package = _package()
    draft = Draft(PACKAGE)
    draft.version = f"{PACKAGE} {version()}"
    draft.add_concept(ROOT, "ICD-10-CM")
    codes: list[str] = package.get_all_codes(with_dots=True)
    # a block of one category comes right before that category, under the same code
    blocks = {code for code, count in Counter(codes).items() if count > 1}
    for code in codes:
        is_block = code in blocks and _range(code) not in draft.positions
        parent: str = package.get_parent(code, prioritize_blocks=is_block)
        identifier = _range(code) if is_block else _identifier(code)
        draft.add_concept(
            identifier,
            package.get_description(code, prioritize_blocks=is_block),
            synonyms=package.get_inclusion_term(code, prioritize_blocks=is_block),
        )
        draft.add_link(identifier, _range(code) if parent == code else _identifier(parent))
    return draft


def version() -> str:
    """Return the version of the package that carries ICD-10-CM."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise not_installed(MODULE) from None


def _package() -> Any:
    with warnings.catch_warnings():  # the package reads its data in a way that is deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        return optional(MODULE)


def _range(code: str) -> str:
    return f"{code}-{code}"


def _identifier(code: str) -> str:
    """Return the concept's id for a chapter's number, a code, or no code at all (the root)."""
    if not code:
        return ROOT
    return f"Chapter {code}" if code.isdigit() else code
