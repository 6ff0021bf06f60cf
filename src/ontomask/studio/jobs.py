"""Long work in processes of its own: with progress, stopped within a second, never done twice.

A task is a function at the top of a module, with plain arguments and a plain result, so that it can
travel to another process and its result can be kept as JSON. The key of a job is the digest of what
it depends on: the same question is answered from the folder `runs`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ontomask.errors import OntomaskError
from ontomask.kernels.compiling import NOTICE, compiling
from ontomask.studio.project import write_whole

__all__ = ["Board", "Job", "Stopped", "Task", "Worker", "key_of"]

PATIENCE = 0.7
"""Seconds that a task has to stop by itself before its process is ended."""

STOP = "stop"

Task = Callable[..., Any]


class Stopped(Exception):  # noqa: N818 - it is no error
    """The job is no longer wanted."""


@dataclass(frozen=True)
class Job:
    """A piece of work as a page sees it.

    Attributes
    ----------
    key
        The digest of what it depends on.
    state
        waiting, running, done, failed or stopped.
    done, said
        How far it is, and at what.
    result
        What came out, when it is done.
    problem
        One sentence, when it failed.
    """

    key: str
    state: str = "waiting"
    done: float = 0.0
    said: str = ""
    result: Any = None
    problem: str = ""
    seconds: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "stopped")


def key_of(task: Task, arguments: Mapping[str, object], depends: str = "") -> str:
    """The digest of a question: the task, its arguments, and what else it depends on."""
    text = json.dumps([task.__qualname__, arguments, depends], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass
class Worker:
    """A process that does one task after another, and is replaced when it had to be ended."""

    process: multiprocessing.process.BaseProcess | None = None
    pipe: Connection | None = None

    def send(self, task: Task, arguments: Mapping[str, object]) -> Connection:
        """Give the process a task; start one if there is none."""
        if self.process is None or not self.process.is_alive() or self.pipe is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=_serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        self.pipe.send((task, dict(arguments)))
        return self.pipe

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        self.process = self.pipe = None


def _serve(pipe: Connection) -> None:
    """Do tasks until the other side is gone."""
    with contextlib.suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            message = pipe.recv()
            if message != STOP:  # one that came too late is for nobody
                task, arguments = message
                pipe.send(_outcome(task, arguments, pipe))


def _outcome(task: Task, arguments: Mapping[str, Any], pipe: Connection) -> tuple[str, Any]:
    last = 0.0

    def progress(share: float, said: str) -> None:
        nonlocal last
        try:
            if pipe.poll():
                pipe.recv()
                raise Stopped
            if time.monotonic() - last > 0.1:
                last = time.monotonic()
                pipe.send(("progress", (share, NOTICE if watch.active else said)))
        except (EOFError, OSError):  # the studio is gone: nobody waits for the answer
            raise Stopped from None

    try:
        with compiling() as watch:
            return "done", task(**arguments, progress=progress)
    except Stopped:
        return "stopped", None
    except OntomaskError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "There was not enough memory for this; take a sample, or close programs."
    except Exception as error:  # noqa: BLE001 - a page must answer; the trace goes to the terminal
        # values of the table may stand in the message of an error, so only its kind is told
        traceback.print_tb(error.__traceback__)
        return "failed", f"This could not be computed ({type(error).__name__}); see the terminal."


@dataclass
class Board:
    """All jobs of a project, by key; previews have a process of their own and go first.

    Parameters
    ----------
    folder
        Where results are kept; None keeps none.
    workers
        The processes by queue; they may be those of a board before, which know the kernels already.
    """

    folder: Path | None = None
    workers: dict[str, Worker] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _wanted: dict[str, bool] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _queues: dict[str, ThreadPoolExecutor] = field(default_factory=dict)

    def ask(
        self,
        queue: str,
        task: Task,
        arguments: Mapping[str, object],
        *,
        depends: str = "",
        again: bool = False,
    ) -> Job:
        """The job that answers a question: kept, under way, or begun now.

        `depends` says what else the answer depends on, such as the state of a file. One that failed
        or was stopped is begun once more only if it is asked for `again`.
        """
        key = key_of(task, arguments, depends)
        with self._changed:
            known = self._jobs.get(key) or self._kept(key)
            if known is not None and not (again and known.state in ("stopped", "failed")):
                self._jobs[key] = known
                return known
            self._jobs[key], self._wanted[key] = Job(key), True
            threads = self._queues.setdefault(queue, ThreadPoolExecutor(1, queue))
        threads.submit(self._work, queue, key, task, arguments)
        return self._jobs[key]

    def get(self, key: str) -> Job | None:
        """A job by its key."""
        return self._jobs.get(key) or self._kept(key)

    def stop(self, key: str) -> None:
        """Say that a job is no longer wanted."""
        with self._changed:
            self._wanted[key] = False
            job = self._jobs.get(key)
            if job is not None and job.state == "waiting":
                self._jobs[key] = replace(job, state="stopped")
            self._changed.notify_all()

    def follow(self, key: str, *, every: float = 0.25) -> Iterator[Job]:
        """The states of a job until it is over; a job that nobody knows has none."""
        seen: Job | None = None
        while (job := self.get(key)) is not None:
            if job != seen:
                seen = job
                yield job
            if job.is_over:
                return
            with self._changed:
                self._changed.wait(every)

    def leave(self) -> None:
        """Stop all jobs; the processes stay."""
        for key in list(self._wanted):
            self.stop(key)
        for threads in self._queues.values():
            threads.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Stop all jobs and end all processes."""
        self.leave()
        for worker in self.workers.values():
            worker.end()

    def _set(self, key: str, **changed: Any) -> None:
        with self._changed:
            self._jobs[key] = replace(self._jobs[key], **changed)
            self._changed.notify_all()

    def _work(self, queue: str, key: str, task: Task, arguments: Mapping[str, object]) -> None:
        """Give one task to the process of a queue and wait for what becomes of it."""
        if self._jobs[key].state != "waiting":  # stopped before it began, or begun twice
            return
        started = time.monotonic()
        self._set(key, state="running")
        worker = self.workers.setdefault(queue, Worker())
        try:
            pipe = worker.send(task, arguments)
            kind, value = self._awaited(key, pipe)
        except (EOFError, OSError):
            worker.end()
            kind, value = "failed", "The computation was ended from outside, perhaps for memory."
        except Stopped:
            worker.end()
            kind, value = "stopped", None
        seconds = time.monotonic() - started
        if kind == "done":
            self._keep(key, value)
            self._set(key, state="done", done=1.0, result=value, seconds=seconds)
        else:
            self._set(key, state=kind, problem=value or "", seconds=seconds)

    def _awaited(self, key: str, pipe: Connection) -> tuple[str, Any]:
        asked: float | None = None
        while True:
            if pipe.poll(0.05):
                kind, value = pipe.recv()
                if kind != "progress":
                    return kind, value
                self._set(key, done=value[0], said=value[1])
            if not self._wanted.get(key) and asked is None:
                asked = time.monotonic()
                pipe.send(STOP)
            if asked is not None and time.monotonic() - asked > PATIENCE:
                raise Stopped  # it does not listen

    def _keep(self, key: str, value: Any) -> None:
        if self.folder is not None:
            # a result that cannot be kept is still shown
            with contextlib.suppress(OntomaskError):
                write_whole(self.folder / f"{key}.json", json.dumps(value))

    def _kept(self, key: str) -> Job | None:
        if self.folder is None or not key.isalnum():
            return None
        try:
            text = (self.folder / f"{key}.json").read_text(encoding="utf-8")
            return Job(key, "done", 1.0, result=json.loads(text))
        except (OSError, ValueError):
            return None
