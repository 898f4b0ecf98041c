"""Counts of neighbours' labels that follow a changing label state, and their mean over one and two hops.

`raw[b, i, c]` is how many neighbours of node i have label c in copy b, as a small integer (with edge weights, as a sum
of them). A label that appears changes one number for each of its edges; a node's second hop is gathered from its
neighbours' counts when it is asked for, so a whole sample costs about one pass over the edges, however many steps it
takes.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from redisc.kernels.compiled import launch, threaded


def count_dtype(largest_degree: int, weighted: bool, real: np.dtype) -> np.dtype:
    """Return the smallest type that holds every count."""
    if weighted:
        return real
    return np.dtype(next(t for t in (np.uint8, np.uint16, np.uint32) if largest_degree <= np.iinfo(t).max))


def recount(
    indptr: np.ndarray, indices: np.ndarray, edge_weight: np.ndarray, labels: np.ndarray, raw: np.ndarray
) -> None:
    """Count all neighbours of all nodes anew into `raw (copies, N, C)`, for labels `(copies, N)`, -1 where masked."""
    launch(_recount, len(indices) * len(labels) * 8, indptr, indices, edge_weight, labels, raw)


def follow(
    indptr: np.ndarray,
    indices: np.ndarray,
    edge_weight: np.ndarray,
    labels: np.ndarray,
    seen: np.ndarray,
    raw: np.ndarray,
) -> None:
    """Bring `raw` from the label state `seen` to the state `labels`, both `(copies, N)`; `seen` becomes `labels`."""
    launch(_follow, labels.size, indptr, indices, edge_weight, labels, seen, raw)


def label_hop_rows(
    copy: np.ndarray,
    node: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    edge_weight: np.ndarray,
    left: np.ndarray,
    raw: np.ndarray,
    hops: int,
) -> np.ndarray:
    """Return shares of labels among neighbours, and their mean over neighbours: `(hops, rows, C+1)`.

    Row r is node `node[r]` in copy `copy[r]`; `left (N,)` is one over the degree. The last column is the share of
    masked neighbours.
    """
    out = np.zeros((hops, len(node), raw.shape[2] + 1), left.dtype)
    work = len(node) * max(1, len(indices) // max(1, len(left))) * raw.shape[2]
    launch(_hop_rows, work, copy, node, indptr, indices, edge_weight, left, raw, out)
    return out


@threaded
def _recount(indptr, indices, edge_weight, labels, raw):  # type: ignore[no-untyped-def]
    for i in prange(raw.shape[1]):
        for b in range(raw.shape[0]):
            raw[b, i, :] = 0
            for e in range(indptr[i], indptr[i + 1]):
                label = labels[b, indices[e]]
                if label >= 0:
                    raw[b, i, label] += edge_weight[e] if len(edge_weight) else 1


@threaded
def _follow(indptr, indices, edge_weight, labels, seen, raw):  # type: ignore[no-untyped-def]
    for b in prange(raw.shape[0]):
        for i in range(raw.shape[1]):
            before, now = seen[b, i], labels[b, i]
            if before == now:
                continue
            seen[b, i] = now
            for e in range(indptr[i], indptr[i + 1]):
                w = edge_weight[e] if len(edge_weight) else 1
                if before >= 0:
                    raw[b, indices[e], before] -= w
                if now >= 0:
                    raw[b, indices[e], now] += w


@threaded
def _hop_rows(copy, node, indptr, indices, edge_weight, left, raw, out):  # type: ignore[no-untyped-def]
    classes = raw.shape[2]
    for r in prange(len(node)):
        b, i = copy[r], node[r]
        if indptr[i] == indptr[i + 1]:
            continue
        for c in range(classes):
            out[0, r, c] = left[i] * raw[b, i, c]
        if out.shape[0] > 1:
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                w = left[i] * left[j]
                w = w * edge_weight[e] if len(edge_weight) else w
                for c in range(classes):
                    out[1, r, c] += w * raw[b, j, c]
        for h in range(out.shape[0]):
            total = out[h, r, 0]
            for c in range(1, classes):
                total += out[h, r, c]
            out[h, r, classes] = 1 - total
