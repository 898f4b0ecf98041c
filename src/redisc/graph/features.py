"""Node features as given: dense, sparse or memory-mapped; checked, and copied only where they must be."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from redisc.errors import FeatureError
from redisc.graph.arrays import as_array, first_true, is_tensor, read_only

CHUNK_ELEMENTS = 1 << 22


def read_features(x: Any) -> Any:
    """The features as a read-only (N, F) array, the caller's memory-map, or a csr_array."""
    if scipy.sparse.issparse(x) or _is_sparse_tensor(x):
        return _read_sparse(x)
    features = x if isinstance(x, np.memmap) else as_array(x, "x", FeatureError)
    _check_matrix(features.shape, features.dtype)
    if not features.dtype.isnative and not isinstance(features, np.memmap):
        features = features.astype(features.dtype.newbyteorder("="))
    _check_dense_finite(features)
    return features if isinstance(features, np.memmap) else read_only(features)


def row_chunks(features: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows in pieces of about four million elements, each with its first row's number."""
    step = max(1, CHUNK_ELEMENTS // max(1, features.shape[1]))
    for start in range(0, features.shape[0], step):
        yield start, np.asarray(features[start : start + step])


def _check_matrix(shape: tuple[int, ...], dtype: np.dtype) -> None:
    if len(shape) != 2:
        hint = ": for a single feature pass x.reshape(-1, 1)" if len(shape) == 1 else ""
        raise FeatureError(f"x must have shape (number of nodes, number of features), but has shape {shape}{hint}")
    if shape[1] == 0:
        raise FeatureError("x has no columns: pass x=None to have structural features built")
    if dtype.kind not in "biuf":
        raise FeatureError(f"x must hold real numbers, but holds {dtype}: encode text and categories as numbers")


def _check_dense_finite(features: np.ndarray) -> None:
    if features.dtype.kind != "f":
        return
    for start, chunk in row_chunks(features):
        finite = np.isfinite(chunk)
        if not finite.all():
            row, column = divmod(first_true(~finite), chunk.shape[1])
            raise _not_finite(start + row, column, chunk[row, column])


def _not_finite(row: int, column: int, value: float) -> FeatureError:
    return FeatureError(f"x[{row}, {column}] is {value}: features must be finite, fill or drop such values first")


def _is_sparse_tensor(x: Any) -> bool:
    if is_tensor(x):
        return str(x.layout) != "torch.strided"
    return hasattr(x, "to_torch_sparse_csr_tensor")


def _read_sparse(x: Any) -> Any:
    features = x.tocsr() if scipy.sparse.issparse(x) else tensor_to_csr(x)
    _check_matrix(features.shape, features.dtype)
    # A new csr_array around the same arrays: flags and clean-up then never touch the caller's matrix.
    features = scipy.sparse.csr_array((features.data, features.indices, features.indptr), shape=features.shape)
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    _check_sparse_finite(features)
    return features


def _check_sparse_finite(features: Any) -> None:
    wrong = ~np.isfinite(features.data)
    if wrong.any():
        place = first_true(wrong)
        row = int(np.searchsorted(features.indptr, place, side="right")) - 1
        raise _not_finite(row, int(features.indices[place]), features.data[place])


def tensor_to_csr(tensor: Any) -> Any:
    """A sparse torch tensor (COO, CSR, CSC, or torch_sparse's SparseTensor) as a csr_array."""
    if hasattr(tensor, "to_torch_sparse_csr_tensor"):
        tensor = tensor.to_torch_sparse_csr_tensor()
    tensor = tensor.detach().cpu().to_sparse_coo().coalesce()
    row, column = tensor.indices().numpy()
    values = as_array(tensor.values(), "x", FeatureError)
    return scipy.sparse.csr_array((values, (row, column)), shape=tuple(tensor.shape))
