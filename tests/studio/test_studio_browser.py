"""The studio in a real browser: from a table to a release, and what people do meanwhile."""

import contextlib
import http.server
import itertools
import re
import shutil
import subprocess
import sys
import threading

import pytest

from ontomask.samples import discharges
from ontomask.studio.edits import contents, only_step, set_value
from ontomask.writing import write_rows

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
MOST_CLICKS = 12
PATIENCE = 120_000
REBOUND = "elsewhere.example"
"""A name that the browser believes to be this machine, as after DNS rebinding."""


@contextlib.contextmanager
def studio(folder):
    """A studio in a process of its own, and the link that it prints."""
    command = [sys.executable, "-m", "ontomask.cli", "studio", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while not (found := re.search(r"http://\S+token=\S+", said)):
            line = server.stdout.readline()
            assert line, "the studio ended"
            said += line
        yield found.group(0), server
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as driver:
        told = ["--no-sandbox", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
        browser = driver.chromium.launch(executable_path=BROWSER, args=told)
        yield browser
        browser.close()


@pytest.fixture
def folder(tmp_path):
    columns = discharges(600, 1)
    write_rows(tmp_path / "discharges.csv", (columns, *zip(*columns.values(), strict=True)))
    return tmp_path


class Seen:
    """What a page said to its console and asked of others."""

    def __init__(self, page):
        self.errors, self.requests, self.clicks = [], [], 0
        page.on(
            "console",
            lambda one: (
                one.type == "error" and self.errors.append(f"{one.text} {one.location['url']}")
            ),
        )
        page.on("pageerror", lambda one: self.errors.append(str(one)))
        page.on("request", lambda one: self.requests.append(one.url))
        page.set_default_timeout(PATIENCE)
        self.page = page

    def click(self, what):
        self.clicks += 1
        self.page.click(what)


def test_from_a_table_to_a_release(chromium, folder):
    with studio(folder) as (link, _):
        seen = Seen(chromium.new_page(viewport={"width": 1280, "height": 900}))
        page = seen.page
        page.goto(link)
        seen.click("text=discharges.csv")
        page.wait_for_selector("table.rows")
        seen.click("text=Make a plan")
        seen.click("text=That is right")
        page.wait_for_selector("table.columns")
        assert "status" in page.inner_text("tr.undecided")
        seen.click("tr.undecided button:has-text('sensitive')")
        page.wait_for_selector("tr.undecided", state="detached")
        # as it is, a charge is as good as a name: the screen says so, and the limit forbids it
        page.wait_for_selector("text=This needs a look")
        seen.click("tr:has([aria-label='choose charge']) button:has-text('others know it')")
        page.wait_for_selector("text=This needs a look", state="detached")
        seen.click("text=Go on to protection")
        page.wait_for_selector("table.pairs")
        seen.click("text=Go on to the release")
        seen.click("button.primary")
        page.wait_for_selector("text=Every promise was kept")
        assert page.locator("text=the release is not finished").count() == 0
        page.wait_for_selector("#rail a[href='/release']:has-text('ready')")
        assert seen.clicks <= MOST_CLICKS
        assert seen.errors == []
        address = re.match(r"http://[^/]+", link).group(0)
        assert {re.match(r"[a-z]+:(//[^/]+)?", one).group(0) for one in seen.requests} <= {
            address,
            "data:",
        }
    released = folder / "discharges-project" / "plan-release" / "discharges.csv"
    assert "status" in released.read_text().splitlines()[0]


@pytest.fixture(scope="module")
def opened(chromium, tmp_path_factory):
    """A page of a studio over the demonstration's plan, its address and the plan's file."""
    folder = tmp_path_factory.mktemp("studio")
    columns = discharges(400, 1)
    write_rows(folder / "discharges.csv", (columns, *zip(*columns.values(), strict=True)))
    with studio(folder) as (link, _):
        seen = Seen(chromium.new_context().new_page())
        page = seen.page
        page.goto(link)
        page.click("text=discharges.csv")
        page.click("text=Make a plan")
        page.click("text=That is right")
        page.wait_for_selector("table.columns")
        yield page, re.match(r"http://[^/]+", link).group(0), folder / "discharges-project"
        meant = ("422", "ERR_INTERNET_DISCONNECTED")  # a mistake that was made, a night's sleep
        assert [one for one in seen.errors if not any(word in one for word in meant)] == []


def test_rows_are_decided_on_by_keys_and_stay_where_they_are(opened):
    page, address, project = opened
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(f"{address}/columns")
    page.wait_for_selector("tr.undecided")
    page.evaluate("document.querySelector('table.columns').kept = true")
    page.focus("tr.undecided .roles button")
    page.keyboard.press("2")
    page.wait_for_selector("tr.undecided", state="detached")
    said = contents((project / "plan.toml").read_text())["columns"]
    assert said["status"]["role"] == "sensitive"
    assert page.evaluate("document.querySelector('table.columns').kept"), "the table was exchanged"
    row = page.locator("tr:has([aria-label='choose status'])").bounding_box()
    assert 0 <= row["y"] <= 500, "the page went elsewhere"
    page.focus("input[aria-label='choose age']")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("4")
    page.wait_for_selector("#told:has-text('undecided, was others know it')")
    page.wait_for_selector("tr.undecided >> nth=1")
    assert page.evaluate("document.activeElement.type") == "checkbox"
    page.click("#told >> text=Undo")
    page.wait_for_selector("tr.undecided", state="detached")
    assert contents((project / "plan.toml").read_text())["columns"] == said
    page.focus("input[aria-label='choose county']")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.keyboard.type("ident")
    page.focus("#chosen button:has-text('Set the kind')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told:has-text('county: kind identifier, was flat')")
    page.click("#told >> text=Undo")
    page.wait_for_selector("tr.quasi [aria-label='choose county']")


def test_a_mark_is_adopted_by_a_click(opened):
    page, address, project = opened
    page.goto(f"{address}/explore")
    for name in ("recoding", "resampling"):
        page.uncheck(f"input[value={name}]")
    page.fill("#sizes", "4")
    page.click("button:has-text('Compare')")
    page.click(".on-desk .mark")
    page.wait_for_url("**/protection")
    assert contents((project / "plan.toml").read_text())["steps"][0]["k"] == 4
    page.click("#rail >> text=Undo")
    page.wait_for_selector(".step input[name=k][value='5']")


def test_a_studio_that_was_away_is_followed_again_and_large_files_are_not_sent(opened, tmp_path):
    page, address, _ = opened
    page.goto(f"{address}/open")
    page.context.set_offline(True)
    page.wait_for_selector("#problem:has-text('no longer answers')")
    page.context.set_offline(False)
    page.wait_for_selector("#problem", state="hidden")
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(2**31)
    page.set_input_files("#file", large)
    page.click("text=Copy it into the folder")
    page.wait_for_selector("#problem:has-text('larger than 1 GB')")


def test_a_changed_parameter_reaches_the_preview_and_can_be_undone(opened):
    page, address, project = opened
    page.goto(f"{address}/protection")
    page.wait_for_selector("dd:text-is('5')")
    page.click("summary:has-text('More settings') >> nth=0")
    page.fill(".step input[name=k]", "9")
    page.press(".step input[name=k]", "Tab")
    page.wait_for_selector("#told:has-text('step 1: k 9, was 5')")
    page.wait_for_selector("dd:text-is('9')")
    assert page.locator(".step details[open]").count() == 1, "what was open stays open"
    plan = project / "plan.toml"
    assert "k = 9" in plan.read_text()
    page.fill(".step input[name=k]", "1")
    page.press(".step input[name=k]", "Tab")
    refused = ".field .wrong:text-is('Not saved: k must be a whole number of at least 2, not 1.')"
    page.wait_for_selector(refused)
    page.evaluate("show(false)")  # as when a preview comes late
    assert page.locator(refused).is_visible()
    assert page.input_value(".step input[name=k]") == "9"
    assert "k = 9" in plan.read_text()
    page.click("#rail >> text=Undo")
    page.wait_for_selector("dd:text-is('5')")
    assert page.locator(refused).is_hidden()
    assert page.input_value(".step input[name=k]") == "5"
    assert "k = 5" in plan.read_text()


def test_a_plan_edited_elsewhere_or_in_another_tab_is_noticed(opened):
    page, address, project = opened
    page.goto(f"{address}/history")
    plan = project / "plan.toml"
    plan.write_text(plan.read_text() + "# by hand\n")
    page.wait_for_selector("#changed:visible")
    tab = page.context.new_page()
    tab.goto(f"{address}/protection")
    tab.fill("#about-title", "Discharges")
    tab.press("#about-title", "Tab")
    page.goto(f"{address}/history")
    page.wait_for_selector("text=changed outside the studio")
    tab.close()


def test_a_node_of_the_lattice_is_found_and_fixed(opened):
    page, address, project = opened
    plan = project / "plan.toml"
    few = set_value(plan.read_text(), ["columns"], None)
    for name, kind in {"sex": "flat", "age": "numeric", "county": "flat"}.items():
        few = set_value(few, ["columns", name], {"kind": kind, "role": "quasi"})
    plan.write_text(few)
    page.goto(f"{address}/protection")
    page.click("summary:has-text('What matters most?')")
    page.click("button:has-text('Choose generalization')")
    page.wait_for_selector("h2:has-text('1. generalization')")
    page.goto(f"{address}/explore?view=solutions")
    page.check("input[name=valid]")
    page.wait_for_url("**valid=1**")
    page.wait_for_selector("tr.invalid", state="detached")
    page.click("tbody tr.valid >> text=Look")
    page.wait_for_selector("text=What records look like")
    page.click("a:text-is('Pin') >> nth=0")
    page.wait_for_selector("#pinned")
    page.reload()
    page.wait_for_selector("#pinned")
    page.click("button:has-text('Fix in the plan') >> nth=0")
    page.wait_for_url("**/protection")
    assert "levels" in plan.read_text()
    page.wait_for_selector("table.pairs")
    page.go_back()
    page.wait_for_selector("#pinned")


LATE = """() => {
  const ask = fetch;
  const late = new Promise((go) => { window.release = go; });
  window.fetch = async (...given) => {
    const answer = await ask(...given);
    if (given[0] === window.slow) await late;
    return answer;
  };
  window.slow = location.href;
  window.shown = show(false);
}"""
"""The page is asked for once more, as when a job is over; its answer comes when it is released."""

OVER = """() => {
  const part = document.querySelector("[data-address]"), job = document.createElement("div");
  window.EventSource = class { close() {} };
  Object.assign(job.dataset, { follow: "/jobs/made-up/events", then: part.dataset.part });
  part.append(job);
  follow(job);
  [...part.querySelectorAll("a[data-look]")].find((one) => one.textContent === "Unpin").click();
  job.events.onmessage({ data: '{"state": "done"}' });
}"""
"""A job is over just when something else is looked at."""


def test_what_comes_late_does_not_take_back_what_is_looked_at(opened):
    page, address, _ = opened  # after the lattice: its plan generalizes three columns
    page.goto(f"{address}/explore?view=solutions")
    page.wait_for_selector("a:text-is('Pin')")
    page.evaluate(LATE)
    page.click("a:text-is('Pin') >> nth=0")
    page.wait_for_selector("#pinned")
    page.evaluate("() => { release(); return shown; }")
    assert "pins=" in page.evaluate("document.querySelector('[data-address]').dataset.part")
    page.wait_for_selector("#pinned")
    page.evaluate(OVER)
    page.wait_for_url(lambda url: "pins=" not in url)
    page.wait_for_selector("#pinned", state="detached", timeout=20_000)


def test_a_cut_is_dragged_on_the_histogram(opened):
    page, address, project = opened  # after the lattice: its plan generalizes age
    names = list(contents((project / "plan.toml").read_text())["columns"])
    page.goto(f"{address}/columns/{names.index('age')}")
    page.wait_for_selector(".cut")
    page.fill("#said", "20, 50")
    page.select_option("#way", "cuts")
    assert page.locator(".cut").count() == 2
    box = page.locator(".cut circle").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 5, steps=3)
    page.mouse.up()
    low, high = map(float, page.input_value("#said").split(","))
    assert low == 20 < 50 < high
    page.focus(".cut")
    page.keyboard.press("ArrowRight")
    page.click("text=Build the levels")
    page.wait_for_selector("table.ladder th:has-text('cuts at 21')")
    written = contents((project / "plan.toml").read_text())["steps"][0]["hierarchies"]["age"]
    assert written == {"cuts": [21, high]}


def barriers(page):
    """What axe says keeps people from using a page."""
    return [
        f"{found['id']}: {one['html']}"
        for found in axe.Axe().run(page).response["violations"]
        for one in found["nodes"]
    ]


def test_every_screen_fits_its_window_and_is_accessible(opened):
    page, address, _ = opened
    screens = {
        "open": "table.rows",
        "columns": "table.columns",
        "columns/1": "svg.cuts",
        "utility?view=map&first=0&second=1": "table.map",
        "protection": "table.pairs",
        "explore?view=solutions": "svg.lattice",
        "utility?view=classifiers": "[data-part] .notice",
        "risk": "table[data-rows]",
        "release": "h1",
        "history": "h1",
    }
    for width, scheme in itertools.product([1280, 390], ["light", "dark"]):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        for name, awaited in screens.items():
            page.goto(f"{address}/{name}")
            page.wait_for_selector(awaited)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (name, width, wide)
            assert barriers(page) == [], (name, width, scheme)


def test_words_without_a_concept_are_repaired_by_keys(opened):
    page, address, project = opened
    (project / "words.csv").write_text("sex,diagnosis\n" + "F,410\nM,hart failure\n" * 10)
    plan = project / "plan.toml"
    before = plan.read_text()
    words = {"kind": "nominal", "taxonomy": "icd9cm", "unmapped": "root", "role": "quasi"}
    columns = {"sex": {"kind": "flat", "role": "quasi"}, "diagnosis": words}
    few = set_value(set_value(before, ["columns"], None), ["input"], {"path": "words.csv"})
    for name, said in columns.items():
        few = set_value(few, ["columns", name], said)
    plan.write_text(only_step(few, "microaggregation", {"k": 2}))
    page.goto(f"{address}/columns/1")
    page.wait_for_selector("th:text-is('hart failure')")
    page.focus("tr:has-text('hart failure') .roles button")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Every value means a concept")
    assert "hart failure" in plan.read_text()
    plan.write_text(before)


def test_a_release_beyond_a_limit_is_not_called_finished(opened):
    page, address, project = opened
    plan = project / "plan.toml"
    before = plan.read_text()
    strict = set_value(before, ["limits"], {"max_loss": 0.01})
    plan.write_text(only_step(strict, "microaggregation", {"k": 40}))
    page.goto(f"{address}/release")
    page.click("button.primary")
    page.wait_for_selector("text=A limit of the plan is exceeded, so the release is not finished")
    assert "ready" not in page.inner_text("#rail a[href='/release']")
    plan.write_text(before)


def test_a_job_whose_place_shows_something_else_asks_for_nothing(opened):
    page, address, _ = opened
    page.goto(f"{address}/columns")
    page.wait_for_selector("table.columns")
    finished = 'data: {"state": "done", "done": 1, "said": ""}\n\n'
    page.route(
        "**/jobs/finished/events",
        lambda route: route.fulfill(content_type="text/event-stream", body=finished),
    )
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("""async () => {
        const job = document.createElement("div");
        Object.assign(job.dataset, { follow: "/jobs/finished/events", then: "/part/columns" });
        document.querySelector("main").append(job);
        follow(job);
        for (const name of Object.keys(job.dataset)) delete job.dataset[name];
        await new Promise((done) => job.events.addEventListener("message", done));
        job.remove();
    }""")
    page.wait_for_timeout(200)
    assert f"{address}/jobs/finished/events" in asked
    assert f"{address}/undefined" not in asked
    page.unroute("**/jobs/finished/events")


def test_without_scripts_a_plan_is_made(chromium, folder):
    with studio(folder) as (link, _):
        plain = chromium.new_context(java_script_enabled=False)
        tab = plain.new_page()
        tab.goto(link)
        tab.click("text=discharges.csv")
        tab.click("text=Make a plan")
        for _ in range(60):
            if "/open" in tab.url:
                break
            tab.wait_for_timeout(500)
            tab.reload()
        assert (folder / "discharges-project" / "plan.toml").exists()
        plain.close()


def test_without_scripts_every_part_is_a_page(opened):
    page, address, _ = opened
    kept = page.context.storage_state()
    plain = page.context.browser.new_context(java_script_enabled=False, storage_state=kept)
    tab = plain.new_page()
    tab.goto(f"{address}/columns")
    assert tab.locator("noscript a[href^='/part/']").count() == 3
    tab.click("noscript a[href='/part/columns']")
    for _ in range(60):
        if tab.locator("table.columns").count():
            break
        tab.wait_for_timeout(500)
        tab.reload()
    assert tab.locator("table.columns tbody tr").count() > 2
    assert tab.locator("#rail").count() == 1
    plain.close()


@contextlib.contextmanager
def foreign_page(content):
    """A web page of somebody else, on another port of this machine."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_other_pages_names_and_links_reach_nothing(opened):
    page, address, project = opened
    context, before = page.context, (project / "plan.toml").read_text()
    stranger = context.browser.new_context().new_page()
    assert stranger.goto(f"{address}/?token=wrong").status == 401
    assert stranger.goto(f"{address}/columns").status == 401
    rebound = address.replace("127.0.0.1", REBOUND)
    assert stranger.goto(f"{rebound}/columns").status == 421
    # the steward's own browser, with the cookie, on a page of somebody else
    lure = '<input name="method" value="recoding"><button>Win</button>'
    form = f'<form method="post" action="{address}/steps/add">{lure}</form>'
    with foreign_page(form) as elsewhere:
        tab = context.new_page()
        tab.goto(elsewhere)
        asked = "url => fetch(url, {credentials: 'include'}).then(one => one.text(), () => 'no')"
        assert tab.evaluate(asked, f"{address}/columns") == "no"
        with tab.expect_navigation() as answered:
            tab.click("text=Win")
        assert answered.value.status == 403
    tab.goto(f"{address}/history")
    body = "{method: 'POST', body: new URLSearchParams({method: 'recoding'})}"
    forged = f"url => fetch(url, {body}).then(one => one.status)"
    assert tab.evaluate(forged, f"{address}/steps/add") == 403
    assert (project / "plan.toml").read_text() == before
    tab.close()
    stranger.close()


def test_a_run_survives_a_reload_and_is_stopped(opened):
    page, address, project = opened
    plan = project / "plan.toml"
    step = {"k": 2, "refine": "thorough", "seconds": 60}
    plan.write_text(only_step(plan.read_text(), "microaggregation", step))
    page.set_viewport_size({"width": 1280, "height": 800})
    made = [(path, path.stat().st_mtime_ns) for path in project.glob("*-release/*")]
    page.goto(f"{address}/release")
    page.click("button.primary")
    page.wait_for_selector(".job progress")
    page.reload()
    page.click("button:has-text('Stop')")
    page.wait_for_selector("text=The run was stopped")
    left = [(path, path.stat().st_mtime_ns) for path in project.glob("*-release/*")]
    assert left == made, "nothing was put in place"


def test_a_studio_that_is_killed_loses_nothing(chromium, folder):
    with studio(folder) as (link, server):
        page = Seen(chromium.new_page()).page
        page.goto(link)
        page.click("text=discharges.csv")
        page.click("text=Make a plan")
        page.click("text=That is right")
        page.wait_for_selector("table.columns")
        page.click("tr.undecided button:has-text('sensitive')")
        page.wait_for_selector("tr.undecided", state="detached")
        server.kill()
        page.wait_for_selector("#problem:has-text('no longer answers')")
    with studio(folder / "discharges-project") as (link, _):
        page = Seen(chromium.new_page()).page
        page.goto(link)
        page.goto(re.match(r"http://[^/]+", link).group(0) + "/columns")
        page.wait_for_selector("table.columns")
        assert page.query_selector("tr.undecided") is None
