import polars as pl

import ontomask as om

frame = pl.DataFrame({"patient": ["Ann", "Bob", "Ann"], "age": [34, 52, 35]})
schema = om.Schema(patient=om.Identifier(), age=om.Numeric())
key = "only an example: make your own and keep it apart"
method = om.Pseudonyms(columns=["patient"], key=key)
release = om.protect(frame, schema, method, seed=1)
for row in release.frame.rows():
    print(row)
