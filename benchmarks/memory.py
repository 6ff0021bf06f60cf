"""How much memory columns with very many different values take, and how long they take.

Each case runs in a process of its own, which tells its peak of memory above that of the package,
the taxonomy and the table themselves. "square" is what a single table of distances between all
values would take, the least that a version holds which looks every distance up.

    python benchmarks/memory.py TAXONOMIES [--codes 5000 20000] [--rows 3] [--only sa-mdav pram …]

TAXONOMIES is a folder with icd10cm_2026_tabular.csv.gz; --rows says how many records there are for
each code.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import ontomask as om
from arguments import folder_with, whole_number
from ontomask.errors import OntomaskError

Case = Callable[[pl.DataFrame, om.Schema], object]


def masked(method: object) -> Case:
    return lambda frame, schema: om.protect(frame, schema, method, seed=1)


def evaluated(frame: pl.DataFrame, schema: om.Schema) -> object:
    shuffled = frame.with_columns(pl.col("code").shuffle(seed=2))
    return om.evaluate(frame, shuffled, schema)


def close(frame: pl.DataFrame, schema: om.Schema) -> object:
    sensitive = om.Schema(
        code=om.Nominal(schema["code"].taxonomy, role="sensitive"), group=om.Flat(role="quasi")
    )
    groups = pl.Series("group", [str(row % 20) for row in range(frame.height)])
    model = om.privacy.TCloseness(t=0.5, column="code", ground="semantic")
    method = om.Generalization([om.privacy.KAnonymity(5), model], suppression_limit=1.0)
    return om.protect(frame.with_columns(groups), sensitive, method, seed=1)


CASES: dict[str, Case] = {
    "sa-mdav": masked(om.Microaggregation(k=5)),
    "mdav": masked(om.Microaggregation(k=5, algorithm="mdav")),
    "recoding": masked(om.Recoding(k=5)),
    "swapping": masked(om.RankSwapping(k=5)),
    "multivariate": masked(om.RankSwapping(k=5, algorithm="multivariate")),
    "pram": masked(om.Pram()),
    "hybrid": masked(om.Hybrid(k=5)),
    "shuffling": masked(om.Shuffling(confidential=["code"])),
    "evaluate": evaluated,
    "t-closeness": close,
}


def peak() -> float:
    """The most memory that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_case(taxonomies: Path, name: str, codes: int, rows: int) -> None:
    taxonomy = om.load_taxonomy(taxonomies / "icd10cm_2026_tabular.csv.gz")
    leaves = taxonomy.ids_of(np.flatnonzero(taxonomy.leaf_mask).tolist())
    generator = np.random.default_rng(0)
    chosen = generator.choice(leaves, min(codes, len(leaves)), replace=False)
    drawn = np.concatenate([chosen, generator.choice(chosen, (rows - 1) * chosen.size)])
    frame = pl.DataFrame({"code": drawn.tolist()})
    schema = om.Schema(code=om.Nominal(taxonomy))
    before, start = peak(), time.perf_counter()
    try:
        CASES[name](frame, schema)
        outcome = ""
    except (MemoryError, OntomaskError) as error:
        outcome = f"{type(error).__name__}: {error}"
    seconds, square = time.perf_counter() - start, 8 * chosen.size**2 / 2**20
    print(
        f"{name:13} {chosen.size:7,} {frame.height:8,} {peak() - before:9,.0f} {square:9,.0f} "
        f"{seconds:8.1f}  {outcome}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("taxonomies", type=folder_with("icd10cm_2026_tabular.csv.gz"))
    parser.add_argument("--codes", type=whole_number, nargs="+", default=[5000, 20000])
    parser.add_argument("--rows", type=whole_number, default=3)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        run_case(given.taxonomies, given.only[0], given.codes[0], given.rows)
        return
    print(f"{'case':13} {'codes':>7} {'records':>8} {'peak MB':>9} {'square':>9} {'seconds':>8}")
    for codes in given.codes:
        for name in given.only:
            arguments = [str(given.taxonomies), "--codes", str(codes), "--rows", str(given.rows)]
            subprocess.run(
                [sys.executable, __file__, *arguments, "--only", name, "--inside"], check=False
            )


if __name__ == "__main__":
    main()
