"""How many threads torch uses: small graphs are faster with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_ONE_THREAD_BELOW = 8_000


@contextmanager
def threads_for(num_nodes: int) -> Iterator[None]:
    """Run a block with one thread where the graph is small, and restore the caller's setting after it.

    On Cora (2,708 nodes) a second thread gained nothing on an idle machine and lost a factor of two to six on a busy one, where
    threads wait for each other inside every small operation.
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
