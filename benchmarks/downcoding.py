"""How many records of a local generalization an onlooker can narrow down, without any other data.

    python benchmarks/downcoding.py [--records 5000]

The table is the bundled sample, generalized by age, sex, county and diagnosis. The onlooker knows
the hierarchies and argues as the search does: a record is generalized further only if it fits in no
smaller class. So the records of a class are in none of the smaller classes that overlap with it and
that the release shows as well. `narrowed` is the share of the records of which something is ruled
out in this way, `right` the share of those of which it is ruled out rightly.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

import ontomask as om
from arguments import whole_number

COLUMNS = ("age", "sex", "county", "diagnosis")
SEARCHES = ("optimal", "local", "mondrian", "tuple")
Bools = np.ndarray


def hierarchies(frame: pl.DataFrame) -> dict[str, om.Hierarchy]:
    """What every value becomes at each level."""
    plain = {name: sorted(set(frame[name])) for name in ("sex", "county")}
    codes, taxonomy = sorted(set(frame["diagnosis"])), om.load_taxonomy("icd9cm")
    return {
        "age": om.knowledge.interval_hierarchy(frame["age"], (5, 10, 20, 40)),
        **{name: om.Hierarchy.from_rows([[one, "*"] for one in plain[name]]) for name in plain},
        "diagnosis": om.Hierarchy.from_taxonomy(taxonomy, codes, by="depth"),
    }


def covered(texts: list[str], hierarchy: om.Hierarchy) -> Bools:
    """For each released text and each value of the hierarchy, whether the one can be the other."""
    levels = zip(hierarchy.labels, hierarchy.levels, strict=True)
    cells = [[labels[code] for code in codes] for labels, codes in levels]
    rows = [{*row, "*"} for row in zip(*cells, strict=True)]
    return np.array([[text in row for row in rows] for text in texts])


def overlapping(classes: pl.DataFrame, given: dict[str, om.Hierarchy]) -> Bools:
    """For each pair of classes, whether the first is smaller than the second and overlaps it."""
    overlap, volume = np.ones((len(classes), len(classes)), bool), np.ones(len(classes))
    for name in COLUMNS:
        values = covered(classes[name].to_list(), given[name]).astype(np.float64)
        overlap &= values @ values.T > 0
        volume *= values.sum(axis=1)
    return overlap & (volume[:, None] < volume[None, :])


def holding(classes: pl.DataFrame, frame: pl.DataFrame, given: dict[str, om.Hierarchy]) -> Bools:
    """For each class and record, whether the record's own values lie in the class."""
    found = np.ones((len(classes), len(frame)), bool)
    for name in COLUMNS:
        places = {value: place for place, value in enumerate(given[name].values)}
        own = [places[str(value)] for value in frame[name]]
        found &= covered(classes[name].to_list(), given[name])[:, own]
    return found


def attacked(frame: pl.DataFrame, release: om.Release, given: dict[str, om.Hierarchy]) -> list:
    """The number of classes, the share of records narrowed, and how often rightly."""
    masked = release.frame.with_columns(pl.all().cast(pl.String))
    classes = masked.unique(maintain_order=True)
    numbers = {row: number for number, row in enumerate(classes.rows())}
    own = np.array([numbers[row] for row in masked.rows()])
    smaller = overlapping(classes, given)
    hit = smaller.any(axis=0)[own]
    true = holding(classes, frame[release.rows], given)
    wrong = (smaller[:, own] & true).any(axis=0)
    return [len(classes), hit.mean(), 1 - wrong[hit].mean() if hit.any() else np.nan]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=whole_number, default=5000)
    frame = pl.DataFrame(om.discharges(parser.parse_args().records)).select(COLUMNS)
    given, schema = hierarchies(frame), om.Schema.of({name: om.Flat() for name in COLUMNS})
    print(f"{'search':12}{'k':>4}{'classes':>9}{'narrowed':>10}{'right':>8}{'seconds':>9}")
    for search in SEARCHES:
        for k in (3, 5, 10):
            start, models = time.perf_counter(), [om.privacy.KAnonymity(k)]
            method = om.Generalization(models, 0.05, algorithm=search, hierarchies=given)
            release = om.protect(frame, schema, method, seed=1)
            classes, narrowed, right = attacked(frame, release, given)
            spent = time.perf_counter() - start
            print(f"{search:12}{k:4}{classes:9,}{narrowed:10.1%}{right:8.1%}{spent:9.1f}")


if __name__ == "__main__":
    main()
