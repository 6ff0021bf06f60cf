"""Kernels compiled before an upgrade are not run after it."""

import os
import subprocess
import sys

import pytest

from ontomask import kernels

pytestmark = pytest.mark.skipif(bool(kernels.SETTINGS.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def folder(tmp_path):
    """What an earlier version left: a kernel, and a note of the sources it was made from."""
    (tmp_path / "old.nbi").write_bytes(b"")
    (tmp_path / kernels.SOURCES).write_text("of another version")
    return tmp_path


def test_kernels_of_other_sources_go(folder):
    kernels._forget_outdated(folder)
    assert not (folder / "old.nbi").exists()
    (folder / "new.nbi").write_bytes(b"")
    kernels._forget_outdated(folder)
    assert (folder / "new.nbi").exists()


def test_kernels_without_a_note_go(folder):
    (folder / kernels.SOURCES).unlink()
    kernels._forget_outdated(folder)
    assert not (folder / "old.nbi").exists()


def test_a_changed_file_changes_the_note(monkeypatch, tmp_path):
    copy = tmp_path / "kernels"
    copy.mkdir()
    for name in ("__init__.py", "called.py"):
        (copy / name).write_text("first")
    monkeypatch.setattr(kernels, "__file__", str(copy / "__init__.py"))
    before = kernels._digest_of_sources()
    (copy / "called.py").write_text("other")
    assert kernels._digest_of_sources() != before


def test_importing_looks_where_the_kernels_are_kept(tmp_path):
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    program = "import ontomask.kernels"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    (note,) = tmp_path.rglob(kernels.SOURCES)
    kept = note.parent / "old.nbi"
    kept.write_bytes(b"")
    note.write_text("of another version")
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert not kept.exists()
