import polars as pl

import ontomask as om

frame = pl.DataFrame(om.discharges(2000))  # or your own pandas, Polars or PyArrow table
schema = om.Schema(
    patient=om.Identifier(),
    age=om.Numeric(role="quasi"),
    diagnosis=om.Nominal(om.load_taxonomy("icd9cm"), role="quasi"),
    charge=om.Numeric(role="sensitive"),
)
release = om.protect(frame, schema, om.Microaggregation(k=5))
print(release.frame, release.verification, release.utility.loss, sep="\n")
