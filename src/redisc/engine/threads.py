"""How many threads torch uses: small graphs are faster with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_ONE_THREAD_BELOW = 8_000


@contextmanager
def threads_for(num_nodes: int) -> Iterator[None]:
    """Run a block with one thread where the graph is small, and restore the caller's setting after it.

    A second thread gains little there, and on a busy machine it loses a lot, because threads wait for each other inside
    every small operation: on Cora an update took 1.0 to 2.4 times as long and a sample up to 5.8 times.
    """
    before = torch.get_num_threads()
    if num_nodes >= _ONE_THREAD_BELOW or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
