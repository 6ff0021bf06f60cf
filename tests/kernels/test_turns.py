"""No two processes compile the same kernel: one waits, and is told that it waits."""

import os
import subprocess
import sys
import threading

import pytest

from ontomask.kernels import turns
from ontomask.kernels.compiling import compiling

pytestmark = pytest.mark.skipif(turns.FILE is None, reason="nothing can be locked")

HOLDER = """
import sys
from ontomask.kernels.turns import turn
with turn("this"):
    print("mine", flush=True)
    sys.stdin.readline()
"""


def another():
    """A process that wants the same turn, and has it until it is told something."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", HOLDER], env=environment, **pipes)


@pytest.fixture
def holder():
    """A process that has a turn until it is ended."""
    with another() as process:
        assert process.stdout.readline() == "mine\n"
        yield process
        process.kill()


def test_one_waits_until_the_other_is_done_or_gone(holder):
    told, waited = threading.Event(), []

    def wait():
        with compiling(lambda active: active and told.set()), turns.turn("this"):
            waited.append(holder.poll())

    with turns.turn("something else"):
        pass
    thread = threading.Thread(target=wait)
    thread.start()
    assert told.wait(30)
    assert not waited
    holder.kill()
    thread.join(30)
    assert len(waited) == 1


def test_a_turn_is_given_back():
    with turns.turn("this"):
        pass
    with another() as process:
        try:
            assert process.communicate("done\n", timeout=30)[0] == "mine\n"
        finally:
            process.kill()


def test_where_nothing_can_be_locked_nobody_waits(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(turns, "FOLDER", blocked / "folder")
    assert turns._file() is None
    monkeypatch.setattr(turns, "FILE", None)
    with turns.turn("this"):
        pass
