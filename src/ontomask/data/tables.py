"""The only room that knows data frames: columns out, the same kind of frame back.

pandas, Polars and PyArrow tables are spoken to through Narwhals; lazy frames and DuckDB relations
are collected. What leaves is built anew from the published columns, so no index, attribute or
unused category travels along.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.errors import DataError

__all__ = ["Replacement", "Seen", "Table", "open_table"]

EPOCH = datetime.date(1970, 1, 1).toordinal()
SAMPLED = 512


@dataclass(frozen=True, eq=False)
class Replacement:
    """A new column: for each record the position of its value in `values` (None is missing)."""

    codes: Longs
    values: Sequence[object]


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as a reader sees it: for each record the position of its value among `values`.

    None is a missing value. Values that look different are different, 0.0 and -0.0 for instance.
    """

    codes: Longs
    values: Sequence[object]

    def of(self, rows: Longs) -> Seen:
        """The column of some records."""
        return Seen(self.codes[rows], self.values)


@dataclass(frozen=True, eq=False)
class Table:
    """A frame of any known kind, read-only.

    Attributes
    ----------
    frame
        The frame that is worked with.
    given
        The frame as it was given.
    """

    frame: nw.DataFrame[Any]
    given: Any = None

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.frame.columns)

    @property
    def native(self) -> Any:
        """The frame itself."""
        return self.frame.to_native()

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return bool(self.frame.schema[name].is_numeric())

    def is_integer(self, name: str) -> bool:
        """Whether a column holds whole numbers by its type."""
        return bool(self.frame.schema[name].is_integer())

    def is_date(self, name: str) -> bool:
        """Whether a column holds dates or times by its type."""
        return isinstance(self.frame.schema[name], (nw.Date, nw.Datetime))

    def is_text(self, name: str) -> bool:
        """Whether a column holds texts by its type."""
        return bool(self.frame.schema[name] == nw.String)

    def is_empty(self, name: str) -> bool:
        """Whether a column has missing values only."""
        series = self.frame[name]
        missing = series.is_null()
        if series.dtype.is_float():
            missing = missing | series.is_nan()
        return bool(missing.all())

    def distinct(self, name: str) -> tuple[Ints, list[object]]:
        """For each record the position of its value among the distinct ones, -1 where missing.

        Distinct values come in order of first appearance.
        """
        series = self.frame[name]
        if series.dtype == nw.Categorical or isinstance(series.dtype, nw.Enum):
            series = series.cast(nw.String)
        if series.dtype.is_float():
            return _distinct_floats(series.to_numpy())
        if series.dtype == nw.Object and self.frame.implementation.is_polars():
            raise DataError(
                f"Column {name!r} holds Python objects, which Polars cannot compare; cast it to "
                "text or numbers first."
            )
        found = series.unique(maintain_order=True).to_list()
        known = [value for value in found if not _is_missing(value)]
        _refuse_mixed(name, known)
        codes = np.full(len(series), -1, np.int32)
        present = ~series.is_null().to_numpy()
        if known:
            filled = series if present.all() else series.filter(present.tolist())
            places = filled.replace_strict(known, list(range(len(known))), return_dtype=nw.Int32)
            codes[present] = places.to_numpy()
        return codes, known

    def seen(self, name: str) -> Seen:
        """A column as a reader sees it."""
        series = self.frame[name]
        if series.dtype.is_float():
            return _seen_floats(series)
        codes, known = self.distinct(name)
        return Seen(np.where(codes < 0, len(known), codes).astype(np.int64), [*known, None])

    def numbers(self, name: str) -> Floats:
        """A numeric column as floats, NaN where missing; infinities are an error."""
        series = self.frame[name]
        if not series.dtype.is_numeric():
            raise DataError(
                f"Column {name!r} is said to be numeric but holds {_kind(series.to_list())}; "
                "declare it as nominal, or read it as numbers."
            )
        missing = series.is_null().to_numpy()
        numbers = series.cast(nw.Float64).to_numpy().astype(np.float64, copy=True)
        numbers[missing] = np.nan
        if np.isinf(numbers).any():
            raise DataError(
                f"Column {name!r} holds {int(np.isinf(numbers).sum())} infinite numbers; replace "
                "them by a number or by a missing value."
            )
        return numbers

    def part(self, rows: Longs) -> Table:
        """Some of the records."""
        return Table(self.frame[rows])

    def fingerprint(self) -> str:
        """A digest of the shape and of some rows, to notice a frame that was changed meanwhile."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((len(self), self.names)).encode())
        step = max(1, len(self) // SAMPLED)
        for row in self.frame[np.arange(0, len(self), step)].iter_rows():
            digest.update(repr(row).encode())
        return digest.hexdigest()

    def digest(self, names: Sequence[str] | None = None) -> str:
        """A digest of names, order and all values, the same for every kind of frame."""
        digest = hashlib.blake2b(digest_size=16)
        for name in self.names if names is None else names:
            codes, known = self.distinct(name)
            digest.update(repr((name, [str(value) for value in known])).encode())
            digest.update(np.ascontiguousarray(codes, np.int32).tobytes())
        return digest.hexdigest()

    def column(self, name: str) -> list[object]:
        """A column as Python values."""
        values: list[object] = self.frame[name].to_list()
        return values

    def stacked_on(self, other: Table, names: Sequence[str]) -> Any:
        """The records of this table above those of another, as a frame of this table's kind."""
        backend = nw.get_native_namespace(self.frame)
        columns = {name: [*self.column(name), *other.column(name)] for name in names}
        return nw.from_dict(columns, backend=backend).to_native()

    def released(
        self, published: Sequence[str], replaced: Mapping[str, Replacement], rows: Longs | None
    ) -> Any:
        """Build the outgoing frame: published columns in the order given, of the chosen rows."""
        columns = {
            name: self._rebuilt(name, replaced[name]) if name in replaced else self._plain(name)
            for name in published
        }
        if rows is not None:
            columns = {name: series[rows] for name, series in columns.items()}
        plain = [
            _unindexed(_without_unused_categories(_plain_numbers(series))).alias(name)
            for name, series in columns.items()
        ]
        native = plain[0].to_frame().with_columns(*plain[1:]).to_native()
        if self.frame.implementation.is_pandas_like() and hasattr(native, "attrs"):
            native.attrs = {}
        return native

    def _plain(self, name: str) -> nw.Series[Any]:
        return self.frame[name]

    def _rebuilt(self, name: str, replacement: Replacement) -> nw.Series[Any]:
        backend = nw.get_native_namespace(self.frame)
        values = replacement.values
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        dtype = self._fitting(name, listed)
        domain = nw.new_series(name, listed, dtype, backend=backend)
        rebuilt: nw.Series[Any] = domain[replacement.codes]
        return rebuilt

    def _fitting(self, name: str, values: list[object]) -> Any:
        """The column's own type where the new values fit it, else what they ask for."""
        own = self.frame.schema[name]
        known = [value for value in values if value is not None]
        if all(isinstance(value, str) for value in known):
            return nw.String
        if own.is_integer() and all(isinstance(value, int) for value in known):
            gaps = len(known) < len(values)
            return nw.Float64 if gaps and self.frame.implementation.is_pandas_like() else own
        if own.is_numeric():
            return nw.Float64
        return own if isinstance(own, (nw.Date, nw.Datetime, nw.Boolean)) else None


def open_table(frame: object) -> Table:
    """Take any data frame that Narwhals knows; refuse what cannot be worked with."""
    _refuse_names(frame)
    _refuse_duplicates(frame)
    try:
        known = nw.from_native(frame)  # type: ignore[call-overload]
    except TypeError:
        raise DataError(
            f"A table must be a pandas, Polars or PyArrow data frame, not {type(frame).__name__}."
        ) from None
    eager = known.collect() if isinstance(known, nw.LazyFrame) else known
    if not eager.columns:
        raise DataError("The table has no columns.")
    if len(eager) == 0:
        raise DataError("The table has no records; give it at least k of them.")
    return Table(_with_plain_categories(eager), frame)


def _with_plain_categories(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Categories that are no texts become what they are: Narwhals would make them texts."""
    native = frame.to_native()
    categorical = [name for name, kind in frame.schema.items() if kind in (nw.Categorical, nw.Enum)]
    for name in categorical if frame.implementation.is_pandas_like() else ():
        if not all(isinstance(one, str) for one in native[name].cat.categories):
            native = native.assign(**{name: native[name].astype(object).infer_objects()})
    return nw.from_native(native, eager_only=True)


def _refuse_names(frame: object) -> None:
    """Names must be texts, or they cannot be said in a schema."""
    if _is_arrow(frame) or hasattr(frame, "collect"):
        return
    strange = [name for name in getattr(frame, "columns", ()) if not isinstance(name, str)]
    if strange and isinstance(strange[0], tuple):
        raise DataError(
            "The table has several rows of column names (a MultiIndex); join them to one name each."
        )
    if strange:
        raise DataError(
            f"The column name {strange[0]!r} is no text; make all names texts, for instance by "
            "frame.rename(columns=str)."
        )


def _refuse_duplicates(frame: object) -> None:
    if hasattr(frame, "collect"):  # a lazy frame checks its names itself
        return
    names = [str(name) for name in getattr(frame, "columns", ())] if not _is_arrow(frame) else []
    names = names or [str(name) for name in getattr(frame, "column_names", ())]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"The column name {twice[0]!r} occurs {names.count(twice[0])} times; give every column "
            "a name of its own."
        )


def _is_arrow(frame: object) -> bool:
    return type(frame).__module__.startswith("pyarrow")


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _refuse_mixed(name: str, known: list[object]) -> None:
    kinds = sorted({type(value).__name__ for value in known})
    if len(kinds) > 1:
        raise DataError(
            f"Column {name!r} mixes values of the types {', '.join(kinds)}; make them one type, "
            "for codes and words usually text."
        )


def _kind(values: list[object]) -> str:
    example = next((value for value in values if not _is_missing(value)), None)
    return f"values of type {type(example).__name__}" if example is not None else "nothing"


def _distinct_floats(numbers: Floats) -> tuple[Ints, list[object]]:
    codes = np.full(numbers.size, -1, np.int32)
    present = ~np.isnan(numbers)
    known, places = np.unique(numbers[present], return_inverse=True)
    codes[present] = places
    return codes, known.tolist()


def _seen_floats(series: nw.Series[Any]) -> Seen:
    """Floats told apart by their bits, so that neither -0.0 nor NaN passes for something else."""
    missing = series.is_null().to_numpy()
    numbers = series.fill_null(0.0).to_numpy().astype(np.float64)
    bits, codes = np.unique(numbers.view(np.int64), return_inverse=True)
    codes = np.where(missing, bits.size, codes).astype(np.int64)
    return Seen(codes, [*bits.view(np.float64).tolist(), None])


def _plain_numbers(series: nw.Series[Any]) -> nw.Series[Any]:
    """One zero and one missing value: a reader would see -0.0 and NaN as values of their own."""
    if not series.dtype.is_float():
        return series
    own = nw.col(series.name)
    zeroed = series.to_frame().select(nw.when(own == 0).then(nw.lit(0.0)).otherwise(own).alias("n"))
    return zeroed["n"].cast(series.dtype).fill_nan(None)


def _without_unused_categories(series: nw.Series[Any]) -> nw.Series[Any]:
    if series.dtype == nw.Categorical:
        return series.cast(nw.String).cast(nw.Categorical)
    return series


def _unindexed(series: nw.Series[Any]) -> nw.Series[Any]:
    return nw.maybe_reset_index(series)
