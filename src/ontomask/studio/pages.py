"""What the studio shows: the screens, and the parts of them that have to be computed."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)

from ontomask.comparison import METHOD_NAMES
from ontomask.evaluation.classifiers import CLASSIFIERS
from ontomask.methods.registry import METHODS
from ontomask.plan.advice import GOALS, RECIPIENTS
from ontomask.plan.outputs import INTERNAL, MANIFEST, REPORT
from ontomask.report.document import environment as report_environment
from ontomask.studio.answers import Answers, has_generalization, templates
from ontomask.studio.edits import contents
from ontomask.studio.forms import fields_of, fields_of_section, method_texts
from ontomask.studio.lattice import shown_nodes
from ontomask.studio.session import PLAN, READING

__all__ = ["PARTS", "Pages"]

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
ROLES = ("quasi", "sensitive", "other", "undecided")
KINDS = ("numeric", "date", "nominal", "ordinal", "flat", "identifier", "weight", "count")
PARTS = (
    "look",
    "begin",
    "people",
    "columns",
    "words",
    "tree",
    "shape",
    "ladder",
    "preview",
    "meter",
    "methods",
    "solutions",
    "node",
    "account",
    "classifiers",
    "records",
    "map",
    "population",
)
VIEWS = ("account", "map", "classifiers", "records")
AXES = ("first", "second", "within", "inside")


class Pages(Answers):
    """The screens."""

    async def home(self, _request: Request) -> Response:
        """The first screen that needs a look."""
        look = [stage.path for stage in self.session.stages() if stage.state == "look"]
        if self.session.project is None:
            return self._go("/open")
        return self._go(f"/{look[0] if look else 'protection'}")

    async def open(self, _request: Request) -> Response:
        """Choose a table or a project; of one that is open, how it is read and whose records."""
        files = list(self.session.files())
        return self._page(
            "open",
            tables=[path for path in files if path.name != PLAN],
            plans=[path for path in files if path.name == PLAN],
            picked=self.session.table(),
            fields=fields_of_section("input", self.session.reading(), READING),
            root=self.session.root.name or "/",
        )

    async def columns(self, _request: Request) -> Response:
        """What each column is, and to whom it matters."""
        return self._page_of_project("columns")

    async def column(self, request: Request) -> Response:
        """What one column is and means, and by which levels it is generalized."""
        return self._column(request.path_params["number"], request.query_params)

    async def protection(self, _request: Request) -> Response:
        """For whom the table is, and the steps of the plan."""
        if self.session.project is None:
            return self._go("/open")
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
        return self._page(
            "protection",
            steps=steps,
            methods=method_texts(),
            goals=GOALS,
            recipients=RECIPIENTS,
            about=fields_of_section(
                "about", said.get("about", {}), ("title", "purpose", "recipient", "contact")
            ),
            limits=fields_of_section("limits", said.get("limits", {})),
        )

    async def explore(self, request: Request) -> Response:
        """Methods side by side, or the lattice of a generalization."""
        if self.session.project is None:
            return self._go("/open")
        wanted = request.query_params.get("view", "methods")
        return self._page(
            "explore",
            view="solutions" if wanted == "solutions" else "methods",
            query=request.url.query,
            grid=self.session.grid,
            names=METHOD_NAMES,
            generalized=has_generalization(contents(self.session.opened.text)),
        )

    async def utility(self, request: Request) -> Response:
        """What was lost: figures, classifiers, single records."""
        if self.session.project is None:
            return self._go("/open")
        said = contents(self.session.opened.text)
        view = request.query_params.get("view", VIEWS[0])
        chosen = ("target", "features", "classifiers", "folds", "seed")
        return self._page(
            "utility",
            view=view if view in VIEWS else VIEWS[0],
            axes={name: request.query_params.get(name, "") for name in AXES},
            sort=request.query_params.get("sort", "moved"),
            which=request.query_params.get("class", "0"),
            fields=fields_of_section("evaluation", said.get("evaluation", {}), chosen),
            columns=list(said.get("columns", {})),
            declared=said.get("columns", {}),
            places={name: place for place, name in enumerate(said.get("columns", {}))},
            classifiers=CLASSIFIERS,
            chosen=said.get("evaluation", {}),
        )

    async def risk(self, request: Request) -> Response:
        """What is still at risk."""
        if self.session.project is None:
            return self._go("/open")
        return self._page("risk", percent=request.query_params.get("percent", ""))

    async def release(self, _request: Request) -> Response:
        """The last look, and the release."""
        project = self.session.opened
        problem = self.session.problem()
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
        name, query = request.path_params["name"], request.query_params
        if name not in PARTS:
            raise HTTPException(404)
        asked = "preview" if name == "meter" else name
        job = self.session.job(asked, of=query.get("of", ""), again="again" in query)
        if name == "meter" and job.state in ("failed", "stopped"):
            return HTMLResponse("")  # the screen Protection says why
        if name == "begin" and job.state == "done" and self.session.picked is not None:
            self.session.begun(self.session.picked, job.result)
            return JSONResponse({"go": "/columns"})
        kept = {key: value for key, value in query.items() if key != "again"}
        project = self.session.project
        shown = {
            "job": job,
            "found": job.result,
            "again": f"/part/{name}?{urlencode(kept)}",
            "token": self.keys.form,
            "roles": ROLES,
            "kinds": KINDS,
            "version": project.notice().digest if project else "",
            "which": query.get("of", ""),
            "query": query,
        }
        if job.state != "done":
            return HTMLResponse(templates().get_template("parts/job.html").render(shown))
        if name == "solutions":
            shown["nodes"] = shown_nodes(job.result, query)
        return HTMLResponse(templates().get_template(f"parts/{name}.html").render(shown))

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
        if request.path_params["which"] == "decisions":
            return self._decisions()
        path = files.get(request.path_params["which"])
        if path is None or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, filename=path.name)

    def _decisions(self) -> Response:
        """Every version of the plan with its reason, to be kept with the internal report."""
        lines = [
            f"{one.when}  {one.said}{f': {one.note}' if one.note else ''}"
            for one in self.session.opened.versions()
        ]
        headers = {"content-disposition": 'attachment; filename="decisions.txt"'}
        return Response("\n".join(lines) + "\n", media_type="text/plain", headers=headers)

    async def report_style(self, _request: Request) -> Response:
        """The report's own look, which the studio shares."""
        style = report_environment().get_template("report.css").render()
        return Response(style, media_type="text/css")
