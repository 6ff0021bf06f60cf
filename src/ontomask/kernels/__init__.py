"""Compiled loops: arrays in, arrays out. Nothing here knows tables, names or files.

Numba keeps what it has compiled in a folder. Where neither package nor home can be written to, one
is made here, before the first kernel is seen. What was compiled from other sources, before an
upgrade, is taken out of it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numba

from ontomask.errors import OntomaskWarning, OutputError

SETTINGS: Any = numba.config
WAY_OUT = "set NUMBA_CACHE_DIR to a folder that this user may write to"


SOURCES = "ontomask-sources"  # the file that notes what the kernels in a folder were compiled from


def compiled_before() -> bool:
    """Whether kernels that were compiled earlier lie ready; True where none are compiled at all."""
    return FOLDER is None or any(FOLDER.glob("*.nbi"))


def _ensure_folder() -> Path | None:
    """The folder of compiled kernels; a temporary one where Numba finds none to keep them in.

    Without a folder it refuses every kernel. The folder is this user's alone (Numba would run what
    it finds there), is shared with processes started from here, and goes when this one ends.
    """
    if SETTINGS.DISABLE_JIT:
        return None
    probe: Any
    try:
        probe = numba.njit(cache=True)(_probe)
    except RuntimeError:
        folder = _temporary_folder()
        atexit.register(_remove, folder, os.getpid())
        SETTINGS.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder
        warnings.warn(
            "Compiled kernels cannot be kept on this machine, so each run compiles them again; "
            f"{WAY_OUT}.",
            OntomaskWarning,
            stacklevel=2,
        )
        probe = numba.njit(cache=True)(_probe)
    kept = Path(probe.stats.cache_path)
    _forget_outdated(kept)
    return kept


def _forget_outdated(folder: Path) -> None:
    """Remove the kernels in a folder that were compiled from other sources than these.

    Numba compiles a kernel again when its own file changes, but not when that of a kernel does that
    it calls: after an upgrade it would go on running a part of the old version.
    """
    note, sources = folder / SOURCES, _digest_of_sources()
    with contextlib.suppress(OSError):
        if note.read_text() == sources:
            return
    with contextlib.suppress(OSError):  # another process may have been quicker
        for index in folder.glob("*.nbi"):
            index.unlink(missing_ok=True)
        note.write_text(sources)


def _digest_of_sources() -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _probe() -> None:
    """Lies where the kernels lie, so Numba looks for a folder as it does for them."""


def _temporary_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="ontomask-")
    except OSError:
        raise OutputError(
            f"There is no folder to keep compiled kernels in, not even a temporary one; {WAY_OUT}."
        ) from None


def _remove(folder: str, owner: int) -> None:
    """Take the folder away, unless this is a forked process: its parent still needs it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


FOLDER = _ensure_folder()
"""Where compiled kernels are kept."""
