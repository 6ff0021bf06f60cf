import duckdb

import ontomask as om

visits = duckdb.sql("""
    SELECT 20 + i * i % 60 AS age, ['f', 'm'][1 + i % 2] AS sex, i % 1000 AS charge
    FROM range(1_000_000) AS numbers(i)
""")
schema = om.Schema(age=om.Numeric(), sex=om.Flat(), charge=om.Numeric(role="other"))
release = om.protect(visits, schema, om.Microaggregation(k=30_000), seed=1)
print(release)
print(release.verification)
print(type(release.frame).__name__)
