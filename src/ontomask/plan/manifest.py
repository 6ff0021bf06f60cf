"""The manifest of a run: everything needed to repeat it, and every figure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import PurePath
from typing import Any

import numpy as np

from ontomask.arrays import Longs
from ontomask.data.files import FileFormat, Source
from ontomask.data.schema import Nominal, Schema
from ontomask.findings import Finding, Verification
from ontomask.methods.base import Method
from ontomask.release import Release
from ontomask.report.facts import Run
from ontomask.verdict import Judgment

__all__ = ["manifest", "rows_of", "to_json", "versions"]

AUDIENCE = (
    "Internal: it holds the seed and figures about the original table. Hand on the table and, if "
    "you like, report.html."
)
LARGEST_TABLE = 100_000
"""Tables of distances with more entries are not repeated in a manifest."""

PACKAGES = ("ontomask", "numpy", "numba", "polars", "narwhals")


def versions(schema: Schema) -> dict[str, str]:
    """What the result depends on: packages and taxonomies."""
    taxonomies = {
        f"taxonomy {column.taxonomy.name}": column.taxonomy.version
        for column in schema.values()
        if isinstance(column, Nominal) and column.taxonomy is not None and column.taxonomy.version
    }
    return {
        **{name: metadata.version(name) for name in PACKAGES},
        "Python": platform.python_version(),
        **taxonomies,
    }


def manifest(
    release: Release,
    run: Run,
    source: Source,
    *,
    name: str,
    table: str,
    database: str | None,
    made: str,
    order: Longs | None,
    verification: Verification,
    judgment: Judgment,
) -> dict[str, Any]:
    """Everything about a run as plain values; only `times` differs between two equal runs."""
    return {
        "audience": AUDIENCE,
        **judgment.as_dict(),
        "plan": {"name": name, "sha256": _digest(run.plan or ""), "text": run.plan},
        "seed": release.seed,
        "versions": dict(run.versions),
        "input": {
            "sha256": source.sha256,
            "records": source.rows,
            "columns": source.columns,
            "format": _shown(source.format),
        },
        "output": {
            "table": table,
            **({} if database is None else {"database": database}),
            "sha256": run.digests["output"],
            "records": source.rows - release.left_out,
            **_kept_aside(release, order),
        },
        "suppressed": release.suppressed,
        "left_out": release.left_out,
        "starred": release.starred,
        "guarantee": [_stated(one) for one in verification.findings],
        "given_up": [one.describe() for one in verification.given_up],
        "steps": [
            {"method": step.name, "parameters": _parameters(step), "details": dict(details)}
            for step, details in zip(release.steps, release.details, strict=True)
        ],
        "class_sizes": {str(size): count for size, count in release.class_sizes.items()},
        "changed": dict(release.changed),
        "evaluation": run.evaluation.as_dict(),
        "classification": run.classification.as_dict() if run.classification else None,
        "limits": [{**dataclasses.asdict(one), "exceeded": one.exceeded} for one in run.limits],
        "notes": list(run.notes),
        "times": {"made": made, "seconds": dict(run.timings)},
    }


def _kept_aside(release: Release, order: Longs | None) -> dict[str, str]:
    """Which record of the original each row is, where a recount has to know whose it is."""
    if release.schema.unit is None or release.rows is None:
        return {}
    rows = release.rows if order is None else release.rows[order]
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    firsts, lasts = rows[np.append(0, breaks)], rows[np.append(breaks - 1, rows.size - 1)]
    pairs = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return {"rows": " ".join(f"{a}" if a == z else f"{a}-{z}" for a, z in pairs)}


def rows_of(text: str) -> Longs:
    """The rows that a manifest keeps aside, from 0 on."""
    ends = [[int(end) for end in part.split("-")] for part in text.split()]
    return np.concatenate([np.arange(one[0], one[-1] + 1) for one in ends])


def _stated(finding: Finding) -> dict[str, Any]:
    """A promise with everything needed to recount it, and what the recount found."""
    promise = finding.promise
    fields = {one.name: getattr(promise, one.name) for one in dataclasses.fields(promise)}
    if np.size(fields.get("distances", ())) > LARGEST_TABLE:
        fields["distances"] = None
    return {
        "statement": promise.describe(),
        "promise": {"type": type(promise).__name__, **fields},
        "measured": finding.measured,
        "figure": finding.figure,
        "kept": finding.kept,
    }


def _shown(file_format: FileFormat) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(file_format).items() if value}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _parameters(step: Method) -> dict[str, Any]:
    """All parameters of a step; what it does not show itself is only said to have been there."""
    return {
        one.name: getattr(step, one.name) if one.repr else "(secret)"
        for one in dataclasses.fields(step)
    }


def to_json(value: Mapping[str, Any]) -> str:
    """A manifest as JSON; what JSON has no word for is written as text or null."""
    return json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return _other(value)


def _other(value: Any) -> Any:
    """Arrays, numbers of NumPy and descriptions as plain values; anything else by its type."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, PurePath):  # the folders around it are nobody's business
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return {"model": type(value).__name__, **shown}
    return type(value).__name__
