"""What one needs to write a method, a model, a measure or a reader of one's own.

A name is imported only when it is first used, so that a measure can be loaded before the methods.
Put measures into a module of their own, and declare each thing as an entry point; see the guide on
extending.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontomask.checks import AnyOf as AnyOf
    from ontomask.checks import Choice as Choice
    from ontomask.checks import Flag as Flag
    from ontomask.checks import Integer as Integer
    from ontomask.checks import ListOf as ListOf
    from ontomask.checks import Null as Null
    from ontomask.checks import Real as Real
    from ontomask.checks import Text as Text
    from ontomask.data.masked import Masked as Masked
    from ontomask.data.microdata import Attribute as Attribute
    from ontomask.data.microdata import Microdata as Microdata
    from ontomask.methods.base import Context as Context
    from ontomask.methods.base import Method as Method
    from ontomask.methods.base import check_columns as check_columns
    from ontomask.methods.base import check_k as check_k
    from ontomask.privacy import Classes as Classes
    from ontomask.privacy import PrivacyModel as PrivacyModel
    from ontomask.quality import Quality as Quality
    from ontomask.taxonomy.draft import Draft as Draft
    from ontomask.taxonomy.draft import Reader as Reader
    from ontomask.taxonomy.measures import Measure as Measure
    from ontomask.taxonomy.measures import Space as Space

_HOMES = {
    "checks": ("AnyOf", "Choice", "Flag", "Integer", "ListOf", "Null", "Real", "Text"),
    "data.masked": ("Masked",),
    "data.microdata": ("Attribute", "Microdata"),
    "methods.base": ("Context", "Method", "check_columns", "check_k"),
    "privacy": ("Classes", "PrivacyModel"),
    "quality": ("Quality",),
    "taxonomy.draft": ("Draft", "Reader"),
    "taxonomy.measures": ("Measure", "Space"),
}
_FOUND = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_FOUND)


def __getattr__(name: str) -> Any:
    if name not in _FOUND:
        raise AttributeError(f"ontomask.extending has no {name!r}; there are {', '.join(__all__)}.")
    return getattr(importlib.import_module(f"ontomask.{_FOUND[name]}"), name)
