"""Long work in processes of its own: with progress, stopped within a second, never done twice.

A task is a function at the top of a module, with plain arguments and a plain result, so that it can
travel to another process and its result can be kept as JSON. Where it is told by its name, only the
process that does it imports what it needs. The key of a job is the digest of what it depends on:
the same question is answered from the folder `runs`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import json
import multiprocessing
import os
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
from ontomask.studio.project import write_whole

__all__ = ["Board", "Job", "Stopped", "Task", "Worker", "key_of"]

PATIENCE = 0.7
"""Seconds that a task has to stop by itself before its process is ended."""

STOP = "stop"

COURTESY = {"work": 5, "aside": 10}
"""How much each queue's process lets others go first: pages and previews wait for nobody."""

SHAPE = 2
"""Raised when results look otherwise, so that what an earlier studio has kept is not shown."""

Task = Callable[..., Any] | str
"""A function, or where one is found among the rooms of the studio, such as `tasks.look`."""


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
    refused
        Whether it failed by what it was asked: then asking again is answered in the same way.
    """

    key: str
    state: str = "waiting"
    done: float = 0.0
    said: str = ""
    result: Any = None
    problem: str = ""
    seconds: float = 0.0
    refused: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "stopped")


def key_of(task: Task, arguments: Mapping[str, object], depends: str = "") -> str:
    """The digest of a question: the task, its arguments, and what else it depends on."""
    name = task if isinstance(task, str) else f"{task.__module__}.{task.__qualname__}"
    text = json.dumps([SHAPE, name, arguments, depends], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _function(task: Task) -> Callable[..., Any]:
    if not isinstance(task, str):
        return task
    room, name = task.split(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"ontomask.studio.{room}"), name)
    return found


@dataclass
class Worker:
    """A process that does one task after another, and is replaced when it had to be ended.

    Parameters
    ----------
    courtesy
        How much it lets others go first.
    """

    courtesy: int = 0
    process: multiprocessing.process.BaseProcess | None = None
    pipe: Connection | None = None

    def send(self, task: Task, arguments: Mapping[str, object]) -> Connection:
        """Give the process a task; start one if there is none."""
        if self.process is None or not self.process.is_alive() or self.pipe is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=_serve, args=(other, self.courtesy), daemon=True)
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


def _serve(pipe: Connection, courtesy: int) -> None:
    """Do tasks until the other side is gone."""
    if courtesy and hasattr(os, "nice"):
        os.nice(courtesy)
    with contextlib.suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            message = pipe.recv()
            if message != STOP:  # one that came too late is for nobody
                task, arguments = message
                pipe.send(_outcome(task, arguments, pipe))


def _outcome(task: Task, arguments: Mapping[str, Any], pipe: Connection) -> tuple[str, Any]:
    from ontomask.kernels.compiling import NOTICE, compiling

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
            return "done", _function(task)(**arguments, progress=progress)
    except Stopped:
        return "stopped", None
    except OntomaskError as error:
        return "refused", str(error)
    except MemoryError:
        return "failed", "There was not enough memory for this; take a sample, or close programs."
    except Exception as error:  # noqa: BLE001 - a page must answer; the trace goes to the terminal
        # values of the table may stand in the message of an error, so only its kind is told
        traceback.print_tb(error.__traceback__)
        return "failed", f"This could not be computed ({type(error).__name__}); see the terminal."


@dataclass
class _Line:
    """The jobs that wait for one process, and the one that it does."""

    threads: ThreadPoolExecutor
    waiting: dict[str, tuple[Task, Mapping[str, object], bool]] = field(default_factory=dict)
    running: str = ""


@dataclass
class Board:
    """All jobs of a project, by key; each queue has a process, and what was asked for last is next.

    So whoever looks at a page waits for nothing but what is under way.

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
    _lines: dict[str, _Line] = field(default_factory=dict)
    _looked: dict[str, int] = field(default_factory=dict)
    _clock: Iterator[int] = field(default_factory=itertools.count)

    def ask(
        self,
        queue: str,
        task: Task,
        arguments: Mapping[str, object],
        *,
        depends: str = "",
        again: bool = False,
        yields: bool = False,
    ) -> Job:
        """The job that answers a question: kept, under way, or begun now.

        `depends` says what else the answer depends on, such as the state of a file. One that failed
        or was stopped is begun once more only if it is asked for `again`; one that `yields` is put
        off as soon as another wants its process.
        """
        key = key_of(task, arguments, depends)
        with self._changed:
            self._looked[key] = next(self._clock)
            known = self._jobs.get(key) or self._kept(key)
            if known is not None and not (again and known.state in ("stopped", "failed")):
                self._jobs[key] = known
                return known
            self._wanted[key] = True
            return self._wait(queue, key, (task, arguments, yields))

    def _wait(self, queue: str, key: str, work: tuple[Task, Mapping[str, object], bool]) -> Job:
        """Put a job into the line of a queue."""
        self._jobs[key] = Job(key)
        if queue not in self._lines:
            self._lines[queue] = _Line(ThreadPoolExecutor(1, queue))
        self._lines[queue].waiting[key] = work
        with contextlib.suppress(RuntimeError):  # the board is being left
            self._lines[queue].threads.submit(self._next, queue)
        return self._jobs[key]

    def ahead(self, key: str) -> Job | None:
        """What is under way where a job waits."""
        for line in self._lines.values():
            if key in line.waiting and line.running:
                return self._jobs.get(line.running)
        return None

    def get(self, key: str) -> Job | None:
        """A job by its key."""
        if key not in self._jobs and (kept := self._kept(key)) is not None:
            self._jobs[key] = kept
        return self._jobs.get(key)

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
        for line in self._lines.values():
            line.threads.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Stop all jobs and end all processes."""
        self.leave()
        for worker in self.workers.values():
            worker.end()

    def _set(self, key: str, **changed: Any) -> None:
        with self._changed:
            self._jobs[key] = replace(self._jobs[key], **changed)
            self._changed.notify_all()

    def _next(self, queue: str) -> None:
        """Do the job of a line that somebody has looked at last."""
        line = self._lines[queue]
        with self._changed:
            if not line.waiting:  # asked for twice
                return
            # what yields comes last, or it would be begun and put off for ever
            key = max(line.waiting, key=lambda one: (not line.waiting[one][2], self._looked[one]))
            work = line.waiting.pop(key)
            if self._jobs[key].state != "waiting":  # stopped before it began
                return
            line.running = key
        try:
            if self._work(queue, key, *work):
                with self._changed:
                    self._wait(queue, key, work)
        finally:
            line.running = ""

    def _work(
        self, queue: str, key: str, task: Task, arguments: Mapping[str, object], yields: bool
    ) -> bool:
        """Give one task to the process of a queue and wait for what becomes of it.

        Returns whether it was put off, so that it has to be done later.
        """
        started = time.monotonic()
        self._set(key, state="running")
        worker = self.workers.setdefault(queue, Worker(COURTESY.get(queue, 0)))
        try:
            pipe = worker.send(task, arguments)
            kind, value = self._awaited(key, pipe, self._lines[queue] if yields else None)
        except (EOFError, OSError):
            worker.end()
            kind, value = "failed", "The computation was ended from outside, perhaps for memory."
        except Stopped:
            worker.end()
            kind, value = "stopped", None
        seconds = time.monotonic() - started
        if kind == "stopped" and self._wanted.get(key):
            return True
        if kind == "done":
            self._keep(key, value)
            self._set(key, state="done", done=1.0, result=value, seconds=seconds)
        else:
            refused = kind == "refused"
            state = "failed" if refused else kind
            self._set(key, state=state, problem=value or "", seconds=seconds, refused=refused)
        return False

    def _awaited(self, key: str, pipe: Connection, line: _Line | None) -> tuple[str, Any]:
        """What a process answers; it is asked to stop when its job is not wanted, or put off.

        A job that yields is told the line that it yields to.
        """
        asked: float | None = None
        while True:
            if pipe.poll(0.05):
                kind, value = pipe.recv()
                if kind != "progress":
                    return kind, value
                self._set(key, done=value[0], said=value[1])
            unwanted = not self._wanted.get(key) or bool(line and line.waiting)
            if unwanted and asked is None:
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
