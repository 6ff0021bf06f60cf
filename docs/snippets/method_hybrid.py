import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
frame = pl.DataFrame(
    {
        "age": [34, 36, 35, 71, 69, 70],
        "diagnosis": ["250.00", "250.01", "250.13", "428.0", "428.1", "428.9"],
    }
)
schema = om.Schema(age=om.Numeric(), diagnosis=om.Nominal(icd9))
release = om.protect(frame, schema, om.Hybrid(k=3), seed=1)
for old, new in zip(frame.rows(), release.frame.rows(), strict=True):
    print(old, "→", new)
linked = om.measuring.record_linkage(frame, release.frame, schema, distance="s-distance")
print(linked)
