"""The reference Block: every node is source and target, for one or many label states at once."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.engine.topology import Topology
from redisc.errors import UnsupportedGraphError
from redisc.kernels.dot_attention import dot_weights
from redisc.kernels.edge_softmax import edge_softmax, weighted_aggregate
from redisc.kernels.labels import mix_shares, read_table
from redisc.nn.block import Block, Weighting


class FullBlock(Block):
    """The whole graph with label states `labels (copies, N)`; None where no layer asks for labels."""

    def __init__(self, topology: Topology, labels: Tensor | None = None) -> None:
        self.topology, self.labels = topology, labels
        self._counts: dict[Weighting, Tensor] = {}
        self._hop_counts: dict[tuple[Weighting, int], Tensor] = {}

    def own(self, h: Tensor) -> Tensor:
        """Return `h`: every source is a target."""
        return h

    def lookup(self, table: Tensor) -> Tensor:
        """Read the table at each node's label, `(N, copies, d)`."""
        return read_table(table, self._held())

    def lookup_own(self, table: Tensor) -> Tensor:
        """Do the same: every source is a target."""
        return self.lookup(table)

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Multiply by the propagation matrix: all copies in one product of width copies * d; labels by their counts."""
        mixed = (self.topology.propagator(weighting) @ z.flatten(1)).view(z.shape)
        mixed = mixed if bias is None else mixed + bias
        return mixed if table is None else mixed + self._propagate_labels(table, weighting)

    def label_hop(self, table: Tensor, weighting: Weighting, hop: int) -> Tensor:
        """Count labels over the hop-th power of the propagation matrix and multiply by the table."""
        return mix_shares(self._label_hop_counts(table.shape[1], weighting, hop), table)

    def _propagate_labels(self, table: Tensor, weighting: Weighting) -> Tensor:
        """Multiply label counts `(N, copies, C+1)` by the table."""
        return mix_shares(self._label_counts(table.shape[1], weighting), table)

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(E, copies, heads)`."""
        edges = self.topology.edges(self_loops)
        scores = F.leaky_relu(source_scores[edges.source] + target_scores[edges.target], 0.2)
        if edges.log_weight is not None:
            scores = scores + edges.log_weight[:, None, None]
        return edge_softmax(scores, edges.target, self.topology.num_nodes)

    def dot_attention(self, query: Tensor, key: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(E, copies, heads)`."""
        edges = self.topology.edges(self_loops)
        return dot_weights(query, key, edges.source, edges.target, edges.log_weight)

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(N, copies, heads, d)`."""
        edges = self.topology.edges(self_loops)
        return weighted_aggregate(weights, values, edges.source, edges.target, self.topology.num_nodes)

    def edge_index(self) -> Tensor:
        """Return all edges in both directions, without self-loops; refused where they have weights to ignore."""
        if self.topology.weighted:
            raise UnsupportedGraphError(
                "the graph has edge weights, which a module called as module(x, edge_index) cannot see: "
                "drop the weights or choose a built-in backbone"
            )
        edges = self.topology.edges(self_loops=False)
        return torch.stack([edges.source, edges.target])

    def _label_places(self, num_states: int) -> Tensor:
        """Row of a table for each node, `(N, copies)`: its label, or the last row where it is masked."""
        held = self._held()
        return torch.where(held == MASKED, num_states - 1, held).T

    def _held(self) -> Tensor:
        if self.labels is None:
            raise ValueError("this Block holds no labels")
        return self.labels

    def _label_counts(self, num_states: int, weighting: Weighting) -> Tensor:
        if weighting not in self._counts:
            one_hot = F.one_hot(self._label_places(num_states), num_states).to(self.topology.dtype)
            self._counts[weighting] = self.propagate(one_hot, weighting)
        return self._counts[weighting]

    def _label_hop_counts(self, num_states: int, weighting: Weighting, hop: int) -> Tensor:
        if hop == 1:
            return self._label_counts(num_states, weighting)
        if (weighting, hop) not in self._hop_counts:
            nearer = self._label_hop_counts(num_states, weighting, hop - 1)
            self._hop_counts[weighting, hop] = self.propagate(nearer, weighting)
        return self._hop_counts[weighting, hop]
