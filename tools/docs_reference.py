"""The reference pages of commands and plans, made from the package itself.

They lie in docs/reference, so that a checkout holds them; `python tools/docs_snippets.py` writes
them anew, and `tests/test_docs.py` fails while they differ from what the package says. Plain
functions return Markdown: `commands_page` and `plan_page`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

Schema = Mapping[str, Any]


# The commands ---------------------------------------------------------------------------------


def commands_page() -> str:
    """Every command with its help, arguments and options."""
    from typer.main import get_command

    from ontomask.cli import app

    root = get_command(app)
    parts = ["# Commands", _paragraphs(root.help), _paragraphs(getattr(root, "epilog", ""))]
    for words, command in _commands(root, ("ontomask",)):
        parts += _command(words, command)
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield (*words, name), inner
            yield from _commands(inner, (*words, name))


def _command(words: tuple[str, ...], command: Any) -> list[str]:
    heading = "#" * len(words)
    parts = [f"{heading} {' '.join(words)}", _paragraphs(command.help)]
    if not hasattr(command, "commands"):
        parts.append(f"```text\n{_usage(words, command)}\n```")
    rows = [_parameter(one) for one in command.params if not getattr(one, "hidden", False)]
    if rows:
        parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    return [*parts, _paragraphs(getattr(command, "epilog", ""))]


def _usage(words: tuple[str, ...], command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    shown = [_metavar(one) if one.required else f"[{_metavar(one)}]" for one in arguments]
    options = any(one.param_type_name == "option" for one in command.params)
    return " ".join([*words, *(["[OPTIONS]"] if options else []), *shown])


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper().strip("[]")


def _parameter(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        names = f"`{_metavar(parameter)}`"
    else:
        spellings = [*parameter.opts, *parameter.secondary_opts]
        names = ", ".join(f"`{one}`" for one in spellings)
    return f"| {names} | {_cell(_parameter_text(parameter))} |"


def _parameter_text(parameter: Any) -> str:
    text = " ".join((getattr(parameter, "help", "") or "").split())
    default = parameter.default
    if parameter.required and parameter.param_type_name == "option":
        return f"{text} Required."
    if default is None or default is False or callable(default) or default in ((), [], ""):
        return text
    return f"{text} Default: `{default}`."


def _paragraphs(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("\b\n", "").replace("\b", "")


# The plan -------------------------------------------------------------------------------------


def plan_page() -> str:
    """Every key of a plan, from its JSON Schema."""
    from ontomask.plan import plan_schema

    schema = plan_schema()
    parts = ["# Plan", PLAN_INTRODUCTION, "## Top level", fields_table(schema, schema)]
    for title, node in _sections(schema):
        found = sorted(_models(node, schema), key=_tag)
        parts += [f"## {title}", node.get("description", "")]
        for model in found:
            parts += _model(model, schema, titled=len(found) > 1)
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The tables of a plan; those inside others follow them."""
    for name, node in schema["properties"].items():
        if any(_models(node, schema)):
            yield _escaped(TITLES.get(name, f"[{name}]")), node
        for model in _models(node, schema):
            for key, inner in model["properties"].items():
                if key in INNER and any(_models(inner, schema)):
                    yield _escaped(INNER[key]), inner


def _escaped(title: str) -> str:
    return title.replace("[", "\\[").replace("]", "\\]")


PLAN_INTRODUCTION = """A plan is a text file in [TOML](https://toml.io). `ontomask init` writes one
with its guesses explained; `ontomask check` tells all its problems at once. Paths start from the
plan's own folder. `ontomask schema` prints the JSON Schema from which this page is made, for
editors that complete and check while you type. The [tutorial](../tutorial.md) shows a plan."""

TITLES = {"columns": "[columns.NAME]", "steps": "[[steps]]"}


INNER = {
    "taxonomy": "taxonomy of a nominal column, as a table",
    "privacy": "[[steps.privacy]]",
    "hierarchies": "[steps.hierarchies], each a table that says how to build it",
    "quality": "quality of a generalization, as a table",
}


def _models(node: Schema, schema: Schema) -> Iterator[Schema]:
    """The tables that a node allows, in the order of the schema."""
    if "$ref" in node:
        yield from _models(_resolved(node, schema), schema)
    elif "properties" in node:
        yield node
    for key in ("anyOf", "oneOf"):
        for one in node.get(key, ()):
            yield from _models(one, schema)
    for key in ("additionalProperties", "items"):
        if isinstance(node.get(key), Mapping):
            yield from _models(node[key], schema)


def _tag(model: Schema) -> str:
    """What tells a table from its alternatives: the value of a key, or a key that only it has."""
    constants = (one["const"] for one in model["properties"].values() if "const" in one)
    return next(chain(constants, model.get("required", ())), "")


def _model(model: Schema, schema: Schema, *, titled: bool) -> list[str]:
    tag = _tag(model)
    parts = []
    if titled:
        names = (name for name, one in model["properties"].items() if "const" in one)
        name = next(names, "")
        title = f'{name} = "{tag}"' if name else f"{{ {tag} = … }}"
        parts += [f"### {title}", model.get("description", "")]
        if name == "method":
            parts.append(f"See [the method's page](../methods/{tag}.md).")
    return [*parts, fields_table(model, schema)]


def fields_table(model: Schema, schema: Schema) -> str:
    """A table of a model's keys: what may be written, the default, what it means."""
    required = model.get("required", ())
    rows = [
        f"| `{name}` | {_cell(_allowed(one, schema))} | {_default(name, one, required)} | "
        f"{_cell(one.get('description', ''))} |"
        for name, one in model["properties"].items()
        if "const" not in one
    ]
    if not rows:
        return "No further keys."
    return "\n".join(
        ["| key | what may be written | default | meaning |", "|---|---|---|---|", *rows]
    )


def _default(name: str, node: Schema, required: Any) -> str:
    if name in required:
        return "required"
    default = node.get("default")
    return "" if default is None else _literal(default)


def _literal(value: object) -> str:
    """A value as it is written in TOML."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "table",
    "null": "",
}
PLURALS = {"text": "texts", "table": "tables", "number": "numbers", "whole number": "whole numbers"}


def _allowed(node: Schema, schema: Schema) -> str:
    """What may be written for a key, in words."""
    if "$ref" in node:
        return _allowed(_resolved(node, schema), schema)
    if "const" in node:
        return _literal(node["const"])
    if "enum" in node:
        return ", ".join(_literal(one) for one in node["enum"] if one is not None)
    for key in ("anyOf", "oneOf"):
        if key in node:
            parts = dict.fromkeys(_allowed(one, schema) for one in node[key])
            return " or ".join(part for part in parts if part)
    if node.get("type") == "array":
        inner = _allowed(node.get("items", {}), schema)
        return f"list of {PLURALS.get(inner, inner)}" if inner else "list"
    return KINDS.get(node.get("type", ""), "") + _bounds(node)


def _bounds(node: Schema) -> str:
    low = node.get("minimum", node.get("exclusiveMinimum"))
    high = node.get("maximum", node.get("exclusiveMaximum"))
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" {'of at least' if 'minimum' in node else 'above'} {low:g}"
    return f" of at most {high:g}" if high is not None else ""


def _resolved(node: Schema, schema: Schema) -> Schema:
    found: Schema = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return found


def _cell(text: str) -> str:
    """A text as a cell of a table, in which a bar must not end it."""
    return " ".join(text.split()).replace("|", "│")


PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/plan.md": plan_page,
}
"""What makes each page, by its place in docs."""
