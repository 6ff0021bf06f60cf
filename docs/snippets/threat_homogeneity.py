import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {"age": [31, 32, 33, 61, 62, 63], "diagnosis": ["HIV", "HIV", "HIV", "flu", "cold", "flu"]}
)
schema = om.Schema(age=om.Numeric(role="quasi"), diagnosis=om.Flat(role="sensitive"))
tens = {"age": om.knowledge.interval_hierarchy(frame["age"], (10, 40))}
for models in ([om.privacy.KAnonymity(3)], [om.privacy.KAnonymity(3), om.privacy.LDiversity(2)]):
    released = om.protect(frame, schema, om.Generalization(models, hierarchies=tens), 1).frame
    print(released.group_by("age", maintain_order=True).agg("diagnosis").rows())
