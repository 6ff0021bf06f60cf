"""Data shuffling: confidential values change places as a model of their dependence says.

Muralidhar and Sarathy (2006); with marginality for nominal columns after Domingo-Ferrer, Muralidhar
and Rufian-Torrell (2012). The arithmetic is in `ontomask.semantics.copula`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.checks import AnyOf, Choice, ListOf, Null, Text
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Context, Method, Strata, register
from ontomask.methods.permuting import check_no_counts, check_published, permuted_column
from ontomask.methods.points import layout_of
from ontomask.promises import Permutation
from ontomask.semantics.copula import shuffled
from ontomask.taxonomy.measures import MEASURES

__all__ = ["Shuffling"]


@register
@dataclass(frozen=True)
class Shuffling(Method):
    """Shuffle the values of confidential columns, keeping how they depend on the given ones.

    Every confidential column keeps exactly its values; rank correlations, also with the given
    columns, are kept up to sampling error; and given those columns, the new values say nothing
    more about the old ones. Nominal values are ordered by their marginality.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58], "pay": [20, 24, 22, 41, 39, 45]})
    >>> schema = om.Schema(age=om.Numeric(), pay=om.Numeric(role="sensitive"))
    >>> method = om.Shuffling(confidential=["pay"], given=["age"])
    >>> sorted(om.protect(table, schema, method, seed=1).frame["pay"])
    [20, 22, 24, 39, 41, 45]
    """

    name: ClassVar[str] = "shuffling"

    confidential: Annotated[
        tuple[str, ...] | list[str],
        ListOf(Text(), empty=False),
        "The columns to shuffle. A column with one value stays as it is.",
    ]
    given: Annotated[
        tuple[str, ...] | list[str],
        ListOf(Text()),
        "The columns that the new values depend on; they are not changed. Without any, the "
        "new values are independent of the old ones.",
    ] = ()
    measure: Annotated[
        str | None,
        AnyOf(Choice(*MEASURES), Null()),
        "The distance behind the marginality of nominal columns, instead of each column's "
        "own; `weighted-path` is that of the taxonomic literature.",
    ] = None
    strata: Strata = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        both = sorted(set(self.confidential) & set(self.given))
        if both:
            raise ParameterError(
                f"{both[0]!r} is named both as confidential and as given; a column is either "
                "shuffled or left as it is: name it once."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Shuffle the confidential columns."""
        check_published(self.confidential, microdata, "confidential")
        check_published(self.given, microdata, "given")
        check_no_counts(microdata, "Shuffling")
        for name in self.given:
            _check_varies(microdata[name])
        orders = self._orders(microdata, context.part(0.0, 0.5))
        ranks = {name: _ranked(microdata[name], order) for name, order in orders.items()}
        drawing = context.part(0.5, 0.5)
        masked = shuffled(
            [ranks[name] for name in self.confidential],
            [ranks[name] for name in self.given],
            context.generator,
            lambda share: drawing.progress(share, "shuffling"),
        )
        columns = _columns(microdata, self.confidential, orders, masked)
        return Masked(columns, (Permutation(tuple(self.confidential)),))

    def _orders(self, microdata: Microdata, context: Context) -> dict[str, Longs]:
        """The codes of every column in the order of its values."""
        names, found = [*self.confidential, *self.given], {}
        for number, name in enumerate(names):
            context.progress(number / len(names), f"ordering the values of {name}")
            found[name] = self._order(microdata, name)
        return found

    def _order(self, microdata: Microdata, name: str) -> Longs:
        """The codes of a column in the order of its values; missing ones of numbers come last."""
        attribute = microdata[name]
        codes = np.arange(attribute.cardinality)
        if attribute.domain.ordered:
            return codes
        return np.lexsort((codes, self._marginality(microdata, name)))

    def _marginality(self, microdata: Microdata, name: str) -> Floats:
        """The sum of each value's distances to all records."""
        layout = layout_of(
            *(microdata, [name]),
            operators="marginality",
            metric="mean",
            measure=self.measure,
            aggregates=False,
        )
        attribute, operator = layout.coded[0]
        counts = np.bincount(attribute.codes, minlength=attribute.cardinality)
        return operator.summed(counts.astype(np.float64))


def _ranked(attribute: Attribute, order: Longs) -> Longs:
    """The column as positions in the order of its values."""
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    return places.take(attribute.codes)


def _columns(
    microdata: Microdata, names: Sequence[str], orders: dict[str, Longs], masked: list[Longs]
) -> dict[str, Attribute]:
    """From positions back to codes."""
    return {
        name: permuted_column(microdata[name], orders[name][places].astype(np.int32))
        for name, places in zip(names, masked, strict=True)
    }


def _check_varies(attribute: Attribute) -> None:
    if (attribute.codes == attribute.codes[0]).all():
        raise MethodError(
            f"The given column {attribute.name!r} has one value only, so nothing can depend on it; "
            "leave it out of given."
        )
