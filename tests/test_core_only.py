"""The package works with its core dependencies alone: everything else is hidden from it here."""

import ast
import importlib.metadata as metadata
import re
import runpy
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SCRIPT = f"""
import importlib.metadata as metadata
import re
import sys
import tomllib

PROJECT = {str(ROOT / "pyproject.toml")!r}
"""
SCRIPT += """


def name_of(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement).group().lower().replace("_", "-")


def needed(name, seen):
    if name in seen:
        return seen
    seen.add(name)
    for requirement in metadata.requires(name) or []:
        if "extra ==" not in requirement:
            try:
                needed(name_of(requirement), seen)
            except metadata.PackageNotFoundError:
                pass
    return seen


core = {"ontomask"}
with open(PROJECT, "rb") as file:  # what is installed may have been declared earlier
    for requirement in tomllib.load(file)["project"]["dependencies"]:
        needed(name_of(requirement), core)
owners = metadata.packages_distributions()


def hidden(fullname):
    top = fullname.partition(".")[0]
    distributions = {name_of(one) for one in owners.get(top, [])}
    return bool(distributions) and not distributions & core


class Hiding:
    # finds what a finder finds, except optional packages: they are simply not there

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, fullname, path=None, target=None):
        return None if hidden(fullname) else self.finder.find_spec(fullname, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
for optional in ("rdflib", "simple_icd_10_cm", "sklearn", "scipy", "pandas", "pytest"):
    try:
        __import__(optional)
    except ImportError:
        continue
    raise SystemExit(f"{optional} could be imported: the test hides nothing")
"""


def run(body: str) -> subprocess.CompletedProcess[str]:
    code = SCRIPT + textwrap.dedent(body)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_every_public_name_and_the_knowledge_layer_work():
    result = run("""
        import ontomask as om
        for name in om.__all__:
            dir(getattr(om, name))
        icd9 = om.load_taxonomy("icd9cm")
        print(icd9.map(["25000", "Diabetes mellitus"]).ids, icd9.distances(["250", "401.9"]).shape)
    """)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "('250.00', '250') (2, 2)"


def test_a_plan_runs_with_report_and_manifest(tmp_path):
    result = run(f"""
        from pathlib import Path
        from ontomask.cli.demonstration import prepare
        from ontomask.plan import Plan
        plan = prepare(Path({str(tmp_path / "demo")!r}))
        table = plan.with_name("discharges.csv")
        lines = table.read_text().splitlines(keepends=True)
        table.write_text("".join(lines[:121]))
        outcome = Plan.read(plan).run()
        print(sorted(one.name for one in outcome.folder.iterdir()))
    """)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['discharges.csv', 'manifest.json', 'report.html']"


WITHOUT_SCIPY = """
import sys
sys.modules.update(scipy=None, sklearn=None)
import pytest
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
METHODS = "tests/test_shares.py::test_the_evaluation_of_every_method_tells_shares"
MODELS = "tests/methods/generalization/test_recounted.py::test_every_model_is_recounted"
CLUSTERS = (
    "tests/evaluate/test_evaluation.py::test_an_evaluation_reads_as_table_dictionary_and_json"
)


def test_every_method_and_every_model_works_without_scipy():
    """Nor does Numba ask for it, as it does for products of matrices inside of kernels."""
    chosen = (METHODS, MODELS, CLUSTERS, "-k", "not mondrian and not local and not strata")
    command = [sys.executable, "-c", WITHOUT_SCIPY, *chosen]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert "skipped" not in result.stdout


def test_what_needs_an_extra_says_which(tmp_path):
    turtle = tmp_path / "tiny.ttl"
    turtle.write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n<http://x/a> a owl:Class .\n"
    )
    result = run(f"""
        import os
        os.environ["ONTOMASK_CACHE"] = {str(tmp_path / "cache")!r}
        import ontomask as om
        for source in ("icd10cm", {str(turtle)!r}):
            try:
                om.load_taxonomy(source)
            except om.errors.DependencyError as error:
                print(error)
    """)
    assert result.returncode == 0, result.stderr
    assert 'pip install "ontomask[icd10]"' in result.stdout
    assert 'pip install "ontomask[rdf]"' in result.stdout


def name_of(requirement: str) -> str:
    return re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower().replace("_", "-")


def imported() -> set[str]:
    """The packages that some module of the package imports, at once or later."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names - {"ontomask"}


def needs(name: str) -> list[str]:
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def test_every_package_that_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {name_of(one) for group in groups for one in group} - {"ontomask"}
    below = {name_of(one) for name in declared for one in needs(name)}
    owners = metadata.packages_distributions()
    for package in imported():
        # what is too large for every installation has the name of its package
        distributions = {name_of(one) for one in owners.get(package, [package])}
        assert distributions & (declared | below), f"{package} is used but not declared"


def test_an_installation_without_extras_weighs_less_than_600_megabytes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    sizes = runpy.run_path(str(ROOT / "benchmarks" / "installed_size.py"))["sizes"]()
    assert {"numpy", "numba", "llvmlite", "polars", "ontomask"} <= {*sizes}
    assert "scipy" not in sizes
    assert 400e6 < sum(sizes.values()) < 600e6, sizes


@pytest.mark.skipif(not (ROOT / "src").exists(), reason="only the wheel is here, not its sources")
def test_the_container_has_what_it_names_and_runs_as_a_normal_user():
    """Containers cannot be built in a test; what the file says can be compared with the project."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"\.whl\)\[(.+?)\]", text)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    (python,) = set(re.findall(r"^FROM python:(\S+)-slim", text, re.MULTILINE))
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    users = re.findall(r"^USER (\S+)$", text, re.MULTILINE)
    assert users
    assert users[-1] not in ("root", "0")
    assert f"useradd --create-home {users[-1]}" in text
    assert text.index("USER ") < text.index("RUN ontomask warm") < text.index("ENTRYPOINT")
