import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {"patient": ["Ann"] * 5 + ["Bob", "Cy", "Di"] * 3, "age": [34] * 5 + [71, 69, 70] * 3}
)
for unit in (False, True):
    schema = om.Schema(patient=om.Identifier(unit=unit), age=om.Numeric(role="quasi"))
    release = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
    print(release.verification.findings[-1])
    masked = release.frame.with_columns(patient=frame["patient"])
    print(masked.group_by("age").agg(pl.len(), people=pl.n_unique("patient")).sort("age"))
