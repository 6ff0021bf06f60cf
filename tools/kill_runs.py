"""Kill runs of a plan at random moments, and see that nothing half-done is ever in its place.

    python tools/kill_runs.py PLAN [--times 10] [--seed 1]

The plan and what lies beside it are copied to a folder of their own, in which everything happens.
Half of the runs find no release there, half replace an earlier one; half of the moments are late in
the run, where the files are written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ontomask.plan import Plan


def main() -> None:
    """Kill some runs, finish one, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("plan", type=Path)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "runs"
        shutil.copytree(asked.plan.resolve().parent, folder)
        plan = folder / asked.plan.name
        broken = killed_at_random(plan, asked.times, random.Random(asked.seed))
        broken += finished(plan)
    sys.exit(f"{broken} of the runs left something half-done" if broken else 0)


def killed_at_random(plan: Path, times: int, moments: random.Random) -> int:
    """Kill runs; return how many left something half-done."""
    target = Plan.read(plan).target
    shutil.rmtree(target, ignore_errors=True)
    started = time.perf_counter()
    start(plan).wait()
    whole = time.perf_counter() - started
    print(f"a whole run takes {whole:.1f} s")
    kept = target.with_name("kept")
    shutil.copytree(target, kept)
    broken = 0
    for number in range(times):
        shutil.rmtree(target, ignore_errors=True)
        if number % 2:
            shutil.copytree(kept, target)
        moment = moments.uniform(0.7 if number % 4 > 1 else 0.2, 1.0) * whole
        seconds = killed(plan, moment)
        found = state(target)
        lost = number % 2 and not target.exists() and not hidden(target)
        broken += found.startswith("BROKEN") or bool(lost)
        whole = min(whole, seconds or whole)  # a run that was quicker tells the moments to come
        how = f"done before {moment:.2f} s" if seconds else f"killed after {moment:.2f} s"
        print(f"run {number + 1}: {how}; {found}; hidden beside it: {len(hidden(target))}")
    return broken


def start(plan: Path) -> subprocess.Popen[bytes]:
    """Start a run that may replace a release."""
    command = [sys.executable, "-m", "ontomask.cli", "run", str(plan), "--force", "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def killed(plan: Path, seconds: float) -> float | None:
    """Kill a run after so many seconds; if it was done before, return how many it took."""
    started = time.perf_counter()
    run = start(plan)
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
        return None
    return time.perf_counter() - started


def state(target: Path) -> str:
    """What lies where the release belongs."""
    if not target.exists():
        return "no release is there"
    try:
        described = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
        output = described["output"]
        digest = hashlib.sha256((target / output["table"]).read_bytes()).hexdigest()
        report = (target / "report.html").read_text(encoding="utf-8")
        whole = digest == output["sha256"] and report.rstrip().endswith("</html>")
    except (OSError, ValueError, KeyError) as error:
        return f"BROKEN: {error}"
    return "a whole release is there" if whole else "BROKEN: table or report differ"


def hidden(target: Path) -> list[Path]:
    """Folders that killed runs left."""
    return [one for one in target.parent.iterdir() if one.name.startswith(f".{target.name}.")]


def finished(plan: Path) -> int:
    """Let a run end; return 1 if it fails or leaves anything but the release."""
    target = Plan.read(plan).target
    code = start(plan).wait()
    if code in (0, 3) and state(target) == "a whole release is there" and not hidden(target):
        print("the next run succeeded and left nothing behind")
        return 0
    print(f"BROKEN: the next run ended with {code}; {state(target)}; {hidden(target)}")
    return 1


if __name__ == "__main__":
    main()
