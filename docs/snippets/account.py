import polars as pl

import ontomask as om

frame = pl.DataFrame({"age": [34, 36, 35, 71, 69, 70, 52, 51, 53]})
schema = om.Schema(age=om.Numeric())
release = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
evaluation = release.evaluate()
print(f"loss {evaluation.loss.loss:.3f} (0 nothing lost, 1 every record is the same)")
before, after = evaluation.risk_before, evaluation.risk_after
print(f"smallest class {before.smallest_class} → {after.smallest_class}")
for link in evaluation.linkage:
    print(link)
