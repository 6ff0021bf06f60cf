"""Who is answered by the studio, and who is not; each check is tried by itself."""

import os
import random
import re
import socket
import string

import pytest

from ontomask.studio.guard import COOKIE
from ontomask.studio.serve import serve

CHANGES = [
    "/columns/set",
    "/steps/add",
    "/steps/set",
    "/history/undo",
    "/release/run",
    "/open/pick",
]
PAGES = [
    "/open",
    "/columns",
    "/protection",
    "/explore",
    "/utility",
    "/risk",
    "/release",
    "/history",
]


def test_the_link_is_good_for_one_browser(browser):
    link = browser.keys.link
    first = browser.get(f"/?token={link}", cookies={})
    assert first.status_code == 303
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}={browser.keys.cookie};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    again = browser.get(f"/?token={link}", cookies={})
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize("token", ["", "wrong", "ä", "None"])
def test_a_wrong_token_opens_nothing(browser, token):
    assert browser.get("/", params={"token": token}, cookies={}).status_code == 401


@pytest.mark.parametrize("path", [*PAGES, "/part/columns", "/static/studio.js", "/version"])
def test_without_the_cookie_nothing_is_shown(browser, path):
    answer = browser.get(path, cookies={})
    assert answer.status_code == 401
    assert "discharges" not in answer.text


@pytest.mark.parametrize("path", [*PAGES, "/version"])
def test_a_name_bound_anew_to_this_machine_is_refused(browser, path):
    for host in (
        "evil.example:8123",
        "127.0.0.1:1",
        "127.0.0.1",
        "localhost.evil.example:8123",
        "",
    ):
        assert browser.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_foreign_page_can_neither_ask_nor_change(browser, headers):
    before = browser.get("/version").json()
    assert browser.get("/columns", headers=headers).status_code == 403
    for path in CHANGES:
        assert browser.post(path, headers=headers).status_code == 403
    assert browser.get("/version").json() == before


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_a_form_without_its_token_changes_nothing(browser, session, path, token):
    before = session.opened.text
    fields = {} if token is None else {"form-token": token}
    fields |= {
        "name": "age",
        "key": "role",
        "value": "other",
        "version": session.opened.notice().digest,
    }
    answer = browser.ask("POST", path, data=fields)
    assert answer.status_code == 403
    as_json = browser.ask("POST", path, json=fields)
    assert as_json.status_code == 403
    assert session.opened.text == before


def test_every_answer_has_its_headers(browser):
    for path in [*PAGES, "/nowhere", "/static/studio.js"]:
        answer = browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "",
        "a\0b",
        "discharges.csv/..",
        "~/.ssh/id_rsa",
        "x" * 300,
    ],
)
def test_no_path_outside_the_folder_is_opened(browser, session, path):
    answer = browser.post("/open/pick", {"path": path})
    assert answer.status_code == 422
    assert session.picked is None


def test_a_link_out_of_the_folder_is_not_followed(browser, session, folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    (folder / "inside.csv").symlink_to(secret)
    assert browser.post("/open/pick", {"path": "inside.csv"}).status_code == 422
    assert session.picked is None


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/jobs/../../plan.toml/events",
        "/download/../plan.toml",
        "/report/%2e%2e",
    ],
)
def test_no_file_is_reached_by_an_address(browser, path):
    assert browser.get(path).status_code == 404


def test_an_upload_keeps_to_the_folder_and_to_its_owner(browser, session, folder):
    files = {"file": ("../../evil.csv", b"a,b\n1,2\n")}
    answer = browser.ask(
        "POST", "/open/upload", data={"form-token": browser.keys.form}, files=files
    )
    assert answer.status_code == 303
    kept = folder / "evil.csv"
    assert session.picked == kept
    assert kept.stat().st_mode & 0o077 == 0
    again = browser.ask("POST", "/open/upload", data={"form-token": browser.keys.form}, files=files)
    assert again.status_code == 422
    assert "already" in again.text
    other = {"file": ("evil.exe", b"MZ")}
    refused = browser.ask(
        "POST", "/open/upload", data={"form-token": browser.keys.form}, files=other
    )
    assert refused.status_code == 422


def test_too_large_a_request_is_refused_before_it_is_read(browser):
    answer = browser.ask(
        "POST",
        "/open/upload",
        content=b"x",
        headers={
            "content-type": "multipart/form-data; boundary=x",
            "content-length": str(2**31),
            "form-token": browser.keys.form,
        },
    )
    assert answer.status_code == 422
    assert "put the file into the folder" in answer.text


HEADERS = ["accept", "x-requested-with", "form-token", "referer", "content-type", "range"]


def _noise(generator, length):
    return "".join(generator.choice(string.printable + "äß漢\u202e") for _ in range(length))


FUZZED = int(os.environ.get("ONTOMASK_FUZZED", "150"))
"""How many requests are tried; 10,000 take a few minutes."""


def test_fuzzed_requests_are_answered_without_a_trace(browser, session, capfd):
    """Any method, path, header and body: refused or answered, never an error of the server."""
    generator = random.Random(FUZZED)
    paths = [
        *PAGES,
        *CHANGES,
        "/part/x",
        "/jobs/x/events",
        "/jobs/x/stop",
        "/steps/move",
        "/steps/remove",
        "/history/note",
        "/explore/grid",
        "/explore/adopt",
        "/download/x",
        "/report/x",
        "/account/x",
        "/columns/0",
        "/columns/hierarchy",
        "/open/person",
        "/sections/about",
        "/sections/x",
        "/steps/goal",
        "/steps/advise",
        "/explore/levels",
        "/release/sign",
        "/part/solutions",
        "/x",
    ]
    names = [
        "name",
        "key",
        "value",
        "version",
        "step",
        "to",
        "k",
        "method",
        "path",
        "note",
        "names",
        "sizes",
        "limit",
        "here",
    ]
    for _ in range(FUZZED):
        method = generator.choice(
            ["GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"]
        )
        path = generator.choice(paths)
        if path == "/release/run":
            continue
        fields = {
            generator.choice(names): _noise(generator, generator.randrange(12)) for _ in range(4)
        }
        if generator.random() < 0.7:
            fields["form-token"] = browser.keys.form
        query = {_noise(generator, 3): _noise(generator, 5)} if generator.random() < 0.3 else None
        headers = {generator.choice(HEADERS): _noise(generator, 8).encode()} if query else None
        answer = browser.ask(
            method,
            path,
            data=fields if method != "GET" else None,
            params=query,
            headers=headers,
        )
        assert answer.status_code < 500, (method, path, fields)
        assert "Traceback" not in answer.text
    assert session.opened.text
    assert "".join(capfd.readouterr()) == "", "a request wrote to the terminal"


def test_the_link_can_be_followed_as_soon_as_it_is_told(tmp_path):
    class FollowedError(Exception):
        pass

    def say(text):
        port = int(re.search(r"127\.0\.0\.1:(\d+)", text).group(1))
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        raise FollowedError

    with pytest.raises(FollowedError):
        serve(tmp_path, say, browser=False)
