from collections import Counter

import polars as pl

import ontomask as om

people = {
    "age": [31, 34, 38, 52, 55, 57, 36],
    "charge": [1200, 900, 1500, 4000, 3800, 4100, 2600],
}
tuesday = pl.DataFrame(people)
monday = tuesday.head(6)  # the last patient came on Tuesday
schema = om.Schema(age=om.Numeric(role="quasi"), charge=om.Numeric(role="sensitive"))
tens = {"age": om.knowledge.interval_hierarchy(tuesday["age"], (10,))}
method = om.Generalization([om.privacy.KAnonymity(3)], hierarchies=tens)

first, second = (om.protect(day, schema, method, seed=1).frame for day in (monday, tuesday))
print(Counter(second.rows()) - Counter(first.rows()))
