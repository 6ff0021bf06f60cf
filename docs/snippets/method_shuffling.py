import numpy as np
import polars as pl

import ontomask as om

generator = np.random.default_rng(7)
age = generator.integers(20, 90, 500)
charge = (age * 100 + generator.normal(0, 1000, 500)).round(2)
frame = pl.DataFrame({"age": age, "charge": charge})
schema = om.Schema(age=om.Numeric(role="other"), charge=om.Numeric(role="sensitive"))
method = om.Shuffling(confidential=["charge"], given=["age"])
release = om.protect(frame, schema, method, seed=1)

masked = release.frame
print("same values:", sorted(frame["charge"]) == sorted(masked["charge"]))
print("moved:", round(release.changed["charge"], 3))
for name, table in (("before", frame), ("after", masked)):
    print(name, round(table.select(pl.corr("age", "charge", method="spearman")).item(), 3))
