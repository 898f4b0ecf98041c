"""How kernels are compiled: once a machine, into a cache, so that a second process does not wait."""

from __future__ import annotations

from collections.abc import Callable
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


def threaded(function: Kernel) -> Kernel:
    """Compile a kernel whose `prange` loops share the threads that `launch` grants."""
    return numba.njit(cache=True, nogil=True, parallel=True, fastmath={"contract", "reassoc"})(function)


def launch(kernel: Callable[..., Any], work: int, *arguments: Any) -> Any:
    """Call a threaded kernel with torch's number of threads, or with one where `work` (elements) is small."""
    threads = torch.get_num_threads() if work > _PARALLEL_ABOVE else 1
    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))
    return kernel(*arguments)


def view(tensor: Tensor) -> np.ndarray:
    """Return a CPU tensor as a contiguous array without a gradient, sharing memory where it can."""
    array: np.ndarray = tensor.detach().contiguous().numpy()
    return array


def runs_compiled(*tensors: Tensor) -> bool:
    """Tell whether kernels for the CPU can take these tensors; elsewhere torch's own operations stand in."""
    return all(tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64) for tensor in tensors)
