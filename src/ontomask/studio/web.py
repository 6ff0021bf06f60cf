"""The studio as an application: which address is answered by whom, with the guard around it.

Only what the first screen needs is imported before it is shown.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ontomask.errors import OntomaskError
from ontomask.studio.guard import Guard, Keys
from ontomask.studio.opening import Opening
from ontomask.studio.session import Session

__all__ = ["application"]


def application(session: Session, keys: Keys, port: int) -> Guard:
    """The studio as an application that a server can run, with its guard around it."""
    opening = Opening(session, keys)
    pages, changes = (_Later(room, session, keys) for room in ("Pages", "Changes"))
    return Guard(
        Starlette(
            routes=[*_shown(opening, pages), *_changed(opening, changes)],
            exception_handlers={
                OntomaskError: opening.mistake,
                HTTPException: opening.missing,
                Exception: opening.broken,
            },
        ),
        keys,
        port,
    )


@dataclass(frozen=True, eq=False)
class _Later:
    """Answers of a room that is imported, beside the others, when it is first asked for one."""

    kind: str
    session: Session
    keys: Keys

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Response]]:
        async def answer(*asked: Any) -> Response:
            answers = await anyio.to_thread.run_sync(_answers, self)
            found: Response = await getattr(answers, name)(*asked)
            return found

        return answer


@functools.cache
def _answers(later: _Later) -> Any:
    room = importlib.import_module(f"ontomask.studio.{later.kind.lower()}")
    return getattr(room, later.kind)(later.session, later.keys)


def _shown(opening: Opening, pages: _Later) -> list[Route | Mount]:
    """What is asked for."""
    shown = {
        "/": opening.home,
        "/open": opening.open,
        "/columns": pages.columns,
        "/columns/{number:str}": pages.column,
        "/protection": pages.protection,
        "/explore": pages.explore,
        "/utility": pages.utility,
        "/risk": pages.risk,
        "/release": pages.release,
        "/history": pages.history,
        "/part/methods": pages.methods,
        "/part/reading": pages.reading,
        "/part/{name:str}": pages.part,
        "/jobs/{key:str}/events": opening.events,
        "/version": opening.version,
        "/account": pages.account,
        "/report/{which:str}": pages.report,
        "/download/{which:str}": pages.download,
        "/static/report.css": opening.report_style,
    }
    files = StaticFiles(packages=[("ontomask.studio", "static")])
    return [*(Route(path, page) for path, page in shown.items()), Mount("/static", files)]


def _changed(opening: Opening, changes: _Later) -> list[Route]:
    """What is sent by a form."""
    changed = {
        "/open/pick": changes.pick,
        "/open/upload": changes.upload,
        "/open/demonstration": changes.demonstrate,
        "/open/begin": changes.begin,
        "/open/reading": changes.set_reading,
        "/open/anew": changes.renew,
        "/open/person": changes.set_person,
        "/open/table": changes.set_table,
        "/columns/set": changes.set_column,
        "/columns/map": changes.map_value,
        "/columns/declare": changes.declare,
        "/columns/order": changes.set_order,
        "/columns/find": changes.find,
        "/columns/hierarchy": changes.set_hierarchy,
        "/sections/{name:str}": changes.set_section,
        "/steps/advise": changes.advise,
        "/steps/goal": changes.choose_goal,
        "/steps/add": changes.add_step,
        "/steps/remove": changes.remove_step,
        "/steps/move": changes.move_step,
        "/steps/set": changes.set_step,
        "/models/add": changes.add_model,
        "/models/remove": changes.remove_model,
        "/models/set": changes.set_model,
        "/explore/grid": changes.set_grid,
        "/explore/stop": changes.stop_comparing,
        "/explore/adopt": changes.adopt,
        "/explore/levels": changes.fix_levels,
        "/history/undo": changes.undo,
        "/history/redo": changes.redo,
        "/history/go": changes.go,
        "/history/note": changes.note,
        "/release/run": changes.run,
        "/release/sign": changes.sign,
        "/jobs/{key:str}/stop": changes.stop,
    }
    return [Route(path, opening.form(page), methods=["POST"]) for path, page in changed.items()]
