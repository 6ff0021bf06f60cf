"""Work in the background: progress, stopping, and nothing done twice."""

import os
import signal
import time

import pytest

from ontomask.errors import DataError
from ontomask.studio import jobs, tasks
from ontomask.studio.jobs import Board


def count(*, upto, seconds, progress):
    for number in range(upto):
        progress(number / upto, f"{number}")
        time.sleep(seconds)
    return {"counted": upto, "process": os.getpid()}


def deaf(*, progress):
    time.sleep(60)


def mistaken(*, kind, progress):
    if kind == "ours":
        raise DataError("Column 'a' is empty.")
    raise ValueError("the secret value 4711")


def dying(*, progress):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def board(tmp_path, workers):
    board = Board(tmp_path, workers)
    yield board
    board.leave()


def over(board, job, within=20.0):
    started = time.monotonic()
    for state in board.follow(job.key):
        assert time.monotonic() - started < within
        last = state
    return last


def until(happened, within=20.0):
    """Wait, but not for what will never happen: a job that failed neither runs nor is over soon."""
    started = time.monotonic()
    while not happened():
        assert time.monotonic() - started < within
        time.sleep(0.02)


def test_a_job_reports_its_progress_and_its_result(board):
    job = board.ask("preview", count, {"upto": 8, "seconds": 0.06})
    states = list(board.follow(job.key))
    assert states[-1].state == "done"
    assert states[-1].result["counted"] == 8
    assert states[-1].result["process"] != os.getpid()
    assert any(0 < one.done < 1 for one in states)


def test_the_same_question_is_answered_once_even_after_a_restart(board, tmp_path):
    asked = {"upto": 1, "seconds": 0}
    first = over(board, board.ask("preview", count, asked))
    again = board.ask("preview", count, asked)
    assert again.state == "done"
    assert again.result == first.result
    other = Board(tmp_path)
    assert other.ask("preview", count, asked).result == first.result  # without any process
    assert not other.workers
    third = over(board, board.ask("preview", count, {**asked, "upto": 2}))
    assert third.key != first.key


def test_what_an_earlier_studio_kept_in_another_shape_is_not_shown(board, monkeypatch):
    asked = {"upto": 1, "seconds": 0}
    first = over(board, board.ask("preview", count, asked))
    monkeypatch.setattr(jobs, "SHAPE", jobs.SHAPE + 1)
    assert board.ask("preview", count, asked).key != first.key


def test_a_job_is_stopped_within_a_second(board):
    job = board.ask("work", count, {"upto": 1000, "seconds": 0.05})
    until(lambda: board.get(job.key).state == "running" and board.get(job.key).done)
    board.stop(job.key)
    started = time.monotonic()
    assert over(board, job).state == "stopped"
    assert time.monotonic() - started < 1.0


def test_one_that_does_not_listen_is_ended(board):
    over(board, board.ask("work", count, {"upto": 1, "seconds": 0}))
    job = board.ask("work", deaf, {})
    until(lambda: board.get(job.key).state == "running")
    board.stop(job.key)
    started = time.monotonic()
    assert over(board, job).state == "stopped"
    assert time.monotonic() - started < 1.5
    assert over(board, board.ask("work", count, {"upto": 2, "seconds": 0})).state == "done"


def test_one_that_waits_is_stopped_at_once(board):
    first = board.ask("work", count, {"upto": 100, "seconds": 0.05})
    second = board.ask("work", count, {"upto": 101, "seconds": 0.05})
    board.stop(second.key)
    assert over(board, second, within=1).state == "stopped"
    board.stop(first.key)
    assert over(board, first).state == "stopped"


def test_a_stopped_job_can_be_asked_for_again(board):
    job = board.ask("work", deaf, {})
    board.stop(job.key)
    over(board, job)
    assert board.ask("work", deaf, {}).state == "stopped"
    assert board.ask("work", deaf, {}, again=True).state == "waiting"


def test_mistakes_are_sentences_and_tell_no_values(board):
    ours = over(board, board.ask("preview", mistaken, {"kind": "ours"}))
    assert (ours.state, ours.problem, ours.refused) == ("failed", "Column 'a' is empty.", True)
    other = over(board, board.ask("preview", mistaken, {"kind": "other"}))
    assert (other.state, other.refused) == ("failed", False)
    assert "4711" not in other.problem
    assert "ValueError" in other.problem


def test_a_process_that_is_killed_is_a_sentence_and_is_replaced(board):
    gone = over(board, board.ask("preview", dying, {}))
    assert (gone.state, gone.refused) == ("failed", False)
    assert "ended from outside" in gone.problem
    assert over(board, board.ask("preview", count, {"upto": 1, "seconds": 0})).state == "done"


def test_previews_do_not_wait_for_work(board):
    slow = board.ask("work", count, {"upto": 100, "seconds": 0.05})
    quick = over(board, board.ask("preview", count, {"upto": 1, "seconds": 0}))
    assert quick.state == "done"
    assert not board.get(slow.key).is_over
    board.stop(slow.key)


def test_what_somebody_looks_at_goes_first(board):
    first = board.ask("work", count, {"upto": 10, "seconds": 0.05})
    while board.get(first.key).state != "running":
        time.sleep(0.02)
    jobs = [board.ask("work", count, {"upto": n, "seconds": 0}) for n in (1, 2, 3)]
    assert board.ahead(jobs[0].key).key == first.key
    board.ask("work", count, {"upto": 2, "seconds": 0})  # looked at again
    order = []
    for one in board.follow(jobs[0].key):
        order += [job.key for job in jobs if board.get(job.key).is_over and job.key not in order]
        assert not (one.is_over and not board.get(jobs[1].key).is_over)
    assert order[-1] == jobs[0].key
    assert board.ahead(jobs[0].key) is None


def test_what_yields_is_put_off_and_done_later(board):
    patient = board.ask("work", count, {"upto": 12, "seconds": 0.05}, yields=True)
    while not board.get(patient.key).done:
        time.sleep(0.02)
    urgent = [board.ask("work", count, {"upto": n, "seconds": 0}) for n in (1, 2)]
    board.ask("work", count, {"upto": 12, "seconds": 0.05}, yields=True)  # looked at last
    for one in urgent:
        assert over(board, one).state == "done"
        assert not board.get(patient.key).is_over
    assert over(board, patient).state == "done"


def test_a_job_nobody_knows(board):
    assert board.get("../../etc/passwd") is None
    assert list(board.follow("nothing")) == []


def test_kernels_are_compiled_in_a_process_of_the_studio(workers):
    board = Board(workers=workers)
    *_, last = board.follow(board.ask("work", tasks.warmed, {}).key)
    board.leave()
    assert last.state == "done", last.problem
