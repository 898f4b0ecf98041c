"""A Block of consecutive targets that reads the whole graph: full-graph inference, piece by piece. No gradients."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redisc.engine.topology import Topology
from redisc.kernels.attention import Pattern, attention_sum, attention_weights
from redisc.kernels.compiled import view
from redisc.kernels.spread import spread_rows
from redisc.nn.block import Block, Weighting


class RangeBlock(Block):
    """Targets `start..stop-1`; sources are all nodes. It holds no labels."""

    def __init__(self, topology: Topology, start: int, stop: int) -> None:
        self.topology, self.start, self.stop = topology, start, stop

    def own(self, h: Tensor) -> Tensor:
        """Return the targets' rows."""
        return h[self.start : self.stop]

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Sum rows over the targets' edges, without a matrix of weights."""
        assert table is None
        topology, scales = self.topology, self.topology.scales(weighting)
        graph = (topology.indptr, topology.indices, topology.edge_weight)
        flat = view(z).reshape(len(z), -1)
        out = np.empty((self.stop - self.start, flat.shape[1]), flat.dtype)
        spread_rows(self.start, *graph, scales.left, scales.right, scales.loop, flat, out)
        mixed = torch.from_numpy(out).unflatten(1, z.shape[1:])
        return mixed if bias is None else mixed + bias

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(edges, copies, heads)`."""
        return attention_weights(source_scores, target_scores, self._pattern(self_loops))

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(targets, copies, heads, d)`."""
        return attention_sum(weights, values, self._pattern(self_loops))

    def _pattern(self, self_loops: bool) -> Pattern:
        topology = self.topology
        bounds = topology.indptr[self.start : self.stop + 1]
        indptr, edges = bounds - bounds[0], slice(bounds[0], bounds[-1])
        indices = topology.indices[edges].astype(np.int32)
        log_weight = np.log(topology.edge_weight[edges].astype(np.float64)) if topology.weighted else None
        if self_loops:
            loops = np.arange(self.start, self.stop, dtype=np.int32)
            indices = np.insert(indices, indptr[1:], loops)
            log_weight = None if log_weight is None else np.insert(log_weight, indptr[1:], 0.0)
            indptr = indptr + np.arange(len(indptr))
        return Pattern(indptr, indices, None, log_weight)
