"""The engine of message-passing backbones on large graphs: mini-batches to train, pieces of rows to infer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.range_block import RangeBlock
from redisc.engine.sampled_block import SampledBlock, sample_hops
from redisc.engine.topology import Topology
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import ConvStack, Denoiser, Features, MeanField, Projected

_PIECE_ROWS = 1 << 16


@dataclass(frozen=True)
class MiniBatchEngine(CompiledEngine):
    """Answers for rows from their receptive field, `fanout` neighbours a node and layer (0: all, which is exact).

    Sampled neighbours are drawn with the dropout's generator while training, and are the same ones at every look
    otherwise. Whole-graph answers go layer by layer over pieces of rows; beside the graph they hold two layers' rows,
    `N (w_k + w_(k+1))` numbers.
    """

    fanout: int = 0

    def mean_field(self, model: MeanField, dropout: Dropout | None = None) -> Tensor:
        """Return exact logits `(N, C)`; layer by layer where no gradient is needed."""
        if dropout is not None or torch.is_grad_enabled():
            return super().mean_field(model, dropout)
        return layer_by_layer(model.stack, self.topology, self.features)

    def mean_field_rows(self, model: MeanField, rows: Tensor, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(R, C)` from the rows' own neighbourhoods."""
        blocks, features = self._batch(rows, model.depth, None, dropout)
        return model(blocks, features, dropout)

    def noisy_rows(
        self, denoiser: Denoiser, labels: Tensor, t: Tensor, rows: Tensor, dropout: Dropout | None = None
    ) -> Tensor:
        """Return logits `(R, B, C)` from the rows' own neighbourhoods."""
        blocks, features = self._batch(rows, denoiser.depth, labels, dropout)
        return denoiser(blocks, denoiser.project(features, dropout), denoiser.condition(t), dropout)

    def _batch(
        self, rows: Tensor, depth: int, labels: Tensor | None, dropout: Dropout | None
    ) -> tuple[Sequence[SampledBlock], Features]:
        seed = 0 if dropout is None else dropout.draw_seed()
        hops = sample_hops(self.topology, rows.numpy(), depth, self.fanout, seed)
        blocks = [SampledBlock(self.topology, hop, labels) for hop in hops]
        return blocks, feature_rows(self.features, hops[0].sources)


def feature_rows(features: Features, nodes: np.ndarray) -> Features:
    """Return the features of some nodes."""
    return features.rows(nodes) if isinstance(features, SparseMatrix) else features[torch.from_numpy(nodes)]


@torch.no_grad()
def layer_by_layer(stack: ConvStack, topology: Topology, features: Features) -> Tensor:
    """Return a stack's logits `(N, C)` without labels, computing every layer for pieces of rows."""
    pieces = [(a, min(a + _PIECE_ROWS, topology.num_nodes)) for a in range(0, topology.num_nodes, _PIECE_ROWS)]
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
