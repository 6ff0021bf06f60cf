"""Dates with times and zones, and the ends of the calendar."""

from __future__ import annotations

import datetime
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
TIMES = [
    datetime.datetime(2024, month, day, 13, 45, tzinfo=BERLIN)
    for month in (1, 7)
    for day in (5, 6, 7, 9)
]
FIXED = [datetime.datetime.fromisoformat(one.isoformat()) for one in TIMES]
PLAIN = [one.replace(tzinfo=None) for one in TIMES]
ARROW = pa.timestamp("us", "Europe/Berlin")
FRAMES = {
    "pandas": pd.DataFrame({"t": pd.Series(TIMES, dtype="datetime64[ns, Europe/Berlin]")}),
    "pandas, fixed offsets": pd.DataFrame({"t": pd.Series(FIXED, dtype=object)}),
    "polars": pl.DataFrame({"t": pl.Series(TIMES).dt.convert_time_zone("Europe/Berlin")}),
    "arrow": pa.table({"t": pa.array(TIMES, ARROW)}),
    "no zone": pl.DataFrame({"t": PLAIN}),
    "texts": pl.DataFrame({"t": [one.isoformat() for one in TIMES]}),
    "own format": pl.DataFrame({"t": [f"{one:%d.%m.%Y %H:%M}" for one in TIMES]}),
}
every_frame = pytest.mark.parametrize("name", FRAMES)


def schema(name):
    return om.Schema(t=om.Date(format="%d.%m.%Y %H:%M" if name == "own format" else None))


def listed(frame):
    column = frame["t"]
    return column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()


@every_frame
@pytest.mark.parametrize("guide", ["semantic", "discernibility", "random"])
def test_recoding_releases_only_what_some_record_had(name, guide):
    frame = FRAMES[name]
    release = om.protect(frame, schema(name), om.Recoding(3, algorithm=guide), seed=1)
    assert {str(one) for one in listed(release.frame)} <= {str(one) for one in listed(frame)}
    applied = release.scheme.apply(frame)
    assert {str(one) for one in listed(applied)} <= {str(one) for one in listed(release.frame)}


def test_recoding_gives_numbers_as_they_were():
    generator = np.random.default_rng(3)
    numbers = generator.normal(0.1, 1e-3, 40) * 10.0 ** generator.integers(-3, 9, 40)
    frame = pl.DataFrame({"n": numbers, "m": numbers[::-1].copy()})
    release = om.protect(frame, om.Schema(n=om.Numeric(), m=om.Numeric()), om.Recoding(4), seed=1)
    assert set(release.frame.iter_rows()) <= set(frame.iter_rows())


@every_frame
def test_what_a_method_does_not_change_keeps_its_time(name):
    frame = FRAMES[name]
    method = om.TopBottomCoding(["t"], top_share=0.2)
    released = listed(om.protect(frame, schema(name), method, seed=1).frame)
    assert released[:-1] == listed(frame)[:-1]
    assert released[-1] == listed(frame)[-2]


@every_frame
def test_the_mean_of_equal_times_is_that_time(name):
    frame = FRAMES[name]
    rows = [0, 0, 0, 7, 7, 7]
    twice = frame.iloc[rows].reset_index(drop=True) if name.startswith("pandas") else None
    twice = (frame.take(rows) if name == "arrow" else frame[rows]) if twice is None else twice
    released = om.protect(twice, schema(name), om.Microaggregation(3), seed=1).frame
    assert listed(released) == listed(twice)


@every_frame
def test_means_of_times_are_midnights_on_the_clock_of_the_place(name):
    released = listed(om.protect(FRAMES[name], schema(name), om.Microaggregation(4), seed=1).frame)
    if isinstance(released[0], str):
        start = {"texts": "2024-01-07", "own format": "07.01.2024 00:00"}[name]
        assert released[0] == start
        return
    assert [one.strftime("%m-%d %H:%M") for one in released] == ["01-07 00:00"] * 4 + [
        "07-07 00:00"
    ] * 4
    if name != "no zone":
        assert [one.utcoffset().total_seconds() / 3600 for one in released] == [1] * 4 + [2] * 4


class Pytz(datetime.tzinfo):
    """A zone as pytz has them: one object per offset, which knows the others by `localize`."""

    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)

    def dst(self, when):
        return datetime.timedelta(0)

    def tzname(self, when):
        return f"+{self.hours}"

    def localize(self, when):
        return when.replace(tzinfo=Pytz(2 if 4 <= when.month <= 10 else 1))


def test_zones_that_are_one_object_per_offset():
    winter, summer = Pytz(1), Pytz(2)
    times = [
        datetime.datetime(2024, 3, 30, 13, 45, tzinfo=winter),
        datetime.datetime(2024, 3, 30, 13, 45, tzinfo=winter),
        datetime.datetime(2024, 4, 9, 13, 45, tzinfo=summer),
    ]
    frame = pd.DataFrame({"t": pd.Series(times, dtype=object)})
    released = om.protect(frame, om.Schema(t=om.Date()), om.Microaggregation(3), seed=1).frame["t"]
    assert {str(one) for one in released} == {"2024-04-03 00:00:00+02:00"}


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_a_midnight_that_the_clock_skips_is_the_hour_after(kind):
    name = "America/Sao_Paulo"  # in 2018 summer began there on November 4 at midnight
    zone = zoneinfo.ZoneInfo(name)
    times = [datetime.datetime(2018, 11, day, 13, tzinfo=zone) for day in (3, 4, 4)]
    frame = {
        "polars": lambda: pl.DataFrame({"t": pl.Series(times).dt.convert_time_zone(name)}),
        "pandas": lambda: pd.DataFrame({"t": pd.Series(times, dtype=f"datetime64[us, {name}]")}),
        "arrow": lambda: pa.table({"t": pa.array(times, pa.timestamp("us", name))}),
    }[kind]()
    released = om.protect(frame, om.Schema(t=om.Date()), om.Microaggregation(3), seed=1).frame
    assert {str(one) for one in listed(released)} == {"2018-11-04 01:00:00-02:00"}


LAST, FIRST = datetime.date(9999, 12, 31), datetime.date(1, 1, 1)
NANOSECONDS = ["2262-04-10", "2262-04-10", "1677-09-23", "2000-01-01"]
ENDS = {
    "dates": pl.DataFrame({"t": [LAST, LAST, FIRST, datetime.date(2000, 1, 1)]}),
    "texts": pl.DataFrame({"t": ["9999-12-31", "9999-12-31", "0001-01-01", "2000-01-01"]}),
    "objects": pd.DataFrame({"t": [LAST, LAST, FIRST, datetime.date(2000, 1, 1)]}),
    "nanoseconds": pd.DataFrame({"t": pd.to_datetime(NANOSECONDS).astype("datetime64[ns]")}),
    "a recent one": pd.DataFrame(
        {"t": pd.to_datetime(["2024-01-01", "1700-01-01"]).astype("datetime64[ns]")}
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_noise_does_not_leave_the_calendar(name):
    frame = ENDS[name]
    for seed in range(20):
        method = om.Noise(["t"], scale=3.0)
        released = listed(om.protect(frame, om.Schema(t=om.Date()), method, seed=seed).frame)
        days = [pd.Timestamp(str(one)).year for one in released]
        assert min(days) >= (1 if name in ("dates", "texts", "objects") else 1677)
        assert max(days) <= (9999 if name in ("dates", "texts", "objects") else 2262)
