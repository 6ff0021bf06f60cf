"""What the first use of each method costs on a new machine: units that Numba compiles, CPU seconds.

One process compiles into an empty folder, method by method, each on what the ones before it left;
then `warm` does the same with two processes into another, and `demo` runs with a third, and then
once more. Beside them, what is compiled most dearly, without what it calls.

    python benchmarks/first_use.py [--shown 10] [--only one two demo]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import event

from arguments import whole_number

ONCE = "ONTOMASK_FIRST_USE"


class Spent(event.Listener):
    """The CPU seconds of every unit that is compiled, without those inside it."""

    def __init__(self) -> None:
        self.units: Counter[str] = Counter()
        self.count = 0
        self._open: list[list[float]] = []

    def on_start(self, _event: Any) -> None:
        self._open.append([time.process_time(), 0.0])

    def on_end(self, event: Any) -> None:
        started, inside = self._open.pop()
        whole = time.process_time() - started
        if self._open:
            self._open[-1][1] += whole
        function = event.data["dispatcher"].py_func
        self.units[f"{function.__module__}.{function.__name__}"] += whole - inside
        self.count += 1


def one_process(shown: int) -> None:
    spent = Spent()
    with event.install_listener("numba:compile", spent):
        from ontomask.warming import METHODS, compile_beside, compile_for

        print(f"{'one process':28}{'units':>6}{'CPU s':>8}")
        works = [*((one.name, compile_for, (place,)) for place, one in enumerate(METHODS))]
        for name, work, arguments in [*works, ("evaluation", compile_beside, ())]:
            before, started = spent.count, time.process_time()
            work(*arguments)
            print(f"{name:28}{spent.count - before:6}{time.process_time() - started:8.1f}")
    print(f"{'all':28}{spent.count:6}{sum(spent.units.values()):8.1f}\n")
    for name, seconds in spent.units.most_common(shown):
        print(f"  {name:50}{seconds:6.2f}")


def two_processes() -> None:
    from ontomask.warming import warm

    with measured("warm"):
        for _ in warm():
            pass


def demo() -> None:
    program = "from ontomask.cli import main; main()"
    for name in ("first demo", "second demo"):
        with tempfile.TemporaryDirectory() as folder, measured(name):
            subprocess.run([sys.executable, "-c", program, "demo", folder, "--quiet"], check=True)


@contextlib.contextmanager
def measured(name: str) -> Iterator[None]:
    """Print how long the processes that are started inside took."""
    started, before = time.perf_counter(), _spent_by_children()
    yield
    seconds, spent = time.perf_counter() - started, _spent_by_children() - before
    print(f"{name}: {seconds:.1f} s, {spent:.1f} CPU s")


def _spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


WAYS: dict[str, Callable[..., None]] = {"one": one_process, "two": two_processes, "demo": demo}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shown", type=whole_number, default=10, help="so many units")
    parser.add_argument("--only", nargs="+", choices=[*WAYS], default=[*WAYS])
    options = parser.parse_args()
    if ONCE in os.environ:
        WAYS[os.environ[ONCE]](*([options.shown] if os.environ[ONCE] == "one" else []))
        return
    for way in options.only:
        with tempfile.TemporaryDirectory() as folder:
            fresh = {**os.environ, "NUMBA_CACHE_DIR": folder, ONCE: way}
            subprocess.run([sys.executable, *sys.argv], env=fresh, check=True)


if __name__ == "__main__":
    main()
