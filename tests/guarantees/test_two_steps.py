"""Every pair of methods: what the first promises holds at the end, or the run is refused."""

import pytest

from guarantees.options import GUARDED, made


@pytest.mark.parametrize("second", GUARDED)
@pytest.mark.parametrize("first", GUARDED)
def test_the_second_step_keeps_what_the_first_promises(trial, first, second):
    def steps(people, generator):
        return [made(GUARDED[name], people, generator) for name in (first, second)]

    trial(released=False).examine(steps)
