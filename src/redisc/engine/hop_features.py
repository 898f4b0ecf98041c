"""Features with their hops beside them: `[X, P X, ..., P^k X]`, computed once, row piece by row piece."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from redisc.clock import Told
from redisc.engine.topology import Topology
from redisc.io.scratch import Allocate
from redisc.kernels.sparse import SparseMatrix
from redisc.kernels.spread import spread_rows
from redisc.nn import Features
from redisc.nn.convs import HopConv

_PIECE_ELEMENTS = 1 << 24


def hop_features(
    topology: Topology, features: Features, hops: int, allocate: Allocate = np.empty, told: Told | None = None
) -> np.ndarray:
    """Return `(N, (hops + 1) F)`; sparse features become dense, as their second hop would be anyway."""
    dense = features.to_dense() if isinstance(features, SparseMatrix) else features.squeeze(1)
    x = dense.numpy()
    nodes, width = x.shape
    out = allocate((nodes, (hops + 1) * width), x.dtype)
    out[:, :width] = x
    for hop in range(hops):
        columns = [out[:, k * width : (k + 1) * width] for k in (hop, hop + 1)]
        for done in _spread(topology, *columns):
            if told is not None:
                told("hops of features", hop * nodes + done, hops * nodes)
    return out


def _spread(topology: Topology, z: np.ndarray, out: np.ndarray) -> Iterator[int]:
    """Write `P z (N, d)` into `out (N, d)`, both columns of a wider array; yields how many rows are done."""
    scales, width = topology.scales(HopConv.weighting), max(1, z.shape[1])
    graph = (topology.indptr, topology.indices, topology.edge_weight)
    step = max(1, _PIECE_ELEMENTS // width)
    for start in range(0, len(out), step):
        spread_rows(start, *graph, scales.left, scales.right, scales.loop, z, out[start : start + step])
        yield min(start + step, len(out))
