import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {
        "patient": ["Ann", "Ann", "Bob", "Bob", "Cy", "Cy", "Di", "Di", "Di"],
        "age": [34, 35, 36, 38, 69, 71, 70, 72, 73],
    }
)
wholes = om.Identifier(unit=True, sequences=True)
steps = [om.Microaggregation(k=2), om.Pseudonyms(["patient"], key="keep this to yourself")]
release = om.protect(frame, om.Schema(patient=wholes, age=om.Numeric()), steps, seed=1)
print(release.verification.findings[-1])
print(release.frame.group_by("patient", maintain_order=True).agg("age")["age"].to_list())
