"""What a plan needs beyond the core is told before anything is run."""

import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ontomask.cli import app
from ontomask.cli.demonstration import prepare
from ontomask.errors import DependencyError, PlanError
from ontomask.extras import EXTRAS, is_there, optional
from ontomask.plan import Plan, execution
from plans import names_in, plan_text, write_people

ROOT = Path(__file__).parent.parent.parent
TARGET = '[evaluation]\ntarget = "charge"\n'
NEEDING = {
    "a classifier": ("sklearn", "classify", TARGET, "[evaluation]"),
    "a workbook out": ("xlsxwriter", "excel", '[output]\ntable = "t.xlsx"\n', "[output]"),
    "an SPSS file out": ("pyreadstat", "stats", '[output]\ntable = "t.sav"\n', "[output]"),
    "a Stata file out": ("pyreadstat", "stats", '[output]\ntable = "t.dta"\n', "[output]"),
}


@pytest.fixture
def hide(monkeypatch):
    return lambda *modules: [monkeypatch.setitem(sys.modules, one, None) for one in modules]


def test_every_extra_of_the_project_has_its_sentence():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {(name, one.partition(">")[0]) for name, many in extras.items() for one in many}
    described = {(one.extra, one.package) for one in EXTRAS.values()}
    assert described == {pair for pair in declared if pair[0] != "all"}


@pytest.mark.parametrize("module", EXTRAS)
def test_an_optional_package_is_there_or_its_sentence_is(module, hide):
    if EXTRAS[module].extra == "spark" and not is_there(module):
        pytest.skip("pyspark is too large for every installation")
    assert is_there(module)
    hide(module)
    assert not is_there(module)
    with pytest.raises(DependencyError, match=rf'pip install "ontomask\[{EXTRAS[module].extra}\]"'):
        optional(module)


@pytest.mark.parametrize(("module", "extra", "more", "place"), NEEDING.values(), ids=NEEDING)
def test_check_and_run_refuse_at_once_and_name_the_extra(
    tmp_path, hide, monkeypatch, module, extra, more, place
):
    write_people(tmp_path)
    plan = Plan.parse(plan_text(more=more), folder=tmp_path)
    assert any(extra in note for note in plan.check().notes)
    hide(module)
    monkeypatch.setattr(execution, "read_declared", None)  # whoever reads the table is too late
    for call in (plan.run, plan.check):
        with pytest.raises(PlanError) as caught:
            call()
        (problem,) = caught.value.problems
        assert problem.place == place
        assert problem.line
        assert f'pip install "ontomask[{extra}]"' in problem.sentence
    assert "plan-release" not in names_in(tmp_path)


@pytest.mark.parametrize("name", ["t.xlsx", "t.sav", "t.dta"])
def test_files_that_need_a_package_to_be_read_are_named_too(tmp_path, hide, name):
    plan = Plan.parse(plan_text(table=name, columns='[columns.age]\nkind = "numeric"\n'))
    hide("fastexcel", "xlsxwriter", "pyreadstat")
    with pytest.raises(PlanError, match="need the package"):
        plan.check()


def test_zero_r_needs_nothing(tmp_path, hide):
    write_people(tmp_path)
    plan = Plan.parse(plan_text(more=TARGET + 'classifiers = ["zero-r"]\n'), folder=tmp_path)
    hide("sklearn")
    assert plan.run().classification is not None


def test_the_demonstration_does_without_what_is_not_there(tmp_path, hide):
    with_all = prepare(tmp_path / "a").read_text(encoding="utf-8")
    hide(*EXTRAS)
    plan = prepare(tmp_path / "b").read_text(encoding="utf-8")
    assert "\ntarget = " in with_all
    assert "\ntarget = " not in plan
    assert '# target = "status"' in plan
    assert 'pip install "ontomask[classify]"' in plan
    prepare(tmp_path / "a")  # a plan of the demonstration is known whoever wrote it
    result = CliRunner().invoke(app, ["check", str(tmp_path / "b" / "plan.toml")])
    assert result.exit_code == 0, result.stderr
