"""The commonest denoiser, two linear layers and nothing around them, as one compiled pass a step."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import Tensor

from redisc.engine.topology import Topology
from redisc.kernels.compiled import view
from redisc.kernels.two_layers import Layers, Walks, two_layer_logits
from redisc.nn import Conditioning, ConvStack
from redisc.nn.convs import LinearConv

_SPLIT_ABOVE = 4096
"""A chain with more rows a step than this is cut into a part for each thread."""


class TwoLayers:
    """A denoiser of two linear layers with frozen weights, all steps' tables at hand.

    `base (N, d)` is what the first layer gets of the features: propagated, root part and bias included.
    """

    def __init__(self, stack: ConvStack, topology: Topology, base: Tensor, times: Conditioning) -> None:
        first, second = (layer.conv for layer in stack.layers)
        assert isinstance(first, LinearConv) and isinstance(second, LinearConv)
        graph = (topology.indptr, topology.indices, topology.edge_weight)
        scales = topology.scales(first.weighting)
        self._walks = Walks(*graph, scales.left, scales.right, scales.loop)
        columns = view(second.projection.weight.T)
        tables = [_tables(conv, table) for conv, table in zip((first, second), times.tables, strict=True)]
        (table, root), (second_table, second_root) = tables
        shared = (view(base), columns, view(second.bias))
        self._steps = [
            Layers(shared[0], table[k], root[k], *shared[1:], second_table[k], second_root[k])
            for k in range(len(table))
        ]
        self._marker = np.empty((0, topology.num_nodes), np.int32)

    @staticmethod
    def base_of(stack: ConvStack, aggregated: Tensor) -> Tensor:
        """Add up the parts of propagated features `(N, 1, width)`."""
        first = stack.layers[0].conv
        assert isinstance(first, LinearConv)
        parts = [part for part in first.roots(aggregated) if part is not None]
        return (sum(parts[1:], parts[0]) + first.bias).squeeze(1)

    @staticmethod
    def fit(stack: ConvStack, times: Conditioning) -> bool:
        """Tell whether the stack is of this kind: two linear layers with the ReLU between, nothing else."""
        convs = [layer.conv for layer in stack.layers]
        bare = all(layer.skip is None and layer.norm is None for layer in stack.layers)
        return (
            len(convs) == 2
            and all(isinstance(conv, LinearConv) for conv in convs)
            and bare
            and stack.embedding is None
            and stack.architecture.head_layers == 0
            and times.shifts is None
        )

    def __call__(self, labels: Tensor, t: int, chain: Tensor, node: Tensor) -> tuple[Tensor, int]:
        """Return logits `(R, C)` of rows that are sorted by chain, and the number of edges walked."""
        cuts = 1 if len(node) < _SPLIT_ABOVE * len(labels) else torch.get_num_threads()
        whose = np.repeat(np.arange(len(labels)), cuts)
        if len(self._marker) < len(whose):
            self._marker = np.full((len(whose), labels.shape[1]), -1, np.int32)
        edges = np.searchsorted(chain.numpy(), np.arange(len(labels) + 1))
        inner = [np.linspace(a, b, cuts, endpoint=False).astype(np.int64) for a, b in itertools.pairwise(edges)]
        bounds = np.append(np.concatenate(inner), edges[-1])
        logits, walked = two_layer_logits(
            node.numpy(), bounds, whose, labels.numpy(), self._marker, self._walks, self._steps[t - 1]
        )
        return torch.from_numpy(logits), walked


def _tables(conv: LinearConv, table: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbour tables and the root tables `(T, S, d)`; root tables `(T, 0, d)` where there are none."""
    root, neighbour = conv.roots(table)
    return view(neighbour), np.empty((len(table), 0, conv.out_width), view(table).dtype) if root is None else view(root)
