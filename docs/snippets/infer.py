import polars as pl

import ontomask as om

frame = pl.DataFrame(
    {
        "patient": ["Ann", "Bob", "Cy", "Di"],
        "admitted": ["2024-01-31", "2024-02-01", "2024-02-01", "2024-03-09"],
        "age": [34, 36, 35, 71],
        "sex": ["f", "m", "m", "f"],
        "diagnosis": ["250.00", "250.01", "428.0", "428.1"],
    }
)
print(om.Schema.infer(frame))
