import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
frame = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "f", "m", "f", "m"],
        "age": [34, 36, 35, 71, 69, 70, 52, 51],
        "diagnosis": ["250.00", "250.01", "250.13", "428.0", "428.1", "428.9", "401.9", "401.1"],
        "outcome": ["well", "ill", "well", "ill", "well", "ill", "ill", "well"],
    }
)
schema = om.Schema(
    sex=om.Flat(),
    age=om.Numeric(),
    diagnosis=om.Nominal(icd9),  # its taxonomy is its hierarchy
    outcome=om.Flat(role="sensitive"),
)
method = om.Generalization(
    [om.privacy.KAnonymity(2), om.privacy.LDiversity(2, column="outcome")],
    suppression_limit=0.25,
    hierarchies={
        "sex": [["f", "*"], ["m", "*"]],  # rows: the value, then its generalizations
        "age": {"intervals": [10]},  # or how to build them
    },
)
release = om.protect(frame, schema, method, seed=1)
print(release.levels, release.quality)  # the best levels, proven, and their loss
print(release.frame)
print(release.verification)
