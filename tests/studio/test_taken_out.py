"""Each attack fails, and would succeed if the guard against it were taken out."""

import pytest

from ontomask.studio import answers, guard, session
from ontomask.studio.guard import Guard

SET = {"name": "age", "key": "role", "value": "other"}


def foreign_host(browser, opened):
    return browser.get("/version", headers={"host": "evil.example:8123"}).status_code == 200


def foreign_origin(browser, opened):
    return browser.get("/version", headers={"origin": "http://evil.example"}).status_code == 200


def cross_site(browser, opened):
    return browser.get("/version", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def no_cookie(browser, opened):
    return browser.get("/version", cookies={}).status_code == 200


def used_link(browser, opened):
    link = browser.keys.link
    browser.get(f"/?token={link}", cookies={})
    return "set-cookie" in browser.get(f"/?token={link}", cookies={}).headers


def forged_form(browser, opened):
    fields = {**SET, "version": opened.opened.notice().digest}
    browser.ask("POST", "/columns/set", data=fields)
    return 'role = "other"' in opened.opened.text


def path_outside(browser, opened):
    browser.post("/open/pick", {"path": "../outside.csv"})
    return opened.picked is not None


def large_upload(browser, opened):
    headers = {"content-length": str(2**31), "form-token": browser.keys.form}
    headers["content-type"] = "application/x-www-form-urlencoded"
    answer = browser.ask("POST", "/open/upload", content=b"x", headers=headers)
    return "too much" not in answer.text


def inline_script(browser, opened):
    return "default-src" not in browser.get("/open").headers.get("content-security-policy", "")


def readable_upload(browser, opened):
    files = {"file": ("kept.csv", b"a,b\n1,2\n")}
    browser.ask("POST", "/open/upload", data={"form-token": browser.keys.form}, files=files)
    return bool((opened.root / "kept.csv").stat().st_mode & 0o077)


def any_host(patch):
    patch.setattr(
        Guard, "_answer", lambda self, scope, found=Guard._answer: _as_if_ours(self, scope, found)
    )


def _as_if_ours(self, scope, found):
    headers = [pair for pair in scope["headers"] if pair[0] != b"host"]
    return found(self, {**scope, "headers": [*headers, (b"host", next(iter(self.hosts)).encode())]})


def any_page(patch):
    patch.setattr(Guard, "_is_ours", lambda self, headers: True)


def any_secret(patch):
    patch.setattr(guard, "same", lambda given, known: True)


def any_link(patch):
    patch.setattr(guard.Keys, "exchange", lambda self, token: True)


def any_form(patch):
    patch.setattr(answers, "same", lambda given, known: True)


def any_path(patch):
    patch.setattr(session.Session, "inside", lambda self, path: self.root / path)


def any_size(patch):
    patch.setattr(answers, "LARGEST", 2**40)


def no_headers(patch):
    patch.setattr(guard, "HEADERS", {})


def any_mode(patch):
    patch.setattr(session, "OWNER", 0o644)


ATTACKS = [
    (foreign_host, any_host),
    (foreign_origin, any_page),
    (cross_site, any_page),
    (no_cookie, any_secret),
    (used_link, any_link),
    (forged_form, any_form),
    (path_outside, any_path),
    (large_upload, any_size),
    (inline_script, no_headers),
    (readable_upload, any_mode),
]


@pytest.mark.parametrize(("attack", "taken_out"), ATTACKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("guarded", [True, False])
def test_an_attack_succeeds_only_without_its_guard(
    browser, session, folder, monkeypatch, attack, taken_out, guarded
):
    (folder.parent / "outside.csv").write_text("a\n1\n")
    if not guarded:
        taken_out(monkeypatch)
    assert attack(browser, session) is not guarded
