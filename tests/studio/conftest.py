"""A studio over a small table, asked without a network."""

import asyncio

import httpx
import pytest

from ontomask.samples import discharges
from ontomask.studio.guard import COOKIE, Keys
from ontomask.studio.jobs import Board
from ontomask.studio.serve import session_for
from ontomask.studio.web import application
from ontomask.writing import write_rows

PORT = 8123
ADDRESS = f"http://127.0.0.1:{PORT}"
PLAN = """\
# a plan
seed = 1

[input]
path = "discharges.csv"

[columns.sex]
kind = "flat"
role = "quasi"

[columns.age]
kind = "numeric"
role = "quasi"   # years

[columns.charge]
kind = "numeric"
role = "sensitive"

[[steps]]
method = "microaggregation"
k = 5
"""


class Browser:
    """Asks the application as a browser would."""

    def __init__(self, app, keys):
        self.app, self.keys = app, keys
        self.cookies = {COOKIE: keys.cookie}

    def ask(self, method, path, **options):
        async def asked():
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=True)
            async with httpx.AsyncClient(
                transport=transport, base_url=ADDRESS, cookies=options.pop("cookies", self.cookies)
            ) as client:
                return await client.request(method, path, **options)

        return asyncio.run(asked())

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, fields=None, **options):
        return self.ask(
            "POST", path, data={"form-token": self.keys.form, **(fields or {})}, **options
        )


@pytest.fixture
def folder(tmp_path):
    columns = discharges(400, 1)
    write_rows(tmp_path / "discharges.csv", (columns, *zip(*columns.values(), strict=True)))
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture(scope="session")
def workers():
    """Processes that all tests share: starting one takes seconds."""
    board = Board()
    yield board.workers
    board.close()


@pytest.fixture
def session(folder, workers):
    session = session_for(folder)
    session.board.workers = workers
    session._warm = True  # nothing waits for kernels that no test needs
    yield session
    session.board.leave()


@pytest.fixture
def browser(session):
    keys = Keys()
    return Browser(application(session, keys, PORT), keys)
