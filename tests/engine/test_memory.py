"""Large buffers are faulted in once inside `memory_kept`, and anew each time outside."""

import subprocess
import sys

import pytest

from redisc.engine import memory_kept
from redisc.engine.memory import _glibc

CHURN = """
import resource
import numpy as np
from redisc.engine import memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.empty(48 << 20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = faults()
with memory_kept():
    np.empty(48 << 20, np.uint8).fill(1)
    inside = faults()
print(outside, inside, faults())
"""


@pytest.mark.skipif(_glibc() is None, reason="only glibc's allocator can be told")
def test_buffers_are_reused_inside_and_given_back_after() -> None:
    done = subprocess.run([sys.executable, "-c", CHURN], check=True, capture_output=True, text=True)
    outside, inside, after = map(int, done.stdout.split())
    assert inside < outside / 4
    assert after > inside


def test_an_error_inside_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), memory_kept():
        1 / 0  # noqa: B018
