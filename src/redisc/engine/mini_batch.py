"""The engine of message-passing backbones on large graphs: mini-batches to train, pieces of rows to infer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from redisc.nn import Conditioning, ConvStack, Denoiser, Features, MeanField, Projected
from redisc.nn.block import Block, Weighting
from redisc.nn.convs import LinearConv

_PIECE_ROWS = 1 << 16
_INFERENCE_ROWS = 1 << 12
_LARGE = 1 << 28
"""Hidden numbers of a whole graph above which chains go through it in pieces."""


@dataclass(frozen=True)
class MiniBatchEngine(CompiledEngine):
    """Answers for rows from their receptive field, `fanout` neighbours a node and layer (0: all, which is exact).

    Whole-graph answers go layer by layer over pieces of rows; beside the graph they hold two layers' rows,
    `N (w_k + w_(k+1))` numbers.
    """

    fanout: int = 0
    inference_fanout: int = 0

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
        """Return the denoiser as the sampler asks for it.

        Two linear layers hold `N (F + d)` numbers. Others go through the rows of a step in pieces where neighbours are
        sampled or the graph is large, and hold a piece's receptive field.
        """
        times = denoiser.condition(torch.arange(1, denoiser.steps + 1))
        bare = not isinstance(self.features, SparseMatrix) and TwoLayers.fit(denoiser.stack, times)
        large = self.topology.num_nodes * denoiser.stack.architecture.hidden > _LARGE
        if self.inference_fanout or (large and not bare):
            return self._denoise_in_pieces(denoiser, times)
        if not bare:
            return super().denoise(denoiser)
        two_layers = TwoLayers(denoiser.stack, self.topology, self._base(denoiser.stack), times)

        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            logits, messages = two_layers(labels, t, chain, node)
            self.work.messages += messages
            return logits

        return denoise

    def _denoise_in_pieces(self, denoiser: Denoiser, times: Conditioning) -> Denoise:
        """Return a denoiser that reads the neighbourhoods of some thousand rows at a time, all or sampled ones."""

        @torch.inference_mode()
        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            logits = torch.empty(len(node), denoiser.num_classes, dtype=self.topology.dtype)
            for number, state in enumerate(labels):
                mine = (chain == number).nonzero().squeeze(1)
                for rows in mine.split(_INFERENCE_ROWS) if len(mine) else ():
                    hops = sample_hops(self.topology, node[rows].numpy(), denoiser.depth, self.inference_fanout, t)
                    blocks = [SampledBlock(self.topology, hop, state[None]) for hop in hops]
                    projected = denoiser.project(feature_rows(self.features, hops[0].sources))
                    logits[rows] = denoiser(blocks, projected, times.copy(t - 1)).squeeze(1)
            return logits

        return denoise

    def _base(self, stack: ConvStack) -> Tensor:
        """Return what the first of two linear layers makes of the features, `(N, d)`, bias included."""
        conv, pieces = stack.layers[0].conv, _spread_pieces(stack, self.topology, self.features)
        base = _collect(self.topology.num_nodes, (conv(block, rows.z, None).squeeze(1) for block, rows in pieces))
        assert isinstance(base, Tensor)
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
    spreads = isinstance(features, Tensor) and isinstance(stack.layers[0].conv, LinearConv) and stack.embedding is None
    first = _spread_pieces if spreads else _projected_pieces
    out = _collect(topology.num_nodes, (stack.step(0, *piece) for piece in first(stack, topology, features)))
    for k in range(1, len(stack.layers)):
        assert isinstance(out, Projected)
        blocks = (RangeBlock(topology, a, b) for a, b in _pieces(topology.num_nodes))
        out = _collect(topology.num_nodes, (stack.step(k, block, out) for block in blocks))
    assert isinstance(out, Tensor)
    return out.squeeze(1)


def _projected_pieces(stack: ConvStack, topology: Topology, features: Features) -> Iterator[tuple[Block, Projected]]:
    """Yield the first layer's Blocks, each with the projection of all nodes' features."""
    pieces = _pieces(topology.num_nodes)
    parts = (stack.project(feature_rows(features, np.arange(a, b))) for a, b in pieces)
    projected = _collect(topology.num_nodes, parts)
    assert isinstance(projected, Projected)
    for a, b in pieces:
        yield RangeBlock(topology, a, b), projected


def _spread_pieces(stack: ConvStack, topology: Topology, features: Features) -> Iterator[tuple[Block, Projected]]:
    """Yield pieces of a linear first layer whose features are propagated before they are multiplied.

    Features are narrower than what comes after, so this holds `N F` numbers instead of `N d`.
    """
    layer = stack.layers[0]
    assert isinstance(layer.conv, LinearConv) and isinstance(features, Tensor)
    root, neighbour = layer.conv.roots(layer.conv.projection.weight)
    pieces = _pieces(topology.num_nodes)
    spread = torch.empty_like(features)
    for a, b in pieces:
        spread[a:b] = RangeBlock(topology, a, b).propagate(features, layer.conv.weighting)
    for a, b in pieces:
        own, z = features[a:b], spread[a:b] @ neighbour
        z = z if root is None else torch.cat([own @ root, z], dim=-1)
        yield PropagatedBlock(), Projected(z, None if layer.skip is None else layer.skip(own))


class PropagatedBlock(Block):
    """Rows that are propagated already."""

    def own(self, h: Tensor) -> Tensor:
        """Return the rows as they are."""
        return h

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Add the bias."""
        assert table is None
        return z if bias is None else z + bias


def _collect(num_nodes: int, parts: Iterable[Projected | Tensor]) -> Projected | Tensor:
    """Put pieces of rows together as they come, without holding them twice."""
    whole: dict[str, Tensor] = {}
    start = 0
    for part in parts:
        fields = {"out": part} if isinstance(part, Tensor) else {k: v for k, v in vars(part).items() if v is not None}
        for name, rows in fields.items():
            if name not in whole:
                whole[name] = rows.new_empty(num_nodes, *rows.shape[1:])
            whole[name][start : start + len(rows)] = rows
        start += len(next(iter(fields.values())))
    return whole["out"] if "out" in whole else Projected(**whole)
