"""Whole columns: pseudonyms for identifiers, and leaving columns out."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from ontomask.checks import Integer, ListOf, Text
from ontomask.data.domains import Labels
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Context, Method, Paced, register
from ontomask.methods.permuting import check_published
from ontomask.methods.persons import refuse_links

__all__ = ["DropColumns", "Pseudonyms"]

SHORTEST_KEY = 16


@register
@dataclass(frozen=True)
class Pseudonyms(Method):
    """Replace names and numbers of people by pseudonyms: HMAC-SHA-256 of the value under a key.

    The same value and key always give the same pseudonym, so that deliveries can be linked by
    whoever holds the key; without the key nobody can try values out. An identifier that is named
    here is published, as its pseudonym.

    Examples
    --------
    >>> table = pl.DataFrame({"patient": ["Ada", "Bob", "Ada"]})
    >>> method = om.Pseudonyms(["patient"], key="keep this secret to yourself")
    >>> release = om.protect(table, om.Schema(patient=om.Identifier()), method)
    >>> first, second, third = release.frame["patient"]
    >>> first == third, first == second, len(first)
    (True, False, 20)
    """

    name: ClassVar[str] = "pseudonyms"

    columns: Annotated[
        tuple[str, ...] | list[str], ListOf(Text(), empty=False), "Identifiers, or other columns."
    ]
    key: Annotated[
        str,
        Text(),
        "A secret of at least 16 characters. It is not shown with the method's parameters; "
        "keep it apart from the release.",
    ] = field(repr=False)
    length: Annotated[int, Integer(8, 64), "Hexadecimal digits of a pseudonym."] = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.key) < SHORTEST_KEY:
            raise ParameterError(
                f"key must have at least {SHORTEST_KEY} characters, or it can be guessed and every "
                "pseudonym with it; make one with secrets.token_hex(32)."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Replace the values."""
        hidden = microdata.schema.with_role("identifier")
        check_published([name for name in self.columns if name not in hidden], microdata, "columns")
        columns = {}
        for number, name in enumerate(self.columns):
            own = _identifier(microdata, name) if name in hidden else _flat(microdata[name])
            refuse_links(own, microdata)
            columns[name] = self._column(own, context.part(number, 1, len(self.columns)))
        return Masked(columns)

    def _column(self, attribute: Attribute, context: Context) -> Attribute:
        tell, made = Paced(context.progress), list[str]()

        def telling() -> tuple[float, str]:
            return len(made) / len(attribute.values), f"pseudonyms of {attribute.name}"

        for value in attribute.values:
            tell(telling)
            made.append(self._pseudonym(value))
        pseudonyms = tuple(made)
        if len(set(pseudonyms)) < len(pseudonyms):
            raise MethodError(
                f"Two values of column {attribute.name!r} would share a pseudonym of {self.length} "
                "digits; choose a greater length."
            )
        return replace(attribute, domain=Labels(pseudonyms))

    def _pseudonym(self, value: object) -> str:
        digest = hmac.new(self.key.encode(), str(value).encode(), hashlib.sha256)
        return digest.hexdigest()[: self.length]


@register
@dataclass(frozen=True)
class DropColumns(Method):
    """Leave columns out of the release; steps before this one can still use them.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36], "note": ["a", "b", "c"]})
    >>> schema = om.Schema(age=om.Numeric(), note=om.Flat(role="other"))
    >>> om.protect(table, schema, om.DropColumns(["note"])).published
    ('age',)
    """

    name: ClassVar[str] = "drop-columns"

    columns: Annotated[
        tuple[str, ...] | list[str], ListOf(Text(), empty=False), "The columns to leave out."
    ]

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Drop the columns."""
        check_published(self.columns, microdata, "columns")
        return Masked({}, dropped=tuple(self.columns))


def _identifier(microdata: Microdata, name: str) -> Attribute:
    """An identifier's values, which no other method may see, for the records at hand."""
    return microdata.read_identifier(name).of(microdata.rows)


def _flat(attribute: Attribute) -> Attribute:
    """Refuse columns that later steps compare by meaning or size: a pseudonym has neither."""
    if attribute.column.kind != "flat":
        raise MethodError(
            f"Column {attribute.name!r} is {attribute.column.kind}, and a pseudonym would be read "
            "as such by later steps; declare it as Identifier or Flat."
        )
    return attribute
