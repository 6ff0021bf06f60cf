"""A release of any size, written by the library that holds it: under its name only if it holds."""

from __future__ import annotations

import contextlib
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ontomask.engines.files import in_words
from ontomask.errors import OutputError, ParameterError
from ontomask.writing import require_new, writing

__all__ = ["Place", "place_for"]

Found = TypeVar("Found")


def place_for(native: Any, library: str, target: str | os.PathLike[str]) -> Place:
    """Where the library that holds a table writes its release; nothing may be there yet."""
    place = PLACES[library](native, os.fspath(target), secrets.token_hex(8))
    with place.in_words():
        place.require_new()
    return place


@dataclass(frozen=True, eq=False)
class Place(ABC):
    """Where a release is written to, under a name that says that it is none yet.

    Attributes
    ----------
    native
        A table of the library that writes it.
    target
        What it will be called.
    token
        What nobody can guess.
    """

    native: Any
    target: str
    token: str

    def stored(self, release: Any, check: Callable[[Any], Found]) -> tuple[Any, Found]:
        """Write a query as Parquet, and give it its name once what is read back was checked.

        Parameters
        ----------
        release
            The query.
        check
            Called with what was read back; it raises if that is not to be kept.
        """
        with self.in_words():
            try:
                self.write(release)
                found = check(self.read(self.partial))
                self.require_new()  # it may have come meanwhile
                self.settle()
            except BaseException:
                self.remove()
                raise
            return self.read(self.target), found

    @property
    def partial(self) -> str:
        """What it is called until it has been checked; Spark would not read hidden files."""
        return f"{self.target}.{self.token}.partial"

    @abstractmethod
    def in_words(self) -> contextlib.AbstractContextManager[None]:
        """Answer what cannot be written with a sentence."""

    @abstractmethod
    def require_new(self) -> None:
        """Refuse to replace anything."""

    @abstractmethod
    def write(self, release: Any) -> None:
        """Write a query under the name for now."""

    @abstractmethod
    def read(self, name: str) -> Any:
        """What lies under a name, as a query."""

    @abstractmethod
    def settle(self) -> None:
        """Give it its name."""

    @abstractmethod
    def remove(self) -> None:
        """Leave nothing of it."""


class _File(Place):
    """A file of this machine."""

    def in_words(self) -> contextlib.AbstractContextManager[None]:
        return writing(Path(self.target))

    def require_new(self) -> None:
        if not self.target.endswith(".parquet"):
            raise ParameterError(
                "target must be the name of a Parquet file, such as 'released.parquet', not "
                f"{Path(self.target).name!r}."
            )
        require_new(Path(self.target), force=False)

    def settle(self) -> None:
        Path(self.partial).rename(self.target)

    def remove(self) -> None:
        Path(self.partial).unlink(missing_ok=True)


class _ByDuckDB(_File):
    @contextlib.contextmanager
    def in_words(self) -> Iterator[None]:
        with super().in_words(), in_words():
            yield

    def write(self, release: Any) -> None:
        release.to_parquet(self.partial, compression="zstd")

    def read(self, name: str) -> Any:
        quoted = name.replace("'", "''")
        return self.native.query("released", f"SELECT * FROM read_parquet('{quoted}')")


class _ByPolars(_File):
    def write(self, release: Any) -> None:
        release.sink_parquet(self.partial, compression="zstd")

    def read(self, name: str) -> Any:
        return pl.scan_parquet(name)


class _BySpark(Place):
    """A folder of whatever files Spark works with, those of a cluster too."""

    @contextlib.contextmanager
    def in_words(self) -> Iterator[None]:
        """Spark's own words may show values."""
        home = "pyspark", "py4j"
        try:
            yield
        except Exception as error:
            if not type(error).__module__.startswith(home):
                raise
            raise OutputError(
                f"Spark cannot write the release or read it back ({type(error).__name__}), so "
                "there is none; see its log, and whether there is room and you may write there."
            ) from None

    def require_new(self) -> None:
        if self._files.exists(self._path(self.target)):
            raise OutputError(f"{self.target} exists already and is kept; give another name.")

    def write(self, release: Any) -> None:
        release.write.parquet(self.partial)

    def read(self, name: str) -> Any:
        return self.native.sparkSession.read.parquet(name)

    def settle(self) -> None:
        if not self._files.rename(self._path(self.partial), self._path(self.target)):
            raise OutputError(f"{self.target} cannot be written; see whether you may write there.")

    def remove(self) -> None:
        self._files.delete(self._path(self.partial), True)

    def _path(self, name: str) -> Any:
        return self.native.sparkSession._jvm.org.apache.hadoop.fs.Path(name)

    @property
    def _files(self) -> Any:
        """The file system of the target, as Spark knows it."""
        settings = self.native.sparkSession._jsc.hadoopConfiguration()
        return self._path(self.target).getFileSystem(settings)


PLACES: dict[str, type[Place]] = {"duckdb": _ByDuckDB, "polars": _ByPolars, "spark": _BySpark}
