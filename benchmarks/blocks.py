"""What a table loses when it is clustered in blocks, and what it gains, beside the whole.

    python benchmarks/blocks.py DATA [--records 50025 300000 1000000] [--sizes 50000 20000 5000]
        [--threads 1 2] [--no-whole]

DATA is the folder that holds `tables/inpatient_claims_icd9.csv.gz`: six mixed columns, k = 5. More
records than the table has are drawn from it, a share of their cells anew. For each way the loss is
that of the clusters (weighted squared distances to the centroids), in percent of the whole's; times
are those of cutting and clustering with one thread and with two, wall clock and processor, in
one run. The clusters must be the same for both. Where others use the machine too, the clock says
little; the last column is what two cores gain at most: all processor seconds of the run with two
threads, beside those that come one after the other: what is done by one alone, and half of what is
shared, or its longest piece (threads that hinder each other are not seen). With `--threads 2` there
is no run with one.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import ontomask as om
from arguments import CLAIMS, folder_with, whole_number
from microaggregation import claims_frame, claims_schema, resampled
from ontomask.data.encoding import encode
from ontomask.data.microdata import Microdata
from ontomask.data.tables import open_table
from ontomask.kernels.losses import loss
from ontomask.kernels.records import Points
from ontomask.methods.base import Context
from ontomask.methods.points import quasi_layout

K = 5


class Clocked(ThreadPoolExecutor):
    """Threads whose works' processor seconds are noted, where they have company."""

    several: ClassVar[list[Clocked]] = []

    def __init__(self, threads: int, **given: Any) -> None:
        super().__init__(threads, **given)
        self.threads, self.works = threads, list[float]()
        self.begun, self.own = time.thread_time(), 0.0
        if given["initargs"] == (True,):
            self.several.append(self)

    def submit(self, work: Callable[..., Any], /, *given: Any) -> Future[Any]:  # type: ignore[override]
        def clocked() -> Any:
            started = time.thread_time()
            try:
                return work(*given)
            finally:
                self.works.append(time.thread_time() - started)

        return super().submit(clocked)

    @classmethod
    def saved(cls) -> float:
        """The processor seconds that came beside others."""
        return sum(one.beside() for one in cls.several if one.works)

    def beside(self) -> float:
        """A single thread works beside the one that started it, several take turns at works."""
        total = sum(self.works)
        if self.threads == 1:
            return min(total, self.own)
        return total - max(total / self.threads, *self.works)

    def shutdown(self, *given: Any, **named: Any) -> None:
        self.own = time.thread_time() - self.begun
        super().shutdown(*given, **named)


def timed(microdata: Microdata, method: om.Microaggregation) -> tuple[np.ndarray, Any]:
    """Clusters of the tuples; seconds, processor seconds, and those that no thread saves."""
    Clocked.several.clear()
    started, worked = time.perf_counter(), time.process_time()
    with mock.patch("ontomask.kernels.blocks.ThreadPoolExecutor", Clocked):
        found = method.cluster(microdata, Context(np.random.default_rng(1)))
    worked = time.process_time() - worked
    return found.labels, (time.perf_counter() - started, worked, worked - Clocked.saved())


def compared(
    points: Points, microdata: Microdata, sizes: list[int], threads: list[str], with_whole: bool
) -> None:
    count = points.weights.size
    print(f"{len(microdata):,} records, {count:,} tuples, k = {K}")
    each = "".join(f"{f'{one} thread(s)':>13}{'cpu':>8}" for one in threads)
    print(f"{'blocks of':>11}{'loss':>9}{each}{'x':>6}{'at most':>9}")
    whole = None
    timed(microdata.subset(np.arange(len(microdata)) < 500), om.Microaggregation(K, block_size=100))
    for size in [*([count] if with_whole else []), *sizes]:
        found = []
        for number in threads:
            os.environ["ONTOMASK_THREADS"] = number
            found.append(timed(microdata, om.Microaggregation(K, block_size=size)))
        labels, (last, busy, path) = found[-1]
        assert all(np.array_equal(labels, others) for others, _ in found)
        lost = loss(points, labels, int(labels.max()) + 1)
        whole = lost if size == count else whole
        beside = f"{100 * (lost / whole - 1):+8.2f}%" if whole else f"{lost:9.0f}"
        times = "".join(f"{clock:13.1f}{cpu:8.1f}" for _, (clock, cpu, _) in found)
        print(
            f"{'whole' if size == count else f'{size:,}':>11}{beside:>9}{times}"
            f"{found[0][1][0] / last:6.2f}{busy / path:9.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with(CLAIMS))
    parser.add_argument(
        "--records", nargs="+", type=whole_number, default=[50_025, 300_000, 1_000_000]
    )
    parser.add_argument("--sizes", nargs="+", type=whole_number, default=[50_000, 20_000, 5_000])
    parser.add_argument("--threads", nargs="+", default=["1", "2"])
    parser.add_argument("--no-whole", action="store_true", help="leave out the whole table")
    given = parser.parse_args()
    schema = claims_schema()
    frame = claims_frame(given.data)[list(schema)]
    for records in given.records:
        if records > len(frame):
            chosen = resampled(frame, records, np.random.default_rng(1))
        else:
            chosen = frame.head(records)
        microdata = encode(open_table(chosen), schema)
        points = quasi_layout(microdata, om.Microaggregation(K)).points(microdata.tuples())
        sizes = [size for size in given.sizes if size < points.weights.size]
        compared(points, microdata, sizes, given.threads, not given.no_whole)


if __name__ == "__main__":
    main()
