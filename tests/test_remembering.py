"""What is computed once, by threads that do not wait for each other."""

import functools
import threading

import pytest

from ontomask.evaluation import sides
from ontomask.kernels.blocks import side_by_side
from ontomask.methods.generalization import evaluation
from ontomask.privacy import classes
from ontomask.quality import facts, measures
from ontomask.remembering import remembered


class Thing:
    def __init__(self, barrier=None):
        self.barrier, self.asked = barrier, 0

    @remembered
    def figure(self):
        """A figure."""
        self.asked += 1
        if self.barrier is not None:
            self.barrier.wait(10)
        return 42


def test_a_value_is_computed_once_and_kept():
    thing = Thing()
    assert (thing.figure, thing.figure, thing.asked) == (42, 42, 1)
    assert thing.__dict__["figure"] == 42
    assert Thing.figure.__doc__ == "A figure."


def test_threads_compute_it_for_different_objects_at_once(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    barrier = threading.Barrier(2)
    things = [Thing(barrier), Thing(barrier)]
    assert side_by_side(lambda thing: thing.figure, things) == [42, 42]


@pytest.mark.parametrize("module", [evaluation, facts, measures, classes, sides])
def test_what_threads_ask_for_has_no_lock_that_all_objects_share(module):
    here = [one for one in vars(module).values() if isinstance(one, type)]
    owned = [one for one in here if one.__module__ == module.__name__]
    kinds = {type(one) for owner in owned for one in vars(owner).values()}
    assert functools.cached_property not in kinds
    assert remembered in kinds
