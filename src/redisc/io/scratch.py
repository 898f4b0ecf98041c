"""Arrays that need not fit into memory: maps of files that vanish with the process."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from redisc.errors import ConfigError

Allocate = Callable[[tuple[int, ...], DTypeLike], np.ndarray]
"""Makes an array to be filled."""


def allocator(folder: str | Path | None) -> Allocate:
    """Return what makes arrays: in memory, or as maps of nameless files in `folder`."""
    if folder is None:
        return np.empty
    if not Path(folder).is_dir():
        raise ConfigError(f"scratch={str(folder)!r}: there is no such folder")

    def allocate(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(max(1, size))
            mapped: np.memmap[Any, Any] = np.memmap(file, dtype, "r+", shape=shape)
        return mapped

    return allocate
