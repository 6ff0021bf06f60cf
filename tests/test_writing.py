"""Single files: written as a whole, never through a link, private ones never readable by others."""

import contextlib
import os
import stat
import threading
import time
from pathlib import Path

import polars as pl
import pytest

import ontomask as om
from ontomask.cli.demonstration import TABLE, prepare
from ontomask.data.files import write_file
from ontomask.errors import OutputError
from ontomask.plan import Plan
from ontomask.writing import replacing, require_new, write_new
from plans import write_small
from tables import mixed_columns, mixed_schema

TAXONOMY = om.Taxonomy.from_parents({"ill": [], "flu": ["ill"], "cold": ["ill"]}, name="illnesses")


def report(path, **more):
    frame = pl.DataFrame(mixed_columns())
    om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1).report(path, **more)


WRITERS = {
    "text": lambda path: write_new(path, "new", force=True),
    "table": lambda path: write_file(pl.DataFrame({"a": [1]}), path.with_suffix(".csv")),
    "public report": report,
    "internal report": lambda path: report(path, internal=True),
    "compact taxonomy": lambda path: TAXONOMY.save(path, overwrite=True),
    "list of concepts": lambda path: TAXONOMY.save(path, overwrite=True),
    "mapping": lambda path: TAXONOMY.map(["flu", "plague"]).to_csv(path, overwrite=True),
    "demonstration": lambda path: prepare(path.parent),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_no_file_is_written_through_a_link(tmp_path, write):
    """Neither a link in its place nor one under a name that it might have on its way."""
    folder, kept = tmp_path / "folder", tmp_path / "kept"
    folder.mkdir()
    kept.write_text("kept")
    target = folder / (TABLE if write is WRITERS["demonstration"] else "new.csv")
    target.symlink_to(kept)
    planted = [folder / f".{target.name}.{end}" for end in ("partial", os.getpid(), "tmp")]
    for link in planted if write is not WRITERS["demonstration"] else ():
        link.symlink_to(kept)
    write(target)
    assert kept.read_text() == "kept"
    assert target.is_file()
    assert not target.is_symlink()


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_file_is_as_readable_as_others_unless_it_is_internal(tmp_path, write):
    (tmp_path / "other").write_text("")
    target = tmp_path / "folder" / (TABLE if write is WRITERS["demonstration"] else "new.csv")
    target.parent.mkdir()
    write(target)
    usual = (tmp_path / "other").stat().st_mode
    private = stat.S_IFREG | 0o600
    assert target.stat().st_mode == (private if write is WRITERS["internal report"] else usual)


@pytest.mark.parametrize("private", [True, False])
def test_nothing_stays_of_a_file_that_could_not_be_written(tmp_path, private):
    target = tmp_path / "new"
    target.write_text("old")

    def fail():
        with replacing(target, private=private) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [one.name for one in tmp_path.iterdir()] == ["new"]
    assert target.read_text() == "old"


def test_a_private_file_is_private_from_its_first_byte(tmp_path):
    with replacing(tmp_path / "new", private=True) as stream:
        stream.write(b"x")
        stream.flush()
        (half,) = tmp_path.iterdir()
        assert stat.S_IMODE(half.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_name_as_long_as_can_be_is_written(tmp_path):
    write_new(tmp_path / f"{'n' * 250}.html", "new", force=False)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_no_plain_file_is_left_alone(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path in (pipe, link):
        with pytest.raises(OutputError, match="is no plain file and is kept"):
            require_new(path, force=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_to_nowhere_is_something_that_exists(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="exists already and is kept"):
        write_new(link, "new", force=False)
    assert link.is_symlink()
    assert not (tmp_path / "nowhere").exists()


# The files of a run ---------------------------------------------------------------------------


@pytest.fixture
def watched(tmp_path):
    """Which rights each file below a folder was ever seen with, while a run writes there."""
    seen: dict[str, set[int]] = {}
    done = threading.Event()

    def watch():
        while not done.is_set():
            # a walk passes over folders that are renamed meanwhile
            for path in (Path(at, name) for at, _, names in os.walk(tmp_path) for name in names):
                with contextlib.suppress(OSError):
                    seen.setdefault(path.name, set()).add(stat.S_IMODE(path.stat().st_mode))
            time.sleep(0.0005)

    thread = threading.Thread(target=watch)
    thread.start()
    yield seen
    done.set()
    thread.join()


def test_what_holds_the_seed_is_never_readable_by_others(tmp_path, watched):
    outcome = Plan.read(write_small(tmp_path)).run(internal=True)
    time.sleep(0.01)
    (tmp_path / "other").write_text("")
    usual = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    for path in (outcome.manifest, outcome.internal):
        assert watched[path.name] == {0o600}
    for path in (outcome.report, outcome.table):
        assert stat.S_IMODE(path.stat().st_mode) == usual
