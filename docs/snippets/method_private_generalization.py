import polars as pl

import ontomask as om

frame = pl.DataFrame({"ward": ["A"] * 300 + ["B"] * 300, "age": [30, 41] * 300})
schema = om.Schema(ward=om.Flat(), age=om.Numeric())
rows = {
    "ward": [["A", "*"], ["B", "*"]],
    "age": [[str(age), f"{age // 10}0s", "*"] for age in range(100)],
}
method = om.PrivateGeneralization(
    epsilon=1.0, delta=0.001, schemes=[{"ward": 0, "age": 1}], hierarchies=rows
)
print(f"records are drawn with probability {method.beta:.3f}, classes have {method.k} or more")
release = om.protect(frame, schema, method, seed=1)
print(sorted(set(release.frame.rows())))
print(release.verification.kept, 300 < len(release.frame) < 460)
