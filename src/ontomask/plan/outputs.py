"""Putting the files of a run in their place: all of them at once, or none.

They are written to a hidden folder beside the final one, which is then given the final name by a
single renaming. A run that is killed leaves at most hidden folders; the next run to the same place
takes them away, or puts back the release that was just being replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ontomask.errors import DataError, OntomaskError, OutputError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks; hidden folders stay there
    fcntl = None  # type: ignore[assignment]

__all__ = ["INTERNAL", "MANIFEST", "REPORT", "check_free", "staged"]

REPORT, INTERNAL, MANIFEST = "report.html", "report-internal.html", "manifest.json"
PARTIAL, REPLACED = "partial", "replaced"
ATTEMPTS = 10


def check_free(folder: Path, *, force: bool) -> None:
    """Refuse to overwrite a release, and ever to replace what is none."""
    with _in_words(folder):
        if _is_free(folder):
            return
        strange = _strange(folder)
    if strange is not None:
        raise OutputError(
            f"{folder} exists and {strange}, so it is not replaced; choose another folder under "
            "[output]."
        )
    if not force:
        raise OutputError(
            f"{folder} holds a release already; nothing was changed. Choose another folder under "
            "[output], or say --force (force=True) to replace it."
        )


def _is_free(folder: Path) -> bool:
    if folder.is_symlink():
        return False
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def _strange(folder: Path) -> str | None:
    """What tells that a folder is more, or other, than a release; None if it is just a release."""
    if folder.is_symlink() or not folder.is_dir():
        return "is no folder"
    table = _table(folder / MANIFEST)
    if table is None:
        return "is no release of ontomask"
    known = {table, REPORT, INTERNAL, MANIFEST}
    others = sorted(one.name for one in folder.iterdir() if one.name not in known)
    return f"holds {others[0]!r} beside a release" if others else None


def _table(manifest: Path) -> str | None:
    """The table that a manifest of ontomask describes; many other things are called manifest."""
    try:
        described = json.loads(manifest.read_text(encoding="utf-8"))
        return str(described["output"]["table"]) if described["versions"]["ontomask"] else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


@contextlib.contextmanager
def staged(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Lend a hidden folder; when all went well, what it holds becomes `folder`."""
    with _in_words(folder):
        _recover(folder)
        check_free(folder, force=force)
        stage, lock = _new_stage(folder)
        try:
            with _without(stage):
                yield stage
            _settle(stage)
            _move(stage, folder, force=force)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
        finally:
            os.close(lock)


@contextlib.contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    """Answer a full disk or a lost permission with a sentence."""
    try:
        yield
    except OntomaskError:
        raise
    except OSError as error:
        raise OutputError(
            f"The release could not be written ({error.strerror or error}); nothing was put in "
            f"{folder}."
        ) from error


@contextlib.contextmanager
def _without(stage: Path) -> Iterator[None]:
    """Speak of files as they will be called, not of the hidden folder."""
    try:
        yield
    except DataError as error:
        raise OutputError(str(error).replace(f"{stage}{os.sep}", "")) from error


# The hidden folders ---------------------------------------------------------------------------


def _prefix(folder: Path, what: str) -> str:
    return f".{folder.name}.{what}-"


def _leftovers(folder: Path, what: str) -> list[Path]:
    name = re.compile(re.escape(_prefix(folder, what)) + r"[a-z0-9_]+")
    return [one for one in folder.parent.iterdir() if name.fullmatch(one.name)]


def _new_stage(folder: Path) -> tuple[Path, int]:
    """Make a hidden folder and lock it, so that other runs leave it alone."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            stage = Path(tempfile.mkdtemp(prefix=_prefix(folder, PARTIAL), dir=folder.parent))
            lock = _locked(stage) if fcntl is not None else os.open(os.devnull, os.O_RDONLY)
            if lock is not None:  # else another run took it for a leftover
                return stage, lock
    except OSError as error:
        raise OutputError(
            f"Nothing can be written to {folder.parent} ({error.strerror}); choose another folder "
            "under [output]."
        ) from None
    raise OutputError(f"Too many runs write to {folder.parent} at once; run it again.")


def _locked(folder: Path) -> int | None:
    """Hold a lock on a folder for as long as this process lives; None if another one has it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), folder.stat()):  # it may have gone meanwhile
            return handle
    os.close(handle)
    return None


def _recover(folder: Path) -> None:
    """Take away what killed runs left; put back a release that was being replaced."""
    if fcntl is None or not folder.parent.is_dir():
        return
    for old in _leftovers(folder, REPLACED):
        if (lock := _locked(old)) is not None:
            _put_back(old, folder)
            os.close(lock)
    for stale in _leftovers(folder, PARTIAL):
        if (lock := _locked(stale)) is not None:
            shutil.rmtree(stale, ignore_errors=True)
            os.close(lock)


def _put_back(old: Path, folder: Path) -> None:
    """Give a release its name back, unless there is a newer one."""
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(folder)


# Into their place -----------------------------------------------------------------------------


def _settle(stage: Path) -> None:
    """Have everything on the disk before it gets its name; the folder as readable as others are."""
    stage.chmod(_usual_mode(stage))
    for path in stage.iterdir():
        _flush(path, os.O_RDWR)
    if fcntl is not None:
        _flush(stage, os.O_RDONLY)


def _usual_mode(folder: Path) -> int:
    """The mode that a new folder gets there; asking for the umask would change it for a moment."""
    usual = folder / ".usual"
    usual.mkdir()
    try:
        return stat.S_IMODE(usual.stat().st_mode)
    finally:
        usual.rmdir()


def _flush(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move(stage: Path, folder: Path, *, force: bool) -> None:
    check_free(folder, force=force)
    # without force it is never replaced, even if another run took the name since it was free
    if not force or _is_free(folder):
        _take_name(stage, folder)
        return
    lock = _locked(folder) if fcntl is not None else os.open(os.devnull, os.O_RDONLY)
    if lock is None:
        raise OutputError(f"Another run is just replacing {folder}; nothing was changed.")
    replaced = folder.with_name(_prefix(folder, REPLACED) + stage.name.rsplit("-", 1)[-1])
    try:
        folder.rename(replaced)
        _take_name(stage, folder)
    finally:
        if replaced.exists():
            _put_back(replaced, folder)
        os.close(lock)


def _take_name(stage: Path, folder: Path) -> None:
    try:
        stage.rename(folder)
    except OSError:
        check_free(folder, force=False)  # another run may have been quicker
        raise
