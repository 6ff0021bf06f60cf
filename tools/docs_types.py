"""What comes out of a release for each type of column that the frame libraries have.

The catalog below is checked by `tests/data/test_kinds_of_columns.py`, type by type, and makes the
tables of docs/types.md (`docs_snippets.py` writes them): what the page says is what the test saw.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import ontomask as om

DAY, HOUR = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 17, 30)
LARGE = 2**53 + 1
VALUES: dict[str, list[Any]] = {
    "truth": [True, False],
    "whole": [3, 100],
    "large": [LARGE, LARGE + 1],
    "number": [1.5, 0.25],
    "text": ["a common value", "zz a rare value"],
    "day": [DAY, DAY + datetime.timedelta(1)],
    "hour": [HOUR, HOUR + datetime.timedelta(1)],
    "clock": [HOUR.time(), datetime.time(1, 2)],
    "exact": [Decimal("1.10"), Decimal("12345678901234567.89")],
    "span": [datetime.timedelta(hours=5), datetime.timedelta(days=2)],
    "bytes": [b"a common value", b"zz a rare value"],
    "period": [pd.Period("2024-01"), pd.Period("2024-02")],
    "interval": [pd.Interval(0.0, 1.0), pd.Interval(1.0, 2.0)],
}
WORDS = {
    "truth": "truth values",
    "whole": "whole numbers",
    "large": "whole numbers beyond 2⁵³",
    "number": "numbers",
    "text": "texts",
    "day": "days",
    "hour": "points in time",
    "clock": "times of day",
    "exact": "decimals",
    "span": "durations",
    "bytes": "bytes",
    "period": "periods",
    "interval": "intervals",
}
AVERAGED = {
    "whole": om.Numeric(),
    "number": om.Numeric(),
    "exact": om.Numeric(),
    "day": om.Date(),
    "hour": om.Date(),
}
COMMON, RARE = 20, 3
"""Records with the common value, with the rare one, and with none."""


def arrow(kind: pa.DataType) -> pd.ArrowDtype:
    """A type of pandas that keeps its values as PyArrow does."""
    return pd.ArrowDtype(kind)


TEXTS = pa.dictionary(pa.int32(), pa.string())
WHOLE = pa.dictionary(pa.int8(), pa.int64())
ZONE = "Europe/Madrid"
PANDAS: dict[str, list[Any]] = {
    "truth": ["bool", "boolean", "object", "category", arrow(pa.bool_())],
    "whole": [
        "int64",
        "uint8",
        "float64",
        "Int64",
        "UInt8",
        "object",
        "category",
        arrow(pa.int64()),
        arrow(WHOLE),
        "Sparse[int64]",
    ],
    "large": ["int64", "object", "Int64", "UInt64", arrow(pa.int64())],
    "number": [
        "float16",
        "float32",
        "float64",
        "Float32",
        "Float64",
        "object",
        "category",
        arrow(pa.float32()),
        arrow(pa.float64()),
        "Sparse[float64]",
    ],
    "text": ["object", "str", "string", "category", arrow(pa.string()), arrow(TEXTS)],
    "day": ["object", "category", arrow(pa.date32())],
    "hour": [
        "datetime64[s]",
        "datetime64[ns]",
        "datetime64[us, UTC]",
        f"datetime64[ns, {ZONE}]",
        "category",
        arrow(pa.timestamp("us")),
        arrow(pa.timestamp("us", ZONE)),
    ],
    "clock": ["object", arrow(pa.time64("us"))],
    "exact": ["object", arrow(pa.decimal128(20, 2))],
    "span": ["timedelta64[s]", "timedelta64[ns]", arrow(pa.duration("us"))],
    "bytes": ["object", arrow(pa.binary())],
    "period": ["period[M]"],
    "interval": ["interval[float64, right]"],
}
POLARS: dict[str, list[Any]] = {
    "truth": [pl.Boolean],
    "whole": [pl.Int64, pl.UInt8, pl.Int128],
    "large": [pl.Int64, pl.UInt64, pl.Int128],
    "number": [pl.Float32, pl.Float64],
    "text": [pl.String, pl.Categorical, pl.Enum(["a common value", "never", "zz a rare value"])],
    "day": [pl.Date],
    "hour": [
        pl.Datetime("ms"),
        pl.Datetime("us"),
        pl.Datetime("ns", "UTC"),
        pl.Datetime("us", ZONE),
    ],
    "clock": [pl.Time],
    "exact": [pl.Decimal(20, 2)],
    "span": [pl.Duration("ms"), pl.Duration("us"), pl.Duration("ns")],
    "bytes": [pl.Binary],
}
ARROW: dict[str, list[Any]] = {
    "truth": [pa.bool_()],
    "whole": [pa.int64(), pa.uint8(), WHOLE],
    "large": [pa.int64(), pa.uint64()],
    "number": [pa.float16(), pa.float32(), pa.float64()],
    "text": [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        TEXTS,
        pa.dictionary(pa.int8(), pa.string(), True),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ],
    "day": [pa.date32(), pa.date64()],
    "hour": [
        pa.timestamp("s"),
        pa.timestamp("us"),
        pa.timestamp("ns", "UTC"),
        pa.timestamp("us", ZONE),
    ],
    "clock": [pa.time32("s"), pa.time64("us")],
    "exact": [pa.decimal128(20, 2), pa.decimal256(40, 2)],
    "span": [pa.duration("s"), pa.duration("us")],
    "bytes": [pa.binary(), pa.large_binary()],
}


def _arrow_column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_run_end_encoded(kind):
        return pa.compute.run_end_encode(pa.array(values, kind.value_type))
    if pa.types.is_float16(kind):
        values = [None if one is None else np.float16(one) for one in values]
    return pa.array(values, type=kind)


LIBRARIES: dict[str, tuple[dict[str, list[Any]], Callable[[list[Any], Any], Any]]] = {
    "pandas": (PANDAS, lambda values, kind: pd.DataFrame({"x": pd.Series(values, dtype=kind)})),
    "polars": (POLARS, lambda values, kind: pl.DataFrame({"x": pl.Series(values, dtype=kind)})),
    "pyarrow": (ARROW, lambda values, kind: pa.table({"x": _arrow_column(values, kind)})),
}
GAPLESS = ("bool", "int64", "uint8", "Sparse[int64]")
"""Types of pandas that have no room for missing values."""


@dataclass(frozen=True)
class Kind:
    """A type of column of a frame library, tried on values of one sort."""

    library: str
    sort: str
    kind: Any

    def __str__(self) -> str:
        return f"{self.library}-{self.sort}-{self.kind}"

    @property
    def gaps(self) -> int:
        """How many records have no value."""
        return 0 if self.library == "pandas" and self.kind in GAPLESS else RARE

    @cached_property
    def frame(self) -> Any:
        """A frame with one column of the type."""
        common, rare = VALUES[self.sort]
        return self.of([common] * COMMON + [rare] * RARE + [None] * self.gaps)

    def of(self, values: list[Any]) -> Any:
        """A frame with one column of the type and these values."""
        return LIBRARIES[self.library][1](values, self.kind)

    def released(self, method: Any, column: Any = None) -> om.Release[Any]:
        """A release of the frame."""
        return om.protect(self.frame, om.Schema(x=column or om.Flat()), method, seed=1)

    def came_out(self, release: om.Release[Any]) -> str:
        """The type that came out, as the page tells it."""
        name = type_of(release.frame)
        return "same" if name == type_of(self.frame) else f"`{name}`"

    def averaged(self) -> str:
        """The type of means, where there are any."""
        if self.sort not in AVERAGED:
            return ""
        return self.came_out(self.released(om.Microaggregation(COMMON), AVERAGED[self.sort]))

    def row(self, unchanged: om.Release[Any], suppressed: om.Release[Any]) -> str:
        """What the page says of the type, by what releases of the frame look like."""
        outcomes = self.came_out(unchanged), self.came_out(suppressed), self.averaged()
        return "| " + " | ".join([f"`{type_of(self.frame)}`", WORDS[self.sort], *outcomes]) + " |"


KINDS = [
    Kind(library, sort, kind)
    for library, (table, _) in LIBRARIES.items()
    for sort, kinds in table.items()
    for kind in kinds
]


def type_of(frame: Any) -> str:
    """The name of the type of the column, without the categories of an Enum, which are values."""
    column = frame["x"]
    name = str(column.type if isinstance(frame, pa.Table) else column.dtype)
    return "Enum" if name.startswith("Enum(") else name


def rows(library: str) -> list[str]:
    """The rows of the table about a library."""
    methods = om.LocalSuppression(2), om.LocalSuppression(4)
    kinds = [kind for kind in KINDS if kind.library == library]
    return [kind.row(*map(kind.released, methods)) for kind in kinds]


REFUSED = {
    "pandas, lists in `object`": lambda: pd.DataFrame({"x": [[1], [2, 3]]}),
    "pandas, dictionaries in `object`": lambda: pd.DataFrame({"x": [{"a": 1}, {"a": 2}]}),
    "pandas, texts and numbers in `object`": lambda: pd.DataFrame({"x": ["a", 1]}),
    "pandas `list<item: int64>[pyarrow]`": lambda: Kind(
        "pandas", "", arrow(pa.list_(pa.int64()))
    ).of([[1], [2, 3]]),
    "polars `List(Int64)`": lambda: pl.DataFrame({"x": [[1], [2, 3]]}),
    "polars `Array(Int64, 2)`": lambda: Kind("polars", "", pl.Array(pl.Int64, 2)).of([[1, 2]] * 2),
    "polars `Struct`": lambda: pl.DataFrame({"x": [{"a": 1}, {"a": 2}]}),
    "polars `Object`": lambda: Kind("polars", "", pl.Object).of([object(), object()]),
    "pyarrow `list`": lambda: pa.table({"x": [[1], [2, 3]]}),
    "pyarrow `struct`": lambda: pa.table({"x": [{"a": 1}, {"a": 2}]}),
    "pyarrow `map`": lambda: Kind("pyarrow", "", pa.map_(pa.string(), pa.int64())).of(
        [[("a", 1)], [("b", 2)]]
    ),
}


def refusal(name: str, role: Any = "quasi") -> str:
    """What is said of a column that cannot be published."""
    try:
        om.protect(REFUSED[name](), om.Schema(x=om.Flat(role=role)), om.Suppression(2), seed=1)
    except om.errors.DataError as error:
        return str(error)
    return "nothing"


def refused(name: str) -> str:
    """What the page says of a type that is refused."""
    return f"| {name} | {refusal(name)} |"


HEADINGS = {
    "refused": "| column | what is said |\n|---|---|\n",
    **dict.fromkeys(
        LIBRARIES,
        "| type | values | unchanged | some suppressed | means |\n|---|---|---|---|---|\n",
    ),
}


def table(name: str) -> str:
    """The table of a frame library, or of what is refused."""
    lines = [refused(one) for one in REFUSED] if name == "refused" else rows(name)
    return HEADINGS[name] + "\n".join(lines) + "\n"
