import polars as pl

import ontomask as om

frame = pl.DataFrame({"ward": ["A", "A", "B", "B"], "age": [30, 32, 60, 62]})
schema = om.Schema(ward=om.Flat(role="other"), age=om.Numeric())
steps = [om.Microaggregation(k=2, strata=("ward",)), om.DropColumns(columns=["ward"])]
release = om.protect(frame, schema, steps, seed=1)
print(release.frame.columns, release.frame["age"].to_list())
print(release.verification)
