import polars as pl

import ontomask as om

frame = pl.DataFrame(om.discharges(1000, seed=1)).select("age", "sex", "diagnosis")
icd9 = om.load_taxonomy("icd9cm")
schema = om.Schema(age=om.Numeric(), sex=om.Flat(), diagnosis=om.Nominal(icd9))
grid = om.compare(frame, schema, ["sa-mdav", "recoding", "resampling"], k=[3, 5, 10], workers=1)
for cell in grid.cells:
    print(f"{cell.method:10}  k = {cell.k:2}  loss {cell.loss:5.1%}  linkage {cell.risk:5.1%}")
best = grid.best(max_risk=0.15)
print("least loss with at most 15% linkage:", best.method, best.k)
