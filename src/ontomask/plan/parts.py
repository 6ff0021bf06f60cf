"""The parts of a plan as Pydantic models, made from the classes they describe.

A method, a column or a privacy model declares its parameters once, as an annotated dataclass. From
that declaration come the model that reads a plan, the sentence that answers a mistake, and the JSON
Schema for editors. Only what cannot be written in a file as it is (a taxonomy, a table, a secret)
is described here: how it is written instead, and how it becomes the thing itself.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, create_model

from ontomask.checks import hints_of, texts_of
from ontomask.plan.lines import Place

__all__ = ["Given", "Kind", "Part", "Written", "list_of", "table_of", "union_of"]


class Part(BaseModel):
    """A part of a plan: immutable, and without keys that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


@dataclass(frozen=True)
class Written:
    """How a parameter is written in a plan where it differs from Python.

    Parameters
    ----------
    name
        The key in the plan.
    annotation
        What may be written there.
    make
        Makes the parameter from what is written and the plan's folder.
    text
        What to tell a person about it.
    required
        Whether it may not be left out.
    examine
        Finds all that is wrong with what is written, each with its place inside.
    """

    name: str
    annotation: Any
    make: Callable[[Any, Path], Any]
    text: str
    required: bool = False
    examine: Callable[[Any, Path], Iterable[tuple[Place, str]]] = lambda _value, _folder: ()


class Given(NamedTuple):
    """A key of a plan: the parameter that it is for, and what makes that of what is written."""

    key: str
    name: str
    make: Callable[[], Any]
    problems: tuple[tuple[Place, str], ...] = ()


@dataclass(frozen=True)
class Kind:
    """A class that a plan can make: by `tag = "name"` and its parameters.

    Parameters
    ----------
    written
        Parameters that are written differently, by their names in Python.
    left_out
        Parameters that a plan does not offer.
    """

    tag: str
    name: str
    made: type
    written: Mapping[str, Written] = dataclasses.field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def model(self) -> type[Part]:
        """The Pydantic model of the part."""
        fields: dict[str, Any] = {}
        if self.tag:
            fields[self.tag] = (Literal[self.name], Field(description=_first_line(self.made)))
        texts = texts_of(self.made)
        hints = hints_of(self.made)
        for one in dataclasses.fields(self.made):
            if one.name in self.left_out:
                continue
            special = self.written.get(one.name)
            if special is not None:
                default = ... if special.required else None
                fields[special.name] = (
                    special.annotation,
                    Field(default=default, description=special.text),
                )
            else:
                fields[one.name] = (hints[one.name], _field(one, texts.get(one.name, "")))
        name = "".join(word.title() for word in re.split(r"\W+", f"{self.tag} {self.name}"))
        return create_model(name, __base__=Part, __doc__=_first_line(self.made), **fields)

    def parameters(self, part: Part, folder: Path) -> Iterator[Given]:
        """What a part gives, in the order of the model."""
        names = {special.name: name for name, special in self.written.items()}
        for key in type(part).model_fields:
            if key in part.model_fields_set and key != self.tag:
                name, value = names.get(key, key), getattr(part, key)
                if key not in names:
                    yield Given(key, name, functools.partial(_as_it_is, value, folder))
                    continue
                written = self.written[name]
                problems = tuple(written.examine(value, folder))
                yield Given(key, name, functools.partial(written.make, value, folder), problems)

    def make(self, part: Part, folder: Path) -> Any:
        """Make the thing that a part describes."""
        return self.made(**{one.name: one.make() for one in self.parameters(part, folder)})

    def in_words_of_the_plan(self, sentence: str) -> str:
        """A sentence that begins with a parameter of Python, about the key of the plan."""
        for name, special in self.written.items():
            sentence = re.sub(rf"^{name}\b", special.name, sentence)
        return sentence


def _as_it_is(value: Any, _folder: Path) -> Any:
    return value


def _field(one: dataclasses.Field[Any], text: str) -> Any:
    if one.default_factory is not dataclasses.MISSING:
        return Field(default_factory=one.default_factory, description=text)
    default = ... if one.default is dataclasses.MISSING else one.default
    return Field(default=default, description=text)


def _first_line(made: type) -> str:
    return (inspect.getdoc(made) or "").split("\n\n")[0].replace("\n", " ")


def union_of(models: Mapping[str, type[Part]], tag: str) -> Any:
    """Whatever one of several models allows, told apart by a tag."""
    union: Any = None
    for model in models.values():
        union = model if union is None else union | model
    return Annotated[union, Field(discriminator=tag)]


def list_of(part: Any, *, empty: bool = False) -> Any:
    """A list of parts that is not empty, unless it may be."""
    return Annotated[list.__class_getitem__(part), Field(min_length=0 if empty else 1)]


def table_of(part: Any) -> Any:
    """A table of parts by name."""
    return dict.__class_getitem__((str, part))
