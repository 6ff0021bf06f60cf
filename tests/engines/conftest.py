"""The same table in every engine, so that one test body serves them all."""

import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ontomask.extras import is_there

ENGINES = ("polars", "duckdb", "duckdb-one-thread", "spark")


@dataclass(frozen=True)
class Engine:
    """An engine that opens the Parquet files of a folder and gives back what it holds."""

    name: str
    session: Any

    def open(self, folder: Path) -> Any:
        pattern = str(folder / "*.parquet")
        if self.name == "polars":
            return pl.scan_parquet(pattern)
        if self.name == "spark":
            return self.session.read.parquet(pattern)
        return self.session.read_parquet(pattern)

    def collected(self, native: Any) -> pl.DataFrame:
        if self.name == "polars":
            return native.collect()
        return pl.from_arrow(native.toArrow() if self.name == "spark" else native.to_arrow_table())


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "spark":
        return Engine("spark", request.getfixturevalue("spark_session"))
    if request.param == "polars":
        return Engine("polars", None)
    duckdb = pytest.importorskip("duckdb")
    threads = 1 if request.param == "duckdb-one-thread" else 2
    return Engine(request.param, duckdb.connect(config={"threads": threads}))


@pytest.fixture(scope="session")
def spark_session():
    if not os.environ.get("ONTOMASK_SLOW"):
        pytest.skip("slow: set ONTOMASK_SLOW=1")
    if not is_there("pyspark") or shutil.which("java") is None:
        pytest.skip("Spark needs pyspark and Java")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3"}
        builder = SparkSession.builder.master("local[2]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()
