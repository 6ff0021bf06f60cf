"""What a release holds, whom it can be compared with, and what its random choices depend on."""

from __future__ import annotations

import decimal
import io
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.data.tables import open_table
from ontomask.errors import DataError, PromiseError
from ontomask.plan.plan import Plan
from ontomask.protection import generators
from ontomask.release import digest_of
from tables import mixed_columns, mixed_schema

# Random choices -------------------------------------------------------------------------------


def test_a_seed_alone_repeats_no_draws():
    """An intruder who guesses the seed but lacks the table cannot take the noise away."""
    generator = np.random.default_rng(7)
    people = pl.DataFrame({"age": generator.integers(18, 90, 1000).astype(float)})
    schema = om.Schema(age=om.Numeric())
    noisy = om.protect(people, schema, om.Noise(["age"]), seed=1).frame["age"].to_numpy()
    guess = noisy.copy()  # the intruder's table: all that is known of it is the release
    digest = digest_of(open_table(pl.DataFrame({"age": guess})), schema)
    drawn = generators([om.Noise(["age"])], 1, digest)[0].standard_normal((1, 1000))[0]
    scale = 0.1 * people["age"].std(ddof=0)
    recovered = np.abs(noisy - scale * drawn - people["age"].to_numpy()) < 0.5
    assert recovered.mean() < 0.2


def test_the_same_table_and_seed_give_the_same_draws_in_every_kind_of_frame():
    columns = mixed_columns(gaps=False)
    schema = mixed_schema()
    frames = [pl.DataFrame(columns), pd.DataFrame(columns), pl.DataFrame(columns).to_arrow()]
    ages = [
        open_table(om.protect(one, schema, om.Noise(["age"]), seed=1).frame).column("age")
        for one in frames
    ]
    assert ages[0] == ages[1] == ages[2]
    other = pl.DataFrame({**columns, "charge": [*columns["charge"][1:], columns["charge"][0]]})
    assert om.protect(other, schema, om.Noise(["age"]), seed=1).frame["age"].to_list() != ages[0]


# The right original ---------------------------------------------------------------------------


@pytest.fixture
def frame():
    return pd.DataFrame(mixed_columns(gaps=False))


def test_a_table_sorted_in_place_is_not_taken_for_the_original(frame):
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)
    loss = release.evaluate().loss.loss
    frame["age"] = sorted(frame["age"])
    with pytest.raises(DataError, match="not the table that was protected"):
        release.evaluate()
    with pytest.raises(DataError, match="not the table that was protected"):
        release.report("nowhere.html", original=frame)
    again = pd.DataFrame(mixed_columns(gaps=False))
    assert release.evaluate(again).loss.loss == loss


def test_a_query_that_gives_other_records_each_time_is_refused():
    generator = np.random.default_rng(1)
    asked = []

    def records():
        asked.append(None)
        return pl.DataFrame({"age": generator.integers(0, 90, 50)})

    lazy = pl.defer(records, schema={"age": pl.Int64})
    schema = om.Schema(age=om.Numeric())
    with pytest.raises(DataError, match="changed between"):
        om.protect(lazy, schema, om.Microaggregation(5), seed=1)
    release = om.protect(lazy.collect(), schema, om.Microaggregation(5), seed=1)
    with pytest.raises(DataError, match="collect it first"):
        release.evaluate(lazy)


# What is written ------------------------------------------------------------------------------

PLAN = """
seed = 1
[input]
path = "in.csv"
[columns.x]
kind = "numeric"
[columns.y]
kind = "flat"
role = "sensitive"
[[steps]]
method = "suppression"
k = 2
"""


def test_the_written_text_is_counted_not_the_numbers(tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n0.0,a\n-0.0,b\n0.0,a\n1.5,b\n1.5,a\n")
    outcome = Plan.parse(PLAN, folder=tmp_path).run()
    lines = outcome.table.read_text().splitlines()[1:]
    assert min(Counter(line.split(",")[0] for line in lines).values()) >= 2


@pytest.mark.parametrize("values", [[0.0, -0.0, 0.0, -0.0], [float("nan"), None, None, 1.0]])
def test_a_release_has_one_zero_and_one_missing_value(values):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64), "y": [1, 1, 1, 1]})
    schema = om.Schema(x=om.Numeric(role="other"), y=om.Numeric())
    out = om.protect(frame, schema, om.Suppression(2), seed=1).frame
    written = out.write_csv()
    assert "NaN" not in written
    assert "-0" not in written


def test_numbers_of_any_size_are_compared_exactly():
    big = [2**60 + place for place in (0, 1, 2, 3)]
    exact = [decimal.Decimal(f"1.{place:030d}") for place in (0, 1, 2, 3)]
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "big": big, "exact": exact})
    schema = om.Schema(a=om.Numeric(), big=om.Flat(role="other"), exact=om.Flat(role="other"))
    release = om.protect(frame, schema, om.Suppression(2), seed=1)
    assert release.frame["big"].to_list() == big
    assert release.frame["exact"].to_list() == exact


def test_a_text_that_means_missing_is_not_released_as_a_value(tmp_path):
    frame = pl.DataFrame({"x": [1, 1, 2, 2], "y": ["a", "NA", "a", "b"]})
    schema = om.Schema(x=om.Numeric(), y=om.Flat(role="sensitive"))
    release = om.protect(frame, schema, om.Suppression(2), seed=1)
    from ontomask.data.files import FileFormat

    text = pl.read_csv(io.StringIO(frame.write_csv()), infer_schema=False)
    with pytest.raises(PromiseError, match="read back otherwise than they were written"):
        release.recount(text, release.frame, frame, text=FileFormat())
