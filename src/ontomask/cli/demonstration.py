"""What `ontomask demo` puts in its folder."""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import OutputError
from ontomask.extras import is_there
from ontomask.samples import discharges
from ontomask.writing import write_new, write_rows, writing

__all__ = ["PLANS", "prepare"]

TABLE, PLAN_FILE, RELEASE = "discharges.csv", "plan.toml", "release"
RECORDS, SEED = 5000, 1

PLAN = """\
# The plan of the demonstration: 5,000 made-up hospital discharges, k = 5.
seed = 1

[input]
path = "discharges.csv"

[columns.patient]            # names a person: never published
kind = "identifier"

[columns.sex]
kind = "flat"
role = "quasi"               # others may know it, so it is masked

[columns.age]
kind = "numeric"
role = "quasi"

[columns.county]
kind = "flat"
role = "quasi"

[columns.admission_date]
kind = "date"
role = "quasi"

[columns.diagnosis]
kind = "nominal"
taxonomy = "icd9cm"          # ICD-9-CM says how near two diagnoses are
role = "quasi"

[columns.procedure]
kind = "nominal"
taxonomy = "icd9cm-procedures"
role = "sensitive"

[columns.length_of_stay]
kind = "numeric"
role = "sensitive"

[columns.status]
kind = "flat"
role = "sensitive"

[columns.charge]
kind = "numeric"
role = "sensitive"

[[steps]]
method = "microaggregation"  # every combination of the quasi-identifiers will occur k times or more
k = 5

[evaluation]
{target}

[limits]
max_linkage = 20             # percent; more than that would end the run with exit code 3

[output]
folder = "release"
shuffle = true               # the order of the records gives nothing away
escape_formulas = true
"""


TARGET = """\
target = "status"            # can a classifier still learn who goes home?
folds = 3\
"""
NO_TARGET = """\
# target = "status"          # whether classifiers still learn who goes home takes scikit-learn:
#                              pip install "ontomask[classify]"\
"""
PLANS = {True: PLAN.replace("{target}", TARGET), False: PLAN.replace("{target}", NO_TARGET)}
"""The plan with classifiers, and without them where their package is not installed."""


def prepare(folder: Path) -> Path:
    """Write the table and the plan; a folder with other things in it is left alone."""
    known = {TABLE, PLAN_FILE, RELEASE}
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; name a folder for the demonstration.")
    found = sorted(one.name for one in folder.iterdir()) if folder.exists() else []
    strange = [name for name in found if name not in known and not name.startswith(".release.")]
    if strange:
        raise OutputError(
            f"{folder} holds other things ({strange[0]}); name another folder for the "
            "demonstration."
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    plan = folder / PLAN_FILE
    with writing(plan):
        if plan.exists() and plan.read_text(encoding="utf-8") not in PLANS.values():
            raise OutputError(
                f"{plan} was changed and is kept; run it with `ontomask run --force`, or name "
                "another folder for the demonstration."
            )
    write_new(plan, PLANS[is_there("sklearn")], force=True)
    columns = discharges(RECORDS, SEED)
    with writing(folder / TABLE):
        write_rows(folder / TABLE, (columns, *zip(*columns.values(), strict=True)))
    return plan
