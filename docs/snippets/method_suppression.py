import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "f", "m"],
        "age": [34, 34, 52, 52, 71, 34],
    }
)
schema = om.Schema(sex=om.Flat(), age=om.Numeric())
release = om.protect(frame, schema, om.Suppression(k=2), seed=1)
print(release.frame.rows())
print(release.suppressed, "records were left out")
print(release.verification)
