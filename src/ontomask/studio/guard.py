"""Who may talk to the studio: one browser on this machine, which was given the link.

Every request is looked at before anything else sees it. The checks are independent of each other:
the address it was meant for (against names that are bound anew to this machine), the page it comes
from, the cookie that the opened link was exchanged for, and a token in every form.
"""

from __future__ import annotations

import hmac
import secrets
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "FORM_TOKEN", "Guard", "Keys"]

COOKIE, FORM_TOKEN, TOKEN = "ontomask-studio", "form-token", "token"
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass
class Keys:
    """The secrets of one start of the studio; the link's is good for one use."""

    link: str | None = field(default_factory=_secret)
    cookie: str = field(default_factory=_secret)
    form: str = field(default_factory=_secret)

    def exchange(self, token: str) -> bool:
        """Use the link's token up, if it is the one."""
        if self.link is None or not same(token, self.link):
            return False
        self.link = None
        return True


class Guard:
    """Lets the requests of the one browser through, and puts the headers on all answers."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        self.app = app
        self.keys = keys
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass; hand on one that may."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # a report has a policy of its own
            await send(message)

        answer = self._answer(scope)
        try:
            await (answer or self.app)(scope, receive, with_headers)
        except Exception as error:  # noqa: BLE001 - it was answered; a server would log all of it
            # values of the table may stand in it, so only the places go to the terminal
            traceback.print_tb(error.__traceback__)

    def _answer(self, scope: Scope) -> Response | None:
        """What to say instead of letting the request through; None lets it through."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return _refused("This is a local application; open it under its own address.", 421)
        if not self._is_ours(headers):
            return _refused("This request comes from another page, so it is not answered.", 403)
        entered = self._entered(scope)
        if entered is not None:
            return entered
        if not same(_cookies(headers).get(COOKIE, ""), self.keys.cookie):
            return _refused(
                "Open the studio with the link that it printed when it was started; the link works "
                "once, in one browser.",
                401,
            )
        if scope["method"] in UNSAFE and not same(headers.get(FORM_TOKEN, ""), self.keys.form):
            return None if _is_form(headers) else _refused("The form's token is missing.", 403)
        return None

    def _is_ours(self, headers: Headers) -> bool:
        """Whether a request comes from our own pages, or from no page at all."""
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc not in self.hosts:
            return False
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _entered(self, scope: Scope) -> Response | None:
        """Exchange the token of the opened link for a cookie."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        token = query.get(TOKEN, [""])[0]
        if scope["path"] != "/" or not token or not self.keys.exchange(token):
            return None
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, self.keys.cookie, httponly=True, samesite="strict", path="/")
        return response


def same(given: str, known: str) -> bool:
    """Compare two secrets without telling by the time how far they agree."""
    return hmac.compare_digest(given.encode(), known.encode())


def _refused(sentence: str, status: int) -> Response:
    return PlainTextResponse(sentence + "\n", status)


def _cookies(headers: Headers) -> Mapping[str, str]:
    return cookie_parser(headers.get("cookie", ""))


def _is_form(headers: Headers) -> bool:
    """Whether the token can stand in a field; the handler of forms then looks for it there."""
    kind = headers.get("content-type", "")
    return kind.startswith(("application/x-www-form-urlencoded", "multipart/form-data"))
