"""What other packages add: methods, models, measures and readers that they declare as entry points.

A package declares in its own metadata, for instance,

    [project.entry-points."ontomask.methods"]
    common-value = "my_package:CommonValue"

One that cannot be loaded, is not what it says or takes a name that is taken is left out with a
warning: a run must not fail because of a package that it does not use.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeVar

from ontomask.errors import OntomaskWarning

__all__ = ["GROUPS", "declared", "declared_classes"]

GROUPS = ("methods", "privacy_models", "quality_models", "measures", "readers")
"""What can be added; the group of entry points is `ontomask.` and one of these."""
Kind = TypeVar("Kind")


def declared(group: str, wanted: type[Kind], taken: Mapping[str, object]) -> Iterator[Kind]:
    """What other packages declare in a group.

    Parameters
    ----------
    group
        One of `GROUPS`.
    wanted
        What each of them must be: an instance of it, or a class below it where it is a metaclass.
    taken
        The names that are there already.
    """
    for entry in entry_points(group=f"ontomask.{group}"):
        try:
            found = entry.load()
        except Exception as error:  # noqa: BLE001 - whatever somebody's package does when imported
            _warn(entry.name, group, f"cannot be loaded ({type(error).__name__}: {error})")
            continue
        if not isinstance(found, wanted):
            _warn(entry.name, group, f"is a {type(found).__name__}, not a {wanted.__name__}")
        elif getattr(found, "name", "") != entry.name:
            _warn(entry.name, group, f"calls itself {getattr(found, 'name', None)!r}")
        elif entry.name in taken:
            _warn(entry.name, group, "has a name that is taken")
        else:
            yield found


def declared_classes(group: str, base: Any, taken: Mapping[str, object]) -> Iterator[Any]:
    """The classes that other packages declare in a group; those not below `base` are left out."""
    for found in declared(group, type, taken):
        if issubclass(found, base):
            yield found
        else:
            _warn(str(getattr(found, "name", found)), group, f"is no {base.__name__}")


def _warn(name: str, group: str, problem: str) -> None:
    warnings.warn(
        f"The entry point {name!r} of ontomask.{group} {problem}; it is left out.",
        OntomaskWarning,
        stacklevel=3,
    )
