"""Walk through one run: what is opened, looked at and mapped how often, and what is called.

Protects 400 records of the demonstration's table, evaluates the release and writes its report.
Run it on two commits to compare them: ``PYTHONPATH=src python tools/trace_run.py``.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

import ontomask as om
from ontomask.data import tables
from ontomask.samples import discharges
from ontomask.taxonomy.taxonomy import Taxonomy

RECORDS, SEED = 400, 1
ROOM = str(Path(om.__file__).parent)
COUNTED = {
    "opened as a table": (tables.open_table,),
    "column looked at": (getattr(tables.Table, "_distinct", tables.Table.distinct),),
    "mapped to a taxonomy": (Taxonomy.map,),
}
CODES = {one.__code__: what for what, known in COUNTED.items() for one in known}


class Walk:
    """Counts calls of the package's functions, and how often one file hands over to another."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.functions: set[tuple[str, str]] = set()
        self.hops = 0

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOM):
            return
        self.functions.add((code.co_filename, code.co_qualname))
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        self.hops += caller.startswith(ROOM) and caller != code.co_filename
        if code in CODES:
            self.counted[CODES[code]] += 1

    def __str__(self) -> str:
        files = {name for name, _ in self.functions}
        figures = {
            **{what: self.counted[what] for what in COUNTED},
            "files": len(files),
            "functions": len(self.functions),
            "calls from one file to another": self.hops,
        }
        return "\n".join(f"    {what:32}{count:>8,}" for what, count in figures.items())


def walked(work: Any) -> tuple[Any, Walk]:
    """What some work gives, and the walk through it."""
    walk = Walk()
    sys.setprofile(walk)
    try:
        return work(), walk
    finally:
        sys.setprofile(None)


def main() -> None:
    """Print the walk through each part of a run."""
    frame = pl.DataFrame(discharges(RECORDS, SEED))
    schema = om.Schema(
        patient=om.Identifier(),
        sex=om.Flat(),
        age=om.Numeric(),
        county=om.Flat(),
        admission_date=om.Date(),
        diagnosis=om.Nominal(om.load_taxonomy("icd9cm")),
        procedure=om.Nominal(om.load_taxonomy("icd9cm-procedures"), role="sensitive"),
        length_of_stay=om.Numeric(role="sensitive"),
        status=om.Flat(role="sensitive"),
        charge=om.Numeric(role="sensitive"),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        # what is imported when it is first used is no part of the walk
        om.protect(frame, schema, om.Microaggregation(5), SEED).report(path)
        release, walk = walked(lambda: om.protect(frame, schema, om.Microaggregation(5), SEED))
        print(f"protect, {RECORDS} records of {len(schema)} columns\n{walk}")
        evaluation, walk = walked(release.evaluate)
        print(f"release.evaluate()\n{walk}")
        walk = walked(lambda: release.report(path, evaluation=evaluation))[1]
        print(f"release.report()\n{walk}")


if __name__ == "__main__":
    main()
