"""The public names: those at the root of the package, and those of its modules by theme."""

from collections.abc import Iterator

import ontomask as om


def names_in(group: str) -> list[str]:
    """The names that an editor offers of one of the modules by theme."""
    return [name for name in dir(getattr(om, group)) if not name.startswith("_")]


def public() -> Iterator[tuple[str, object]]:
    """Everything but the exceptions, as it is written after `om.`."""
    for name in om._HOMES:
        yield name, getattr(om, name)
    for group in om._GROUPS:
        if group != "errors":
            yield from (
                (f"{group}.{name}", getattr(getattr(om, group), name)) for name in names_in(group)
            )


PUBLIC = dict(public())
