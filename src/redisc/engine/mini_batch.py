"""The engine of message-passing backbones on large graphs: mini-batches to train, pieces of rows to infer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.prefetch import Prefetcher
from redisc.engine.range_block import RangeBlock
from redisc.engine.sampled_block import SampledBlock, SampledHop, sample_hops
from redisc.engine.topology import Topology
from redisc.engine.two_layers import TwoLayers
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import ConvStack, Denoiser, Features, MeanField, Projected
from redisc.nn.convs import LinearConv

_PIECE_ROWS = 1 << 16


@dataclass(frozen=True)
class MiniBatchEngine(CompiledEngine):
    """Answers for rows from their receptive field, `fanout` neighbours a node and layer (0: all, which is exact).

    Whole-graph answers go layer by layer over pieces of rows; beside the graph they hold two layers' rows,
    `N (w_k + w_(k+1))` numbers.
    """

    fanout: int = 0

    @cached_property
    def _ahead(self) -> Prefetcher[tuple[list[SampledHop], Features]]:
        return Prefetcher(self._prepare)

    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return exact logits `(N, C)`; layer by layer where no gradient is needed."""
        if dropout is not None or torch.is_grad_enabled():
            return super().mean_field(model, dropout)
        return layer_by_layer(model.stack, self.topology, self.features)

    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None, draw: int = 0) -> Tensor:
        """Return logits `(R, C)` from the rows' own neighbourhoods."""
        hops, features = self._ahead.take(rows, model.depth, draw)
        return model([SampledBlock(self.topology, hop) for hop in hops], features, dropout)

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None, draw: int = 0
    ) -> Tensor:
        """Return logits `(R, B, C)` from the rows' own neighbourhoods."""
        hops, features = self._ahead.take(rows, denoiser.depth, draw)
        blocks = [SampledBlock(self.topology, hop, labels) for hop in hops]
        return denoiser(blocks, denoiser.project(features, dropout), denoiser.condition(t), dropout)

    def announce(self, rows: Tensor, depth: int, draw: int) -> None:
        """Sample the rows' neighbours and read their features in the background."""
        self._ahead.announce(rows, depth, draw)

    @torch.no_grad()
    def denoise(self, denoiser: Denoiser) -> Denoise:
        """Return the denoiser as the sampler asks for it, in `N (F + d)` numbers where it has two linear layers."""
        times = denoiser.condition(torch.arange(1, denoiser.steps + 1))
        if isinstance(self.features, SparseMatrix) or not TwoLayers.fit(denoiser.stack, times):
            return super().denoise(denoiser)
        two_layers = TwoLayers(denoiser.stack, self.topology, self._base(denoiser.stack), times)

        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            logits, messages = two_layers(labels, t, chain, node)
            self.work.messages += messages
            return logits

        return denoise

    def _base(self, stack: ConvStack) -> Tensor:
        """Propagate the features before they are multiplied: they are narrower than what comes after."""
        conv = stack.layers[0].conv
        assert isinstance(conv, LinearConv) and isinstance(self.features, Tensor)
        pieces = _pieces(self.topology.num_nodes)
        spread = torch.cat(
            [RangeBlock(self.topology, a, b).propagate(self.features, conv.weighting) for a, b in pieces]
        )
        base = torch.empty(self.topology.num_nodes, conv.out_width, dtype=self.topology.dtype)
        for a, b in pieces:
            root, neighbour = conv.roots(conv.projection.weight)
            base[a:b] = spread[a:b, 0] @ neighbour + conv.bias
            if root is not None:
                base[a:b] += self.features[a:b, 0] @ root
        return base

    def _prepare(self, rows: Tensor, depth: int, draw: int) -> tuple[list[SampledHop], Features]:
        hops = sample_hops(self.topology, rows.numpy(), depth, self.fanout, draw)
        return hops, feature_rows(self.features, hops[0].sources)


def _pieces(num_nodes: int) -> list[tuple[int, int]]:
    return [(a, min(a + _PIECE_ROWS, num_nodes)) for a in range(0, num_nodes, _PIECE_ROWS)]


def feature_rows(features: Features, nodes: np.ndarray) -> Features:
    """Return the features of some nodes."""
    return features.rows(nodes) if isinstance(features, SparseMatrix) else features[torch.from_numpy(nodes)]


@torch.no_grad()
def layer_by_layer(stack: ConvStack, topology: Topology, features: Features) -> Tensor:
    """Return a stack's logits `(N, C)` without labels, computing every layer for pieces of rows."""
    pieces = _pieces(topology.num_nodes)
    projected = _gather(stack.project(feature_rows(features, np.arange(a, b))) for a, b in pieces)
    for k in range(len(stack.layers)):
        parts = [stack.step(k, RangeBlock(topology, a, b), projected) for a, b in pieces]
        if isinstance(parts[0], Tensor):
            return torch.cat(parts).squeeze(1)  # type: ignore[arg-type]
        projected = _gather(parts)  # type: ignore[arg-type]
    raise AssertionError("a stack ends with logits")


def _gather(parts: Iterable[Projected]) -> Projected:
    """Put the pieces of a layer's input together, one field after the other."""
    held = list(parts)
    fields = ([getattr(part, name) for part in held] for name in ("z", "skip", "initial"))
    return Projected(*(None if field[0] is None else torch.cat(field) for field in fields))  # type: ignore[arg-type]
