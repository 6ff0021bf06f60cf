import polars as pl

import ontomask as om

frame = pl.DataFrame({"ward": ["A"] * 6 + ["B"] * 4, "age": range(30, 40)})
schema = om.Schema(ward=om.Flat(), age=om.Numeric())
method = om.Sampling(share=0.5, strata=("ward",))
release = om.protect(frame, schema, method, seed=1)
print(release.frame.rows())
print(release.suppressed, "of", len(frame), "records stay behind")
