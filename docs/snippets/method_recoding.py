from collections import Counter

import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
codes = ["250.00"] * 4 + ["250.01"] + ["428.0"] * 3 + ["428.1", "401.9"]
frame = pl.DataFrame({"diagnosis": codes})
schema = om.Schema(diagnosis=om.Nominal(icd9))
release = om.protect(frame, schema, om.Recoding(k=3), seed=1)
print("before", dict(Counter(codes)))
print("after ", dict(Counter(release.frame["diagnosis"])))
print(release.verification)
