"""Persons instead of records: what it costs on a table with several stays per patient.

    python benchmarks/units.py diabetes130.csv.gz

Protects the table once by records and once by persons (unit = patient_nbr), side by side: classes,
loss, linkage, seconds. The persons of each class are counted with dictionaries alone.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

import polars as pl

import ontomask as om
from arguments import existing_file
from ontomask.methods.base import Method
from ontomask.warming import warm

K = 5
UNIT = "patient_nbr"
METHODS = {
    "sa-mdav": om.Microaggregation(k=K),
    "sa-mdav, refined": om.Microaggregation(k=K, refine=True),
    "recoding": om.Recoding(k=K),
    "suppression": om.Suppression(k=K),
}


def table(path: Path) -> pl.DataFrame:
    """The columns of the benchmark."""
    names = [UNIT, "race", "gender", "age", "time_in_hospital", "diag_1_icd9"]
    return pl.read_csv(path, columns=names, schema_overrides={"diag_1_icd9": pl.String})


def schema(*, unit: bool) -> om.Schema:
    """Three columns that hardly change within patients, and two of the stay."""
    ages = [f"[{low}-{low + 10})" for low in range(0, 100, 10)]
    return om.Schema.of(
        {
            UNIT: om.Identifier(unit=unit),
            "race": om.Flat(),
            "gender": om.Flat(),
            "age": om.Ordinal(ages),
            "time_in_hospital": om.Numeric(),
            "diag_1_icd9": om.Nominal(om.load_taxonomy("icd9cm"), unmapped="root"),
        }
    )


def fewest_persons(frame: pl.DataFrame, release: om.Release) -> tuple[int, int]:
    """The fewest persons in a class, and how many classes have fewer than k: counted by hand."""
    whose, classes = frame[UNIT].to_list(), defaultdict(set)
    for row, values in zip(release.rows, release.frame.rows(), strict=True):
        classes[values].add(whose[row])
    sizes = [len(one) for one in classes.values()]
    return min(sizes), sum(size < K for size in sizes)


def measured(frame: pl.DataFrame, method: Method, *, unit: bool) -> str:
    """One line of the table."""
    started = time.perf_counter()
    release = om.protect(frame, schema(unit=unit), method, seed=1)
    seconds = time.perf_counter() - started
    found = release.evaluate(frame)
    least, below = fewest_persons(frame, release)
    records = min(release.frame.group_by(release.schema.quasi).len()["len"])
    whom = "persons" if unit else "records"
    return (
        f"{whom:8} {records:8} {least:8} {below:8} {100 * found.loss.loss:7.2f} "
        f"{100 * found.risk:8.2f} {release.suppressed:8} {seconds:8.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=existing_file)
    path = parser.parse_args().table
    frame = table(path)
    for _ in warm():
        pass
    persons = frame[UNIT].n_unique()
    print(f"{frame.height:,} records of {persons:,} persons, k = {K}; init proposes the unit:")
    print(f"  {om.Schema.infer(frame).schema.unit}")
    head = (
        "k counts",
        "records",
        "persons",
        "below k",
        "loss %",
        "linked %",
        "left out",
        "seconds",
    )
    print(f"{'method':18}" + " ".join(f"{one:>{max(8, len(one))}}" for one in head))
    for name, method in METHODS.items():
        for unit in (False, True):
            print(f"{name:18}{measured(frame, method, unit=unit)}", flush=True)


if __name__ == "__main__":
    main()
