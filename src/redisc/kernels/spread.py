"""Propagation of dense rows over a CSR adjacency by pieces, without a matrix of weights."""

from __future__ import annotations

import numpy as np
from numba import prange

from redisc.kernels.compiled import launch, threaded


def spread_rows(
    start: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    edge_weight: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    loop: np.ndarray,
    z: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write `sum_j left[i] * weight * right[j] * z[j] + loop[i] * z[i]` of rows start, start + 1, ... into `out`.

    `z (N, d)` holds all rows, `out (rows, d)` those that are asked for.
    """
    work = int(indptr[start + len(out)] - indptr[start]) * z.shape[1]
    launch(_spread, work, start, indptr, indices, edge_weight, left, right, loop, z, out)


@threaded
def _spread(start, indptr, indices, edge_weight, left, right, loop, z, out):  # type: ignore[no-untyped-def]
    for r in prange(out.shape[0]):
        i = start + r
        for d in range(out.shape[1]):
            out[r, d] = loop[i] * z[i, d]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            w = left[i] * right[j]
            w = w * edge_weight[e] if len(edge_weight) else w
            for d in range(out.shape[1]):
                out[r, d] += w * z[j, d]
