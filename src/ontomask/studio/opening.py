"""What the studio answers before anything is computed: the first screen, and how far jobs are.

It stands on nothing that computes, so that the first page is there as soon as the server is.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from ontomask.studio.answers import LARGEST, Answers
from ontomask.studio.session import PLAN

__all__ = ["Opening"]

REPORT_STYLE = str(resources.files("ontomask.report") / "templates" / "report.css")


class Opening(Answers):
    """The first screen, and what all screens ask for again and again."""

    async def home(self, _request: Request) -> Response:
        """The first screen that needs a look."""
        look = [stage.path for stage in self.session.stages() if stage.state == "look"]
        if self.session.project is None:
            return self._go("/open")
        return self._go(f"/{look[0] if look else 'protection'}")

    async def open(self, _request: Request) -> Response:
        """Choose a table or a project; of one that is open, how it is read and whose records."""
        files, picked = list(self.session.files()), self.session.table()
        here = None if picked is None else picked.resolve()
        root = self.session.root.resolve()
        tables = [path for path in files if path.name != PLAN and root / path != here]
        missing = picked is not None and not picked.is_file()
        return self._page(
            "open",
            tables=tables,
            plans=self.session.recent(path for path in files if path.name == PLAN),
            picked=picked,
            missing=missing,
            nearest=sorted(tables, key=lambda path: picked is None or path.name != picked.name),
            **({"attention": []} if missing else {}),  # the page says it, with a way out
            root=self.session.root.name or "/",
            most=LARGEST,
        )

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

    async def report_style(self, _request: Request) -> Response:
        """The report's own look, which the studio shares."""
        return FileResponse(REPORT_STYLE, media_type="text/css")
