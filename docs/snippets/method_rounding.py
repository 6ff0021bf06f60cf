import polars as pl

import ontomask as om

frame = pl.DataFrame({"charge": [1234.0, 980.0, 1502.0, 4019.0]})
schema = om.Schema(charge=om.Numeric())
for how in ("nearest", "random"):
    method = om.Rounding(columns=["charge"], base=500, algorithm=how)
    release = om.protect(frame, schema, method, seed=1)
    print(how, release.frame["charge"].to_list())
