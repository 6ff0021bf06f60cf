"""The report in a real browser: no request, no console error, no sideways scrolling."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ontomask as om
from ontomask.comparison import Cell, Comparison
from ontomask.report.document import render
from ontomask.report.facts import Limit

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        if (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--dump-dom",
)
PHONE = 390


def visit(page: Path, folder: Path, *more: str) -> tuple[str, set[str], list[str]]:
    """Open a page; return its document, the addresses asked for, and the console's lines."""
    log = folder / f"{page.stem}-net.json"
    command = [
        str(BROWSER),
        *QUIET,
        f"--user-data-dir={folder / f'{page.stem}-profile'}",
        f"--log-net-log={log}",
        *more,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, requests(log), console


def requests(log: Path) -> set[str]:
    """Every address that a document asked for; the browser's own errands have no origin."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    started = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return {one["url"] for one in started if one["initiator"] != "not an origin"}


@pytest.fixture(scope="module", params=["public", "internal"])
def report(request, cases, tmp_path_factory) -> Path:
    account = cases["microaggregation"].gathered(
        plan="[columns.age]\nkind = 'numeric'", limits=[Limit("record linkage", 0.12, 0.1)]
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(account, internal=request.param == "internal"), encoding="utf-8")
    return path


def test_the_report_asks_for_nothing_and_has_no_console_error(report, tmp_path):
    document, asked, console = visit(report, tmp_path)
    assert document.count("<svg") > 5
    assert asked == set()
    assert console == []


def test_a_page_that_asks_and_errs_is_caught(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><title>bad</title><img src='http://tracker.invalid/pixel.png'>"
        "<link rel='stylesheet' href='http://tracker.invalid/style.css'>"
        "<script>console.error('something went wrong')</script>",
        encoding="utf-8",
    )
    _, asked, console = visit(page, tmp_path)
    assert asked == {"http://tracker.invalid/pixel.png", "http://tracker.invalid/style.css"}
    assert any("something went wrong" in line for line in console)


def test_the_policy_stops_what_a_hostile_value_would_load(report, tmp_path):
    page = tmp_path / "planted.html"
    planted = (
        "<img src='http://tracker.invalid/pixel.png'><script>document.title = 'run'</script></body>"
    )
    page.write_text(
        report.read_text(encoding="utf-8").replace("</body>", planted), encoding="utf-8"
    )
    document, asked, console = visit(page, tmp_path)
    assert asked == set()
    assert "<title>run</title>" not in document
    assert len(console) == 2


def asked_on_a_phone(page: Path, folder: Path, question: str, width: int = PHONE) -> str:
    """What a page answers when it is laid out in the width of a phone, all tables unfolded."""
    frame = folder / f"{page.stem}-phone.html"
    frame.write_text(
        f"<!doctype html><iframe id='it' width='{width}' height='800' style='border:0' "
        f"src='{page.as_uri()}'></iframe><p id='answer'></p><script>"
        "document.getElementById('it').onload = (event) => {"
        " const inside = event.target.contentDocument;"
        " inside.querySelectorAll('details').forEach((one) => { one.open = true; });"
        " inside.documentElement.scrollWidth;"  # lays the page out
        " setTimeout(() => {"
        f"  document.getElementById('answer').textContent = 'answer: ' + ({question}) + '.';"
        " }, 300);"  # by then animations that follow scrolling have begun
        "};</script>",
        encoding="utf-8",
    )
    allowed = ("--allow-file-access-from-files", "--virtual-time-budget=2000")
    document, _, _ = visit(frame, folder, *allowed)
    found = re.search(r"answer: (.*?)\.</p>", document)
    assert found is not None
    return found[1]


def width_on_a_phone(page: Path, folder: Path) -> int:
    """How wide a page is on a phone."""
    return int(asked_on_a_phone(page, folder, "inside.documentElement.scrollWidth"))


TOLD = """[...inside.querySelectorAll('.scroll')].map((one) => {
  const hint = one.querySelector('.sideways');
  return (one.scrollWidth > one.clientWidth ? 'wide' : 'fits')
    + (hint && hint.offsetHeight ? '-told' : '-untold');
}).join(' ')"""


@pytest.mark.parametrize("width", [280, PHONE, 700, 1200])
def test_tables_that_scroll_say_so(report, width, tmp_path):
    """How wide they are depends on the fonts that there are."""
    answers = {*asked_on_a_phone(report, tmp_path, TOLD, width=width).split()}
    assert "fits-untold" in answers
    assert answers <= {"wide-told", "fits-untold"}
    assert width > 280 or "wide-told" in answers


def test_a_phone_does_not_scroll_sideways(report, tmp_path):
    assert width_on_a_phone(report, tmp_path) <= PHONE


def test_long_names_do_not_widen_the_page(case, remade, tmp_path):
    long = {"town": "place_of_residence_" * 5, "age": "years " * 20}
    columns = {long.get(name, name): column for name, column in case.schema.items()}
    schema = om.Schema.of(columns)
    account = remade(om.Microaggregation(k=5), case.frame.rename(long), schema).account
    page = tmp_path / "long.html"
    page.write_text(render(account), encoding="utf-8")
    assert width_on_a_phone(page, tmp_path) <= PHONE


def test_a_comparison_asks_for_nothing_and_fits_a_phone(tmp_path):
    cells = [
        Cell(
            f"method_{'long_' * place}{place}",
            k,
            1,
            k * 0.015,
            0.1,
            0.9 / k,
            0.0,
            0.09,
            0,
            0.1,
            1.0,
            0,
        )
        for place in range(9)
        for k in (2, 5, 10)
    ]
    failed = Cell("failed", 3, 1, error="too_long_a_word" * 20)
    page = Comparison((*cells, failed)).report(tmp_path / "grid.html", max_risk=0.2)
    document, asked, console = visit(page, tmp_path)
    assert document.count("<svg") == 2 + 9
    assert (asked, console) == (set(), [])
    assert width_on_a_phone(page, tmp_path) <= PHONE


def test_a_page_too_wide_for_a_phone_is_caught(tmp_path):
    page = tmp_path / "wide.html"
    page.write_text("<!doctype html><div style='width: 900px'>wide</div>", encoding="utf-8")
    assert width_on_a_phone(page, tmp_path) > PHONE


def test_it_prints_as_a_document_of_several_pages(report, tmp_path):
    target = tmp_path / "report.pdf"
    visit(report, tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={target}")
    pages = len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))
    assert 3 <= pages <= 20
