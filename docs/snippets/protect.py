import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
frame = pl.DataFrame(
    {
        "patient": ["Ann", "Bob", "Cy", "Di", "Ed", "Flo"],
        "age": [34, 36, 35, 71, 69, 70],
        "diagnosis": ["250.00", "250.01", "250.13", "428.0", "428.1", "428.9"],
        "charge": [1200.0, 900.0, 1500.0, 4000.0, 3800.0, 4100.0],
    }
)
schema = om.Schema(
    patient=om.Identifier(),
    age=om.Numeric(role="quasi"),
    diagnosis=om.Nominal(icd9, role="quasi"),
    charge=om.Numeric(role="sensitive"),
)
release = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
print(release.frame)  # the same kind of frame, without the patients
print(release.verification)  # what was promised, recounted by independent code
print(release.scheme.apply(frame.head(1)))  # next month's records, the same way
