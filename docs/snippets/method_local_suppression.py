import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "m", "m"],
        "region": ["north", "north", "south", "west", "south", "south"],
    }
)
schema = om.Schema(sex=om.Flat(), region=om.Flat())
release = om.protect(frame, schema, om.LocalSuppression(k=2), seed=1)
for old, new in zip(frame.rows(), release.frame.rows(), strict=True):
    print(old, "→", new)
print(release.details[0]["cells_by_column"])
print(release.verification)
