"""Sparse matrices with fixed structure and a differentiable product with dense ones."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numba import prange
from torch import Tensor

from redisc.kernels.compiled import in_order, launch, runs_compiled, view


class SparseMatrix:
    """A CSR matrix of constants and its transpose; `matrix @ z` is differentiable in `z`, not in the entries.

    On CPU the product is a kernel of ours: on one thread of one machine 1.1 to 3 times faster than torch's, with the
    same bits (`benchmarks/sparse.py`). Indices are int32 where they fit.
    """

    def __init__(self, matrix: Any, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> None:
        forward = sp.csr_array(matrix, copy=True)  # the caller's arrays are neither changed nor kept
        forward.sum_duplicates()
        self.shape: tuple[int, int] = (int(forward.shape[0]), int(forward.shape[1]))
        # A matrix whose entries are their own positions tells where each entry stands in the transpose.
        places = sp.csr_array((np.arange(1, forward.nnz + 1), forward.indices, forward.indptr), shape=self.shape)
        backward = sp.csr_array(places.T)
        self._structure = _csr_structure(forward, device)
        self._structure_t = _csr_structure(backward, device)
        self._order_t = torch.from_numpy(backward.data.astype(np.int64) - 1).to(device)
        self.values = torch.as_tensor(forward.data, device=device).to(dtype)

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Return a matrix of the same structure with other entries, in the order of `self.values`."""
        if values.shape != self.values.shape:
            raise ValueError(f"{tuple(values.shape)} values for {len(self.values)} entries")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("_values_t", None)
        other.values = values
        return other

    def rows(self, which: np.ndarray) -> SparseMatrix:
        """Return some rows as a matrix of their own."""
        pointers, columns = (part.cpu().numpy() for part in self._structure)
        whole = sp.csr_array((self.values.detach().cpu().numpy(), columns, pointers), shape=self.shape)
        return SparseMatrix(whole[which], self.values.dtype, self.values.device)

    def to_dense(self) -> Tensor:
        """Return the matrix as a dense tensor."""
        return _csr_tensor(self._structure, self.values, self.shape).to_dense()

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Product with a dense `(columns, width)` matrix."""
        return _Product.apply(self, dense, False)

    def times(self, dense: Tensor) -> Tensor:
        """Product `(rows, width)` without a gradient."""
        return csr_product(self._structure, self.values, self.shape, dense)

    def transpose_times(self, dense: Tensor) -> Tensor:
        """Product `(columns, width)` of the transpose with `dense (rows, width)`, without a gradient."""
        return csr_product(self._structure_t, self._values_t, self.shape[::-1], dense)

    @cached_property
    def _values_t(self) -> Tensor:
        """Return the entries in the transpose's order."""
        return self.values[self._order_t]


class _Product(torch.autograd.Function):
    """`M @ z`, or `M.T @ z`: the gradient of one is the other's product with what arrives."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor, turned: bool) -> Tensor:
        ctx.matrix, ctx.turned = matrix, turned
        return matrix.transpose_times(dense) if turned else matrix.times(dense)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, None]:
        return None, _Product.apply(ctx.matrix, gradient, not ctx.turned), None


def csr_product(structure: tuple[Tensor, Tensor], values: Tensor, shape: tuple[int, int], dense: Tensor) -> Tensor:
    """Return the product `(rows, width)` of a CSR matrix with `dense (columns, width)`."""
    if not runs_compiled(values, dense):
        return _csr_tensor(structure, values, shape) @ dense.contiguous()
    check_factor(shape, values, dense)
    pointers, columns = (part.numpy() for part in structure)
    rows = view(dense)
    out = np.empty((shape[0], rows.shape[1]), rows.dtype)
    launch(_multiply, len(columns) * rows.shape[1], pointers, columns, view(values), rows, out)
    return torch.from_numpy(out)


def check_factor(shape: tuple[int, int], values: Tensor, dense: Tensor) -> None:
    """Refuse a dense factor that does not fit a matrix: kernels read where they are told to."""
    if dense.dim() != 2 or len(dense) != shape[1] or dense.dtype != values.dtype:
        raise ValueError(f"no product of {shape} in {values.dtype} with {tuple(dense.shape)} in {dense.dtype}")


@in_order
def _multiply(pointers, columns, values, rows, out):  # type: ignore[no-untyped-def]
    for i in prange(len(out)):
        total, e, end = out[i], pointers[i], pointers[i + 1]
        total[:] = 0
        while e + 3 < end:  # four at a time, so that a total is written a quarter as often
            a, b, c, d = values[e], values[e + 1], values[e + 2], values[e + 3]
            w, x = rows[columns[e]], rows[columns[e + 1]]
            y, z = rows[columns[e + 2]], rows[columns[e + 3]]
            for k in range(len(total)):
                total[k] = total[k] + a * w[k] + b * x[k] + c * y[k] + d * z[k]
            e += 4
        while e < end:
            a, w = values[e], rows[columns[e]]
            for k in range(len(total)):
                total[k] += a * w[k]
            e += 1


def _csr_structure(matrix: Any, device: str | torch.device) -> tuple[Tensor, Tensor]:
    fits = max(matrix.nnz, *matrix.shape) < 2**31
    dtype = np.int32 if fits else np.int64
    pointers = torch.from_numpy(matrix.indptr.astype(dtype))
    return pointers.to(device), torch.from_numpy(matrix.indices.astype(dtype)).to(device)


def _csr_tensor(structure: tuple[Tensor, Tensor], values: Tensor, shape: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Sparse CSR tensor support is in beta.*")
        return torch.sparse_csr_tensor(*structure, values, size=shape, check_invariants=False)
