import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
frame = pl.DataFrame(
    {
        "age": [34, 36, 35, 71, 69, 70, 52],
        "diagnosis": ["250.00", "250.01", "250.13", "428.0", "428.1", "428.9", "401.9"],
    }
)
schema = om.Schema(age=om.Numeric(), diagnosis=om.Nominal(icd9))
method = om.Generalization(
    [om.privacy.KAnonymity(3)],
    suppression_limit=0.15,
    hierarchies={"age": {"intervals": [10, 20, 40]}},
)
release = om.protect(frame, schema, method, seed=1)
print(release.levels)
for row in release.frame.rows():
    print(row)
print(release.verification)
