"""Blocks of flat (chain, node) rows: the receptive field of the nodes being revealed. Inference only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.engine.topology import Topology
from redisc.kernels.attention import Pattern, attention_sum, attention_weights
from redisc.kernels.compiled import view
from redisc.kernels.hops import append_loops, expand_hop
from redisc.kernels.labels import add_labels_at, propagate_rows
from redisc.nn.block import Block, Weighting


@dataclass(frozen=True)
class Hop:
    """Flat rows (chain * N + node): `sources`, of which the first `num_targets` are targets, and edges as CSR."""

    sources: np.ndarray
    num_targets: int
    indptr: np.ndarray
    indices: np.ndarray
    edge_weight: np.ndarray

    @property
    def messages(self) -> int:
        """Edges that are walked."""
        return len(self.indices)


def make_hop(topology: Topology, targets: np.ndarray, marker: np.ndarray) -> Hop:
    """Find the rows that one hop reads: full neighbourhoods, in the target's own chain."""
    csr = (topology.indptr, topology.indices, topology.edge_weight)
    sources, *edges = expand_hop(targets, *csr, topology.num_nodes, marker)
    return Hop(sources, len(targets), *edges)


class RowBlock(Block):
    """One hop on flat rows, with the degrees of the whole graph. `labels` holds all chains' labels, flat."""

    def __init__(self, topology: Topology, hop: Hop, labels: np.ndarray) -> None:
        self.topology, self.hop, self.labels = topology, hop, labels

    def own(self, h: Tensor) -> Tensor:
        """Return the first rows: targets come first."""
        return h[: self.hop.num_targets]

    def lookup(self, table: Tensor) -> Tensor:
        """Read the table at each source's label, `(sources, 1, d)`."""
        return F.embedding(self._places(table), table[0]).unsqueeze(1)

    def lookup_own(self, table: Tensor) -> Tensor:
        """Read the table at each target's label, `(targets, 1, d)`."""
        return F.embedding(self._places(table)[: self.hop.num_targets], table[0]).unsqueeze(1)

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Sum rows over edges with the whole graph's weights, and label counts times table with them."""
        hop, scales = self.hop, self.topology.scales(weighting)
        edges = (hop.sources, hop.indptr, hop.indices, hop.edge_weight)
        factors = (scales.left, scales.right, scales.loop, self.topology.num_nodes)
        mixed = propagate_rows(*edges, *factors, view(z).reshape(len(z), -1))
        return self._add_labels(mixed, weighting, table, bias)

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(edges, 1, heads)`."""
        return attention_weights(source_scores, target_scores, self._pattern(self_loops))

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(targets, 1, heads, d)`."""
        return attention_sum(weights, values, self._pattern(self_loops))

    def _add_labels(self, mixed: np.ndarray, weighting: Weighting, table: Tensor | None, bias: Tensor | None) -> Tensor:
        """Add label counts times table, and the bias, to `mixed (targets, d)`, in place."""
        if bias is not None:
            mixed += view(bias)
        if table is not None:
            topology, scales = self.topology, self.topology.scales(weighting)
            graph = (topology.indptr, topology.indices, topology.edge_weight)
            state = (scales.left, scales.right, scales.loop, self.labels, topology.num_nodes)
            add_labels_at(self.hop.sources[: self.hop.num_targets], *graph, *state, view(table[0]), mixed)
        return torch.from_numpy(mixed).unsqueeze(1)

    def _places(self, table: Tensor) -> Tensor:
        labels = self.labels[self.hop.sources]
        return torch.from_numpy(np.where(labels == MASKED, table.shape[1] - 1, labels))

    def _pattern(self, self_loops: bool) -> Pattern:
        hop = self.hop
        log_weight = np.log(hop.edge_weight.astype(np.float64)) if self.topology.weighted else None
        if not self_loops:
            return Pattern(hop.indptr, hop.indices, None, log_weight)
        indptr, indices = append_loops(hop.indptr, hop.indices)
        if log_weight is not None:
            log_weight = np.insert(log_weight, hop.indptr[1:], 0.0)
        return Pattern(indptr, indices, None, log_weight)


def no_hop(rows: np.ndarray) -> Hop:
    """Return rows that read nothing but themselves."""
    return Hop(rows, len(rows), np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32), np.empty(0))


class AggregatedRowBlock(RowBlock):
    """The first hop of a linear layer whose features were propagated ahead (`LinearConv.preaggregate`)."""

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Return the targets' rows, which are propagated features already, with labels added; `z` is used up."""
        rows = view(z)
        return self._add_labels(rows.reshape(len(rows), -1), weighting, table, bias)
