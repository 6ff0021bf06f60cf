"""The text of a plan: parts of it, and changes with everything else kept, comments too."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

from ontomask.errors import PlanError

__all__ = [
    "ROLES",
    "WITHOUT_ROLE",
    "add_step",
    "contents",
    "declared_in",
    "differences",
    "model_in_words",
    "move_step",
    "only_step",
    "part_of",
    "remove_step",
    "set_value",
]

Key = str | int
ANY_STEP = {"method": "sampling", "share": 0.5}
"""There is no plan without a step."""
WITHOUT_ROLE = ("identifier", "weight", "count")
"""Kinds of columns that nobody has to decide on: they are not published as they are."""
ROLES = {
    "quasi": "others know it",
    "sensitive": "sensitive",
    "other": "harmless",
    "undecided": "undecided",
}
"""What people read for the roles of a plan, on every screen and in the history."""
SECTIONS = {"about": "who gets it", "input": "how the file is read", "evaluation": "classifiers"}
"""What people read for the sections of a plan, where its own word is not plain enough."""
TOLD = 4
"""Differences that are told one by one."""
HEADER = re.compile(r"\s*\[\[?\s*([^\[\]\s]+)")


def contents(text: str) -> dict[str, Any]:
    """What a plan says, as plain tables and lists."""
    try:
        return tomllib.loads(text)  # many times as fast as the parser that keeps comments
    except tomllib.TOMLDecodeError as error:
        raise _invalid(error) from None


@functools.lru_cache(maxsize=16)
def part_of(text: str, kept: tuple[str, ...]) -> str:
    """The plan without the parts that a task does not look at."""
    said = contents(text)
    if "steps" not in kept:  # a plan has steps, also where nobody looks at them
        said, kept = said | {"steps": [ANY_STEP]}, (*kept, "steps")
    return tomlkit.dumps({name: said[name] for name in kept if name in said})


@functools.lru_cache(maxsize=4)
def declared_in(text: str) -> str:
    """What the columns of the table are, whoever may know them and whatever is done to them."""
    said = contents(text)
    columns = {
        name: one if one.get("kind") in WITHOUT_ROLE else one | {"role": "other"}
        for name, one in said.get("columns", {}).items()
    }
    plan = {"input": said.get("input", {}), "columns": columns, "steps": [ANY_STEP]}
    return tomlkit.dumps(plan)


def differences(old: str, new: str) -> str:
    """What another version of a plan says differently, in one line without values of the table."""
    try:
        before, after = contents(old), contents(new)
    except PlanError:
        return "the text of the plan"
    steps = [[one.get("method", "") for one in said.get("steps", ())] for said in (before, after)]
    moved = steps[0] != steps[1]
    parts = [_parts(said, with_steps=not moved) for said in (before, after)]
    told = [f"steps: {', '.join(steps[1]) or 'none'}"] if moved else []
    told += [f"{part[1]} taken out" for part in parts[0] if part not in parts[1]]
    for part, now in parts[1].items():
        told += _differing(part[1], parts[0].get(part), now)
    return f"{'; '.join(told[:TOLD])}{f' and {len(told) - TOLD} more' if len(told) > TOLD else ''}"


def _parts(
    said: Mapping[str, Any], *, with_steps: bool
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The settings of a plan by the part that they are about: its section and its name in words."""
    parts: dict[tuple[str, str], Any] = {
        (name, SECTIONS.get(name, name)): inside if isinstance(inside, dict) else {"": inside}
        for name, inside in said.items()
        if name not in ("columns", "steps")
    }
    parts |= {("columns", name): _in_words(one) for name, one in said.get("columns", {}).items()}
    for place, step in enumerate(said.get("steps", ()) if with_steps else (), 1):
        parts["steps", f"step {place}"] = _without(step, ("method", "privacy"))
        for model in step.get("privacy", ()):
            parts["steps", f"step {place}: {model_in_words(model)}"] = _without(
                model, ("model", "column")
            )
    return parts


def _without(said: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key not in keys}


def _in_words(column: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a column; its role by what people read for it."""
    said = {"role": ROLES.get(column["role"], column["role"])} if "role" in column else {}
    return {**column, **said}


def _differing(
    place: str, before: Mapping[str, Any] | None, now: Mapping[str, Any]
) -> Iterator[str]:
    """What a part says differently, setting by setting; of a new one what it says."""
    if before is None and not now:
        yield f"{place} added"
    known = before or {}
    for key in {**now, **known}:
        if known.get(key) != now.get(key):
            # a role is told by its word alone
            name = f"{place}:{'' if key in ('', 'role') else ' ' + key.replace('_', ' ')}"
            yield _different(name, known.get(key), now.get(key))


def model_in_words(said: Mapping[str, Any]) -> str:
    """A privacy model by its name and the column that it is about."""
    return f"{said.get('model')}{' of ' + said['column'] if 'column' in said else ''}"


def _different(place: str, old: object, new: object) -> str:
    if new is None:
        return f"{place} no longer set"
    if not isinstance(new, str | int | float):
        return f"{place} changed"
    shown = {True: "yes", False: "no"}.get(new, new) if isinstance(new, bool) else new
    shown = f"{shown:g}" if isinstance(shown, float) else shown
    was = f", was {old}" if isinstance(old, str | int | float) and not isinstance(old, bool) else ""
    return f"{place} {shown}{was}"


def set_value(text: str, path: Iterable[Key], value: object) -> str:
    """Write one value, or take it out where it is None; tables on the way are made."""
    document = _parsed(text)
    *way, last = path
    table: Any = document
    for key in way:
        if isinstance(key, str) and key not in table:
            if value is None:
                return text
            table[key] = tomlkit.table()
        table = _step_into(table, key)
    if value is not None:
        table[last] = value
    elif last in table:
        del table[last]
    return document.as_string()


def add_step(text: str, method: str, parameters: Mapping[str, object]) -> str:
    """Put a step behind the last one."""
    step = tomlkit.table()
    step["method"] = method
    for name, value in parameters.items():
        step[name] = value
    return _with_steps(text, lambda steps: [*steps, step])


def only_step(text: str, method: str, parameters: Mapping[str, object]) -> str:
    """Put one step in the place of all there; lines of comments between and behind them stay."""
    step, lines = add_step("", method, parameters), text.splitlines(keepends=True)
    inside = _places_of_steps(lines)
    if not inside:
        return add_step(text, method, parameters)
    before = lines[: inside[0]]
    remarks = [lines[place] for place in inside if _is_remark(lines[place])]
    taken = set(range(inside[0])) | set(inside)
    after = [line for place, line in enumerate(lines) if place not in taken]
    said = "".join([*before, step, *remarks, *after])
    # lines of a text may look like headers: then the steps are taken out one by one
    whole = contents(text) | {"steps": contents(step)["steps"]}
    return said if _says(said, whole) else add_step(_without_steps(text), method, parameters)


def _places_of_steps(lines: Sequence[str]) -> list[int]:
    """The lines of all steps and of their tables."""
    found, inside = [], False
    for place, line in enumerate(lines):
        if header := HEADER.match(line):
            inside = header.group(1).split(".")[0] == "steps"
        if inside:
            found.append(place)
    return found


def _is_remark(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _without_steps(text: str) -> str:
    while contents(text).get("steps"):
        text = remove_step(text, 0)
    return text


def remove_step(text: str, number: int) -> str:
    """Take a step out."""
    return _with_steps(text, lambda steps: [*steps[:number], *steps[number + 1 :]])


def move_step(text: str, number: int, to: int) -> str:
    """Put a step in another place of the order."""

    def moved(steps: list[Table]) -> list[Table]:
        rest = [*steps[:number], *steps[number + 1 :]]
        place = min(max(to, 0), len(rest))
        return [*rest[:place], steps[number], *rest[place:]]

    return _with_steps(text, moved)


def _with_steps(text: str, change: Callable[[list[Table]], list[Table]]) -> str:
    document = _parsed(text)
    steps = document.get("steps")
    present = list(steps) if isinstance(steps, AoT) else []
    wanted = change(present)
    array = tomlkit.aot()
    for table in wanted:
        array.append(table)
    if not wanted:
        document.pop("steps", None)
    else:
        document["steps"] = array
    return document.as_string()


def _step_into(table: Any, key: Key) -> Any:
    try:
        return table[key]
    except (IndexError, KeyError, TypeError):
        raise PlanError(f"The plan has no part {key!r} to be changed; reload the page.") from None


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise _invalid(error) from None


def _invalid(error: Exception) -> PlanError:
    return PlanError(
        f"The plan is no valid TOML at present ({error}); correct it in an editor, or undo the "
        "last change."
    )
