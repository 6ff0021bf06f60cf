"""Spark with real executors: the same release, also if one of them dies in the middle."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.extras import is_there

SCRIPT = """
import json, os, signal, sys, warnings
from pathlib import Path

warnings.simplefilter("ignore")
import pyspark

os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession

import ontomask as om

folder, killing = Path(sys.argv[1]), sys.argv[2] == "killing"
builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests")
for name, value in {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()


def executors():
    # those of this cluster alone: other runs may have their own
    own = session.sparkContext.applicationId
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                said = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in said and own in said:
                yield int(entry.name)


killed = []


def progress(fraction, message):
    found = sorted(executors())
    if killing and not killed and fraction > 0.1 and len(found) > 1:
        os.kill(found[0], signal.SIGKILL)
        killed.append(found[0])


schema = om.Schema(age=om.Numeric(), sex=om.Flat(), cost=om.Numeric("other"))
frame = session.read.parquet(str(folder / "in.parquet"))
release = om.protect(frame, schema, om.Microaggregation(5), seed=4, progress=progress)
release.frame.write.parquet(str(folder / "out"))
print(json.dumps({"kept": release.verification.kept, "killed": len(killed)}))
session.stop()
"""


@pytest.mark.parametrize("way", ["whole", "killing"])
def test_executors_may_die(tmp_path, way):
    if not os.environ.get("ONTOMASK_SLOW"):
        pytest.skip("slow: set ONTOMASK_SLOW=1")
    if not is_there("pyspark") or shutil.which("java") is None:
        pytest.skip("Spark needs pyspark and Java")
    draw = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 60, 20_000),
            "sex": pl.Series(draw.choice(["m", "f", ""], 20_000)).replace("", None),
            "cost": np.arange(20_000.0),
        }
    )
    frame.write_parquet(tmp_path / "in.parquet")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert told == {"kept": True, "killed": int(way == "killing")}
    schema = om.Schema(age=om.Numeric(), sex=om.Flat(), cost=om.Numeric("other"))
    known = om.protect(frame.lazy(), schema, om.Microaggregation(5), seed=4).frame.collect()
    found = pl.read_parquet(tmp_path / "out" / "*.parquet").select(known.columns)
    assert found.sort("cost").equals(known.sort("cost"))
