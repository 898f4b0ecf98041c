"""The processes that work together: one, or those that `torchrun` started.

Every rank runs the same program on the same seed. What is shared out (chains, samples, masked states, mini-batches) is
told apart by counters, not by who computes it, so that a result does not depend on the number of ranks beyond rounding.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from redisc.errors import RankError

Item = TypeVar("Item")

_PATIENCE = timedelta(minutes=30)


@dataclass(frozen=True)
class World:
    """This process's number among `size`; rank 0 alone writes files and talks."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Tell whether this is the process that writes and talks."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return this rank's part of some items: every size-th of them."""
        return items[self.rank :: self.size]

    def gather(self, mine: Sequence[Item]) -> list[Item]:
        """Return all ranks' items in the order that `share` dealt them in; items are plain data or tensors."""
        if self.size == 1:
            return list(mine)
        parts: list[Any] = [None] * self.size
        with _spoken():
            dist.all_gather_object(parts, list(mine))
        longest = max(map(len, parts))
        return [part[k] for k in range(longest) for part in parts if k < len(part)]

    def sum(self, value: Tensor) -> Tensor:
        """Return the sum of a tensor over all ranks."""
        if self.size == 1:
            return value
        total = value.clone()
        with _spoken():
            dist.all_reduce(total)
        return total

    def agree(self, value: Item) -> Item:
        """Return the first rank's value: where ranks might differ in the last bit, one of them decides."""
        return self.gather([value])[0]

    def wait(self) -> None:
        """Wait until every rank is here."""
        if self.size > 1:
            with _spoken():
                dist.barrier()

    def speaking(self) -> AbstractContextManager[None]:
        """Turn a failure to talk to another rank into one clear sentence."""
        return _spoken()

    def parallel(self, module: nn.Module) -> nn.Module:
        """Return a module whose gradients are averaged over ranks in the backward pass."""
        if self.size == 1:
            return module
        with _spoken():
            return nn.parallel.DistributedDataParallel(module)


def world() -> World:
    """Return the processes that work together now."""
    if dist.is_available() and dist.is_initialized():
        return World(dist.get_rank(), dist.get_world_size())
    return World()


@contextmanager
def joined() -> Iterator[World]:
    """Join the processes that `torchrun` started for as long as the block runs; alone where there are none.

    Tensors on CPUs travel by gloo, those on GPUs by nccl; every process of a machine takes a GPU of its own.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield world()
        return
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    with _spoken():
        dist.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield world()
    finally:
        dist.destroy_process_group()


@contextmanager
def _spoken() -> Iterator[None]:
    """Say in one sentence what it means where talking to another rank fails."""
    try:
        yield
    except (RuntimeError, pickle.UnpicklingError) as fault:
        raise RankError(
            "another process of this run ended or cannot be reached: start it again with --resume to go on from the "
            f"last checkpoint ({str(fault).splitlines()[0][:120]})"
        ) from None
