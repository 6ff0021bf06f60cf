import pandas as pd
import polars as pl
import pyarrow as pa

import ontomask as om

columns = {"age": [34, 36, 35, 71, 69, 70], "sex": ["f", "m", "f", "f", "m", "f"]}
schema = om.Schema(age=om.Numeric(), sex=om.Flat())
for make in (pd.DataFrame, pl.DataFrame, pa.table):
    release = om.protect(make(columns), schema, om.Microaggregation(k=3), seed=1)
    print(type(release.frame).__module__.split(".")[0], release)
