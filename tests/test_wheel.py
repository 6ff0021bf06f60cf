"""The built wheel, installed without extras into a fresh environment, does what the README says.

It is built from the sdist, which holds the tests as well.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("__pycache__", "*.egg-info", ".*", "build", "dist", "site", "ontomask-demo")
UNREACHABLE = re.compile(r"connection|name resolution|network is unreachable", re.IGNORECASE)
pytestmark = pytest.mark.skipif(
    "ONTOMASK_SLOW" not in os.environ, reason="it takes minutes: set ONTOMASK_SLOW=1 as CI does"
)
EXTRA_PACKAGES = (
    "sklearn",
    "scipy",
    "rdflib",
    "fastexcel",
    "pyreadstat",
    "simple_icd_10_cm",
    "pandas",
)


def called(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that sees nothing of this environment."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    listed = [str(one) for one in command]
    return subprocess.run(listed, cwd=folder, env=outside, capture_output=True, text=True)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """The folder of the sdist and of the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("wheel") / "source"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.copy(ROOT / ".importlinter", folder)
    built = called(sys.executable, "-m", "build", "--no-isolation", folder=folder)
    assert built.returncode == 0, built.stderr
    return folder / "dist"


@pytest.fixture(scope="module")
def programs(distributions) -> Path:
    """The folder of programs of an environment that has the core of the package only."""
    folder = distributions.parent
    (wheel,) = distributions.glob("*.whl")
    environment = folder / "env"
    venv.create(environment)
    constraints = ROOT / "constraints.txt"
    install = ("install", "--no-compile", "--retries", "1", "-c", constraints, wheel)
    pip = (sys.executable, "-m", "pip", "--python", environment)
    done = called(*pip, *install, folder=folder)
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("the dependencies of the core cannot be fetched: there is no network")
    assert done.returncode == 0, done.stderr
    take_kernels_along(environment)
    return environment / ("Scripts" if os.name == "nt" else "bin")


def take_kernels_along(environment: Path) -> None:
    """Let the environment have what is compiled already: it would take a minute there as well.

    Numba goes by the size and time of the sources.
    """
    own = ROOT / "src" / "ontomask" / "kernels"
    (installed,) = environment.rglob("ontomask/kernels")
    for source in own.glob("*.py"):
        shutil.copystat(source, installed / source.name)
    shutil.copytree(own / "__pycache__", installed / "__pycache__", dirs_exist_ok=True)


def test_tests_can_be_run_from_the_sdist(distributions):
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tested = {str(one.relative_to(ROOT)) for one in (ROOT / "tests").rglob("*.py")}
    assert tested <= names
    assert {"pyproject.toml", "constraints.txt", "Makefile", "tools/try_pythons.py"} <= names
    assert not [name for name in names if "__pycache__" in name]


COMPILED = """
import ontomask as om
taxonomy = om.Taxonomy.from_edges([("flu", "illness"), ("cold", "illness")])
print(taxonomy.lcs(["flu", "cold"]), taxonomy.distances(["flu", "cold"])[0, 1] > 0)
"""


def test_kernels_are_compiled_from_the_wheel(programs, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    done = called(programs / "python", "-c", COMPILED, folder=tmp_path)
    assert (done.stdout.split(), done.stderr) == (["illness", "True"], "")
    assert list((tmp_path / "kernels").rglob("*.nbi"))


def test_no_extra_came_along(programs, tmp_path):
    lines = "\n".join(f"print('{one}', find_spec('{one}') is None)" for one in EXTRA_PACKAGES)
    code = f"from importlib.util import find_spec\n{lines}"
    found = called(programs / "python", "-c", code, folder=tmp_path).stdout.split()
    assert found == [word for one in EXTRA_PACKAGES for word in (one, "True")]


def test_demo_init_run_and_compare_work(programs, tmp_path):
    def ontomask(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = called(programs / "ontomask", *arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    ontomask("demo", "example")
    released = sorted(one.name for one in (tmp_path / "example" / "release").iterdir())
    assert released == ["discharges.csv", "manifest.json", "report.html"]
    lines = (tmp_path / "example" / "discharges.csv").read_text().splitlines(keepends=True)
    (tmp_path / "patients.csv").write_text("".join(lines[:301]))
    ontomask("init", "patients.csv")
    text = (tmp_path / "patients.toml").read_text(encoding="utf-8")
    assert "undecided" in {one.get("role") for one in tomllib.loads(text)["columns"].values()}
    decided = text.replace('"undecided"', '"sensitive"').replace("unchanged = 1", "unchanged = 10")
    (tmp_path / "patients.toml").write_text(decided)
    ontomask("check", "patients.toml")
    ontomask("run", "patients.toml")
    ontomask("compare", "patients.toml", "--methods", "recoding,sa-mdav", "--k", "3,5")
