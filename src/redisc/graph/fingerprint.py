"""A short name for a graph's structure and features, to recognise it again."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from redisc.graph.features import row_chunks


def fingerprint(indptr: np.ndarray, indices: np.ndarray, edge_weight: np.ndarray | None, x: Any) -> str:
    """Sixteen hexadecimal digits of SHA-256 over sizes, CSR arrays, weights and features, read in pieces."""
    digest = hashlib.sha256()
    digest.update(repr((indptr.size - 1, indices.size, edge_weight is None, tuple(x.shape), x.dtype.name)).encode())
    for part in (indptr, indices, edge_weight):
        if part is not None:
            digest.update(np.ascontiguousarray(part).data)
    for part in _feature_parts(x):
        digest.update(part.data)
    return digest.hexdigest()[:16]


def _feature_parts(x: Any) -> Iterator[np.ndarray]:
    if scipy.sparse.issparse(x):
        # scipy picks the width of its index arrays by itself; int64 makes equal matrices equal here too.
        yield x.indptr.astype(np.int64)
        yield x.indices.astype(np.int64)
        yield np.ascontiguousarray(x.data)
    else:
        for _, chunk in row_chunks(x):
            yield np.ascontiguousarray(chunk)
