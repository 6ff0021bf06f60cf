"""The files of a run come into their place together, or not at all, whatever happens."""

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from ontomask.data.files import write_file
from ontomask.errors import CancelledError, DataError, OutputError, PromiseError
from ontomask.plan import Plan, execution, outputs, places
from ontomask.plan.outputs import MANIFEST, check_free, staged
from plans import names_in, write_small

RELEASE = ["manifest.json", "report.html", "small.csv"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "release"


def described(table: str = "table.csv") -> str:
    """A manifest, as far as it tells a release from other folders."""
    return json.dumps({"versions": {"ontomask": "1"}, "output": {"table": table}})


def fill(stage: Path, text: str = "new") -> None:
    (stage / "table.csv").write_text(text, encoding="utf-8")
    (stage / MANIFEST).write_text(described(), encoding="utf-8")


def release(folder: Path, text: str = "old") -> Path:
    folder.mkdir()
    fill(folder, text)
    return folder


# Staging --------------------------------------------------------------------------------------


def test_files_appear_together_and_nothing_else_stays(folder):
    with staged(folder) as stage:
        assert stage.parent == folder.parent
        fill(stage)
        assert not folder.exists()
    assert names_in(folder) == [MANIFEST, "table.csv"]
    assert names_in(folder.parent) == ["release"]


def test_files_are_as_readable_as_others(folder, tmp_path):
    (tmp_path / "other").write_text("")
    (tmp_path / "others").mkdir()
    with staged(folder) as stage:
        fill(stage)
    assert (folder / "table.csv").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert folder.stat().st_mode == (tmp_path / "others").stat().st_mode


def test_rights_are_found_without_changing_those_of_other_threads(folder, tmp_path, monkeypatch):
    tmp_path.chmod(0o2755)  # new folders belong to the group of this one

    def never(_mask):
        pytest.fail("another thread would make files with these rights")

    (tmp_path / "others").mkdir()
    monkeypatch.setattr(os, "umask", never)
    with staged(folder) as stage:
        fill(stage)
    assert folder.stat().st_mode == (tmp_path / "others").stat().st_mode
    assert names_in(folder) == [MANIFEST, "table.csv"]


def test_missing_folders_are_made_and_an_empty_one_is_taken(tmp_path):
    for folder in (tmp_path / "a" / "b" / "release", tmp_path / "empty"):
        if folder.name == "empty":
            folder.mkdir()
        with staged(folder) as stage:
            fill(stage)
        assert names_in(folder) == [MANIFEST, "table.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_nothing_stays_after_an_error(folder, error):
    def run():
        with staged(folder) as stage:
            fill(stage)
            raise error

    with pytest.raises(error):
        run()
    assert names_in(folder.parent) == []


def test_a_release_is_not_overwritten_unless_that_is_wanted(folder):
    release(folder)
    with pytest.raises(OutputError, match="holds a release already; nothing was changed"):
        check_free(folder, force=False)
    with pytest.raises(OutputError, match="--force"), staged(folder) as stage:
        fill(stage)
    assert (folder / "table.csv").read_text() == "old"
    with staged(folder, force=True) as stage:
        fill(stage)
        assert (folder / "table.csv").read_text() == "old"
    assert (folder / "table.csv").read_text() == "new"
    assert names_in(folder.parent) == ["release"]


STRANGERS = {
    "a folder of files": {"notes.txt": "mine"},
    "another manifest": {"manifest.json": '{"name": "a web page"}', "index.html": ""},
    "a manifest that is a list": {"manifest.json": "[1]"},
    "a broken manifest": {"manifest.json": "{"},
    "an empty manifest": {"manifest.json": '{"versions": null, "output": {"table": "x"}}'},
    "a release with notes": {"manifest.json": described(), "table.csv": "", "notes.txt": "mine"},
}


@pytest.mark.parametrize("files", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_is_no_mere_release_is_never_replaced(folder, files, force):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(OutputError, match="so it is not replaced"), staged(folder, force=force):
        pytest.fail("nothing must be computed")
    assert {one.name: one.read_text() for one in folder.iterdir()} == files
    assert names_in(folder.parent) == ["release"]


def test_a_file_and_a_link_are_never_replaced(folder, tmp_path):
    folder.write_text("mine")
    real = release(tmp_path / "real")
    link = tmp_path / "link"
    link.symlink_to(real)
    for place in (folder, link):
        with pytest.raises(OutputError, match="is no folder, so it is not replaced"):
            check_free(place, force=True)
    assert folder.read_text() == "mine"
    assert (real / "table.csv").read_text() == "old"


@pytest.mark.parametrize("name", ["x" * 300, "file/release"], ids=["too long", "below a file"])
def test_a_place_that_cannot_be_is_answered(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"written|no folder"), staged(tmp_path / name):
        pytest.fail("nothing must be computed")
    assert names_in(tmp_path) == ["file"]


def test_the_hidden_folder_is_not_spoken_of(folder):
    with pytest.raises(OutputError) as caught, staged(folder) as stage:
        raise DataError(f"'{stage / 'table.csv'}' cannot be used: No space left on device.")
    assert str(caught.value) == "'table.csv' cannot be used: No space left on device."


# Leftovers of killed runs ---------------------------------------------------------------------


def test_leftovers_of_killed_runs_are_taken_away(folder):
    (folder.parent / ".release.partial-abc12345").mkdir()
    (folder.parent / ".release.partial-abc12345" / "table.csv").write_text("half")
    (folder.parent / ".other.partial-abc12345").mkdir()
    (folder.parent / ".release.partial-notes.txt").write_text("mine")
    with staged(folder) as stage:
        fill(stage)
    assert names_in(folder.parent) == [
        ".other.partial-abc12345",
        ".release.partial-notes.txt",
        "release",
    ]


def test_a_release_that_was_being_replaced_is_put_back(folder):
    release(folder.parent / ".release.replaced-abc12345")
    with pytest.raises(OutputError, match="holds a release already"), staged(folder):
        pytest.fail("nothing must be computed")
    assert (folder / "table.csv").read_text() == "old"
    release(folder.parent / ".release.replaced-abc12345", "older")
    with staged(folder, force=True) as stage:
        fill(stage)
    assert (folder / "table.csv").read_text() == "new"
    assert names_in(folder.parent) == ["release"]


@pytest.mark.parametrize("name", ["rel*", "[r]elease", "r?lease"])
def test_names_that_look_like_patterns_touch_nothing_else(tmp_path, name):
    kept = release(tmp_path / ".release.replaced-abc12345")
    with staged(tmp_path / name) as stage:
        fill(stage)
    assert kept.exists()
    (tmp_path / f".{name}.partial-abc12345").mkdir()
    with staged(tmp_path / name, force=True) as stage:
        fill(stage)
    assert names_in(tmp_path) == sorted([".release.replaced-abc12345", name])


MOMENTS = ["open", "written", "settled", "moving", "moved"]
KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from ontomask.plan import outputs

    folder, moments = Path(sys.argv[1]), sys.argv[2:]

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    def run(moment):
        if moment == "settled":
            outputs._move = die
        if moment == "moving":
            outputs._take_name = die
        if moment == "moved":
            outputs._put_back = die
        with outputs.staged(folder / moment, force=True) as stage:
            if moment == "open":
                die()
            for name in ("table.csv", "manifest.json"):
                (stage / name).write_bytes((folder / "new" / name).read_bytes())
                if moment == "written":
                    die()

    for moment in moments:
        child = os.fork()
        if not child:
            run(moment)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL, moment
    """
)


def test_a_run_that_is_killed_leaves_the_old_release_or_the_new_one(tmp_path):
    release(tmp_path / "new", "new")
    for moment in MOMENTS:
        release(tmp_path / moment)
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), *MOMENTS], check=True)
    for moment in MOMENTS:
        folder = tmp_path / moment
        seen = folder if folder.exists() else next(tmp_path.glob(f".{moment}.replaced-*"))
        assert names_in(seen) == [MANIFEST, "table.csv"]
        assert (seen / "table.csv").read_text() == ("new" if moment == "moved" else "old")
        assert len(list(tmp_path.glob(f".{moment}.*"))) >= 1
        with staged(folder, force=True) as stage:
            fill(stage, "next")
        assert (folder / "table.csv").read_text() == "next"
    assert names_in(tmp_path) == sorted([*MOMENTS, "new"])


# Several runs at once -------------------------------------------------------------------------


def test_of_two_runs_the_first_wins_and_the_other_says_so(folder):
    def run():
        with staged(folder) as slow:
            fill(slow, "slow")
            with staged(folder) as quick:
                fill(quick, "quick")
            assert (slow / "table.csv").read_text() == "slow"

    with pytest.raises(OutputError, match="holds a release already"):
        run()
    assert (folder / "table.csv").read_text() == "quick"
    assert names_in(folder.parent) == ["release"]


def test_a_release_that_another_run_is_replacing_is_left_to_it(folder):
    release(folder)
    lock = outputs._locked(folder)
    refused = pytest.raises(OutputError, match="Another run is just replacing")
    with refused, staged(folder, force=True) as stage:
        fill(stage)
    assert (folder / "table.csv").read_text() == "old"
    os.close(lock)
    assert names_in(folder.parent) == ["release"]


def test_many_runs_at_once_leave_one_whole_release(folder):
    results = []

    def run(number: int, force: bool) -> None:
        try:
            with staged(folder, force=force) as stage:
                fill(stage, str(number))
            results.append(number)
        except OutputError:
            results.append(None)

    for force in (False, True):
        threads = [threading.Thread(target=run, args=(n, force)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 8
        won = [one for one in results if one is not None]
        assert len(won) == 1 or (force and won)
        assert int((folder / "table.csv").read_text()) in won
        assert names_in(folder.parent) == ["release"]
        results.clear()


def test_a_release_that_comes_between_two_looks_is_not_replaced_without_force(folder, monkeypatch):
    """Another run takes the name after this one has found it free."""
    looked = outputs.check_free

    def then_another(target, *, force):
        looked(target, force=force)
        if not target.exists() and any(target.parent.glob(".release.partial-*/table.csv")):
            release(target, "theirs")

    monkeypatch.setattr(outputs, "check_free", then_another)
    with pytest.raises(OutputError), staged(folder) as stage:
        fill(stage, "mine")
    assert (folder / "table.csv").read_text() == "theirs"
    assert names_in(folder.parent) == ["release"]


# Runs of plans --------------------------------------------------------------------------------


def test_a_run_says_at_once_that_its_place_is_taken(tmp_path, monkeypatch):
    plan = Plan.read(write_small(tmp_path))
    release(tmp_path / "plan-release")

    def never(*_args, **_options):
        pytest.fail("nothing must be computed")

    monkeypatch.setattr(execution, "protect", never)
    with pytest.raises(OutputError, match="holds a release already"):
        plan.run()


def test_a_run_does_not_replace_its_own_input(tmp_path):
    plan = Plan.read(write_small(tmp_path))
    plan.run()
    kept = (tmp_path / "plan-release" / "small.csv").read_bytes()
    text = plan.text.replace("small.csv", "plan-release/small.csv")
    text = text.replace('[columns.name]\nkind = "identifier"\n', "")
    again = Plan.parse(text, name="plan.toml", folder=tmp_path)
    with pytest.raises(OutputError, match="where the release is to go"):
        again.run(force=True)
    assert (tmp_path / "plan-release" / "small.csv").read_bytes() == kept


def damaged(change):
    """Write a file, then damage it."""

    def write(frame, path, *args, **options):
        write_file(frame, path, *args, **options)
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")

    return write


DAMAGES = {
    "a changed cell": lambda lines: [lines[0], lines[1].replace("j", "k", 1), *lines[2:]],
    "a changed number": lambda lines: [lines[0], "99" + lines[1][2:], *lines[2:]],
    "a missing record": lambda lines: lines[:-1],
    "one record twice": lambda lines: [*lines, lines[-1]],
    "two records exchanged": lambda lines: [lines[0], lines[-1], *lines[2:-1], lines[1]],
    "another column": lambda lines: [f"{lines[0]},name", *(f"{one},n" for one in lines[1:])],
    "a missing column": lambda lines: [one.split(",")[0] for one in lines],
    "another name": lambda lines: [lines[0].replace("job", "Job"), *lines[1:]],
    "an emptied cell": lambda lines: [*lines[:-1], lines[-1].split(",")[0] + ","],
}


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES)
def test_a_file_that_differs_from_the_release_is_withheld(tmp_path, monkeypatch, change):
    plan = Plan.read(write_small(tmp_path))
    before = names_in(tmp_path)
    monkeypatch.setattr(places, "write_file", damaged(change))
    with pytest.raises(PromiseError, match="does not keep its promise and is withheld"):
        plan.run()
    assert names_in(tmp_path) == before


@pytest.mark.parametrize("where", ["write_file", "render", "to_json", "file_digest"])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, where):
    plan = Plan.read(write_small(tmp_path))
    before = names_in(tmp_path)

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    room = places if where in ("write_file", "file_digest") else execution
    monkeypatch.setattr(room, where, full)
    with pytest.raises(OutputError) as caught:
        plan.run()
    assert str(caught.value) == (
        "The release could not be written (No space left on device); nothing was put in "
        f"{tmp_path / 'plan-release'}."
    )
    assert names_in(tmp_path) == before


def test_progress_rises_and_can_stop_a_run_at_every_stage(tmp_path):
    plan = Plan.read(write_small(tmp_path))
    seen = []
    plan.run(progress=lambda fraction, message: seen.append((fraction, message)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
    for wanted in ("reading", "protecting", "measuring", "writing", "drawing"):
        before = names_in(tmp_path)

        def stop(_fraction, message, wanted=wanted):
            if message.startswith(wanted):
                raise CancelledError("stopped")

        with pytest.raises(CancelledError):
            plan.run(force=True, progress=stop)
        assert names_in(tmp_path) == before
        assert names_in(tmp_path / "plan-release") == RELEASE


def test_two_processes_to_the_same_folder(tmp_path):
    """One wins; its files are those of a run in this process."""
    plan = write_small(tmp_path)
    command = [sys.executable, "-m", "ontomask.cli", "run", str(plan), "--quiet"]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [run.communicate()[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2]
    loser = next(text for run, text in zip(runs, said, strict=True) if run.returncode)
    assert "holds a release already" in " ".join(loser.split())
    assert names_in(tmp_path) == ["plan-release", "plan.toml", "small.csv"]
    assert names_in(tmp_path / "plan-release") == RELEASE
    here = tmp_path / "here"
    here.mkdir()
    Plan.read(write_small(here)).run()
    name = "plan-release/small.csv"
    assert (tmp_path / name).read_bytes() == (here / name).read_bytes()


def test_killed_runs_leave_whole_releases_only(tmp_path):
    tool = Path(__file__).parents[2] / "tools" / "kill_runs.py"
    plan = write_small(tmp_path)
    command = [sys.executable, str(tool), str(plan), "--times", "2", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("killed after") + done.stdout.count("done before") == 2
    assert "the next run succeeded and left nothing behind" in done.stdout
    assert names_in(tmp_path) == ["plan.toml", "small.csv"]
