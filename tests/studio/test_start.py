"""What is imported before the first screen is shown, and that what is named is found later."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

from ontomask.samples import discharges
from ontomask.studio import changes, session
from ontomask.writing import write_rows

HEAVY = ("numpy", "numba", "polars", "scipy", "pydantic", "narwhals", "ontomask.plan.plan")
FIRST = """
import asyncio, sys
from pathlib import Path
import httpx, uvicorn
from ontomask.studio.guard import COOKIE, Keys
from ontomask.studio.serve import session_for
from ontomask.studio.web import application

session, keys = session_for(Path(sys.argv[1])), Keys()
session._warm = True  # that is begun after the first screen, in a process of its own

async def asked():
    transport = httpx.ASGITransport(app=application(session, keys, 8123))
    cookies = {COOKIE: keys.cookie}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8123", cookies=cookies
    ) as client:
        addresses = ["/open", "/static/report.css", "/static/studio.css", "/version", "/nowhere"]
        return [(await client.get(one)).status_code for one in addresses]

print(*asyncio.run(asked()), *(one for one in sys.argv[2:] if one in sys.modules))
"""


@pytest.mark.parametrize("given", [".", "discharges.csv"])
def test_the_first_screen_waits_for_nothing_that_computes(tmp_path, given):
    columns = discharges(20, 1)
    write_rows(tmp_path / "discharges.csv", (columns, *zip(*columns.values(), strict=True)))
    command = [sys.executable, "-c", FIRST, str(tmp_path / given), *HEAVY]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["200", "200", "200", "200", "404"], done.stderr


@pytest.mark.parametrize("room", [session, changes])
def test_tasks_are_where_they_are_named(room):
    named = re.findall(r'"(tasks|columns|exploring|measuring)\.(\w+)"', inspect.getsource(room))
    assert named
    for place, name in named:
        task = getattr(importlib.import_module(f"ontomask.studio.{place}"), name)
        assert "progress" in inspect.signature(task).parameters


def test_names_of_the_plan_are_imported_when_they_are_used():
    code = "import sys, ontomask.plan.outputs as _; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    plan = importlib.import_module("ontomask.plan")
    assert plan.Plan is importlib.import_module("ontomask.plan.plan").Plan
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = plan.Nothing
