"""The documentation tells the truth: snippets run, print what is shown, and nothing is left out."""

import importlib
import inspect
import json
import re
import shutil
import sys
import tomllib
import zipfile
from dataclasses import MISSING, fields
from pathlib import Path

import polars as pl
import pytest

import ontomask as om
from ontomask import errors, privacy, quality
from ontomask.checks import AnyOf, Choice, constraints_of
from ontomask.cli import voice
from ontomask.methods.base import Method
from ontomask.methods.presets import presets
from ontomask.methods.registry import METHODS
from ontomask.plan import Plan
from ontomask.plan.vocabulary import PRIVACY
from ontomask.taxonomy.bundled import taxonomies
from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.readers import readers

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SNIPPETS = DOCS / "snippets"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SCRIPTS = sorted(SNIPPETS.glob("*.py"))
SHOWN = ("python", "toml", "sh")
BLOCK = re.compile(r"(?:<!-- snippet: (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
OUTPUT = re.compile(r"<!-- output: (\S+) -->\n```text\n(.*?)```", re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| ", re.MULTILINE)


def tool(name):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


snippets = tool("docs_snippets")
reference = tool("docs_reference")


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(*languages):
    for page in PAGES:
        for name, language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                yield page, name, language, code


# Snippets -------------------------------------------------------------------------------------


def test_every_block_of_code_is_a_snippet_file():
    for page, name, language, code in blocks(*SHOWN):
        if language == "sh" and (page.name == "README.md" or "ontomask " not in code):
            continue  # how to install, and the README's own commands, are no snippets
        if language == "sh" and code.startswith("pip install"):
            continue
        if page.name == "notebook.md":
            continue  # made as a whole, see test_docs_notebook.py
        assert name, f"{page.name}: a block of {language} without its snippet file:\n{code}"
        file = SNIPPETS / name
        assert file.read_text(encoding="utf-8") == code, f"{page.name}: {name} differs"


def test_every_snippet_file_is_shown():
    shown = {name for _, name, _, _ in blocks(*SHOWN) if name}
    assert {file.name for file in SNIPPETS.iterdir() if file.is_file()} == shown


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.stem)
def test_snippets_run_and_print_what_is_shown(file):
    printed = snippets.printed(file.name)
    assert printed
    for page in PAGES:
        for name, shown in OUTPUT.findall(page.read_text(encoding="utf-8")):
            if name == file.name:
                assert shown == printed, f"{page.name}; run tools/docs_snippets.py"


def test_the_tutorial_prints_what_is_shown():
    shown = dict(OUTPUT.findall(text_of("tutorial.md")))
    assert set(snippets.TUTORIAL) < set(shown)
    assert shown == snippets.tutorial()


def test_the_release_of_the_tutorial_is_as_described(tmp_path):
    """Nearly half of the diagnoses are inner concepts, and newborns' diagnoses come with an age."""
    snippets.prepare(tmp_path / "example")
    shutil.copy(tmp_path / "example" / "discharges.csv", tmp_path / "patients.csv")
    plan = Plan.parse((SNIPPETS / "plan_patients.toml").read_text("utf-8"), folder=tmp_path)
    released = plan.run().release.frame
    icd9 = om.load_taxonomy("icd9cm")
    inner = sum(bool(icd9.children(code)) for code in released["diagnosis"])
    assert 0.4 < inner / len(released) < 0.5
    newborn = released["diagnosis"].str.starts_with("V30")
    assert released.filter(newborn)["age"].max() >= 3


ELSEWHERE = {"demo.sh", "warm.sh"}
"""Commands that take longer and have tests of their own."""
COMMANDS = sorted(
    {file.name for file in SNIPPETS.glob("*.sh")} - ELSEWHERE - set(snippets.TUTORIAL)
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with what the commands on the pages speak of, small."""
    folder = tmp_path_factory.mktemp("desk")
    pl.DataFrame(om.discharges(200, seed=1)).write_csv(folder / "patients.csv")
    shutil.copy(SNIPPETS / "plan_patients.toml", folder / "plan.toml")
    (folder / "wards.txt").write_text("hospital\n    medicine\n    surgery\n", encoding="utf-8")
    write_release(folder / "SnomedCT_InternationalRF2.zip")
    return folder


def write_release(path):
    """A SNOMED CT release of two concepts."""
    component = "id\teffectiveTime\tactive\tmoduleId"
    common = "20250101\t1\t900000000000207008"
    described = "conceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId"
    linked = "sourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId"
    name = "900000000000003001\t{}\t900000000000448009"
    files = {
        "Concept_Snapshot_INT": [f"{component}\tdefinitionStatusId"]
        + [f"{one}\t{common}\t900000000000074008" for one in (138875005, 404684003)],
        "Description_Snapshot-en_INT": [
            f"{component}\t{described}",
            f"1011\t{common}\t138875005\ten\t{name.format('SNOMED CT Concept')}",
            f"2010\t{common}\t404684003\ten\t{name.format('Clinical finding (finding)')}",
        ],
        "Relationship_Snapshot_INT": [
            f"{component}\t{linked}",
            f"3027\t{common}\t404684003\t138875005\t0\t116680003\t900000000000011006\t1",
        ],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for kind, lines in files.items():
            archive.writestr(f"Snapshot/sct2_{kind}_20250101.txt", "\r\n".join([*lines, ""]))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_run(name, desk, monkeypatch):
    monkeypatch.chdir(desk)
    further = ("--workers", "1") if name == "compare.sh" else ()
    assert snippets.command(name, *further).strip()


def test_definitions_are_those_of_the_code():
    found = [
        (page.name, module, table)
        for page in PAGES
        for _, module, table in snippets.DEFINED.findall(page.read_text(encoding="utf-8"))
    ]
    assert found
    for page, module, table in found:
        assert table == snippets.definitions_table(module), f"{page}; run tools/docs_snippets.py"


# Reference pages ------------------------------------------------------------------------------


def test_the_reference_pages_of_the_checkout_are_current():
    written = {page.relative_to(DOCS).as_posix() for page in (DOCS / "reference").iterdir()}
    assert written == set(reference.PAGES) == {"reference/commands.md", "reference/plan.md"}
    for place, make in reference.PAGES.items():
        assert text_of(place) == make(), f"{place}; run tools/docs_snippets.py"


LINK = re.compile(r"(?<!`)\[[^]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")
BUILT = "reference/api.md"
"""The only page that exists in the built site alone."""


@pytest.mark.skipif(not (ROOT / "src").exists(), reason="only the wheel is here, not its sources")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_work_in_a_checkout(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if not link.endswith(BUILT):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_links_to_the_built_page_say_that_it_is_built():
    found = 0
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").split("\n* "):
            if f"({BUILT}" in line:
                found += 1
                assert "`make docs`" in line, f"{page.name}: {line}"
    assert found


# Plans ----------------------------------------------------------------------------------------

BASE = """
[input]
path = "patients.csv"
[columns.patient]
kind = "identifier"
[columns.age]
kind = "numeric"
[columns.charge]
kind = "numeric"
role = "sensitive"
"""
STEP = '[[steps]]\nmethod = "microaggregation"\nk = 5\n'
WARD = '[columns.ward]\nkind = "flat"\n'
DIAGNOSIS = '[columns.diagnosis]\nkind = "nominal"\ntaxonomy = "icd9cm"\n'
PLANS = sorted(SNIPPETS.glob("*.toml"))


def whole(text):
    """A plan with what a snippet leaves out."""
    if "[input]" in text:
        columns = BASE[BASE.index("[columns.patient]") :]
        return text if "[[steps]]" in text else f"{text}\n{columns}{STEP}"
    parts = [BASE, text, *(one for one in (WARD, DIAGNOSIS) if one.split("\n")[0] not in text)]
    return "\n".join(parts if "[[steps]]" in text else [*parts, STEP])


def write_vocabulary(folder):
    """A download of OMOP with one concept."""
    folder.mkdir()
    columns = "concept_id concept_name domain_id vocabulary_id standard_concept concept_code"
    rows = {
        "CONCEPT": [f"{columns} invalid_reason".split(), [*"1a", "Condition", "SNOMED", *"Sc", ""]],
        "CONCEPT_ANCESTOR": [
            ["ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation"]
        ],
    }
    for table, lines in rows.items():
        (folder / f"{table}.csv").write_text("".join("\t".join(line) + "\n" for line in lines))


@pytest.mark.parametrize("file", PLANS, ids=lambda file: file.stem)
def test_snippets_of_plans_are_understood(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", "a secret of twenty-odd characters")
    write_release(tmp_path / "SnomedCT_InternationalRF2.zip")
    (tmp_path / "wards.txt").write_text("hospital\n    medicine\n    surgery\n")
    (tmp_path / "icd10gm.csv").write_text("code,label\nE11,Type 2 diabetes\nE11.9,uncomplicated\n")
    (tmp_path / "mapping.csv").write_text("value,concept\n8.45,008.45\n")
    write_vocabulary(tmp_path / "vocabulary")
    text = file.read_text(encoding="utf-8")
    plan = Plan.parse(whole(text), folder=tmp_path)
    assert plan.steps
    asked = [step["method"] for step in tomllib.loads(text).get("steps", ())]
    assert [step.name for step in plan.steps] == (asked or ["microaggregation"])


# Pages about methods --------------------------------------------------------------------------


def options_of(constraint):
    if isinstance(constraint, AnyOf):
        return [option for one in constraint.constraints for option in options_of(one)]
    return list(constraint.options) if isinstance(constraint, Choice) else []


def as_shown(field):
    """The default of a parameter as the tables show it."""
    if field.default_factory is not MISSING:
        return f"`{json.dumps(field.default_factory())}`"
    if field.default is MISSING:
        return "required"
    return "not set" if field.default is None else f"`{json.dumps(field.default)}`"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_page_of_a_method_has_every_parameter_with_its_default(name):
    page = text_of(f"methods/{name}.md")
    section = page.partition("## Parameters\n")[2].partition("\n## ")[0]
    common = {field.name for field in fields(Method)}  # on the page of all methods
    expected = [
        (one.name, as_shown(one)) for one in fields(METHODS[name]) if one.name not in common
    ]
    assert ROW.findall(section) == expected
    for parameter, constraint in constraints_of(METHODS[name]).items():
        if parameter not in ("measure", "quality"):  # these have pages of their own
            for option in options_of(constraint):
                assert f'`"{option}"`' in section, f"{name}: {parameter} = {option!r}"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_page_of_a_method_has_every_section(name):
    page = text_of(f"methods/{name}.md")
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert headings == [
        "The idea",
        "In a plan",
        "In Python",
        "The formula",
        "What it promises, and what not",
        "Parameters",
        "When to use it, and when not",
        "Literature",
    ]
    assert '<p class="formula">' in page
    assert f'method = "{name}"' in page
    assert re.search(r"^\* .*\b(19|20)\d\d", page.partition("## Literature")[2], re.S | re.M)


def test_the_list_of_methods_is_complete():
    page = text_of("methods/index.md")
    assert set(re.findall(r"^\| \[`([\w-]+)`\]\(\1\.md\) \|", page, re.MULTILINE)) == set(METHODS)
    listed = dict(re.findall(r"^\| `([\w+-]+)` \| (.*) \|$", page, re.MULTILINE))
    assert {name: listed.get(name) for name in presets()} == presets()


# Pages about models and measures --------------------------------------------------------------


def test_every_privacy_model_is_explained_with_its_parameters():
    page = text_of("privacy-models.md")
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    tables = [found for section in sections[1:] if (found := ROW.findall(section))]
    assert len(tables) == len(PRIVACY)
    for name, kind in PRIVACY.items():
        parameters = [field.name for field in fields(kind.made)]
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert row.endswith(f"| `{kind.made.__name__}({', '.join(parameters)})` |")
        assert [(field.name, as_shown(field)) for field in fields(kind.made)] in tables
        for constraint in constraints_of(kind.made).values():
            for option in options_of(constraint):
                assert f'`"{option}"`' in page
    kinds = {one for one in vars(privacy).values() if inspect.isclass(one)}
    models = {one for one in kinds if issubclass(one, privacy.PrivacyModel)}
    concrete = {one for one in models if not inspect.isabstract(one)}
    assert concrete == {kind.made for kind in PRIVACY.values()}


def test_every_quality_model_is_explained_with_its_parameters():
    page = text_of("quality-models.md")
    table = page.partition("## Parameters")[2]
    for name, kind in quality.QUALITIES.items():
        assert re.search(rf"^\| `{name}`", page, re.MULTILINE)
        for field in fields(kind):
            (row,) = [
                line for line in table.splitlines() if re.match(rf"\|.*`{field.name}`.*\| ", line)
            ]
            owners = row.split("|")[2]
            assert owners.strip() == "all" or f"`{name}`" in owners, f"{name}: {field.name}"


def test_every_format_option_and_measure_is_documented():
    page = text_of("knowledge.md").partition("| format | what it reads |")[2]
    for name, reader in readers().items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        for option in list(inspect.signature(reader.read).parameters)[1:]:
            assert f"`{option}" in row, f"{name}: {option} is not in docs/knowledge.md"
    for measure in MEASURES.values():
        for option in measure.options:
            assert f"`{option}=" in page or f"`{option}=`" in page


def test_every_distance_is_defined_with_its_citation_and_options():
    page = text_of("distances.md")
    for measure in MEASURES.values():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{measure.name}` |")]
        if measure.name != "equality":
            assert measure.citation in row
        for option in measure.options:
            assert f"`{option}`" in page.partition("## Options")[2]


def test_every_error_is_listed():
    page = text_of("guides/errors.md")
    listed = re.findall(r"^\| `(\w+Error)` \|", page, re.MULTILINE)
    assert sorted([*listed, "OntomaskError", "OntomaskWarning"]) == sorted(errors.__all__)


def test_every_exit_code_is_listed():
    page = text_of("guides/errors.md").partition("## Exit codes")[2]
    listed = re.findall(r"^\| (\d+) \| ", page, re.MULTILINE)
    codes = [voice.DONE, voice.PROMISE, voice.USAGE, voice.EXCEEDED, voice.INTERRUPTED]
    assert [int(code) for code in listed] == codes


def test_every_bundled_taxonomy_is_listed():
    page = text_of("knowledge.md")
    for one in taxonomies():
        figures = f"{one.title} | {one.version} | {one.concepts:,} | {one.license}"
        assert f"| `{one.name}` | {figures} |" in page


def test_the_page_of_all_methods_has_what_they_have_in_common():
    section = text_of("methods/index.md").partition("## Every step\n")[2].partition("\n## ")[0]
    assert ROW.findall(section) == [(field.name, as_shown(field)) for field in fields(Method)]
