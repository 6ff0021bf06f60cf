import numpy as np
import polars as pl
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import ontomask as om
from ontomask.sklearn import Masker

draw = np.random.default_rng(1)
people = pl.DataFrame({"age": draw.integers(20, 90, 400), "stay": draw.integers(1, 30, 400)})
retired = people["age"].to_numpy() > 64

for k in (5, 50, 150):
    model = make_pipeline(
        Masker(om.Microaggregation(k=k), random_state=1), DecisionTreeClassifier(random_state=1)
    )
    print(k, round(cross_val_score(model, people, retired, cv=5).mean(), 2))
