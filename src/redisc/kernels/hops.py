"""Receptive fields: the rows that one hop of message passing reads, with full neighbourhoods."""

from __future__ import annotations

import numpy as np

from redisc.kernels.compiled import serial


@serial
def expand_hop(targets, indptr, indices, edge_weight, num_nodes, marker):  # type: ignore[no-untyped-def]
    """Return the sources of flat rows `targets` (chain * N + node), targets first, and the edges between them as CSR.

    `marker (chains * N,)` is scratch memory that holds -1 everywhere, before and after. Weights of edges are copied
    along where there are any.
    """
    local = np.empty(len(targets) + 1, np.int64)
    local[0] = 0
    for k in range(len(targets)):
        node = targets[k] % num_nodes
        local[k + 1] = local[k] + indptr[node + 1] - indptr[node]
        marker[targets[k]] = k
    edges, found = local[-1], len(targets)
    sources = np.empty(found + edges, np.int64)
    sources[:found] = targets
    place = np.empty(edges, np.int32)
    weight = np.empty(edges if len(edge_weight) else 0, edge_weight.dtype)
    at = 0
    for k in range(len(targets)):
        node = targets[k] % num_nodes
        first = targets[k] - node
        for e in range(indptr[node], indptr[node + 1]):
            row = first + indices[e]
            if marker[row] < 0:
                marker[row] = found
                sources[found] = row
                found += 1
            place[at] = marker[row]
            if len(edge_weight):
                weight[at] = edge_weight[e]
            at += 1
    for k in range(found):
        marker[sources[k]] = -1
    return sources[:found], local, place, weight


@serial
def append_loops(indptr, indices):  # type: ignore[no-untyped-def]
    """Return the pattern with one more edge for each target, from itself; it comes last."""
    looped_indptr = np.empty_like(indptr)
    looped = np.empty(len(indices) + len(indptr) - 1, indices.dtype)
    looped_indptr[0] = 0
    for i in range(len(indptr) - 1):
        at = looped_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            looped[at] = indices[e]
            at += 1
        looped[at] = i
        looped_indptr[i + 1] = at + 1
    return looped_indptr, looped
