"""What one start of the studio holds: the folder it may see, the project that is open, the jobs.

Rooms that compute are imported where they are used: the first page is there before they are.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ontomask.data.file_names import is_table_name
from ontomask.errors import OntomaskError, OutputError, PlanError
from ontomask.plan.outputs import MANIFEST
from ontomask.studio.edits import contents, declared_in, part_of, set_value
from ontomask.studio.jobs import Board, Job, Task, key_of
from ontomask.studio.project import Project, write_whole
from ontomask.studio.stages import CHECKED, STAGES, Known, Stage, computed, made_of, state_of
from ontomask.writing import write_rows

if TYPE_CHECKING:
    from ontomask.plan.plan import Plan

__all__ = ["PLAN", "READING", "WHOSE", "Session", "fraction_of"]

PLAN = "plan.toml"
DEMONSTRATION = "demonstration.csv"
MOST_FILES = 200
OWNER = 0o600
NOTICEABLE = 5.0
"""Seconds after which it is told that kernels are compiled."""
DEPTH = 3
RELEASING = "releasing"
"""The file that tells which job made the last release."""
MASKED = ("seed", "input", "columns", "steps")
MEASURED = ("columns", "steps", "evaluation")
REPORTED = (*MEASURED, "limits", "about", "output")
"""The parts of a plan that a report tells of."""
READING = ("separator", "encoding", "decimal", "thousands", "header", "skip", "sheet", "missing")
"""What can be said about how a file is read."""
GRID = {
    "names": ["sa-mdav", "recoding", "resampling"],
    "sizes": [3, 5, 10],
    "limit": None,
    "whole": False,
}
PROPOSED, WHOSE = "plan proposed from the table", "whose records"
"""How a history begins that has a proposal, and what it says when people were decided on."""


@dataclass
class Session:
    """The studio's state in memory; everything that must last is in the project's folder."""

    root: Path
    project: Project | None = None
    picked: Path | None = None
    said_reading: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=lambda: dict(GRID))
    percent: str = ""
    board: Board = field(default_factory=Board)
    releasing: str = ""
    released_from: str = ""
    former: dict[str, str] = field(default_factory=dict)
    _asked: dict[str, str] = field(default_factory=dict)
    _superseded: set[str] = field(default_factory=set)
    _cells: set[str] = field(default_factory=set)
    _started: float = field(default_factory=time.monotonic)
    _warm: bool = False
    _parsed: tuple[str, Plan | OntomaskError] | None = None

    def files(self) -> Iterator[Path]:
        """Tables and plans under the root, relative to it, those nearest first."""
        found = sorted(
            (path for path in _below(self.root, DEPTH) if _is_ours(path)),
            key=lambda path: (len(path.parts), path.name.lower()),
        )
        return (path.relative_to(self.root) for path in found[:MOST_FILES])

    def recent(self, plans: Iterable[Path]) -> list[tuple[Path, str]]:
        """Plans under the root and the day of their last change, the newest first."""
        changed = {path: _changed(self.root / path) for path in plans}
        newest = sorted(changed, key=lambda path: -changed[path])
        return [(path, time.strftime("%Y-%m-%d", time.localtime(changed[path]))) for path in newest]

    def inside(self, path: str) -> Path:
        """A file under the root; anything else is refused."""
        try:
            found = (self.root / path).resolve()
            is_there = found.is_file()
        except (OSError, ValueError):
            raise PlanError("This is not the name of a file.") from None
        if not found.is_relative_to(self.root.resolve()):
            raise PlanError(
                "The studio sees only what lies under the folder that it was started in; start it "
                "where the file is: ontomask studio FOLDER."
            )
        if not is_there:
            raise PlanError("There is no such file any more; reload the page.")
        return found

    def pick(self, table: Path) -> None:
        """Choose a table, read as it seems best; its project is opened if it has one."""
        self.picked, self.said_reading = table, {}
        if self.target(table).is_file():
            self.open(self.target(table))
        elif self.project is not None:
            self.project = None
            self._begin_board(None)

    def open(self, plan: Path, said: str = "opened") -> Project:
        """Open the project of a plan; results of another project are no longer at hand."""
        self.project = Project.open(plan, said)
        self._begin_board(self.project.runs)
        return self.project

    def _begin_board(self, folder: Path | None) -> None:
        self.board.leave()
        self._asked.clear()
        self._superseded.clear()
        self._cells.clear()
        self.releasing = self.released_from = self.percent = ""
        self.board = Board(folder, self.board.workers)

    def warm(self) -> Job | None:
        """Compile the kernels, once after each start; what was stopped by another project goes on.

        Returns the job as long as that takes noticeably long.
        """
        if self._warm:
            return None
        started = str(self._started)
        job = self.board.ask("aside", "tasks.warmed", {}, depends=started, again=True, yields=True)
        self._warm = job.state in ("done", "failed")
        soon = time.monotonic() - self._started < NOTICEABLE
        return None if self._warm or soon else job

    def target(self, table: Path) -> Path:
        """Where the project of a table lies."""
        return table.parent / f"{table.name.split('.')[0]}-project" / PLAN

    def begun(self, table: Path, text: str) -> Project:
        """Make the project of a table, or open the one that is there."""
        plan = self.target(table)
        plan.parent.mkdir(mode=0o700, exist_ok=True)
        if not plan.exists():
            write_whole(plan, text)
        return self.open(plan, PROPOSED)

    def asks_whose(self) -> bool:
        """Whether nobody has looked yet at whose records they are, in a plan that was proposed."""
        said = [one.said for one in self.opened.versions()]
        return said[:1] == [PROPOSED] and not any(one.startswith(WHOSE) for one in said)

    @property
    def opened(self) -> Project:
        """The project; refused where none is open."""
        if self.project is None:
            raise PlanError("No table is open yet; choose one first.")
        return self.project

    def plan(self) -> Plan:
        """The plan as it is now; read once as long as no file that it names changes."""
        project = self.opened
        try:
            state = f"{project.plan} {self._stamps()} {project.text}"
        except PlanError:  # it is no TOML; what is wrong is said better below
            state = ""
        if self._parsed is None or not state or self._parsed[0] != state:
            self._parsed = state, _plan_or_problem(project)
        found = self._parsed[1]
        if isinstance(found, OntomaskError):
            raise found
        return found

    def problem(self) -> str:
        """What is wrong with the plan, in its own words; nothing if it can be run."""
        try:
            if self.project is not None:
                self.plan()
        except OntomaskError as error:
            return str(error)
        return ""

    def about(self, *parts: str) -> dict[str, object]:
        """What a task needs to know of the plan: only some parts of it, so that others may change.

        The table is told by its time and size: a table that changes is a new question.
        """
        project = self.opened
        about = {
            "text": part_of(project.text, ("seed", "input", *parts)),
            # what the table is read by: a changed step or role does not read it anew
            "declared": declared_in(project.text),
            # and what its masking and measuring depend on, for those who look at these
            "masked": part_of(project.text, MASKED) if "steps" in parts else "",
            "judged": part_of(project.text, MEASURED) if "evaluation" in parts else "",
            "name": project.plan.name,
            "folder": str(project.folder),
            "stamp": self._stamps(),
        }
        return {"about": about}

    def _stamps(self) -> str:
        """The states of the files that a plan names."""
        return " ".join(map(_stamp, self._files()))

    def _files(self) -> list[Path]:
        """The files that a plan names: its table, mapping files, hierarchies."""
        folder, text = self.opened.folder, self.opened.text
        said = contents(text).get("input", {})
        table = folder / str(said.get("path", "") if isinstance(said, dict) else "")
        # a plan that names itself, in a comment, is no other file
        others = [path for path in sorted(folder.iterdir()) if path != self.opened.plan]
        named = [path for path in others if path.name in text and path.is_file()]
        return [table, *named]

    def job(self, name: str, *, of: str = "", again: bool = False) -> Job:
        """The job behind a part of a page, begun if need be, or once more if it came to nothing.

        `of` says what the part is about: the number of a column, a node, an order. What the same
        part asked for before is no longer wanted, unless somebody comes back to it.
        """
        job = self._asking(*self._question(name, of), again=again)
        before = self._asked.get(name)
        if before is not None and before != job.key:
            self.former[name] = before
            stale = {before, self._asked.get("preview", before) if name == "check" else before}
            self._superseded |= stale
            for key in stale:
                self.board.stop(key)
        self._asked[name] = job.key
        return job

    def _asking(
        self, queue: str, task: Task, given: dict[str, object], *, again: bool = False
    ) -> Job:
        """Ask a question; one that was given up for another is asked anew by who comes back."""
        job = self.board.ask(queue, task, given, again=again)
        if job.key in self._superseded and job.is_over:  # one that is being stopped comes by again
            self._superseded.discard(job.key)
            job = self.board.ask(queue, task, given, again=True)
        return job

    def known(self, name: str) -> Job | None:
        """The job behind a part, if the question was asked of the plan as it is now."""
        _, task, given = self._question(name, "")
        return self.board.get(key_of(task, given))

    def cells(self, *, again: bool = False) -> list[tuple[str, int, Job]]:
        """The grid of Explore: for each method and k the job that compares it, in order."""
        found: list[tuple[str, int, Job]] = []
        for name, size, given in reversed(self._grid()):  # what is asked for last is done first
            found.append((name, size, self._asking("aside", "exploring.cell", given, again=again)))
        wanted = {job.key for *_, job in found}
        for key in self._cells - wanted:
            self._superseded.add(key)
            self.board.stop(key)
        self._cells = wanted
        return found[::-1]

    def _grid(self) -> list[tuple[str, int, dict[str, object]]]:
        """Each method and k of the grid, and what the job that compares it is told."""
        about, whole = self.about("columns"), self.grid["whole"]
        return [
            (name, size, about | {"name": name, "k": size, "whole": whole})
            for name in self.grid["names"]
            for size in self._sizes_of(name)
        ]

    def _sizes_of(self, name: str) -> list[int]:
        """The k that a method is compared with; one that has none is compared once."""
        from ontomask.studio.candidates import has_k

        sizes: list[int] = self.grid["sizes"]
        return sizes if has_k(name) else sizes[:1]

    def stop_cells(self) -> None:
        """Compare no more methods."""
        for key in self._cells:
            self.board.stop(key)

    def _question(self, name: str, of: str) -> tuple[str, Task, dict[str, object]]:
        """What a part of a page asks for: the queue, the task and what it is told."""
        match name:
            case "look" if (table := self.table()) is not None:
                given = {"path": str(table), "stamp": _stamp(table)}
                return "preview", "tasks.look", {**given, "how": self.reading()}
            case "begin" if self.picked is not None:
                return "preview", "tasks.begin", self._beginning(self.picked)
            case "people":
                return "preview", "tasks.people", self.about("columns", "steps")
            case "columns":
                return "preview", "tasks.columns", self._declared()
            case "check":
                return "preview", "tasks.check", self.about("columns", "steps", "limits", "output")
            case "unique" | "preview" | "words" | "shape" | "ladder" | "node" | "tree":
                return "preview", *self._quick(name, of)
            case "population":
                percent, _, side = of.partition("-")
                after = side == "after"
                about = self.about(*(MEASURED if after else MEASURED[:2]))
                about |= {"fraction": fraction_of(percent), "after": after}
                return "work" if after else "preview", "measuring.population", about
            case "solutions" | "records" | "account" | "classifiers" | "map":
                return "work", *self._long(name, of)
        raise PlanError("There is nothing to compute; reload the page.")

    def _declared(self) -> dict[str, object]:
        """What the table's columns are, whoever may know them and whatever is done to them."""
        about: Any = self.about()["about"]
        return {"about": about | {"text": about["declared"], "masked": ""}}

    def needing(self) -> Mapping[str, list[str]] | None:
        """What needs a look, in sentences by screen; None while the check is not made."""
        if self.project is None or self.problem():
            return {}
        job = self.known("check")
        if job is None or job.state not in ("done", "failed"):
            return None
        failed = [{"stage": "protection", "said": job.problem}]
        problems = job.result["problems"] if job.state == "done" else failed
        return {path: [one["said"] for one in problems if one["stage"] == path] for path in CHECKED}

    def reading(self) -> dict[str, Any]:
        """What is said about how the table is read: in the plan, or before there is one."""
        if self.project is None:
            return self.said_reading
        said = contents(self.project.text).get("input", {})
        return {name: said[name] for name in READING if name in said}

    def _beginning(self, table: Path) -> dict[str, object]:
        plan = self.target(table) if self.project is None else self.project.plan
        given = {"table": str(table), "plan": str(plan), "stamp": _stamp(table)}
        return {**given, "how": self.reading()}

    def renewed(self) -> str:
        """A plan proposed anew, for the table as it is read now."""
        table = self.table()
        if table is None:
            raise PlanError("The plan names no file; it cannot be proposed anew.")
        text: str = self._finished("tasks.begin", self._beginning(table))
        return text

    def _quick(self, name: str, of: str) -> tuple[Task, dict[str, object]]:
        about = self.about("columns", "steps")
        match name:
            case "unique":
                return "tasks.unique", about
            case "preview":
                return "tasks.preview", about
            case "words":
                return "columns.words", about | {"column": self.column(of)}
            case "shape":
                return "columns.shape", about | {"column": self.column(of)}
            case "tree":
                number, here, other = (*of.split("."), "", "")[:3]
                return "columns.concept", about | {
                    "column": self.column(number),
                    "here": int(here) if here.isdecimal() else 0,
                    "other": int(other) if other.isdecimal() else -1,
                }
            case "ladder":
                return "exploring.ladder", about | {"column": self.column(of)}
        from ontomask.studio.lattice import node_levels

        return "exploring.node", about | {"levels": node_levels(of, list(self.plan().schema.quasi))}

    def _long(self, name: str, of: str) -> tuple[Task, dict[str, object]]:
        about = self.about("columns", "steps")
        match name:
            case "solutions":
                return "exploring.solutions", about
            case "records":
                return "measuring.records", about | {"sort": of if of == "clusters" else "moved"}
            case "map":
                return "measuring.shares", about | self._axes(of)
            case "classifiers":
                return "measuring.classifiers", self.about(*MEASURED)
        return "measuring.account", self.about(*REPORTED)

    def _axes(self, of: str) -> dict[str, object]:
        """One or two columns, and the concept of each whose specializations are shown."""
        first, second, *within = (*of.split("."), "", "", "", "")[:4]
        return {
            "first": self.column(first),
            "second": self.column(second) if second else "",
            "within": [int(one) if one.isdecimal() else -1 for one in within],
        }

    def column(self, number: str) -> str:
        """A column of the plan by its place there: addresses hold no names."""
        names = list(contents(self.opened.text).get("columns", {}))
        if not number.isdecimal() or int(number) >= len(names):
            raise PlanError("There is no such column any more; reload the page.")
        return str(names[int(number)])

    def mapped(self, column: str, value: str, concept: str) -> str:
        """The plan's text after a value was said to mean a concept.

        Where the plan names a mapping file, that is where it is written, and the plan stays.
        """
        from ontomask.data.schema import Nominal

        text, declared = self.opened.text, self.plan().schema[column]
        if isinstance(declared, Nominal) and declared.taxonomy is not None:
            declared.taxonomy.map([value], overrides={value: concept})  # refuses what is no concept
        given = contents(text).get("columns", {}).get(column, {}).get("mapping")
        if not isinstance(given, str):
            return set_value(text, ["columns", column, "mapping", value], concept)
        path = self.inside(os.path.relpath(self.opened.folder / given, self.root))
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
        line = {"value": value, "concept": concept}
        rows.append([line.get(name, "") for name in rows[0]])
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(rows)
        write_whole(path, written.getvalue())
        return text

    def awaited(self, task: Task, **given: object) -> Any:
        """What a short task finds in the table, for a form that cannot be answered before."""
        return self._finished(task, self.about("columns", "steps") | given)

    def distinct(self) -> dict[str, int]:
        """How many different values each column has."""
        found = self._finished("tasks.columns", self._declared())
        return {name: one["distinct"] for name, one in found["columns"].items()}

    def _finished(self, task: Task, given: Mapping[str, object]) -> Any:
        job = self.board.ask("preview", task, given, again=True)
        for state in self.board.follow(job.key):
            job = state
        if job.state != "done":
            raise PlanError(job.problem or "The table was not looked at; try again.")
        return job.result

    def table(self) -> Path | None:
        """The table that is picked, or that of the open plan."""
        if self.project is None:
            return self.picked
        said = contents(self.project.text).get("input", {})
        path = str(said.get("path", "")) if isinstance(said, dict) else ""
        return self.project.folder / path if path else None

    def demonstration(self) -> Path:
        """The table of the demonstration, made if it is not there yet."""
        path = self.root / DEMONSTRATION
        if not path.exists():
            from ontomask.samples import discharges

            columns = discharges(2000, 1)
            write_rows(path, (columns, *zip(*columns.values(), strict=True)))
        return path

    def start_release(self, *, force: bool, leave_out: bool) -> None:
        """Begin to make the release; one that is under way already goes on."""
        known = self.release_job()
        if known is not None and not known.is_over:
            return
        given = self.about(*REPORTED) | {
            "text": self.opened.text,
            "force": force,
            "leave_out": leave_out,
        }
        # each release is an act of its own, so none is answered from an earlier one
        act = secrets.token_hex(8)
        self.released_from = self.opened.notice().digest
        self.releasing = self.board.ask("work", "tasks.release", given, depends=act).key
        with contextlib.suppress(OutputError):  # it is made, even if that cannot be remembered
            write_whole(self.opened.runs / RELEASING, self.releasing)

    def release_job(self) -> Job | None:
        """The release that was begun last, as far as it is, if only before the studio started."""
        if not self.releasing:
            with contextlib.suppress(OSError):
                self.releasing = (self.opened.runs / RELEASING).read_text(encoding="utf-8")
        return self.board.get(self.releasing) if self.releasing else None

    def receive(self, name: str, file: BinaryIO) -> Path:
        """Keep a file that was sent to the studio, for its owner only, under a name of its own."""
        plain = Path(name.replace("\\", "/")).name
        if not is_table_name(Path(plain)):
            raise PlanError("This is no table; CSV, Parquet, Excel, SPSS and Stata files are read.")
        target = self.root / plain
        try:
            number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER)
            with os.fdopen(number, "wb") as kept:
                shutil.copyfileobj(file, kept)
        except FileExistsError:
            raise PlanError(
                f"There is a file {plain} in the folder already; pick it, or rename yours."
            ) from None
        except OSError as error:
            target.unlink(missing_ok=True)
            raise PlanError(f"The file could not be kept ({error.strerror}).") from None
        return target

    def stages(self) -> list[Stage]:
        """The screens with how they stand."""
        known = None if self.project is None else self._standing()
        return [Stage(path, title, state_of(path, known)) for path, title in STAGES]

    def _standing(self) -> Known:
        """What is known of the plan as it is now."""
        try:
            plan = self.plan()
        except OntomaskError:
            return Known(readable=False)
        asked = {"open": self.asks_whose(), "columns": bool(plan.schema.undecided)}
        account = self.known("account")
        before = self._asked.get("account")
        return Known(
            needing=self.needing(),
            asked=frozenset(path for path, is_asked in asked.items() if is_asked),
            explored=self._explored(),
            measured=computed([account], earlier=bool(before)),
            found=account.result if account else None,
            released=self.release_state(),
        )

    def _explored(self) -> str:
        """How the comparisons stand: of methods, and of the levels of a generalization."""
        cells = [self.board.get(key_of("exploring.cell", given)) for *_, given in self._grid()]
        jobs = [*cells, self.known("solutions")]
        return computed(jobs, earlier=bool(self._cells or self._asked.get("solutions")))

    def release_state(self) -> str:
        """How the release stands."""
        plan, job = self.plan(), self.release_job()
        is_ours = self.released_from == self.opened.notice().digest
        changed = max(map(_changed, self._files()), default=0.0)
        running = job if job is not None and (is_ours or not job.is_over) else None
        return made_of(plan.target, plan.text, changed, running)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Files below a folder, hidden ones and those of releases left aside."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == MANIFEST for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield Path(entry.path)
        elif depth and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), depth - 1)


def _is_ours(path: Path) -> bool:
    return is_table_name(path) or (path.name == PLAN)


def _stamp(table: Path) -> str:
    """What tells two states of a file apart without reading it."""
    try:
        found = table.stat()
    except OSError:
        return "gone"
    return f"{found.st_mtime_ns}-{found.st_size}"


def _changed(file: Path) -> float:
    """When a file was changed last; one that has gone was not."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _plan_or_problem(project: Project) -> Plan | OntomaskError:
    from ontomask.plan.plan import Plan

    try:
        return Plan.parse(project.text, name=project.plan.name, folder=project.folder)
    except OntomaskError as error:
        return error


def fraction_of(text: str) -> float:
    """A share that a form says in percent."""
    try:
        percent = float(text)
    except ValueError:
        percent = 0.0
    if not 0 < percent <= 100:
        raise PlanError("The share of the population in the table must be above 0 and at most 100.")
    return percent / 100
