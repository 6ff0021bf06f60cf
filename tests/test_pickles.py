"""What a pickle, a joblib dump or a closure sent to another machine takes along."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from every_method.test_contract import CASES, schema_for
from ontomask.data.tables import open_table
from tables import mixed_columns

SECRET = next(method.key for method in CASES if hasattr(method, "key"))


def held(result):
    """Everything inside a result, by walking through what was pickled."""
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own bytes
    found, waiting, seen = [], [again], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        found.append(one)
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += list(one)
        elif hasattr(one, "__dict__"):
            waiting += list(vars(one).values())
        if hasattr(one, "__slots__"):
            waiting += [getattr(one, name) for name in one.__slots__ if hasattr(one, name)]
    return again, found


def tells(found, codes):
    """Whether something tells the original values of records, up to other names for them."""
    size = len(codes)
    values = list(found.ravel()) if isinstance(found, np.ndarray) else list(found)
    if len(values) != size:
        return False
    try:
        return len(set(zip(values, codes, strict=True))) == len(set(codes)) == len(set(values))
    except TypeError:
        return False


@pytest.mark.parametrize("method", CASES, ids=lambda method: method.name)
def test_nothing_that_can_be_pickled_tells_the_original_records(method):
    """Other than the released columns themselves, of course."""
    columns = mixed_columns(gaps=False)
    columns["patient"] = [f"person {place}" for place in range(len(columns["patient"]))]
    frame = pl.DataFrame(columns)
    release = om.protect(frame, schema_for(method), method, 1)
    results = [release, release.evaluate()]
    if release._scheme is not None:
        results.append(release.scheme)
    original = {name: pd.factorize(pd.Series(values))[0] for name, values in columns.items()}
    table = open_table(release.frame)
    released = {name: table.column(name) for name in table.names}
    hidden = [
        name
        for name, values in columns.items()
        if len(set(values)) < len(values)  # else any list of numbers would equal it
        and not (name in released and tells(released[name], original[name].tolist()))
    ]
    gc.collect()
    for result in results:
        content = pickle.dumps(result)
        assert b"person 1" not in content
        assert SECRET.encode() not in content
        _, inside = held(result)
        for one in inside:
            if isinstance(one, np.ndarray) and one.ndim == 2 and one.shape[1] == len(frame):
                rows = list(one)
            elif isinstance(one, (np.ndarray, list, tuple)) and not isinstance(one, str):
                rows = [one]
            else:
                continue
            for row in rows:
                told = [name for name in hidden if tells(row, original[name].tolist())]
                assert not told, (type(result).__name__, told, type(one).__name__)
