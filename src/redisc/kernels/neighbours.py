"""A neighbour sampler over CSR: for each target some of its neighbours, or all of them."""

from __future__ import annotations

import numpy as np

from redisc.kernels.compiled import serial
from redisc.kernels.counter_random import mix_bits, to_uniform


@serial
def sample_hop(targets, indptr, indices, edge_weight, fanout, key, marker):  # type: ignore[no-untyped-def]
    """Return sources (targets first), and the sampled edges as CSR with their places in `indices` and their scale.

    A target with more than `fanout` neighbours keeps that many, drawn without replacement, and each of its edges
    counts degree / fanout times, so that sums over edges keep their expectation; a fanout of 0 keeps all. `key` makes
    the draw: equal keys, equal edges, whatever other targets stand beside. `marker (N,)` is scratch memory that holds
    -1 everywhere, before and after.
    """
    local = np.empty(len(targets) + 1, np.int64)
    local[0] = 0
    for k in range(len(targets)):
        degree = indptr[targets[k] + 1] - indptr[targets[k]]
        local[k + 1] = local[k] + (min(degree, fanout) if fanout > 0 else degree)
        marker[targets[k]] = k
    found = len(targets)
    sources = np.empty(found + local[-1], np.int64)
    sources[:found] = targets
    place, edge, scale = np.empty(local[-1], np.int32), np.empty(local[-1], np.int64), np.empty(local[-1])
    for k in range(len(targets)):
        first, degree = indptr[targets[k]], indptr[targets[k] + 1] - indptr[targets[k]]
        chosen = edge[local[k] : local[k + 1]]
        _choose(chosen, first, degree, mix_bits(key + np.uint64(targets[k]) * np.uint64(0x9E3779B97F4A7C15)))
        for c in range(len(chosen)):
            node = indices[chosen[c]]
            if marker[node] < 0:
                marker[node] = found
                sources[found] = node
                found += 1
            place[local[k] + c] = marker[node]
            scale[local[k] + c] = degree / len(chosen)
    for k in range(found):
        marker[sources[k]] = -1
    return sources[:found], local, place, edge, scale


@serial
def _choose(chosen, first, degree, key):  # type: ignore[no-untyped-def]
    """Fill `chosen` with different numbers of first..first+degree-1, by Floyd's algorithm, in rising order."""
    count = len(chosen)
    if count == degree:
        for c in range(count):
            chosen[c] = first + c
        return
    for c in range(count):
        top = degree - count + c
        drawn = min(int(to_uniform(key, c) * (top + 1)), top)
        for earlier in range(c):
            if chosen[earlier] == first + drawn:
                drawn = top
                break
        chosen[c] = first + drawn
    chosen.sort()
