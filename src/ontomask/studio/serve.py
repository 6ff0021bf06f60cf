"""Starting the studio: a server on this machine only, and the browser."""

from __future__ import annotations

import importlib
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from ontomask.data.file_names import is_table_name
from ontomask.errors import OutputError, ParameterError
from ontomask.studio.guard import Keys
from ontomask.studio.session import PLAN, Session
from ontomask.studio.web import application

__all__ = ["serve", "session_for"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SOON = 1.0
"""Seconds after which the other screens are imported: the first one is shown by then."""


def session_for(path: Path) -> Session:
    """A session for a table, a plan or a folder; others are refused."""
    if path.is_dir():
        session = Session(path.resolve())
        if (path / PLAN).is_file():
            session.open(path / PLAN)
        return session
    if not path.is_file():
        raise ParameterError(f"There is no table, plan or folder {path}.")
    session = Session(path.resolve().parent)
    if path.suffix == ".toml":
        session.open(path)
    elif is_table_name(path):
        session.pick(path.resolve())
    else:
        raise ParameterError(f"{path} is neither a table nor a plan nor a folder.")
    return session


def serve(
    path: Path,
    say: Callable[[str], None],
    *,
    host: str = LOOPBACK[0],
    port: int = 0,
    browser: bool = True,
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    path
        A table, a plan or a folder.
    say
        Called with what to tell the person at the terminal.
    host, port
        Where to listen; only this machine is allowed, and a free port is found for 0.
    browser
        Whether to open the page.
    """
    import uvicorn

    if host not in LOOPBACK:
        raise ParameterError(
            f"The studio shows single records, so it listens on this machine only, not on {host}. "
            "From another computer use a tunnel: ssh -L 8000:127.0.0.1:8000 THIS-MACHINE, with "
            "ontomask studio --port 8000 here."
        )
    with _listening(port) as listening:
        session, keys = session_for(path), Keys()
        number = listening.getsockname()[1]
        link = f"http://127.0.0.1:{number}/?token={keys.link}"
        say(f"The studio is open at\n  {link}\nThe link works once. Stop the studio with Ctrl-C.")
        if browser:
            threading.Timer(0.3, webbrowser.open, [link]).start()
        soon = threading.Timer(SOON, _prepare, [session])
        soon.daemon = True
        soon.start()
        config = uvicorn.Config(
            application(session, keys, number),
            log_level="error",  # requests are not logged
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            if _is_releasing(session):
                raise  # that nothing was put in place is said by who is asked for it
            say("The studio was stopped.")
        finally:
            session.board.close()


def _is_releasing(session: Session) -> bool:
    """Whether a release is under way, which ends with the studio."""
    job = None if session.project is None else session.release_job()
    return job is not None and not job.is_over


def _prepare(session: Session) -> None:
    """Begin with what is needed after the first screen, so that nobody has to wait for it."""
    session.warm()
    for room in ("pages", "changes"):
        importlib.import_module(f"ontomask.studio.{room}")


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK[0], port))
        listening.listen()  # before the link is told: who follows it at once waits, not fails
    except OSError as error:
        raise OutputError(
            f"Port {port} cannot be used ({error.strerror}); leave --port out to have a free one."
        ) from None
    return listening
