import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
codes = ["250.00", "250.01", "250.13", "401.9", "428.0", "428.1", "428.9", "820.8"]
frame = pl.DataFrame({"diagnosis": codes})
schema = om.Schema(diagnosis=om.Nominal(icd9))
release = om.protect(frame, schema, om.RankSwapping(k=3), seed=1)
for old, new in zip(codes, release.frame["diagnosis"], strict=True):
    print(old, "→", new)
print(release.verification)
