"""What is done so that memory is neither asked for in vain nor given back too soon."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from ontomask.memory import keep_freed

def asked():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(200_000) + np.ones(200_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

asked()
before = asked()
keep_freed()
asked()
print(before, asked())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries do as ever")
def test_memory_of_arrays_is_kept_for_those_that_follow():
    """The system is asked for no more pages: each would have to be emptied first."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    before, after = map(int, ran.stdout.split())
    assert after < before / 10
