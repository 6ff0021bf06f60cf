import polars as pl

import ontomask as om

icd9 = om.load_taxonomy("icd9cm")
frame = pl.DataFrame(
    {
        "age": [34, 36, 35, 71, 69, 70, 52, 51],
        "diagnosis": ["250.00", "250.01", "250.13", "428.0", "428.1", "428.9", "401.9", "401.1"],
        "charge": [1200.0, 900.0, 1500.0, 4000.0, 3800.0, 4100.0, 700.0, 650.0],
    }
)
schema = om.Schema(
    age=om.Numeric(), diagnosis=om.Nominal(icd9), charge=om.Numeric(role="sensitive")
)
release = om.protect(frame, schema, om.Microaggregation(k=2), seed=1)

evaluation = release.evaluate()  # it knows which records were left out
print(evaluation.loss.loss, evaluation.risk, evaluation.score)
for row in evaluation.rows():
    print(row.section, row.figure, row.value, "|", row.definition)

grid = om.compare(frame, schema, ["sa-mdav", "recoding"], k=[2, 3], workers=1)
print([(cell.method, cell.k) for cell in grid.frontier()])  # nothing beats these in loss and risk
print(om.file_risk(frame, schema).prosecutor)  # the risk of the table as it is
