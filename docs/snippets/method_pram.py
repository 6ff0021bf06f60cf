from collections import Counter

import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
codes = ["250.00"] * 1000 + ["250.01"] * 500 + ["428.0"] * 500
frame = pl.DataFrame({"diagnosis": codes})
schema = om.Schema(diagnosis=om.Nominal(icd9))
release = om.protect(frame, schema, om.Pram(retain=0.8), seed=1)

became = Counter(release.frame["diagnosis"][:1000])  # what the 1,000 records of 250.00 became
for code, distance in zip(
    ["250.00", "250.01", "428.0"], icd9.distances(["250.00", "250.01", "428.0"])[0], strict=True
):
    print(code, "at distance", round(float(distance), 2), "drawn", became[code], "times")
