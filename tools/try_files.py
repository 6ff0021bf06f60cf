"""Make table files as people have them, run `init` and `run` on each, and print what happens."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyreadstat

from ontomask.data.files import FileFormat, write_file
from ontomask.samples import discharges

RECORDS = 300


def table() -> pl.DataFrame:
    """Made-up discharges, with a name that is not plain ASCII."""
    frame = pl.DataFrame(discharges(RECORDS))
    return frame.with_columns(pl.col("county").replace("Ashford", 'Åsfjörd, "north"\nside'))


def labeled(write: Callable[..., None], path: Path) -> None:
    """An SPSS or Stata file whose sex is a number with value labels."""
    frame = table().drop("admission_date")
    coded = frame.with_columns(pl.when(pl.col("sex") == "F").then(1).otherwise(2).alias("sex"))
    write(coded, str(path), variable_value_labels={"sex": {1: "female", 2: "male"}})


def wide(path: Path) -> None:
    """500 columns, of which an intruder knows six."""
    more = {f"lab_{number}": list(range(RECORDS)) for number in range(490)}
    write_file(table().hstack(pl.DataFrame(more)), path)


FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "comma": ("a.csv", lambda path: write_file(table(), path)),
    "semicolon, decimal comma": (
        "b.csv",
        lambda path: write_file(table(), path, FileFormat(separator=";", decimal=",")),
    ),
    "Latin-1": ("c.csv", lambda path: write_file(table(), path, FileFormat(encoding="latin-1"))),
    "byte-order mark": (
        "d.csv",
        lambda path: write_file(table(), path, FileFormat(encoding="utf-8-sig")),
    ),
    "gzip": ("e.csv.gz", lambda path: write_file(table(), path)),
    "500 columns": ("f.csv", wide),
    "empty": ("g.csv", lambda path: path.write_bytes(b"")),
    "header only": ("h.csv", lambda path: path.write_text("age,sex\n")),
    "ragged": ("i.csv", lambda path: path.write_text("age,sex\n1,2\n3\n")),
    "Parquet": ("j.parquet", lambda path: write_file(table(), path)),
    "Excel": ("k.xlsx", lambda path: write_file(table(), path)),
    "SPSS with value labels": ("l.sav", lambda path: labeled(pyreadstat.write_sav, path)),
    "Stata with value labels": ("m.dta", lambda path: labeled(pyreadstat.write_dta, path)),
}


def attempts(folder: Path) -> Iterator[tuple[str, str]]:
    """For each kind of file what `init` and `run` answer."""
    for name, (file, make) in FILES.items():
        make(folder / file)
        plan = folder / f"{file}.toml"
        for arguments in (["init", folder / file, "-o", plan], ["run", plan]):
            command = [sys.executable, "-m", "ontomask.cli", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                break
        said = " ".join(done.stderr.split()).replace(f"{folder}/", "")
        yield name, said if done.returncode else f"works: {_released(plan)}"


def _released(plan: Path) -> str:
    made = plan.with_name(f"{plan.stem}-release")
    return ", ".join(sorted(one.name for one in made.iterdir()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for kind, answer in attempts(Path(temporary)):
            print(f"{kind:26}{answer}", flush=True)
