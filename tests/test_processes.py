"""The package shares a process with others: forks, threads, folders that cannot be written to."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ontomask

SOURCES = Path(ontomask.__file__).parent
SECONDS = 300
"""A process that hangs is ended; what is not compiled yet may take a while."""

USE = """
    import numpy as np
    import pandas as pd

    import ontomask as om

    PARENTS = {f"c{number}": [f"c{(number - 1) // 3}"] if number else [] for number in range(400)}
    TAXONOMY = om.Taxonomy.from_parents(PARENTS)
    SCHEMA = om.Schema(word=om.Nominal(TAXONOMY), age=om.Numeric())

    def table(seed):
        generator = np.random.default_rng(seed)
        words = generator.choice(list(PARENTS), 900)
        return pd.DataFrame({"word": words, "age": generator.integers(0, 90, 900)})

    def use(seed):
        frame = table(seed)
        for measure in ("logsc", "path", "wu-palmer"):
            TAXONOMY.distances(list(PARENTS), measure=measure)
        om.protect(frame, SCHEMA, om.RankSwapping(k=5), seed=1)
        release = om.protect(frame, SCHEMA, om.Microaggregation(3), seed=1)
        release.scheme.apply(frame)
        return release.digests["output"], release.evaluate().loss.loss
"""


def run(body: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
    code = textwrap.dedent(USE) + textwrap.dedent(body)
    sources = str(SOURCES.parent if folder is None else folder)
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": sources, **environment},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_pool_of_forked_processes_uses_what_its_parent_used():
    result = run("""
        import multiprocessing

        first = use(1)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            again = pool.map_async(use, [1, 1, 2]).get(timeout=120)
        print(again[0] == again[1] == first, again[2] != first)
    """)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_several_threads_use_it_at_once(layer):
    result = run(
        """
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(use, [1, 2, 1, 2, 1, 2]))
        print(len(set(found)), found[0] == found[2] == found[4])
        """,
        NUMBA_THREADING_LAYER=layer,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["2", "True"]


@pytest.fixture(scope="module")
def unwritable(tmp_path_factory):
    """A copy of the package whose folders have a file where Numba wants its own: not even the
    superuser, as whom tests often run, can write there."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(SOURCES, folder / "ontomask", ignore=shutil.ignore_patterns("__pycache__"))
    for package in [one.parent for one in folder.rglob("__init__.py")]:
        (package / "__pycache__").write_text("")
    return folder


NOWHERE = "/proc/nowhere"
"""A home that nobody can make."""

UNKEPT = (
    "Compiled kernels cannot be kept on this machine, so each run compiles them again; set "
    "NUMBA_CACHE_DIR to a folder that this user may write to."
)
NO_HOME = {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "PYTHONDONTWRITEBYTECODE": "1"}
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="any folder can be made here")


@needs_proc
def test_without_a_writable_folder_kernels_are_kept_in_a_temporary_one(unwritable, tmp_path):
    result = run(
        """
        import os

        print(len(TAXONOMY.distances(["c1", "c2"])))
        folder = os.environ["NUMBA_CACHE_DIR"]
        print(os.stat(folder).st_mode & 0o77, any(os.scandir(folder)))
        """,
        unwritable,
        **NO_HOME,
        TMPDIR=str(tmp_path),
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["2", "0 True"]
    assert f"OntomaskWarning: {UNKEPT}" in result.stderr
    assert list(tmp_path.iterdir()) == []


@needs_proc
def test_the_command_line_says_so_in_a_sentence(unwritable, tmp_path):
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "ontomask.cli",
            "taxonomy",
            "distance",
            "icd9cm",
            "250.00",
            "250.01",
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": str(unwritable), **NO_HOME, "TMPDIR": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr
    assert " ".join(result.stderr.split()) == UNKEPT


@needs_proc
def test_a_folder_that_the_user_names_is_used_without_a_word(unwritable, tmp_path):
    result = run(
        'print(len(TAXONOMY.distances(["c1", "c2"])))',
        unwritable,
        **NO_HOME,
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "2\n", "")
    assert list(tmp_path.iterdir())
