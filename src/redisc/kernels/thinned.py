"""A sparse matrix of which dropout left some entries: the others are left out instead of being multiplied by zero."""

from __future__ import annotations

import numpy as np
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import in_order, launch, parts_of, serial, view
from redisc.kernels.sparse import SparseMatrix, check_factor

_LINE = 16  # numbers in a line of the cache: narrower parts would write to each other's


class ThinnedMatrix(SparseMatrix):
    """The entries of a CSR matrix whose random byte is below `kept` of 256, scaled up.

    It lives for one forward and one backward pass, too short for a transpose to pay: that product spreads each row
    over the columns of its entries. Its sums run in the order in which the transpose's would, so that for finite
    factors both products have the bits of the whole matrix with zeros in it (`benchmarks/sparse.py` has the times).
    """

    def __init__(self, whole: SparseMatrix, random_bytes: np.ndarray, kept: int) -> None:
        pointers, columns = (part.numpy() for part in whole._structure)
        values = view(whole.values)
        if len(random_bytes) != len(values):
            raise ValueError(f"{len(random_bytes)} random bytes for {len(values)} entries")
        thin = (np.empty_like(pointers), np.empty_like(columns), np.empty_like(values))
        count = _thin(pointers, columns, values, random_bytes, np.uint8(kept - 1), values.dtype.type(256 / kept), *thin)
        self.shape = whole.shape
        self._structure = (torch.from_numpy(thin[0]), torch.from_numpy(thin[1][:count]))
        self.values = torch.from_numpy(thin[2][:count])

    def transpose_times(self, dense: Tensor) -> Tensor:
        """Product `(columns, width)` of the transpose with `dense (rows, width)`, without a gradient."""
        check_factor(self.shape[::-1], self.values, dense)
        pointers, columns = (part.numpy() for part in self._structure)
        rows = view(dense)
        out = np.zeros((self.shape[1], rows.shape[1]), rows.dtype)
        work = len(columns) * rows.shape[1]
        parts = min(parts_of(work), max(1, rows.shape[1] // _LINE))
        launch(_spread, work, pointers, columns, view(self.values), rows, out, parts)
        return torch.from_numpy(out)


@serial
def _thin(pointers, columns, values, random_bytes, last_kept, scale, into_pointers, into_columns, into_values):  # type: ignore[no-untyped-def]
    """Copy the entries that are kept, and return how many there are."""
    count = 0
    into_pointers[0] = 0
    for i in range(len(pointers) - 1):
        for e in range(pointers[i], pointers[i + 1]):
            into_columns[count], into_values[count] = columns[e], values[e] * scale  # the next overwrites a dropped one
            count += random_bytes[e] <= last_kept
        into_pointers[i + 1] = count
    return count


@in_order
def _spread(pointers, columns, values, rows, out, parts):  # type: ignore[no-untyped-def]
    """Add each entry times its row to its column's sum; every part has some places of the width to itself."""
    width = rows.shape[1]
    for part in prange(parts):
        first, last = width * part // parts, width * (part + 1) // parts
        for i in range(len(rows)):
            row = rows[i, first:last]
            for e in range(pointers[i], pointers[i + 1]):
                a, total = values[e], out[columns[e], first:last]
                for k in range(len(row)):
                    total[k] += a * row[k]
