"""How long people wait in the studio: a scripted visit over a table of one's own, or a made-up one.

    python benchmarks/studio.py [--table claims.csv] [--rows 50025] [--records N] [--goal GOAL]
    python benchmarks/studio.py --lattice

Pages are asked for over HTTP as a browser does; a preview is waited for after a changed parameter;
a long computation is stopped; then methods are compared (until the first and until all are there)
while the whole table is masked and measured for Utility and Risk, and what that made is released.
The memory is that of the server with its processes, and of `ontomask run` on the same plan. With
`--records` the table is repeated, its amounts a little changed, until it has so many. With
`--lattice`, combinations of levels are explored instead: all 12,960 of one table (as many as the
Adult table has with its usual hierarchies), and the part of 10^9 that a search visits.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl

from arguments import existing_file, whole_number
from ontomask.samples import discharges
from ontomask.studio.edits import contents
from ontomask.writing import write_rows

PAGES = (
    "/open",
    "/columns",
    "/columns/1",
    "/protection",
    "/explore",
    "/explore?view=solutions",
    "/utility",
    "/utility?view=classifiers",
    "/risk",
    "/release",
    "/history",
    "/version",
)
PARTS = ("/part/columns", "/part/meter", "/part/preview", "/part/look", "/part/people")


LOOKS = {
    "filter": "valid=1&loss=0.8&suppressed=20",
    "filter levels": "low0=1&high1=2",
    "sort": "sort=classes",
    "next page": "page=3",
}
BARS = {
    "start s": 3.0,
    "preview after a change s": 2.0,
    "pages median ms": 300.0,
    "pages while computing ms": 300.0,
    "stop s": 1.0,
    **{f"{look} s": 0.3 for look in (*LOOKS, "pin", "look at a node", "adopt")},
}
"""What must not be exceeded."""
LARGE = 500_000
LARGE_BARS = {
    "pages median ms": 500.0,
    "pages while computing ms": 500.0,
    "memory, times a run's": 2.0,  # smaller tables are less than what all processes import
}
"""The same from so many records on."""


class Visit:
    """One browser's visit to a studio over a folder."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "ontomask.cli", "studio", str(folder), "--no-browser"]
        started = time.perf_counter()
        self.server = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=_as_installed()
        )
        assert self.server.stdout is not None
        said = ""
        while not (found := re.search(r"(http://[^/]+)/\?token=\S+", said)):
            said += self.server.stdout.readline()
        self.client = httpx.Client(base_url=found.group(1), timeout=600, follow_redirects=True)
        page = self.client.get(found.group(0)).text
        self.start = time.perf_counter() - started
        self.token = re.search(r'data-token="([^"]+)"', page).group(1)  # type: ignore[union-attr]

    def close(self) -> None:
        self.server.kill()
        self.server.wait()

    def post(self, address: str, /, **fields: str) -> httpx.Response:
        version = self.client.get("/version").json()["version"]
        return self.client.post(
            address, data={"form-token": self.token, "version": version, **fields}
        )

    def awaited(self, path: str) -> str:
        while "data-follow" in (text := self.client.get(path).text):
            time.sleep(0.02)
        if "data-again" in text:
            raise SystemExit(f"{path} failed: what follows would be quick for nothing.")
        return text

    def memory(self) -> float:
        """Megabytes of the server and its processes at their highest."""
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.server.pid)], capture_output=True, text=True
        )
        pids = [str(self.server.pid), *listed.stdout.split()]
        return sum(_highest(Path(f"/proc/{pid}/status")) for pid in pids)


def _as_installed() -> dict[str, str]:
    """The surroundings of a user, whose modules were compiled when they were installed."""
    kept = {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "ontomask-benchmark-modules")}
    return {name: one for name, one in os.environ.items() if name != UNCOMPILED} | kept


UNCOMPILED = "PYTHONDONTWRITEBYTECODE"


def _highest(status: Path) -> float:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", status.read_text())
    except OSError:
        return 0.0
    return int(found.group(1)) / 1024 if found else 0.0


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def begun(visit: Visit, name: str) -> None:
    """Make a plan for the table, with every column decided on."""
    visit.post("/open/pick", path=name)
    answer = visit.client.get("/part/begin")
    while not answer.headers["content-type"].startswith("application/json"):
        time.sleep(0.1)
        answer = visit.client.get("/part/begin")


def decided(visit: Visit, plan: Path) -> None:
    declared = contents(plan.read_text(encoding="utf-8"))["columns"]
    for name, said in declared.items():
        if said.get("role") == "undecided":
            visit.post("/columns/set", name=name, key="role", value="sensitive")


def stopped(visit: Visit) -> float:
    """Seconds until a long computation is stopped."""
    text = visit.client.get("/part/account").text
    key = re.search(r"/jobs/(\w+)/events", text)
    if key is None:
        return 0.0
    time.sleep(1.0)
    started = time.perf_counter()
    visit.post(f"/jobs/{key.group(1)}/stop")
    while "data-follow" in visit.client.get("/part/account").text:
        time.sleep(0.02)
    return time.perf_counter() - started


def run_memory(plan: Path) -> tuple[float, float]:
    """Seconds and megabytes of `ontomask run`."""
    script = (
        "import resource, sys, time; from ontomask.plan.plan import Plan; started = time.time(); "
        "Plan.read(sys.argv[1]).run(force=True, leave_out_undecided=True); "
        "print(time.time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(plan)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split()[-2:])
    return seconds, megabytes


def lattice(levels: Sequence[int], rows: int) -> dict[str, float]:
    """Seconds for each way of looking at the lattice of a table with so many levels by column."""
    generator = np.random.default_rng(1)
    columns = {f"c{n}": generator.integers(0, 300, rows) for n in range(len(levels))}
    widths = {
        f"c{n}": [2**power for power in range(1, count - 1)] for n, count in enumerate(levels)
    }
    plan = '[input]\npath = "table.csv"\n'
    plan += "".join(f"[columns.{name}]\nkind = 'numeric'\n" for name in columns)
    plan += "[[steps]]\nmethod = 'generalization'\nsuppression_limit = 0.05\n"
    plan += "privacy = [{ model = 'k-anonymity', k = 5 }]\n[steps.hierarchies]\n"
    for name, steps in widths.items():
        plan += f"{name} = {f'{{ intervals = {steps} }}' if steps else '{ star = true }'}\n"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows_of = zip(*(one.tolist() for one in columns.values()), strict=True)
        write_rows(folder / "table.csv", (columns, *rows_of))
        (folder / "plan.toml").write_text(plan, encoding="utf-8")
        visit = Visit(folder)
        try:
            return explored(visit)
        finally:
            visit.close()


def explored(visit: Visit) -> dict[str, float]:
    found = {"explore s": timed(lambda: visit.awaited("/part/solutions"))}
    text = visit.client.get("/part/solutions").text
    print(re.sub("<[^>]+>", "", text[: text.index("</p>")]).strip())
    node = re.findall(r"node=([\d.]+)", text)[0]
    looks = {**LOOKS, "pin": f"pins={node}", "look at a node": f"node={node}"}
    for name, query in looks.items():
        address = f"/part/solutions?view=solutions&{query}"
        times = [timed(lambda: visit.client.get(address)) for _ in range(5)]  # noqa: B023
        found[f"{name} s"] = statistics.median(times)
    found["records at a node s"] = timed(lambda: visit.awaited(f"/part/node?of={node}"))
    found["adopt s"] = timed(lambda: visit.post("/explore/levels", node=node))
    return found


def changed(goal: str) -> list[dict[str, str]]:
    """What is changed before each preview."""
    if goal == "categories":
        return [{"suppression_limit": share} for share in ("0.06", "0.07", "0.08")]
    return [{"k": k} for k in ("6", "7", "8")]


def paged(visit: Visit, rounds: int = 3) -> list[float]:
    """Milliseconds of all pages, visited a few times."""
    every = (*PAGES, *PARTS) * rounds
    return [1000 * timed(lambda path=path: visit.client.get(path)) for path in every]  # type: ignore[misc]


def looked_at(visit: Visit) -> dict[str, float]:
    """Seconds for the second half: Explore, and meanwhile Utility and Risk; then the release."""
    started = time.perf_counter()
    visit.client.get("/part/methods")  # goes on in a process of its own
    found = {"uniques of the population s": timed(lambda: visit.awaited("/part/population?of=10"))}
    visit.client.get("/part/account?again=1")
    busy = paged(visit, 1)
    found["pages while computing ms"] = statistics.median(busy)
    found["the slowest of them ms"] = max(busy)
    while "0 of " in visit.client.get("/part/methods").text:
        time.sleep(0.1)
    found["explore, first method s"] = time.perf_counter() - started
    visit.awaited("/part/account")
    found["utility, meanwhile s"] = time.perf_counter() - started
    visit.awaited("/part/methods")
    found["explore, all methods s"] = time.perf_counter() - started
    found["risk, after utility s"] = timed(lambda: visit.awaited("/part/account?of=risk"))
    visit.post("/release/run")
    found["release, after utility s"] = timed(lambda: visit.awaited("/release"))
    return found


def clicked(visit: Visit, plan: Path) -> dict[str, float]:
    """How long a row and the count of who is alone take to follow a click on a role."""
    visit.awaited("/part/meter")
    columns = contents(plan.read_text())["columns"]
    name = next(name for name, one in columns.items() if one.get("role") == "quasi")
    started = time.perf_counter()
    visit.post("/columns/set", name=name, key="role", value="sensitive")
    visit.awaited("/part/columns")
    row = time.perf_counter() - started
    visit.awaited("/part/meter")
    meter = time.perf_counter() - started
    visit.post("/columns/set", name=name, key="role", value="quasi")
    return {"row after a click s": row, "meter after a click s": meter}


def measure(visit: Visit, folder: Path, name: str, goal: str) -> dict[str, Any]:
    found: dict[str, Any] = {"plan s": timed(lambda: begun(visit, name))}
    plan = next(folder.glob("*-project/plan.toml"))
    decided(visit, plan)
    if goal:
        visit.post("/steps/goal", goal=goal)
    found["columns s"] = timed(lambda: visit.awaited("/part/columns"))
    found |= clicked(visit, plan)
    found["first preview s"] = timed(lambda: visit.awaited("/part/preview"))
    previews = []
    for change in changed(goal):
        started = time.perf_counter()
        visit.post("/steps/set", step="0", **change)
        visit.awaited("/part/preview")
        previews.append(time.perf_counter() - started)
    found["preview after a change s"] = statistics.median(previews)
    times = paged(visit)
    found["pages median ms"] = statistics.median(times)
    found["pages slowest ms"] = max(times)
    found["stop s"] = stopped(visit)
    found |= looked_at(visit)
    found["studio MB"] = visit.memory()
    found["run s"], found["run MB"] = run_memory(plan)
    found["memory, times a run's"] = found["studio MB"] / found["run MB"]
    return found


def repeated(table: Path, target: Path, records: int) -> None:
    """Write a table with so many records: those of another, with amounts a little changed."""
    frame = pl.read_csv(table, infer_schema_length=0)  # codes stay as they are written
    amounts = [one.name for one in frame if is_amount(one.drop_nulls())]
    frame = pl.concat([frame] * -(-records // len(frame))).head(records)
    factors = np.random.default_rng(1).uniform(0.9, 1.1, records)
    changed = (pl.col(amounts).cast(pl.Float64) * pl.Series(factors)).round().cast(pl.Int64)
    frame = frame.with_columns(changed)
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_csv(target)


def is_amount(texts: pl.Series) -> bool:
    """Whether a column holds whole numbers, many different ones, but not one for each record."""
    return bool(texts.str.contains(r"^\d+$").all()) and MANY < texts.n_unique() < len(texts) / 2


MANY = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=existing_file)
    parser.add_argument("--rows", type=whole_number, default=50_025)
    parser.add_argument("--records", type=whole_number, help="so many, by repeating the table")
    parser.add_argument("--goal", default="", help="what is chosen on the screen Protection")
    parser.add_argument("--lattice", action="store_true")
    options = parser.parse_args()
    if options.lattice:
        for levels in ((2, 5, 2, 3, 4, 3, 3, 3, 2), (10,) * 9):
            shown(lattice(levels, 5000), BARS)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if options.table is not None:
            name = options.table.name
            shutil.copy(options.table, folder / name)
        else:
            name = "discharges.csv"
            columns = discharges(options.rows, 1)
            write_rows(folder / name, (columns, *zip(*columns.values(), strict=True)))
        if options.records:
            original, name = name, "repeated.csv"
            repeated(folder / original, folder / name, options.records)
        starts = []
        for _ in range(3):
            visit = Visit(folder)
            starts.append(visit.start)
            if len(starts) < 3:
                visit.close()
        try:
            found = {"start s": statistics.median(starts)}
            found |= measure(visit, folder, name, options.goal)
        finally:
            visit.close()
    large = (options.records or options.rows) >= LARGE
    shown(found, BARS | (LARGE_BARS if large else {}))


def shown(found: dict[str, float], bars: Mapping[str, float]) -> None:
    for what, figure in found.items():
        bar = f"   at most {bars[what]:g}" if what in bars else ""
        verdict = "" if not bar or figure <= bars[what] else ", exceeded"
        print(f"{what:<28}{figure:>10.3f}{bar}{verdict}")
    print(json.dumps({what: round(figure, 3) for what, figure in found.items()}))


if __name__ == "__main__":
    main()
