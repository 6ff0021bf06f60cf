"""Methods by the names under which the literature compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ontomask.checks import Choice, check
from ontomask.methods.base import Method
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.recoding import Recoding
from ontomask.methods.resampling import Resampling

__all__ = ["PRESETS", "preset", "presets"]

PRESETS: Mapping[str, tuple[str, Callable[[int], Method]]] = MappingProxyType(
    {
        "mdav+equality": (
            "MDAV with Boolean distance and mode",
            lambda k: Microaggregation(k, algorithm="mdav", operators="equality"),
        ),
        "mdav+lcs": (
            "MDAV with Wu-Palmer distance and least common subsumer",
            lambda k: Microaggregation(k, algorithm="mdav", operators="lcs", measure="wu-palmer"),
        ),
        "mdav+marginality": (
            "MDAV with S-distance and marginality mean",
            lambda k: Microaggregation(
                k, algorithm="mdav", operators="marginality", metric="s-distance"
            ),
        ),
        "s-mdav": (
            "semantic MDAV with clusters of fixed size",
            lambda k: Microaggregation(k, algorithm="mdav"),
        ),
        "sa-mdav-static": (
            "semantic adaptive MDAV with a static center",
            lambda k: Microaggregation(k, dynamic=False),
        ),
        "sa-mdav": ("semantic adaptive MDAV", lambda k: Microaggregation(k)),
        "v-mdav": ("V-MDAV", lambda k: Microaggregation(k, algorithm="v-mdav")),
        "recoding": ("semantic recoding", lambda k: Recoding(k)),
        "recoding+discernibility": (
            "recoding guided by discernibility",
            lambda k: Recoding(k, algorithm="discernibility"),
        ),
        "recoding+random": ("recoding at random", lambda k: Recoding(k, algorithm="random")),
        "resampling+equality": (
            "resampling with equality and mode",
            lambda k: Resampling(k, operators="equality"),
        ),
        "resampling+mode": (
            "resampling with Wu-Palmer distance and mode",
            lambda k: Resampling(k, operators="mode", measure="wu-palmer"),
        ),
        "resampling+lcs": (
            "resampling with Wu-Palmer distance and least common subsumer",
            lambda k: Resampling(k, operators="lcs", measure="wu-palmer"),
        ),
        "resampling": ("semantic resampling", lambda k: Resampling(k)),
    }
)
"""What each preset is, and how it is made for a k."""


def preset(name: str, k: int) -> Method:
    """Return a method by the name the literature compares it under; see `PRESETS`.

    Examples
    --------
    >>> om.preset("sa-mdav", k=5) == om.Microaggregation(5)
    True
    """
    check("name", name, Choice(*PRESETS))
    return PRESETS[name][1](k)


def presets() -> dict[str, str]:
    """List the presets with what they are.

    Examples
    --------
    >>> om.presets()["sa-mdav"]
    'semantic adaptive MDAV'
    >>> methods = [om.preset(name, k=5) for name in om.presets()]
    """
    return {name: title for name, (title, _) in PRESETS.items()}
