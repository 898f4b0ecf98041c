"""The arrays of a saved graph as memory maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from redisc.io.npy import map_npy


def map_arrays(folder: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Map the named arrays; none is read."""
    return {name: map_npy(folder / f"{name}.npy") for name in names}


def csr_from(arrays: Mapping[str, np.ndarray], columns: int) -> Any:
    """The sparse features (N, `columns`) as a csr_array around the maps.

    The arrays are set by hand since the constructor looks at all of them, and may copy them.
    """
    indptr, indices, data = (np.asarray(arrays[name]) for name in ("x_indptr", "x_indices", "x_data"))
    matrix = scipy.sparse.csr_array((indptr.size - 1, columns), dtype=data.dtype)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    matrix.has_canonical_format = True
    return matrix
