# %% [markdown]
# # From a frame to a release
#
# A table about people, as it may lie in a data frame: made up, with real codes.

# %%
import polars as pl

import ontomask as om

people = pl.DataFrame(om.discharges(800, seed=1)).select(
    "sex", "age", "county", "diagnosis", "length_of_stay", "charge"
)
people.height, people.columns

# %% [markdown]
# What may its columns be? The proposal says why, and what a person must decide.

# %%
om.Schema.infer(people)

# %%
icd = om.load_taxonomy("icd9cm")
schema = om.Schema(
    sex=om.Flat(),
    age=om.Numeric(),
    county=om.Flat(),
    diagnosis=om.Nominal(icd),
    length_of_stay=om.Numeric(),
    charge=om.Numeric(role="sensitive"),
)
icd.tree(depth=1, values=people["diagnosis"].to_list())

# %% [markdown]
# How easily would somebody be found who knows the quasi-identifiers?

# %%
om.file_risk(people, schema)

# %% [markdown]
# Groups of at least five that look alike, near each other by what their diagnoses mean. Every
# promise is recounted on the frame that leaves.

# %%
release = om.protect(people, schema, om.Microaggregation(k=5), seed=1)
release

# %% [markdown]
# What was lost, and what is still at risk:

# %%
release.evaluate()

# %%
release.before_after("diagnosis")

# %%
release.before_after("age")

# %% [markdown]
# Is five a good choice? Several methods and sizes side by side; the line is a risk that is not to
# be exceeded. `chart().spec` is the same picture as a Vega-Lite dictionary.

# %%
grid = om.compare(people, schema, ["sa-mdav", "v-mdav", "resampling"], k=[3, 5, 10], workers=1)
grid.chart(max_risk=0.2)

# %%
best = grid.best(max_risk=0.2)
best.method, best.k, round(best.loss, 3), round(best.risk, 3)
