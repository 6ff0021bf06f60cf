"""Make table files as people have them, run `init` and `run` on each, and print what happens.

For each file the answer of the last command follows, and below it what `init` says of the file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyreadstat

from ontomask.data.files import FileFormat, write_file
from ontomask.samples import discharges
from ontomask.wording import enumerated

RECORDS = 300
DONE = (0, 3)
"""Exit codes of a run that wrote its release; 3 says that a limit of the plan is exceeded."""


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


def lines(*, above: str = "", below: str = "", **changed: Callable[[int], object]) -> str:
    """A small table of ages, sexes, days and payments as a text, with something odd about it."""
    cells = {
        "age": lambda n: 20 + n % 40,
        "sex": lambda n: "fm"[n % 2],
        "onset": lambda n: f"2008-{n % 12 + 1:02d}-{n % 28 + 1:02d}",
        "paid": lambda n: 1000 + 7 * n,
    } | changed
    rows = [",".join(str(cell(n)) for cell in cells.values()) for n in range(RECORDS)]
    return "\n".join([above + ",".join(cells), *rows]) + "\n" + below


def instead(usual: Callable[[int], object], **places: object) -> Callable[[int], object]:
    """A column with other values at some places: at3="90+"."""
    return lambda n: places.get(f"at{n}", usual(n))


def age(n: int) -> int:
    """Ages from 20 to 59."""
    return 20 + n % 40


def day(n: int) -> str:
    """Days of 2008."""
    return f"2008-{n % 12 + 1:02d}-{n % 28 + 1:02d}"


TOTAL = f"{sum(map(age, range(RECORDS)))},Total,,{sum(1000 + 7 * n for n in range(RECORDS))}\n"
NAMES = ("Meier", "Weber", "Fischer")
MESSY: dict[str, str | bytes] = {
    "a title above": lines(above="Patients of 2024\n\n"),
    "units and a total": lines().replace("paid\n", "paid\n(years),,,(EUR)\n") + TOTAL,
    "notes below": lines(below="Source: the registry\nsee page 3\n"),
    "999 and -9": lines(age=instead(age, at3=999, at7=-9, at9=999)),
    "90+, <1 and unk": lines(age=instead(age, at3="90+", at7="<1", at9="unk")),
    "partial dates": lines(onset=instead(day, at3="2008-03", at7="2008", at9="2008-??-??")),
    "two ways to write days": lines(onset=lambda n: day(n) if n % 2 else f"{n % 28 + 1}.3.2008"),
    "the header again": lines() + lines(),
    "a mean below": lines()
    + f"{sum(map(age, range(RECORDS))) / RECORDS},Mean,,{1000 + 7 * (RECORDS - 1) / 2}\n",
    "a stray quotation mark": lines(sex=instead(lambda n: "fm"[n % 2], at3='5" m')),
    "sums of money": lines(paid=lambda n: f"{1000 + 7 * n} EUR"),
    "two encodings": lines(sex=lambda n: f"mä{n % 2}").encode() + "30,übrig,,1\n".encode("cp1252"),
    "marks of thousands": lines(paid=lambda n: f'"{1_000_000 + 7 * n:,}"'),
    "1.234.567,50": lines(paid=lambda n: f'"1.{n % 900 + 100}.567,50"'),
    "patients that repeat": lines(patient=lambda n: f"P{n % 60:03d}"),
    "notes about people": lines(remark=lambda n: f"Mr {NAMES[n % 3]} was seen by his wife today"),
    "a name nobody knows": lines(flavor=lambda n: "abc"[n % 3]),
}


def _writer(text: str | bytes) -> Callable[[Path], object]:
    content = text.encode() if isinstance(text, str) else text
    return lambda path: path.write_bytes(content)


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
    **{
        name: (f"n{number}.csv", _writer(text)) for number, (name, text) in enumerate(MESSY.items())
    },
}


def attempts(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """For each kind of file what `init` and `run` answer, and what `init` noticed."""
    for name, (file, make) in FILES.items():
        make(folder / file)
        plan = folder / f"{file}.toml"
        done = ontomask("init", folder / file, "-o", plan, "--json")
        noticed = json.loads(done.stdout)
        if done.returncode in DONE:
            done = ontomask("run", plan, "--leave-out-undecided", "--json")
        answer = str(json.loads(done.stdout).get("error", "")).replace(f"{folder}/", "")
        said = [one for one in noticed.get("notes", []) if " seem" in one]
        if noticed.get("undecided"):
            said.append(f"Undecided: {enumerated(noticed['undecided'])}.")
        yield name, answer or f"works: {_released(plan)}", said


def ontomask(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command of ontomask."""
    command = [sys.executable, "-m", "ontomask.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done


def _released(plan: Path) -> str:
    made = plan.with_name(f"{plan.stem}-release")
    return ", ".join(sorted(one.name for one in made.iterdir()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for kind, answer, said in attempts(Path(temporary)):
            print(f"{kind:26}{answer}", flush=True)
            for sentence in said:
                print(f"{'':26}  {sentence}", flush=True)
