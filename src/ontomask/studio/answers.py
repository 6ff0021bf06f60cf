"""What all answers of the studio share: pages around a part, forms of our own, one sentence."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from ontomask.errors import OntomaskError, PlanError
from ontomask.studio.edits import contents, differences
from ontomask.studio.guard import FORM_TOKEN, Keys, same
from ontomask.studio.session import Session
from ontomask.wording import terse_percent

__all__ = [
    "FITTING",
    "LARGEST",
    "SETTINGS",
    "Answers",
    "Form",
    "has_generalization",
    "is_followed",
    "templates",
]

Form = Mapping[str, str]
Handler = Callable[[Request], Awaitable[Response]]
FITTING = {
    "numeric": ("intervals", "cuts", "star", "file"),
    "date": ("dates", "star", "file"),
    "ordinal": ("order", "star", "file"),
    "nominal": ("", "taxonomy", "star", "file"),
    "flat": ("star", "digits", "file"),
    **dict.fromkeys(("identifier", "weight", "count"), ("file",)),
}
"""By which ways the levels of each kind of column can be built."""
SETTINGS = ("missing", "weight", "format", "measure", "root", "unmapped", "output", "sequences")
TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
"""Characters that turn or override the direction of a text until its end."""
SHARE = re.compile(r"(?<=\d) %|(?<=\.\d)%|(?<=\d)%(?= of )")
LARGEST = 2**30
"""Bytes that may be sent to the studio; larger tables are picked where they lie."""


@functools.cache
def templates() -> jinja2.Environment:
    """The studio's templates; whatever they show is escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("ontomask.studio"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"told": told, "percent": percent}
    made.globals["later"] = later
    return made


def later(part: str, busy: str = "", /, **said: str) -> Markup:
    """The place of a part that is asked for when the page is there; without scripts, a link to it.

    Parameters
    ----------
    part
        The address of the part.
    busy
        What is told until it is there.
    said
        More for the script, as attributes `data-…`.
    """
    more = Markup("").join(Markup(' data-{}="{}"').format(*one) for one in said.items())
    wait = Markup('<p class="busy">{}</p>').format(busy) if busy else ""
    alone = Markup('<noscript><a href="{}">Show this part</a></noscript>').format(part)
    return Markup('<div data-part="{}"{}>{}{}</div>').format(part, more, wait, alone)


def told(sentence: object) -> str:
    """A sentence in which no name of a column turns the direction of what comes behind it.

    Shares stand in it as `percent` writes them, however the library does.
    """
    return SHARE.sub("\u00a0%", str(sentence).translate(TURNING))


def percent(share: float | None, form: str = "") -> str:
    """A share as all screens write it, on one line; none where there is none."""
    if share is None:
        return "–"
    written = f"{100 * share:{form}}%" if form else terse_percent(share, 1)
    return written.replace("%", "\u00a0%")


class Answers:
    """Answers over one session."""

    def __init__(self, session: Session, keys: Keys) -> None:
        self.session = session
        self.keys = keys

    def form(self, handler: Callable[[Request, Any], Awaitable[Response]]) -> Handler:
        """Read a form and see that it is one of ours before anything is changed."""

        async def handle(request: Request) -> Response:
            length = request.headers.get("content-length", "")
            if not length.isdigit() or int(length) > LARGEST:
                raise PlanError(
                    "This is too much to be sent; put the file into the folder and pick it there."
                )
            async with request.form(max_files=1, max_fields=500) as form:
                given = form.get(FORM_TOKEN)
                in_header = request.headers.get(FORM_TOKEN, "")
                if not same(str(given or in_header), self.keys.form):
                    return PlainTextResponse("The form's token is missing.\n", 403)
                before, known = self._text(), self._newest()
                answer = await handler(request, form)
                return self._told(answer, before, known) if _is_fetched(request) else answer

        return handle

    def _told(self, answer: Response, before: str, known: int) -> Response:
        """Where to go on and what was changed, for a page that stays where it is.

        A new version says what it is; between versions that are known it is what differs.
        """
        if not isinstance(answer, RedirectResponse):
            return answer
        now = self._text()
        said = differences(before, now) if before else ""
        if said and self._newest() > known:
            said = self.session.opened.notice().said
        return JSONResponse({"go": answer.headers["location"], "changed": said})

    def _newest(self) -> int:
        """The number of the last version of the plan; 0 where there is none."""
        project = self.session.project
        return max((one.number for one in project.versions()), default=0) if project else 0

    def _text(self) -> str:
        """The plan as it is now; nothing where there is none that can be read."""
        try:
            return "" if self.session.project is None else self.session.project.text
        except PlanError:
            return ""

    def _page(self, name: str, **shown: Any) -> Response:
        project = self.session.project
        base = {
            "stages": self.session.stages(),
            "here": name,
            "project": project,
            "version": project.notice().digest if project else "",
            "can_undo": bool(project and project.can_undo()),
            "can_redo": bool(project and project.can_redo()),
            "last_change": project.notice().said if project else "",
            "token": self.keys.form,
            "problem": self.session.problem(),
            "attention": (self.session.needing() or {}).get(name, []),
            "warming": self.session.warm(),
        }
        template = templates().get_template(f"{name}.html")
        return HTMLResponse(template.render(base | shown))

    def _column(self, number: str, query: Form, **shown: Any) -> Response:
        """The page of one column, as it is now or as somebody considers to declare it."""
        # a page that is no column's comes before these rooms are imported
        from ontomask.methods.generalization.recipes import RECIPES
        from ontomask.studio.forms import fields_of
        from ontomask.taxonomy.bundled import taxonomies

        name = self.session.column(number)
        said = contents(self.session.opened.text)
        declared = said.get("columns", {}).get(name, {})
        kind = str(query.get("kind", declared.get("kind", "")))
        kind = kind if kind in FITTING else str(declared.get("kind", ""))
        given = recipe_of(said, name)
        way = next((key for key in RECIPES if key in given), "file" if given.get("file") else "")
        base = {
            "number": number,
            "column": name,
            "kind": kind,
            "declared": declared,
            "of": query.get("of", number),
            "fields": [one for one in fields_of("kind", kind, declared) if one.name in SETTINGS],
            "taxonomies": taxonomies(),
            "generalized": has_generalization(said),
            "recipes": {key: recipe.said[key][1] for key, recipe in RECIPES.items()},
            "fitting": FITTING[kind],
            "way": way or FITTING[kind][0],
            "given": given,
            "said": _listed(given.get(way, "")),
            "found": None,
        }
        return self._page("column", **(base | shown))

    def _part(self, request: Request, name: str, shown: Mapping[str, Any]) -> Response:
        """A part of a page, with a page around it where a person follows the link to it."""
        part = templates().get_template(f"parts/{name}.html").render(shown)
        if is_followed(request):
            return self._page("part", part=Markup(part))
        return HTMLResponse(part)

    def _page_of_project(self, name: str) -> Response:
        """A page that only asks for its parts; without a project there is none."""
        if self.session.project is None:
            return self._go("/open")
        return self._page(name)

    async def mistake(self, request: Request, error: Exception) -> Response:
        """A sentence instead of a page, or at the place of the form that it is about."""
        if _is_fetched(request):
            return JSONResponse({"problem": str(error)}, 422)
        return self._said(str(error), 422)

    async def broken(self, _request: Request, error: Exception) -> Response:
        """What is a mistake of ours; its message may hold a value, so only its kind is told."""
        sentence = f"This could not be answered ({type(error).__name__}); see the terminal."
        return PlainTextResponse(sentence + "\n", 500)

    async def missing(self, _request: Request, error: Exception) -> Response:
        """There is no such page, or not in this way."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        return self._said("There is no such page; go on with one of those at the left.", status)

    def _said(self, sentence: str, status: int) -> Response:
        try:
            page = self._page("sentence", sentence=sentence)
        except OntomaskError as error:  # the plan itself has gone
            return PlainTextResponse(f"{error}\n", status)
        page.status_code = status
        return page

    def _go(self, path: str) -> Response:
        return RedirectResponse(path, status_code=303)

    async def _save(self, form: Form, text: str, said: str, back: str) -> Response:
        """Write a changed plan, unless it would no longer be one.

        `said` is what the history says; where it is empty, that is what is different.
        """
        from ontomask.studio.tasks import problem_of

        project = self.session.opened
        problem = problem_of(text, project.plan.name, project.folder)
        if problem and not self.session.problem():
            raise PlanError(f"Not saved: {problem}")
        changed = said or differences(project.text, text)
        project.save(text, changed, expected=str(form.get("version", "")))
        return self._go(back)


def is_followed(request: Request) -> bool:
    """Whether a person follows a link, instead of a script that asks."""
    return request.headers.get("sec-fetch-mode") == "navigate"


def _is_fetched(request: Request) -> bool:
    """Whether a page asks that stays where it is."""
    return "fetch" in request.headers.get("x-requested-with", "")


def has_generalization(said: Mapping[str, Any]) -> bool:
    """Whether a plan has a step that needs levels."""
    return any(one.get("method") == "generalization" for one in said.get("steps", ()))


def recipe_of(said: Mapping[str, Any], column: str) -> dict[str, Any]:
    """How the levels of a column are built, as the first generalization of a plan says it."""
    steps = [one for one in said.get("steps", ()) if one.get("method") == "generalization"]
    given = steps[0].get("hierarchies", {}).get(column, {}) if steps else {}
    return given if isinstance(given, dict) else {"file": given if isinstance(given, str) else ""}


def _listed(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
