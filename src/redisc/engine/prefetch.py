"""The next mini-batch, prepared in the background while the present one trains."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

Batch = TypeVar("Batch")


class Prefetcher(Generic[Batch]):
    """Prepares a batch of rows, at once or ahead of time; what is prepared does not depend on when.

    `prepare(rows, depth, draw)` must be a function of its arguments. Kernels and copies let other threads run, so the
    preparation overlaps with the products of the batch before it, and with reading from disk.
    """

    def __init__(self, prepare: Callable[[Tensor, int, int], Batch]) -> None:
        self._prepare = prepare
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: tuple[Tensor, tuple[int, int], Future[Batch]] | None = None

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Say which batch will be asked for next."""
        self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="redisc-prefetch")
        self._ahead = rows, (depth, draw), self._pool.submit(self._prepare, rows, depth, draw)

    def take(self, rows: Tensor, depth: int, draw: int) -> Batch:
        """Return a batch: the one that was announced, or one prepared now."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[1] == (depth, draw) and torch.equal(ahead[0], rows):
            return ahead[2].result()
        return self._prepare(rows, depth, draw)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the thread and what it prepares behind, so that an engine can be copied and pickled."""
        return {"_prepare": self._prepare, "_pool": None, "_ahead": None}
