"""How kernels are compiled: once a machine, into a cache, so that a second process does not wait."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
import torch
from torch import Tensor

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_PARALLEL_ABOVE = 300_000


def serial(function: Kernel) -> Kernel:
    """Compile a kernel for one thread."""
    return numba.njit(cache=True, nogil=True, fastmath={"contract"})(function)


def vectorised(function: Kernel) -> Kernel:
    """Compile a kernel for one thread whose sums may be taken in any order, so that several are taken at a time."""
    return numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})(function)


class ThreadedKernel:
    """A kernel with `prange` loops, compiled twice on demand: for many threads, and for one.

    A parallel kernel that is told to use one thread still wakes the others, which then spin and take the processor
    from whoever works beside it: two fits at a time were ten times slower.
    """

    def __init__(self, function: FunctionType, fastmath: set[str] | bool) -> None:
        options = {"cache": True, "nogil": True, "fastmath": fastmath}
        # The cache tells functions apart by name, not by options.
        name = f"{function.__name__}_on_one_thread"
        twin = FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
        twin.__qualname__, twin.__module__ = name, function.__module__
        self.one = numba.njit(**options)(twin)
        self.many = numba.njit(parallel=True, **options)(function)


def threaded(function: Callable[..., Any]) -> ThreadedKernel:
    """Compile a kernel whose `prange` loops share the threads that `launch` grants."""
    assert isinstance(function, FunctionType)
    return ThreadedKernel(function, {"contract", "reassoc"})


def in_order(function: Callable[..., Any]) -> ThreadedKernel:
    """Compile a kernel with `prange` loops that rounds every product and sum as written."""
    assert isinstance(function, FunctionType)
    return ThreadedKernel(function, False)


def parts_of(work: int) -> int:
    """How many parts a backward pass of so much `work` (elements) has, so that every thread has one of its own."""
    return max(1, torch.get_num_threads()) if work > _PARALLEL_ABOVE else 1


def launch(kernel: ThreadedKernel, work: int, *arguments: Any) -> None:
    """Run a kernel with torch's number of threads, or with one where `work` (elements) is small."""
    threads = min(torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS) if work > _PARALLEL_ABOVE else 1
    if threads == 1:
        kernel.one(*arguments)
    else:
        numba.set_num_threads(threads)
        kernel.many(*arguments)


def view(tensor: Tensor) -> np.ndarray:
    """Return a CPU tensor as a contiguous array without a gradient, sharing memory where it can."""
    array: np.ndarray = tensor.detach().contiguous().numpy()
    return array


def runs_compiled(*tensors: Tensor) -> bool:
    """Tell whether kernels for the CPU can take these tensors; elsewhere torch's own operations stand in."""
    return all(tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64) for tensor in tensors)
