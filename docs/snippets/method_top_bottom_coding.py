import polars as pl

import ontomask as om

frame = pl.DataFrame({"age": [34, 52, 61, 90, 97, 104]})
schema = om.Schema(age=om.Numeric())
for replace in ("limit", "mean"):
    method = om.TopBottomCoding(columns=["age"], top=89, replace=replace)
    release = om.protect(frame, schema, method, seed=1)
    print(replace, release.frame["age"].to_list())
