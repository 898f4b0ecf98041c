"""Features written row by row, each value checked."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import DTypeLike

from redisc.errors import ConfigError, FeatureError
from redisc.graph.arrays import first_true
from redisc.io.npy import NpyAppender

DTYPES = ("float16", "float32")


def feature_dtype(dtype: DTypeLike) -> np.dtype:
    """The dtype that was asked for: float16 or float32."""
    try:
        asked = np.dtype(dtype)
    except TypeError:
        asked = None
    if asked is None or asked.name not in DTYPES:
        raise ConfigError(f"dtype={dtype!r}: features are stored as {' or '.join(DTYPES)}")
    return asked


class FeatureWriter:
    """Writes features (N, F) in chunks of rows; a value that is not finite in `dtype` is refused by row and column."""

    def __init__(self, path: Path, dtype: DTypeLike, columns: int) -> None:
        self._rows = NpyAppender(path, dtype, (columns,))

    @property
    def rows(self) -> int:
        """How many rows were written."""
        return self._rows.rows

    def append(self, chunk: np.ndarray) -> None:
        """Write some rows (n, F)."""
        with np.errstate(over="ignore"):
            stored = chunk.astype(self._rows.dtype, copy=False)
        if stored.dtype.kind == "f" and not (finite := np.isfinite(stored)).all():
            row, column = divmod(first_true(~finite), chunk.shape[1])
            raise FeatureError(
                f"x[{self.rows + row}, {column}] is {chunk[row, column]}: features must be finite in "
                f"{self._rows.dtype.name}, fill or drop such values first"
            )
        self._rows.append(stored)

    def __enter__(self) -> FeatureWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()
