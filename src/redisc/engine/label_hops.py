"""Label counts over one and two hops that follow a label state, and the Block of rows that reads them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redisc.engine.topology import Topology
from redisc.kernels.label_hops import count_dtype, follow, label_hop_rows, recount
from redisc.kernels.labels import mix_shares
from redisc.nn.block import Block, Weighting
from redisc.nn.convs import HopConv

_RECOUNT_ABOVE = 0.25
"""Where more than this share of the labels changed, counting anew is cheaper than following."""


class LabelHops:
    """How many neighbours of each node have which label, in several copies of the graph.

    Memory: `copies * N * C` small integers (one byte each where no degree exceeds 255, two up to 65,535), and the
    last state's labels. With edge weights counts are sums of them, and are counted anew for every state.
    """

    def __init__(self, topology: Topology, num_classes: int) -> None:
        self.topology, self.num_classes = topology, num_classes
        self._graph = (topology.indptr, topology.indices, topology.edge_weight)
        self._left = topology.scales(HopConv.weighting).left
        largest = int(np.diff(topology.indptr).max(initial=0))
        self._dtype = count_dtype(largest, topology.weighted, self._left.dtype)
        self._seen = np.empty((0, topology.num_nodes), np.int64)
        self._raw = np.empty((0, topology.num_nodes, num_classes), self._dtype)

    def follow(self, labels: Tensor) -> None:
        """Go to the label state `labels (copies, N)`, -1 where masked."""
        state = labels.numpy()
        if len(state) != len(self._seen):
            self._seen = np.full_like(state, -1)
            self._raw = np.zeros((*state.shape, self.num_classes), self._dtype)
        many = np.count_nonzero(state != self._seen) > _RECOUNT_ABOVE * state.size
        if many or self.topology.weighted:  # sums of weights would keep the rounding of what was taken away again
            recount(*self._graph, state, self._raw)
            self._seen[:] = state
        else:
            follow(*self._graph, state, self._seen, self._raw)

    def rows(self, copy: np.ndarray, node: np.ndarray, hops: int) -> Tensor:
        """Return shares of labels `(hops, rows, C+1)`, the masked ones last."""
        return torch.from_numpy(label_hop_rows(copy, node, *self._graph, self._left, self._raw, hops))


class SliceBlock(Block):
    """Some rows of a graph whose features hold their hops; `shares (hops, rows, copies, C+1)` hold the labels'."""

    def __init__(self, shares: Tensor | None = None) -> None:
        self._shares = shares

    def own(self, h: Tensor) -> Tensor:
        """Return `h`: every row is a target."""
        return h

    def label_hop(self, table: Tensor, weighting: Weighting, hop: int) -> Tensor:
        """Multiply the shares of one hop by the table."""
        assert self._shares is not None and weighting == HopConv.weighting
        return mix_shares(self._shares[hop - 1], table)
