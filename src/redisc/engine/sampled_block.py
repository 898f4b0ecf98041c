"""Blocks of mini-batches: some targets, sampled or all neighbours, with gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.engine.topology import Topology
from redisc.kernels.counter_random import Stream, stream_key
from redisc.kernels.edge_softmax import edge_softmax, weighted_aggregate
from redisc.kernels.labels import count_labels_at, mix_labels, read_table
from redisc.kernels.neighbours import sample_hop
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.block import Block, Weighting


@dataclass(frozen=True)
class SampledHop:
    """Nodes `sources`, of which the first `num_targets` are targets, and sampled edges as CSR.

    `edge` numbers the edges in the graph; `scale` is how many edges each stands for.
    """

    sources: np.ndarray
    num_targets: int
    indptr: np.ndarray
    indices: np.ndarray
    edge: np.ndarray
    scale: np.ndarray


def sample_hops(topology: Topology, rows: np.ndarray, depth: int, fanout: int, seed: int) -> list[SampledHop]:
    """Return the hops that lead to nodes `rows`, first layer first."""
    hops: list[SampledHop] = []
    marker = np.full(topology.num_nodes, -1, np.int32)
    for k in reversed(range(depth)):
        key = np.uint64(stream_key(seed, Stream.NEIGHBOUR, k))
        graph = (topology.indptr, topology.indices, topology.edge_weight)
        sources, *edges = sample_hop(rows, *graph, fanout, key, marker)
        hops.insert(0, SampledHop(sources, len(rows), *edges))
        rows = sources
    return hops


class SampledBlock(Block):
    """One hop of a mini-batch, with the degrees of the whole graph and `labels (copies, N)` of all nodes.

    Features travel over the sampled edges, each scaled by how many it stands for. Labels are counted over all edges:
    an integer a neighbour is cheap, and the counts are exact.
    """

    def __init__(self, topology: Topology, hop: SampledHop, labels: Tensor | None = None) -> None:
        self.topology, self.hop, self.labels = topology, hop, labels

    def own(self, h: Tensor) -> Tensor:
        """Return the first rows: targets come first."""
        return h[: self.hop.num_targets]

    def lookup(self, table: Tensor) -> Tensor:
        """Read the table at each source's label, `(sources, copies, d)`."""
        return self._read(table, self.hop.sources)

    def lookup_own(self, table: Tensor) -> Tensor:
        """Read the table at each target's label, `(targets, copies, d)`."""
        return self._read(table, self.hop.sources[: self.hop.num_targets])

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Sum rows over sampled edges, and exact label counts times table."""
        mixed = (self._matrix(weighting) @ z.flatten(1)).unflatten(1, z.shape[1:])
        mixed = mixed if bias is None else mixed + bias
        return mixed if table is None else mix_labels(mixed, self._counts(weighting, table.shape[1]), table)

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Softmax over the sampled edges, each counted as often as it stands for others: `(edges, copies, heads)`."""
        source, target = self._edges(self_loops)
        scores = F.leaky_relu(source_scores[source] + target_scores[target], 0.2)
        weight = np.append(self._edge_weight() * self.hop.scale, np.ones(self.hop.num_targets if self_loops else 0))
        scores = scores + torch.from_numpy(np.log(weight)).to(scores.dtype)[:, None, None]
        return edge_softmax(scores, target, self.hop.num_targets)

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(targets, copies, heads, d)`."""
        return weighted_aggregate(weights, values, *self._edges(self_loops), self.hop.num_targets)

    def _read(self, table: Tensor, nodes: np.ndarray) -> Tensor:
        assert self.labels is not None
        return read_table(table, self.labels[:, torch.from_numpy(nodes)])

    def _edge_weight(self) -> np.ndarray:
        """Weight of each sampled edge, in float64."""
        if not self.topology.weighted:
            return np.ones(len(self.hop.edge))
        return self.topology.edge_weight[self.hop.edge].astype(np.float64)

    def _matrix(self, weighting: Weighting) -> SparseMatrix:
        hop, scales = self.hop, self.topology.scales(weighting)
        target = np.repeat(hop.sources[: hop.num_targets], np.diff(hop.indptr))
        values = scales.left[target] * scales.right[hop.sources[hop.indices]] * hop.scale * self._edge_weight()
        matrix = sp.csr_array((values, hop.indices, hop.indptr), shape=(hop.num_targets, len(hop.sources)))
        if weighting.self_loop:
            loops = sp.diags_array(scales.loop[hop.sources[: hop.num_targets]].astype(np.float64))
            matrix = sp.csr_array(matrix + sp.hstack([loops, sp.csr_array((hop.num_targets, self._halo))]))
        return SparseMatrix(matrix, self.topology.dtype)

    @property
    def _halo(self) -> int:
        return len(self.hop.sources) - self.hop.num_targets

    def _counts(self, weighting: Weighting, num_states: int) -> Tensor:
        assert self.labels is not None
        topology, scales = self.topology, self.topology.scales(weighting)
        graph = (topology.indptr, topology.indices, topology.edge_weight)
        factors = (scales.left, scales.right, scales.loop)
        targets = self.hop.sources[: self.hop.num_targets]
        return torch.from_numpy(count_labels_at(targets, *graph, *factors, self.labels.numpy(), num_states))

    def _edges(self, self_loops: bool) -> tuple[Tensor, Tensor]:
        """Source and target row of each edge; self-loops come last."""
        hop = self.hop
        loops = np.arange(hop.num_targets if self_loops else 0)
        source = np.append(hop.indices, loops).astype(np.int64)
        target = np.append(np.repeat(np.arange(hop.num_targets), np.diff(hop.indptr)), loops)
        return torch.from_numpy(source), torch.from_numpy(target)
