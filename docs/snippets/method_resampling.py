import polars as pl

import ontomask as om

frame = pl.DataFrame({"age": [30, 31, 32, 40, 41, 42, 70, 71, 72]})
schema = om.Schema(age=om.Numeric())
release = om.protect(frame, schema, om.Resampling(k=3), seed=1)
print("before", frame["age"].to_list())
print("after ", release.frame["age"].to_list())
print(release.verification)
