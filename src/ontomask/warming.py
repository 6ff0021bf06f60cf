"""Compile the kernels ahead of time: the first use of a method costs seconds, later ones none.

Numba keeps what it compiled beside the package or in the user's cache folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ontomask.data.domains import Concepts, Labels, Numbers, Vocabulary
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Flat, Nominal, Numeric, Schema
from ontomask.methods.base import Context, Method
from ontomask.methods.disclosure import WAYS
from ontomask.methods.hybrid import Hybrid
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.recoding import Recoding
from ontomask.methods.resampling import Resampling
from ontomask.privacy import TCloseness
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["warm"]

METHODS: tuple[Method, ...] = (
    Microaggregation(2),
    Recoding(2),
    Resampling(2),
    Hybrid(2),
    RankSwapping(k=2),
    RankSwapping(k=2, variant="multivariate"),
    Microaggregation(2, refine=True, block_size=2),
    Microaggregation(2, centers="medoid"),
    *(Microaggregation(2, privacy=[TCloseness(0.1, "semantic")], privacy_by=way) for way in WAYS),
)


def warm() -> Iterator[tuple[float, str]]:
    """Run every compiled method once on a tiny table; yields the share done and what is next."""
    table = _tiny_table()
    for place, method in enumerate(METHODS):
        yield place / len(METHODS), method.name
        method.run(table, Context(np.random.default_rng(0)))
    yield 1.0, "done"


def _tiny_table() -> Microdata:
    taxonomy = Taxonomy.from_parents({"t": [], "a": ["t"], "b": ["t"], "c": ["a"]})
    secret = Nominal(taxonomy, role="sensitive")
    schema = Schema(word=Nominal(taxonomy), flat=Flat(), number=Numeric(), secret=secret)
    codes = np.array([0, 1, 2, 0, 1, 2], np.int32)
    words = Concepts.of(taxonomy.indices_of(["a", "b", "c"]), Vocabulary(taxonomy))
    domains = {
        "word": words,
        "flat": Labels(("x", "y", "z")),
        "number": Numbers((1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0])),
        "secret": words,
    }
    attributes = {
        name: Attribute(name, schema.column(name), codes, domain)
        for name, domain in domains.items()
    }
    nothing = np.empty(0, np.int64)
    return Microdata(
        schema, attributes, np.ones(6), np.ones(6), np.arange(6), nothing, attributes.__getitem__
    )
