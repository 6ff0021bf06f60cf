"""The pages of the studio: what a browser asks for, and what it is answered."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import anyio
import jinja2
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ontomask.errors import OntomaskError, PlanError
from ontomask.methods.registry import METHODS
from ontomask.plan.outputs import INTERNAL, MANIFEST, REPORT
from ontomask.report.document import environment as report_environment
from ontomask.studio import tasks
from ontomask.studio.edits import add_step, contents, move_step, remove_step, set_value
from ontomask.studio.forms import fields_of, method_texts, read_field
from ontomask.studio.guard import FORM_TOKEN, Guard, Keys, same
from ontomask.studio.session import PLAN, Session, step_of

__all__ = ["application"]

Form = Mapping[str, str]
Handler = Callable[[Request], Awaitable[Response]]
LARGEST = 2**30
"""Bytes that may be sent to the studio; larger tables are picked where they lie."""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
ROLES = ("quasi", "sensitive", "other", "undecided")
KINDS = ("numeric", "date", "nominal", "ordinal", "flat", "identifier", "weight", "count")
FOLLOWED = {
    "look": "open",
    "begin": "open",
    "columns": "columns",
    "words": "columns",
    "preview": "protection",
    "methods": "explore",
    "solutions": "explore",
    "account": "utility",
}


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("ontomask.studio"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def application(session: Session, keys: Keys, port: int) -> Guard:
    """The studio as an application that a server can run, with its guard around it."""
    pages = _Pages(session, keys)
    return Guard(
        Starlette(
            routes=pages.routes(),
            exception_handlers={OntomaskError: pages.mistake, HTTPException: pages.missing},
        ),
        keys,
        port,
    )


class _Pages:
    """All pages over one session."""

    def __init__(self, session: Session, keys: Keys) -> None:
        self.session = session
        self.keys = keys

    def routes(self) -> list[Route | Mount]:
        """What is answered at which address."""
        shown = {
            "/open": self.open,
            "/columns": self.columns,
            "/columns/{number:str}": self.column,
            "/protection": self.protection,
            "/explore": self.explore,
            "/utility": self.utility,
            "/risk": self.risk,
            "/release": self.release,
            "/history": self.history,
            "/part/{name:str}": self.part,
            "/jobs/{key:str}/events": self.events,
            "/version": self.version,
            "/account": self.account,
            "/report/{which:str}": self.report,
            "/download/{which:str}": self.download,
        }
        changed = {
            "/open/pick": self.pick,
            "/open/upload": self.upload,
            "/open/begin": self.begin,
            "/columns/set": self.set_column,
            "/columns/map": self.map_value,
            "/steps/add": self.add_step,
            "/steps/remove": self.remove_step,
            "/steps/move": self.move_step,
            "/steps/set": self.set_step,
            "/explore/grid": self.set_grid,
            "/explore/adopt": self.adopt,
            "/history/undo": self.undo,
            "/history/redo": self.redo,
            "/history/note": self.note,
            "/release/run": self.run,
            "/jobs/{key:str}/stop": self.stop,
        }
        return [
            Route("/", self.home),
            Route("/static/report.css", self.report_style),
            Mount("/static", StaticFiles(packages=[("ontomask.studio", "static")])),
            *(Route(path, page) for path, page in shown.items()),
            *(Route(path, self._form(page), methods=["POST"]) for path, page in changed.items()),
        ]

    def _form(self, handler: Callable[[Request, Any], Awaitable[Response]]) -> Handler:
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
                return await handler(request, form)

        return handle

    # ---- answers -------------------------------------------------------------------------------

    def _page(self, name: str, **shown: Any) -> Response:
        project = self.session.project
        base = {
            "stages": self.session.stages(),
            "here": name,
            "project": project,
            "version": project.notice().digest if project else "",
            "can_undo": bool(project and project.can_undo()),
            "can_redo": bool(project and project.can_redo()),
            "token": self.keys.form,
            "problem": self._problem(),
        }
        template = _environment().get_template(f"{name}.html")
        return HTMLResponse(template.render(base | shown))

    def _page_of_project(self, name: str) -> Response:
        """A page that only asks for its parts; without a project there is none."""
        if self.session.project is None:
            return self._go("/open")
        return self._page(name)

    def _problem(self) -> str:
        project = self.session.project
        if project is None:
            return ""
        return tasks.problem_of(project.text, project.plan.name, project.folder)

    async def mistake(self, request: Request, error: Exception) -> Response:
        """A sentence instead of a page, or at the place of the form that it is about."""
        if "fetch" in request.headers.get("x-requested-with", ""):
            return JSONResponse({"problem": str(error)}, 422)
        return self._said(str(error), 422)

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
        """Write a changed plan, unless it would no longer be one."""
        project = self.session.opened
        problem = tasks.problem_of(text, project.plan.name, project.folder)
        if problem and not self._problem():
            raise PlanError(problem)
        project.save(text, said, expected=str(form.get("version", "")))
        return self._go(back)

    # ---- pages ---------------------------------------------------------------------------------

    async def home(self, _request: Request) -> Response:
        """The first screen that needs a look."""
        look = [stage.path for stage in self.session.stages() if stage.state == "look"]
        if self.session.project is None:
            return self._go("/open")
        return self._go(f"/{look[0] if look else 'protection'}")

    async def open(self, _request: Request) -> Response:
        """Choose a table or a project."""
        files = list(self.session.files())
        return self._page(
            "open",
            tables=[path for path in files if path.name != PLAN],
            plans=[path for path in files if path.name == PLAN],
            picked=self.session.picked,
            root=self.session.root.name or "/",
        )

    async def columns(self, _request: Request) -> Response:
        """What each column is, and to whom it matters."""
        return self._page_of_project("columns")

    async def column(self, request: Request) -> Response:
        """What the words of one column mean."""
        number = request.path_params["number"]
        return self._page("column", number=number, column=self.session.column(number))

    async def protection(self, _request: Request) -> Response:
        """The steps of the plan."""
        said = contents(self.session.opened.text)
        steps = [
            {
                "method": step["method"],
                "text": method_texts().get(step["method"], ""),
                "fields": fields_of("method", step["method"], step),
            }
            for step in said.get("steps", ())
            if step.get("method") in METHODS
        ]
        return self._page("protection", steps=steps, methods=method_texts())

    async def explore(self, request: Request) -> Response:
        """Methods side by side, or the lattice of a generalization."""
        wanted = request.query_params.get("view", "methods")
        from ontomask.comparison import METHOD_NAMES

        said = contents(self.session.opened.text)
        return self._page(
            "explore",
            view="solutions" if wanted == "solutions" else "methods",
            grid=self.session.grid,
            names=METHOD_NAMES,
            generalized=any(one.get("method") == "generalization" for one in said.get("steps", ())),
        )

    async def utility(self, _request: Request) -> Response:
        """What was lost."""
        return self._page_of_project("utility")

    async def risk(self, _request: Request) -> Response:
        """What is still at risk."""
        return self._page_of_project("risk")

    async def release(self, _request: Request) -> Response:
        """The last look, and the release."""
        project = self.session.opened
        problem = self._problem()
        plan = None if problem else self.session.plan()
        stage = next(one for one in self.session.stages() if one.path == "release")
        return self._page(
            "release",
            plan=plan,
            undecided=list(plan.schema.undecided) if plan else [],
            steps=[step.name for step in plan.steps] if plan else [],
            state=stage.state,
            target=plan.target.name if plan else "",
            job=self.session.release_job(),
            versions=list(reversed(project.versions()))[:20],
        )

    async def history(self, _request: Request) -> Response:
        """Every version of the plan."""
        project = self.session.opened
        current = project.current()
        return self._page(
            "history",
            versions=list(reversed(project.versions())),
            number=current.number if current else 0,
        )

    async def part(self, request: Request) -> Response:
        """A part of a page that has to be computed: the result, or how far it is."""
        name = request.path_params["name"]
        if name not in FOLLOWED:
            raise HTTPException(404)
        of = request.query_params.get("of", "")
        job = self.session.job(name, of=of, again="again" in request.query_params)
        if name == "begin" and job.state == "done" and self.session.picked is not None:
            self.session.begun(self.session.picked, job.result)
            return JSONResponse({"go": "/columns"})
        template = f"parts/{name}.html" if job.state == "done" else "parts/job.html"
        shown = {
            "job": job,
            "found": job.result,
            "again": f"/part/{name}?{urlencode({'of': of})}",
            "token": self.keys.form,
            "roles": ROLES,
            "kinds": KINDS,
            "version": self.session.project.notice().digest if self.session.project else "",
            "which": of,
        }
        return HTMLResponse(_environment().get_template(template).render(shown))

    async def events(self, request: Request) -> Response:
        """How far a job is, as long as it runs."""
        key, board = request.path_params["key"], self.session.board

        async def told() -> Any:
            states = board.follow(key)
            while True:
                job = await anyio.to_thread.run_sync(next, states, None)
                if job is None or await request.is_disconnected():
                    return
                data = {"state": job.state, "done": job.done, "said": job.said}
                yield f"data: {json.dumps(data)}\n\n"

        return StreamingResponse(told(), media_type="text/event-stream")

    async def version(self, _request: Request) -> Response:
        """Which version the plan is at, so that a page notices changes by others."""
        project = self.session.project
        return JSONResponse({"version": project.notice().digest if project else ""})

    async def account(self, _request: Request) -> Response:
        """The internal report of what the plan would release now."""
        job = self.session.job("account")
        if job.state != "done":
            raise HTTPException(404)
        return HTMLResponse(job.result["page"], headers={"content-security-policy": REPORT_POLICY})

    async def report(self, request: Request) -> Response:
        """A report of the release."""
        names = {"public": REPORT, "internal": INTERNAL}
        path = self.session.plan().target / names.get(request.path_params["which"], "")
        if not path.is_file():
            raise HTTPException(404)
        return HTMLResponse(
            path.read_text("utf-8"), headers={"content-security-policy": REPORT_POLICY}
        )

    async def download(self, request: Request) -> Response:
        """A file of the release, or the plan."""
        plan = self.session.plan()
        files = {
            "table": plan.target / plan.table,
            "report": plan.target / REPORT,
            "internal": plan.target / INTERNAL,
            "manifest": plan.target / MANIFEST,
            "plan": self.session.opened.plan,
        }
        path = files.get(request.path_params["which"])
        if path is None or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, filename=path.name)

    async def report_style(self, _request: Request) -> Response:
        """The report's own look, which the studio shares."""
        style = report_environment().get_template("report.css").render()
        return Response(style, media_type="text/css")

    # ---- changes -------------------------------------------------------------------------------

    async def pick(self, _request: Request, form: Form) -> Response:
        """Pick a table, or open a project."""
        path = self.session.inside(str(form.get("path", "")))
        if path.name == PLAN:
            self.session.open(path)
            return self._go("/")
        self.session.picked = path
        target = self.session.target(path)
        if target.is_file():
            self.session.open(target)
            return self._go("/")
        return self._go("/open")

    async def upload(self, _request: Request, form: Any) -> Response:
        """Take a file that was dropped on the page."""
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise PlanError("No file came along; choose one and send it again.")
        self.session.picked = await anyio.to_thread.run_sync(
            self.session.receive, file.filename, file.file
        )
        return self._go("/open")

    async def begin(self, _request: Request, _form: Form) -> Response:
        """Make a plan for the picked table."""
        self.session.job("begin")
        return self._go("/open?begin=1")

    async def set_column(self, _request: Request, form: Form) -> Response:
        """Say what a column is."""
        name, key, value = (str(form.get(one, "")) for one in ("name", "key", "value"))
        if key not in ("role", "kind"):
            raise PlanError("Only the role and the kind of a column are set here.")
        text = set_value(self.session.opened.text, ["columns", name, key], value)
        if key == "kind" and value in ("identifier", "weight", "count"):
            text = set_value(text, ["columns", name, "role"], None)
        if key == "role" and value == "identifier":
            text = set_value(self.session.opened.text, ["columns", name, "role"], None)
            text = set_value(text, ["columns", name, "kind"], "identifier")
        return await self._save(form, text, f"{name}: {key} = {value}", "/columns")

    async def map_value(self, _request: Request, form: Form) -> Response:
        """Say which concept a value means."""
        number, value, concept = (str(form.get(one, "")) for one in ("number", "value", "concept"))
        if not value or not concept.strip():
            raise PlanError("Choose a concept, or write its id or name.")
        name = self.session.column(number)
        text = self.session.mapped(name, value, concept.strip())
        return await self._save(form, text, f"{name}: a value mapped", f"/columns/{int(number)}")

    async def add_step(self, _request: Request, form: Form) -> Response:
        """Put a step behind the others, with what it needs at least."""
        method = str(form.get("method", ""))
        needed = {
            field.name: read_field(field, str(form.get(field.name, "")))
            for field in fields_of("method", method, {})
            if field.required
        }
        given = {name: value for name, value in needed.items() if value is not None}
        text = add_step(self.session.opened.text, method, given)
        return await self._save(form, text, f"step added: {method}", "/protection")

    async def remove_step(self, _request: Request, form: Form) -> Response:
        """Take a step out."""
        text = remove_step(self.session.opened.text, _number(form, "step"))
        return await self._save(form, text, "step removed", "/protection")

    async def move_step(self, _request: Request, form: Form) -> Response:
        """Put a step elsewhere in the order."""
        text = move_step(self.session.opened.text, _number(form, "step"), _number(form, "to"))
        return await self._save(form, text, "steps put in another order", "/protection")

    async def set_step(self, _request: Request, form: Form) -> Response:
        """Change parameters of a step."""
        number = _number(form, "step")
        text = self.session.opened.text
        steps = contents(text).get("steps", [])
        if not 0 <= number < len(steps):
            raise PlanError("There is no such step any more; reload the page.")
        changed = []
        for field in fields_of("method", steps[number]["method"], steps[number]):
            if field.name in form:
                value = read_field(field, str(form[field.name]))
                if value != steps[number].get(field.name):
                    text = set_value(text, ["steps", number, field.name], value)
                    changed.append(f"{field.name} = {value}")
        said = f"{steps[number]['method']}: {', '.join(changed)}"
        return await self._save(form, text, said, "/protection")

    async def set_grid(self, _request: Request, form: Any) -> Response:
        """Say which methods are compared."""
        names = [str(one) for one in form.getlist("names")]
        sizes = [
            int(one)
            for one in str(form.get("sizes", "")).replace(",", " ").split()
            if one.isdigit()
        ]
        limit = str(form.get("limit", "10"))
        if not names or not sizes:
            raise PlanError("Choose at least one method and one k, such as 5.")
        self.session.grid = {
            "names": names,
            "sizes": sizes,
            "limit": float(limit) if limit.replace(".", "", 1).isdigit() else 10.0,
        }
        return self._go("/explore")

    async def adopt(self, _request: Request, form: Form) -> Response:
        """Take a compared method into the plan, instead of the steps there."""
        step = step_of(str(form.get("method", "")), _number(form, "k"))
        text = self.session.opened.text
        while contents(text).get("steps"):
            text = remove_step(text, 0)
        method = step.pop("method")
        return await self._save(
            form, add_step(text, method, step), f"adopted {method}", "/protection"
        )

    async def undo(self, _request: Request, form: Form) -> Response:
        """Go back one version."""
        self.session.opened.undo()
        return self._go(_here(form))

    async def redo(self, _request: Request, form: Form) -> Response:
        """Go forward one version."""
        self.session.opened.redo()
        return self._go(_here(form))

    async def note(self, _request: Request, form: Form) -> Response:
        """Write down why something was decided."""
        self.session.opened.annotate(str(form.get("note", ""))[:2000])
        return self._go("/release")

    async def run(self, _request: Request, form: Form) -> Response:
        """Make the release."""
        self.session.start_release(
            force=form.get("force") == "true", leave_out=form.get("leave_out") == "true"
        )
        return self._go("/release")

    async def stop(self, request: Request, form: Form) -> Response:
        """Stop a job."""
        self.session.board.stop(request.path_params["key"])
        return self._go(_here(form))


def _number(form: Form, name: str) -> int:
    text = str(form.get(name, ""))
    if not text.lstrip("-").isdigit():
        raise PlanError(f"{name} must be a whole number.")
    return int(text)


def _here(form: Form) -> str:
    """The screen that a form came from."""
    known = set(FOLLOWED.values()) | {"release", "risk", "history"}
    here = str(form.get("here", ""))
    return f"/{here}" if here in known else "/"
