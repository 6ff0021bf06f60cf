import polars as pl

import ontomask as om

frame = pl.DataFrame(om.discharges(2000)).select("age", "sex", "admission_date", "length_of_stay")
schema = om.Schema(
    age=om.Numeric(role="quasi"),
    sex=om.Flat(role="quasi"),
    admission_date=om.Date(role="other"),
    length_of_stay=om.Numeric(role="other"),
)
released = om.protect(frame, schema, om.Microaggregation(k=5), seed=1).frame
for known in (["age", "sex"], ["admission_date", "length_of_stay"]):
    classes = released.group_by(known).len()["len"]
    print(known, "smallest class", classes.min(), "alone", (classes == 1).sum())
