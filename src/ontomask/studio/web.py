"""The studio as an application: which address is answered by whom, with the guard around it."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ontomask.errors import OntomaskError
from ontomask.studio.changes import Changes
from ontomask.studio.guard import Guard, Keys
from ontomask.studio.pages import Pages
from ontomask.studio.session import Session

__all__ = ["application"]


def application(session: Session, keys: Keys, port: int) -> Guard:
    """The studio as an application that a server can run, with its guard around it."""
    pages, changes = Pages(session, keys), Changes(session, keys)
    return Guard(
        Starlette(
            routes=[*_shown(pages), *_changed(changes)],
            exception_handlers={
                OntomaskError: pages.mistake,
                HTTPException: pages.missing,
                Exception: pages.broken,
            },
        ),
        keys,
        port,
    )


def _shown(pages: Pages) -> list[Route | Mount]:
    """What is asked for."""
    shown = {
        "/": pages.home,
        "/open": pages.open,
        "/columns": pages.columns,
        "/columns/{number:str}": pages.column,
        "/protection": pages.protection,
        "/explore": pages.explore,
        "/utility": pages.utility,
        "/risk": pages.risk,
        "/release": pages.release,
        "/history": pages.history,
        "/part/methods": pages.methods,
        "/part/{name:str}": pages.part,
        "/jobs/{key:str}/events": pages.events,
        "/version": pages.version,
        "/account": pages.account,
        "/report/{which:str}": pages.report,
        "/download/{which:str}": pages.download,
        "/static/report.css": pages.report_style,
    }
    files = StaticFiles(packages=[("ontomask.studio", "static")])
    return [*(Route(path, page) for path, page in shown.items()), Mount("/static", files)]


def _changed(changes: Changes) -> list[Route]:
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
    return [Route(path, changes.form(page), methods=["POST"]) for path, page in changed.items()]
