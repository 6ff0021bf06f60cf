"""A project: a folder with a plan, every version that it had, and what was computed for it.

Nothing else holds state. The plan is a file that a person may edit while the studio is open: a
version that the studio did not write is noticed and enters the history like any other.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ontomask.errors import OutputError, PlanError
from ontomask.writing import replacing

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["Project", "Version"]

HISTORY, RUNS, LOG, CURRENT, LOCK = "history", "runs", "versions.jsonl", "current", "lock"
OUTSIDE = "changed outside the studio"
SIGNED = "signed off"


@dataclass(frozen=True)
class Version:
    """A version of the plan: what changed, when, after which other version."""

    number: int
    when: str
    said: str
    digest: str
    after: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Project:
    """A plan file and the folders beside it, `history` and `runs`."""

    plan: Path

    @classmethod
    def open(cls, plan: Path, said: str = "opened") -> Project:
        """Open a project; the plan as it is found is its newest version, the first as is `said`."""
        if not plan.is_file():
            raise PlanError(f"There is no plan {plan}; it may have been moved.")
        project = cls(plan.resolve())
        for folder in (project.history, project.runs):
            folder.mkdir(mode=0o700, exist_ok=True)
        project.notice(said)
        return project

    @property
    def folder(self) -> Path:
        """Where the project lies."""
        return self.plan.parent

    @property
    def history(self) -> Path:
        """The folder of the plan's versions."""
        return self.folder / HISTORY

    @property
    def runs(self) -> Path:
        """The folder of what was computed."""
        return self.folder / RUNS

    @property
    def text(self) -> str:
        """The plan as it lies in its file now."""
        try:
            return self.plan.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PlanError(f"The plan {self.plan.name} is no longer there.") from None
        except (OSError, UnicodeDecodeError):
            raise PlanError(f"The plan {self.plan.name} cannot be read as UTF-8 text.") from None

    def versions(self) -> list[Version]:
        """All versions, the oldest first; a line that a power failure cut off is none."""
        try:
            lines = (self.history / LOG).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        read = [version for line in lines if (version := _version(line)) is not None]
        # a note that was written later stands in a line of its own
        return list({version.number: version for version in read}.values())

    def decisions(self) -> list[Version]:
        """The versions that led to the current one, the oldest first; what was undone is none."""
        versions, version = {one.number: one for one in self.versions()}, self.current()
        found: list[Version] = []
        while version is not None:
            found.append(version)
            version = versions.get(version.after) if version.after is not None else None
        return found[::-1]

    def version(self, number: int) -> Version:
        """A version by its number."""
        for one in self.versions():
            if one.number == number:
                return one
        raise PlanError("There is no such version of the plan; reload the page.")

    def current(self) -> Version | None:
        """The version that the plan is at."""
        versions = {version.number: version for version in self.versions()}
        try:
            number = int((self.history / CURRENT).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            number = max(versions, default=0)
        return versions.get(number)

    def notice(self, said: str = "opened") -> Version:
        """The current version; a plan that was changed by others becomes a version first."""
        current = self.current()
        text = self.text
        if current is not None and current.digest == digest_of(text):
            return current
        return self._record(text, OUTSIDE if current else said)

    def save(self, text: str, said: str, *, expected: str) -> Version:
        """Write a new version, unless the plan is no longer the one that was changed.

        `expected` is the digest of the version that the change was made from.
        """
        with self._locked():
            current = self.notice()
            if current.digest != expected:
                raise PlanError(
                    "The plan was changed in the meantime, in an editor or another tab; nothing "
                    "was overwritten. Look at it as it is now, and make your change again."
                )
            if digest_of(text) == current.digest:
                return current
            return self._record(text, said, write=True)

    def undo(self) -> Version:
        """Go back to the version before."""
        with self._locked():
            current = self.notice()
            if current.after is None:
                raise PlanError("There is nothing to undo: this is the first version of the plan.")
            return self._go(current.after)

    def redo(self) -> Version:
        """Go forward again to the newest version made from this one."""
        with self._locked():
            current = self.notice()
            later = [one.number for one in self.versions() if one.after == current.number]
            if not later:
                raise PlanError("There is nothing to redo: this is the last version of the plan.")
            return self._go(max(later))

    def go(self, number: int) -> Version:
        """Go to any version; the others stay in the history."""
        with self._locked():
            self.notice()
            return self._go(self.version(number).number)

    def annotate(self, number: int, note: str) -> Version:
        """Write down why a version was chosen, instead of what was written there."""
        with self._locked():
            version = replace(self.version(number), note=note.strip())
            self._log(version)
            return version

    def record(self, said: str, note: str = "") -> Version:
        """Write down an act that does not change the plan, such as a signature, as a version."""
        with self._locked():
            return self._record(self.text, said, note=note)

    def can_undo(self) -> bool:
        """Whether there is a version before the current one."""
        current = self.current()
        return current is not None and current.after is not None

    def can_redo(self) -> bool:
        """Whether a version was made from the current one."""
        current = self.current()
        return current is not None and any(
            version.after == current.number for version in self.versions()
        )

    def text_of(self, version: Version) -> str:
        """The plan as it was."""
        return (self.history / f"{version.number:06}.toml").read_text(encoding="utf-8")

    def changed(self, version: Version) -> list[str]:
        """The lines that a version took out (-) and put in (+), compared with the one before."""
        before = "" if version.after is None else self.text_of(self.version(version.after))
        compared = difflib.ndiff(before.splitlines(), self.text_of(version).splitlines())
        return [line for line in compared if line[0] in "+-" and line[1:].strip()]

    def _go(self, number: int) -> Version:
        version = self.version(number)
        # the pointer moves last: a plan that is one version ahead of it is noticed, not lost
        write_whole(self.plan, self.text_of(version))
        write_whole(self.history / CURRENT, str(number))
        return version

    def _record(self, text: str, said: str, note: str = "", *, write: bool = False) -> Version:
        """Put a version into the history, and only then, where it is new, in the plan's place.

        So a disk that is full leaves the plan as it was.
        """
        current = self.current()
        number = max((one.number for one in self.versions()), default=0) + 1
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        after = current.number if current else None
        version = Version(number, when, said, digest_of(text), after, note)
        write_whole(self.history / f"{number:06}.toml", text)
        self._log(version)
        if write:
            write_whole(self.plan, text)
        write_whole(self.history / CURRENT, str(number))
        return version

    def _log(self, version: Version) -> None:
        try:
            with (self.history / LOG).open("a", encoding="utf-8") as log:
                # a line of its own even behind one that a power failure cut off
                log.write(f"\n{json.dumps(asdict(version), ensure_ascii=False)}\n")
                log.flush()
                os.fsync(log.fileno())
        except OSError as error:
            raise _unwritten(LOG, error) from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one change be made at a time, by however many servers and tabs."""
        with (self.history / LOCK).open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def digest_of(text: str) -> str:
    """What tells two versions of a plan apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there as it was or as it is to be, whatever happens."""
    try:
        with replacing(path, private=True) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritten(path.name, error) from None


def _unwritten(name: str, error: OSError) -> OutputError:
    return OutputError(f"{name} could not be written ({error.strerror}); nothing was changed.")


def _version(line: str) -> Version | None:
    try:
        return Version(**json.loads(line))
    except (ValueError, TypeError):
        return None
