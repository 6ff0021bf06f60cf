"""A run as a plan: its table, taxonomy and population as files, its steps as TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from guarantees.options import KEY, Unsuitable
from guarantees.people import COUNT, DISEASES, IDENTIFIER, ORDER, WEIGHT, released, written
from guarantees.running import Run
from ontomask.plan.vocabulary import PRIVACY, QUALITY
from ontomask.toml_text import toml_key, toml_value

TABLE, TAXONOMY, POPULATION, SECRET = "people.csv", "toy.csv", "everyone.csv", "GUARANTEE_KEY"
ENVIRONMENT = {SECRET: KEY}
MODELS = {kind.made: name for name, kind in (PRIVACY | QUALITY).items()}
KINDS = {IDENTIFIER: "identifier", COUNT: "count", WEIGHT: "weight"}


def write_plan(run: Run, folder: Path) -> Path:
    """Write everything that a run needs; return the plan."""
    (folder / TABLE).write_text(written(run.people.columns), encoding="utf-8", newline="")
    DISEASES.save(folder / TAXONOMY)
    lines = [f"seed = {run.seed}", "[input]", f"path = {toml_value(TABLE)}", *_columns(run)]
    for step in run.steps:
        lines += ["[[steps]]", f"method = {toml_value(step.name)}", *_step(step, folder)]
    plan = folder / "plan.toml"
    plan.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return plan


def _columns(run: Run) -> Iterator[str]:
    for name in run.people.others:
        if name in KINDS:
            yield from [f"[columns.{toml_key(name)}]", f"kind = {toml_value(KINDS[name])}"]
    for trait in run.people.traits:
        if trait.role == "undecided":
            continue
        more = {"nominal": {"taxonomy": TAXONOMY}, "ordinal": {"order": ORDER}}.get(trait.kind, {})
        yield f"[columns.{toml_key(trait.name)}]"
        yield from _entries({"kind": trait.kind, "role": trait.role, **more, **trait.settings})


def _entries(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            yield f"{toml_key(name)} = {_written(value)}"


def _written(value: Any) -> str:
    """A value, or a table in one line."""
    if not isinstance(value, Mapping):
        return toml_value(value)
    return "{ " + ", ".join(_entries(value)) + " }"


def _step(step: Any, folder: Path) -> Iterator[str]:
    """The parameters of a step, as a plan says them."""
    values = {one.name: getattr(step, one.name) for one in fields(step)}
    for one in fields(step):
        if values[one.name] is None and one.default is not None:
            raise Unsuitable("A plan cannot say None.")
    if "matrix" in values and None in (values["order"] or ()):
        raise Unsuitable("A plan cannot say None.")
    if "key" in values:
        values["key_variable"] = SECRET if values.pop("key") else None
    if values.get("population") is not None:
        text = written(released(values["population"]))
        (folder / POPULATION).write_text(text, encoding="utf-8", newline="")
        values["population"] = POPULATION
    if "privacy" in values:
        values["privacy"] = [_model(one) for one in values["privacy"]]
    if "hierarchies" in values:
        values["hierarchies"] = {
            n: [list(row) for row in r] for n, r in values["hierarchies"].items()
        }
    if is_dataclass(values.get("quality")):
        values["quality"] = _model(values["quality"])
    models = values.pop("privacy", ())
    yield from _entries(values)
    for model in models:
        yield from ["[[steps.privacy]]", *_entries(model)]


def _model(model: Any) -> dict[str, Any]:
    """A privacy or quality model by its name and parameters."""
    parameters = {one.name: getattr(model, one.name) for one in fields(model)}
    return {"model": MODELS[type(model)], **parameters}
