"""No impossible people: what six rules, and medoids, cost on a table of claims.

    python benchmarks/rules.py inpatient_claims_icd9.csv.gz

Counts in each release the records that a rule excludes, by the codes themselves, and its loss.
"""

from __future__ import annotations

import argparse
import time

import polars as pl

import ontomask as om
from arguments import existing_file
from ontomask.methods.base import Method
from ontomask.warming import warm

K = 5
BIRTH = "630-679"
OF_WOMEN = [*(str(code) for code in range(179, 185)), "617-629"]
OF_MEN = ["185", "186", "187", "600-608"]
RULES = (
    om.Rule(when={"sex": "M"}, never={"dx_principal": BIRTH}),
    om.Rule(when={"sex": "M"}, never={"dx_principal": OF_WOMEN}),
    om.Rule(when={"sex": "F"}, never={"dx_principal": OF_MEN}),
    om.Rule(when={"dx_principal": ["V30-V39", "760-779"]}, never={"age": {"from": 1}}),
    om.Rule(when={"dx_principal": BIRTH}, never={"age": {"to": 9}}),
    om.Rule(when={"dx_principal": BIRTH}, never={"age": {"from": 60}}),
)
NAMES = ["age", "sex", "race", "state", "los", "dx_admit", "dx_principal"]


def within(code: str | None, low: str, high: str) -> bool:
    """Whether a code, or both ends of a range of codes, lies between two others."""
    ends = (code or "").split("-")
    return all(low <= end[:3] <= high for end in ends)


def broken(sex: str, age: float, code: str | None) -> bool:
    """Whether a rule excludes a record, by the code as it is written, without the taxonomy."""
    birth = within(code, "630", "679")
    if sex == "M" and (birth or within(code, "179", "184") or within(code, "617", "629")):
        return True
    if sex == "F" and (within(code, "185", "187") or within(code, "600", "608")):
        return True
    newborn = within(code, "V30", "V39") or within(code, "760", "779")
    return (newborn and age >= 1) or (birth and not 9 < age < 60)


def schema(*rules: om.Rule) -> om.Schema:
    """All of these columns are known to others."""
    icd9 = om.load_taxonomy("icd9cm")
    return om.Schema(
        age=om.Numeric(),
        sex=om.Flat(),
        race=om.Flat(),
        state=om.Flat(),
        los=om.Numeric(),
        dx_admit=om.Nominal(icd9, unmapped="root"),
        dx_principal=om.Nominal(icd9, unmapped="root"),
    ).with_rules(*rules)


def measured(frame: pl.DataFrame, declared: om.Schema, method: Method) -> tuple[int, float, str]:
    """Excluded records, loss, and both in a line."""
    started = time.perf_counter()
    release = om.protect(frame, declared, method, seed=1)
    seconds = time.perf_counter() - started
    rows = release.frame.select("sex", "age", "dx_principal").rows()
    wrong, loss = sum(broken(*row) for row in rows), 100 * release.evaluate(frame).loss.loss
    return wrong, loss, f"{wrong:9,} {loss:8.3f} {seconds:8.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=existing_file)
    path = parser.parse_args().table
    types = {name: pl.String for name in NAMES if name not in ("age", "los")}
    frame = pl.read_csv(path, columns=NAMES, schema_overrides=types)
    for _ in warm():
        pass
    count = sum(broken(*row) for row in frame.select("sex", "age", "dx_principal").rows())
    print(f"{frame.height:,} claims, {count:,} of which a rule excludes; k = {K}")
    print(f"{'':34}{'excluded':>9} {'loss %':>8} {'seconds':>8} {'loss more %':>12}")
    plain = measured(frame, schema(), om.Microaggregation(k=K))
    print(f"{'centroids':34}{plain[2]}", flush=True)
    for what, declared, centers in (
        ("centroids, six rules", schema(*RULES), "centroid"),
        ("medoids", schema(), "medoid"),
        ("medoids, six rules", schema(*RULES), "medoid"),
    ):
        found = measured(frame, declared, om.Microaggregation(k=K, centers=centers))
        more = 100.0 * (found[1] / plain[1] - 1.0)
        print(f"{what:34}{found[2]} {more:12.2f}", flush=True)


if __name__ == "__main__":
    main()
