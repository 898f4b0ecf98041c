"""Sparse matrices with fixed structure and a differentiable product with dense ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


class SparseMatrix:
    """A CSR matrix of constants and its transpose; `matrix @ z` is differentiable in `z`, not in the entries.

    Indices are int32 where they fit: torch's CSR products were 4 to 15 times faster with them on CPU.
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
        self._assemble()

    def _assemble(self) -> None:
        rows, columns = self.shape
        self._forward = _csr_tensor(self._structure, self.values, (rows, columns))
        self._backward = _csr_tensor(self._structure_t, self.values[self._order_t], (columns, rows))

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Return a matrix of the same structure with other entries, in the order of `self.values`."""
        other = object.__new__(SparseMatrix)
        other.__dict__.update(self.__dict__)
        other.values = values
        other._assemble()
        return other

    def rows(self, which: np.ndarray) -> SparseMatrix:
        """Return some rows as a matrix of their own."""
        pointers, columns = (part.cpu().numpy() for part in self._structure)
        whole = sp.csr_array((self.values.detach().cpu().numpy(), columns, pointers), shape=self.shape)
        return SparseMatrix(whole[which], self.values.dtype, self.values.device)

    def to_dense(self) -> Tensor:
        """Return the matrix as a dense tensor."""
        return self._forward.to_dense()

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Product with a dense `(columns, width)` matrix."""
        return _Product.apply(self._forward, self._backward, dense)


class _Product(torch.autograd.Function):
    """`M @ z` with the transpose at hand: the gradient of z is `M.T @ gradient`."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.transpose = transpose
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.transpose @ gradient.contiguous()


def _csr_structure(matrix: Any, device: str | torch.device) -> tuple[Tensor, Tensor]:
    fits = max(matrix.nnz, *matrix.shape) < 2**31
    dtype = np.int32 if fits else np.int64
    pointers = torch.from_numpy(matrix.indptr.astype(dtype))
    return pointers.to(device), torch.from_numpy(matrix.indices.astype(dtype)).to(device)


def _csr_tensor(structure: tuple[Tensor, Tensor], values: Tensor, shape: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Sparse CSR tensor support is in beta.*")
        return torch.sparse_csr_tensor(*structure, values, size=shape, check_invariants=False)
