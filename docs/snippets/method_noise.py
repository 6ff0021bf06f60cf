import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {"age": [34, 36, 35, 71, 69, 70], "weight": [61.5, 72.0, 80.5, 66.5, 90.0, 77.5]}
)
schema = om.Schema(age=om.Numeric(), weight=om.Numeric())
method = om.Noise(columns=["age", "weight"], scale=0.1)
release = om.protect(frame, schema, method, seed=1)
for old, new in zip(frame.rows(), release.frame.rows(), strict=True):
    print(old, "→", (new[0], round(new[1], 2)))
