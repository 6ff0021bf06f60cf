"""A real PostgreSQL for tests, in a folder of its own, where its programs are installed."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from ontomask.extras import is_there

PASSWORD = "s3cret/with@signs:?"
USER = "steward"


def program(name):
    """The path of a program of PostgreSQL; Debian keeps most of them aside."""
    aside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(aside[-1]) if aside else None)


def unprivileged():
    """Whom the server belongs to, since it refuses to be run by root; None for oneself."""
    if os.getuid() != 0:
        return None
    known = {one.pw_name: one for one in pwd.getpwall()}
    return known.get("postgres") or known.get("nobody")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server():
    """The address of a server that ends with the block."""
    initdb, control, owner = program("initdb"), program("pg_ctl"), unprivileged()
    if not is_there("adbc_driver_postgresql"):
        pytest.skip("the driver of PostgreSQL (ADBC) is not installed")
    if initdb is None or control is None or (owner and not shutil.which("runuser")):
        pytest.skip("PostgreSQL is not installed, or there is nobody to run it as")
    folder = Path(tempfile.mkdtemp(prefix="ontomask-postgresql-"))
    prefix = ["runuser", "-u", owner.pw_name, "--"] if owner else []
    secret = folder / "password"
    secret.write_text(PASSWORD)
    for path in (folder, secret):
        if owner:
            os.chown(path, owner.pw_uid, owner.pw_gid)

    def run(*command):
        done = subprocess.run([*prefix, *command], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"PostgreSQL cannot be started here: {done.stderr[-200:]}")

    data, port = str(folder / "data"), free_port()
    try:
        run(initdb, "-D", data, "-U", USER, "-A", "scram-sha-256", "--pwfile", str(secret),
            "--no-sync", "-E", "UTF8", "--locale", "C")  # fmt: skip
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
        subprocess.run(
            [*prefix, control, "-D", data, "-o", options, "-w", "-l", str(folder / "log"), "start"],
            cwd=folder, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
    finally:
        stop = [*prefix, control, "-D", data, "-m", "immediate", "stop"]
        subprocess.run(stop, cwd=folder, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
