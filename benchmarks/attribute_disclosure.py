"""Sensitive diagnoses by microaggregation, three ways, beside generalization.

    python benchmarks/attribute_disclosure.py DATA [section ...] [--by way ...]

DATA is the folder that holds `tables/inpatient_claims_icd9.csv.gz`; sections: plain semantic
ordered equal diversity (all by default); ways: merge t-first k-first optimal local (all).
Quasi-identifiers are age, sex, race, state, length of stay and procedure; the principal diagnosis
is sensitive (for ordered distances, by the order of its codes). Printed are seconds, classes, the
loss (mean distance of original and released values, from 0 to 1, a record that is left out counting
1), the risk of a semantic record linkage in percent, and how many records are left out.
Generalization may suppress 5 % of the records.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import ontomask as om
from arguments import CLAIMS, folder_with

CODES = ("dx_admit", "dx_principal", "dx_secondary", "procedure", "drg")
KEYS = ("age", "sex", "race", "state", "los", "procedure")
K = 5
CLOSENESS = (0.05, 0.1, 0.15, 0.25)
DIVERSITY = (2, 3, 5)
WAYS = ("merge", "t-first", "k-first")
SEARCHES = ("optimal", "local")
By = list[str]


def claims(data: Path) -> pd.DataFrame:
    path = data / "tables/inpatient_claims_icd9.csv.gz"
    frame = pd.read_csv(path, dtype=dict.fromkeys(CODES, str))
    return frame[[*KEYS, "dx_principal"]].dropna(subset=["dx_principal"]).reset_index(drop=True)


def schema_of(frame: pd.DataFrame, *, ordered: bool = False) -> om.Schema:
    codes = sorted(frame["dx_principal"].unique())
    sensitive: object = om.Nominal(om.load_taxonomy("icd9cm"), role="sensitive")
    if ordered:
        sensitive = om.Ordinal(codes, role="sensitive")
    return om.Schema.of(
        {
            "age": om.Numeric(),
            "sex": om.Flat(),
            "race": om.Flat(),
            "state": om.Flat(),
            "los": om.Numeric(),
            "procedure": om.Nominal(om.load_taxonomy("icd9cm-procedures")),
            "dx_principal": sensitive,
        }
    )


def hierarchies(frame: pd.DataFrame) -> dict[str, object]:
    return {
        "age": {"intervals": [5, 10, 20, 40]},
        "los": {"intervals": [2, 4, 8, 16, 32]},
        **{
            name: [[str(value), "*"] for value in sorted(frame[name].unique())]
            for name in ("sex", "race", "state")
        },
    }


def line(name: str, frame: pd.DataFrame, schema: om.Schema, method: object) -> str:
    start = time.perf_counter()
    try:
        release = om.protect(frame, schema, method, seed=1)
    except om.errors.MethodError as refusal:
        return f"{name:34}{time.perf_counter() - start:9.1f}  refused: {str(refusal)[:60]}…"
    seconds = time.perf_counter() - start
    classes = release.frame.groupby(list(KEYS), dropna=False).ngroups
    figures = release.evaluate(distances=("semantic",))
    return (
        f"{name:34}{seconds:9.1f}{classes:9,}{figures.loss.semantic_loss:9.4f}"
        f"{100 * figures.linkage[0].risk:10.3f}{release.suppressed:9,}"
    )


def asked(models: list[object], by: By, keys: dict[str, object]) -> Iterator[tuple]:
    for way in WAYS:
        if way in by:
            yield way, om.Microaggregation(K, privacy=models, privacy_by=way)
    for search in SEARCHES:
        if search in by:
            yield (
                f"generalization, {search}",
                om.Generalization(
                    [om.privacy.KAnonymity(K), *models],
                    suppression_limit=0.05,
                    algorithm=search,
                    hierarchies=keys,
                ),
            )


def plain(frame: pd.DataFrame, by: By) -> Iterator[str]:
    schema = schema_of(frame)
    for name, method in asked([], _merging(by), hierarchies(frame)):
        yield line(f"k = {K}, {name}", frame, schema, method)


def closeness(frame: pd.DataFrame, ground: str, by: By) -> Iterator[str]:
    schema = schema_of(frame, ordered=ground == "ordered")
    for t in CLOSENESS:
        for name, method in asked([om.privacy.TCloseness(t, ground)], by, hierarchies(frame)):
            yield line(f"t = {t}, {name}", frame, schema, method)


def diversity(frame: pd.DataFrame, by: By) -> Iterator[str]:
    schema = schema_of(frame)
    for least in DIVERSITY:
        for name, method in asked([om.privacy.LDiversity(least)], _merging(by), hierarchies(frame)):
            yield line(f"l = {least}, {name}", frame, schema, method)


def _merging(by: By) -> By:
    """The other ways of microaggregation are for t-closeness alone."""
    return [one for one in by if one not in ("t-first", "k-first")]


SECTIONS = {
    "plain": plain,
    "semantic": lambda frame, by: closeness(frame, "semantic", by),
    "ordered": lambda frame, by: closeness(frame, "ordered", by),
    "equal": lambda frame, by: closeness(frame, "equal", by),
    "diversity": diversity,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with(CLAIMS))
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=[])
    parser.add_argument("--by", nargs="*", choices=[*WAYS, *SEARCHES], default=[*WAYS, *SEARCHES])
    arguments = parser.parse_args()
    frame = claims(arguments.data)
    for section in arguments.sections or SECTIONS:
        heads = f"{'seconds':>9}{'classes':>9}{'loss':>9}{'linkage':>10}{'gone':>9}"
        print(f"\n{section:34}{heads}")
        for text in SECTIONS[section](frame, arguments.by):
            print(text, flush=True)


if __name__ == "__main__":
    main()
