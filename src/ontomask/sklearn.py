"""Masking as a step of a scikit-learn pipeline (extra `classify`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ontomask.data.schema import Flat, Numeric, Schema
from ontomask.data.tables import open_table
from ontomask.engines.release import protect
from ontomask.errors import DataError
from ontomask.extras import not_installed
from ontomask.methods.base import Method, sizes_asked
from ontomask.methods.microaggregation import Microaggregation

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise not_installed("sklearn") from None

__all__ = ["Masker"]

SMALLEST = 5
LARGEST_SEED = 2**31 - 1


class Masker(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Mask the features of a pipeline as a release would.

    `fit` protects the records given to it and learns its scheme; `transform` changes any records as
    those of the release were changed, so a classifier behind it sees what somebody would see who
    was handed the release. What `transform` returns is for judging, not for handing out: hand out
    `masker.release_.frame`, whose promises were recounted.

    Parameters
    ----------
    method
        A method that leaves a scheme for further records, or a list of steps; by default
        `Microaggregation(k=5)`.
    schema
        What the columns are. By default every column is a quasi-identifier: numbers are compared as
        numbers, everything else by equality. Columns that it does not name are not passed on.
    random_state
        A number that fixes all random choices.

    Attributes
    ----------
    release_
        The release that was made of the records given to `fit`, with its verification.
    schema_
        What the columns were taken for.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ontomask.sklearn import Masker
    >>> ages = pl.DataFrame({"age": [21, 23, 25, 61, 63, 65]})
    >>> model = make_pipeline(Masker(om.Microaggregation(k=3)), DecisionTreeClassifier())
    >>> model.fit(ages, ["young"] * 3 + ["old"] * 3).predict(pl.DataFrame({"age": [30]})).tolist()
    ['young']
    >>> model[0].release_.frame["age"].to_list()
    [23, 23, 23, 63, 63, 63]
    """

    def __init__(
        self,
        method: Method | Sequence[Method] | None = None,
        schema: Schema | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.schema = schema
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Masker:  # noqa: ARG002, N803 - its names
        """Protect these records and learn how to change others alike; `y` is not used."""
        method = Microaggregation(SMALLEST) if self.method is None else self.method
        steps = [method] if isinstance(method, Method) else list(method)
        frame = self._frame(X, reset=True, least=max([1, *sizes_asked(steps)]))
        self.schema_ = _every_column(frame) if self.schema is None else self.schema
        seed = None
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(LARGEST_SEED))
        release = protect(frame, self.schema_, steps, seed)
        self.scheme_ = release.scheme  # a method without one is refused here
        self.release_ = release
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Change records as those of the release were; frames come back as frames."""
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        masked = self.scheme_.transform(frame)
        found = open_table(masked, may_be_empty=True)
        if len(found) < len(open_table(frame, may_be_empty=True)):
            raise DataError(
                "The scheme leaves out records that fit no class of the release, and a pipeline "
                "cannot go on without them; take a method that keeps every record, such as "
                "Microaggregation(k=5) or Generalization(k=5)."
            )
        return masked if frame is X else _array([found.column(name) for name in found.names])

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Any:
        """The names of the columns that `transform` returns."""
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        given = own if input_features is None else np.asarray(input_features, object)
        if given is not None and len(given) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features")
        if own is not None and given is not None and not np.array_equal(given, own):
            raise ValueError("input_features is not equal to feature_names_in_")
        if own is not None or given is None:
            return np.asarray(self.scheme_.published, object)
        names = _numbered(self.n_features_in_)
        return np.asarray([given[names.index(name)] for name in self.scheme_.published], object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = self.random_state is None
        return tags

    def _frame(self, given: Any, *, reset: bool, least: int = 1) -> Any:
        """A frame as it is; an array, a list or the like as a frame whose columns have numbers."""
        if hasattr(given, "columns") and not hasattr(given, "toarray"):
            validate_data(self, given, reset=reset, skip_check_array=True)
            return given
        array = validate_data(
            self,
            given,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_samples=least,
        )
        return _frame_of(array)


def _frame_of(array: Any) -> pl.DataFrame:
    columns = zip(_numbered(array.shape[1]), array.T, strict=True)
    return pl.DataFrame([pl.Series(name, one.tolist(), strict=False) for name, one in columns])


def _numbered(count: int) -> list[str]:
    """The names of features that have none, as scikit-learn numbers them."""
    return [f"x{place}" for place in range(count)]


def _array(columns: list[list[Any]]) -> Any:
    try:
        return np.array(columns, np.float64).T
    except (TypeError, ValueError):
        return np.array(columns, object).T


def _every_column(frame: object) -> Schema:
    table = open_table(frame)
    kinds = {name: Numeric() if table.is_number(name) else Flat() for name in table.names}
    return Schema.of(kinds)
