"""Arrays in `.npy` files: mapped without reading them, and written row by row."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike

from redisc.errors import StoredGraphError


def map_npy(path: Path) -> np.ndarray:
    """Map an array for reading; only its header is looked at, and that the file is as long as it says."""
    try:
        with path.open("rb") as file:
            shape, fortran, dtype = _read_header(file)
            offset, size = file.tell(), os.fstat(file.fileno()).st_size
    except OSError as fault:
        raise StoredGraphError(f"{path} can't be read: {fault.strerror}") from None
    except (ValueError, EOFError):
        raise StoredGraphError(f"{path} is not a .npy file: it is damaged or something else") from None
    expected = offset + dtype.itemsize * int(np.prod(shape, dtype=object))
    if dtype.hasobject or size != expected:
        raise StoredGraphError(f"{path} is damaged: it has {size} bytes, but its header asks for {expected}")
    order: Any = "F" if fortran else "C"
    if size == offset:
        return np.empty(shape, dtype, order)
    return np.memmap(path, dtype, "r", offset, shape, order)


def _read_header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and dtype."""
    version = npy.read_magic(file)
    return npy.read_array_header_1_0(file) if version == (1, 0) else npy.read_array_header_2_0(file)


def create_npy(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> np.ndarray:
    """Make a file of zeros and map it for writing; nothing is held in memory."""
    kind = np.dtype(dtype)
    with path.open("wb") as file:
        _write_header(file, kind, shape)
        offset = file.tell()
        file.truncate(offset + kind.itemsize * int(np.prod(shape, dtype=object)))
    if 0 in shape:
        return np.empty(shape, kind)
    return np.memmap(path, kind, "r+", offset, shape)


def shorten_npy(path: Path, dtype: DTypeLike, rows: int) -> None:
    """Cut a file of one column to its first `rows` entries, which may get another dtype of the same width."""
    with path.open("rb+") as file:
        _read_header(file)
        before = file.tell()
        file.seek(0)
        _write_header(file, np.dtype(dtype), (rows,))
        assert file.tell() == before
        file.truncate(before + np.dtype(dtype).itemsize * rows)


def _write_header(file: BinaryIO, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """Write the header; numpy leaves room for the number of rows to grow, so its length depends on the rest alone."""
    npy.write_array_header_1_0(file, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})


class NpyAppender:
    """Writes an array (rows, *shape) whose number of rows is known only at the end.

    Example:
        with NpyAppender(path, np.float32, (3,)) as rows:
            rows.append(np.ones((5, 3)))
    """

    def __init__(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self.path, self.dtype, self.shape, self.rows = path, np.dtype(dtype), shape, 0
        self._file = path.open("wb")
        _write_header(self._file, self.dtype, (0, *shape))

    def append(self, rows: np.ndarray) -> None:
        """Write some rows (n, *shape)."""
        assert rows.shape[1:] == self.shape
        np.ascontiguousarray(rows, self.dtype).tofile(self._file)
        self.rows += len(rows)

    def close(self) -> None:
        """Write the number of rows into the header."""
        self._file.seek(0)
        _write_header(self._file, self.dtype, (self.rows, *self.shape))
        self._file.close()

    def __enter__(self) -> NpyAppender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
