"""As many threads as there are cores for this process, not as many as the machine has."""

import os
import subprocess
import sys

import pytest

from ontomask import cores
from ontomask.kernels.blocks import allowed_threads


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Let files say how long the process may run."""

    def tell(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        files = [("new",), ("quota", "period")]
        paths = [tuple(tmp_path / name for name in one) for one in files]
        monkeypatch.setattr(cores, "QUOTAS", tuple(paths))
        cores.available_cores.cache_clear()

    monkeypatch.setattr(cores, "_own_cores", lambda: 8)
    yield tell
    cores.available_cores.cache_clear()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({}, 8),
        ({"new": "max 100000\n"}, 8),
        ({"new": "200000 100000\n"}, 2),
        ({"new": "150000 100000\n"}, 2),
        ({"new": "50000 100000\n"}, 1),
        ({"new": "9900000 100000\n"}, 8),
        ({"new": "nonsense\n"}, 8),
        ({"new": "\n"}, 8),
        ({"quota": "-1\n", "period": "100000\n"}, 8),
        ({"quota": "300000\n", "period": "100000\n"}, 3),
        ({"quota": "300000\n", "period": "0\n"}, 8),
        ({"quota": "300000\n"}, 8),
    ],
)
def test_no_more_cores_than_the_group_of_processes_has_time_for(texts, expected, told):
    told(**texts)
    assert cores.available_cores() == expected


def test_loops_have_as_many_threads(told, monkeypatch):
    monkeypatch.delenv("ONTOMASK_THREADS", raising=False)
    told(new="300000 100000")
    assert allowed_threads() == 3
    monkeypatch.setenv("ONTOMASK_THREADS", "5")
    assert allowed_threads() == 5


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="not on this system")
def test_a_process_that_is_kept_on_one_core_has_one():
    program = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    program += "from ontomask.cores import available_cores; print(available_cores())"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert ran.stdout.strip() == b"1"
