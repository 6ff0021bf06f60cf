"""Take pictures of every screen of the studio, in the system's Chromium.

Without options, those of docs/studio.md: the demonstration, 1280 pixels wide. To look at all of
them while working on the studio, with any table:

    python tools/studio_pictures.py --out pictures --table claims.csv --widths 1280 390 \
        --schemes light dark
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

from ontomask.plan.plan import Plan
from ontomask.samples import discharges
from ontomask.writing import write_rows

DOCS = Path(__file__).parents[1] / "docs" / "assets" / "studio"
PATIENCE = 240_000
SCREENS = {
    "open": ("/open", "table.rows"),
    "columns": ("/columns", ".meter [data-part] strong"),
    "column": ("/columns/{column}", "table.ladder"),
    "concepts": ("/columns/{nominal}?of={nominal}.{concepts}#tree", ".apart"),
    "protection": ("/protection", "table.pairs"),
    "explore": ("/explore", "[data-part]:not(:has(.job)) table tbody tr"),
    "lattice": ("/explore?view=solutions", "svg.lattice"),
    "utility": ("/utility", "iframe.report"),
    "map": ("/utility?view=map&first={column}&second={target}", "table.map"),
    "classifiers": ("/utility?view=classifiers", ".curves"),
    "records": ("/utility?view=records", "table.pairs"),
    "risk": ("/risk?percent=10", "[data-part] .estimates"),
    "release": ("/release", "h1"),
    "history": ("/history", "h1"),
}


@contextlib.contextmanager
def studio(folder: Path) -> Iterator[str]:
    """A studio over a folder, and the link that it prints."""
    command = [sys.executable, "-m", "ontomask.cli", "studio", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        said = ""
        while not (found := re.search(r"http://\S+token=\S+", said)):
            said += server.stdout.readline()
        yield found.group(0)
    finally:
        server.kill()
        server.wait()


def begin(page: Page, link: str, table: str, target: str) -> None:
    """From the list of tables to a release of a plan that generalizes."""
    page.goto(link)
    page.click(f"text={table}")
    page.wait_for_selector("table.rows")
    page.click("text=Make a plan")
    page.click("text=That is right")
    page.wait_for_selector("table.columns")
    while page.query_selector("tr.undecided"):
        count = len(page.query_selector_all("tr.undecided"))
        page.click("tr.undecided button:has-text('sensitive')")
        while len(page.query_selector_all("tr.undecided")) >= count:
            page.wait_for_timeout(100)
    page.goto(page.url.replace("/columns", "/protection"))
    page.click("summary:has-text('What matters most?')")
    page.click("button:has-text('Choose generalization')")
    page.wait_for_selector("h2:has-text('1. generalization')")
    page.wait_for_selector("table.pairs, [role=alert]:visible")
    page.goto(page.url.replace("/protection", "/utility?view=classifiers"))
    if target and page.query_selector(f"#target option[value='{target}']"):
        page.select_option("#target", target)
        page.click("button:has-text('Judge')")
        page.wait_for_selector("#told:visible")
    page.goto(page.url.split("/utility")[0] + "/release")
    page.click("button.primary")
    page.wait_for_selector(".card h2:has-text('promise'), [role=alert]:visible")


def places(folder: Path, column: str, target: str) -> dict[str, object]:
    """What addresses need: the places of columns and of the first nominal one, two concepts."""
    plan = Plan.read(next(folder.glob("*-project/plan.toml")))
    names = list(plan.schema)
    found: dict[str, object] = {"column": names.index(column), "nominal": 0, "concepts": "0.0"}
    found["target"] = names.index(target) if target in names else 0
    for place, declared in enumerate(plan.schema.values()):
        taxonomy = getattr(declared, "taxonomy", None)
        if taxonomy is not None:
            apart = [taxonomy.ids[-1], taxonomy.ids[-len(taxonomy) // 3]]
            pair = ".".join(map(str, taxonomy.indices_of(apart)))
            return found | {"nominal": place, "concepts": pair}
    return found


def take(
    page: Page, address: str, out: Path, options: argparse.Namespace, known: dict[str, object]
) -> None:
    """A picture of each screen in each width and scheme."""
    screens = {name: SCREENS[name] for name in options.only or SCREENS}
    for width in options.widths:
        page.set_viewport_size({"width": width, "height": options.height})
        for scheme in options.schemes:
            page.emulate_media(color_scheme=scheme)
            for name, (path, awaited) in screens.items():
                page.goto(address + path.format(**known))
                try:
                    page.wait_for_selector(awaited, state="attached")
                except Error:
                    print(f"{name} did not come to an end")
                page.wait_for_timeout(400)
                plain = len(options.widths) * len(options.schemes) == 1
                file = f"{name}.png" if plain else f"{name}-{width}-{scheme}.png"
                page.screenshot(path=str(out / file), full_page=options.full)


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DOCS)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--target", default="status")
    parser.add_argument("--column", default="age")
    parser.add_argument("--widths", type=int, nargs="+", default=[1280])
    parser.add_argument("--height", type=int, default=860)
    parser.add_argument("--schemes", nargs="+", default=["light"])
    parser.add_argument("--scale", type=float, default=0.75)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="+", choices=SCREENS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        name = put(folder, options.table)
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page: Any = chromium.new_page(device_scale_factor=options.scale)
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda one: one.type == "error" and print("console:", one.text))
        with studio(folder) as link:
            begin(page, link, name, options.target)
            address = re.match(r"http://[^/]+", link)
            assert address is not None
            take(
                page,
                address.group(0),
                options.out,
                options,
                places(folder, options.column, options.target),
            )


def put(folder: Path, table: Path | None) -> str:
    """The table in the folder, under its name; the demonstration by default."""
    if table is not None:
        shutil.copy(table, folder / table.name)
        return table.name
    columns = discharges(2000, 1)
    write_rows(folder / "discharges.csv", (columns, *zip(*columns.values(), strict=True)))
    return "discharges.csv"


if __name__ == "__main__":
    main()
