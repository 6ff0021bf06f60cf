"""Run studies one after the other, and write their pages."""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from ontomask.errors import OntomaskError
from studies.data import Data, small_data
from studies.page import score, write_index, write_page
from studies.study import Study

NAMES = ("marginality", "taxonomic", "rank_swapping", "classification", "thesis")
"""The studies, in the order of their papers; each is a module with a `STUDY`."""


def load_study(name: str) -> Study:
    """The study of a name; only its module is imported."""
    study: Study = importlib.import_module(f"studies.{name}").STUDY
    return study


def run_study(name: str, data: Data, out: Path, small: bool) -> str:
    """Run a study and write its page; returns what is to be said about it."""
    start = time.perf_counter()
    findings = load_study(name).run(data, small)
    page = write_page(out, name, findings)
    seconds = time.perf_counter() - start
    counts = ", ".join(f"{count} {verdict}" for verdict, count in score(findings.claims).items())
    return f"{name:16}{seconds:8.1f} s   {counts}   {page}"


def open_data(folder: str | None, small: bool) -> Data:
    """The tables of a folder, or small ones made by code."""
    if small:
        return small_data()
    if folder is None:
        raise SystemExit(
            "Name the folder of the data with --data or ONTOMASK_DATA, or run with --small on "
            "small tables made by code."
        )
    try:
        return Data.from_folder(Path(folder))
    except OntomaskError as error:
        raise SystemExit(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--data", default=os.environ.get("ONTOMASK_DATA"), help="holds tables/")
    parser.add_argument("--out", type=Path, help="folder of the pages (docs/studies)")
    parser.add_argument("--small", action="store_true", help="small tables made by code")
    options = parser.parse_args(arguments)
    wrong = [name for name in options.names if name not in NAMES]
    if wrong:
        parser.error(f"there is no study {wrong[0]!r}; there are {', '.join(NAMES)}")
    if options.small and options.out is None:
        parser.error("--small needs --out: what small tables show must not replace the real pages")
    out = options.out or Path("docs/studies")
    data = open_data(options.data, options.small)
    for name in options.names or NAMES:
        print(run_study(name, data, out, options.small), flush=True)
    print(f"score: {write_index(out, NAMES)}")


if __name__ == "__main__":
    main()
