"""Graph transformer of the heterophily benchmark (Platonov et al., 2023, after Shi et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn.affine import Affine, drop_features
from redisc.nn.block import Block
from redisc.nn.normalisation import RowNorm


def drop(h: Tensor, dropout: Dropout | None, rate: float) -> Tensor:
    """Apply dropout to rows; none in evaluation."""
    return h if dropout is None else dropout.dense(h, rate)


class DotAttention(nn.Module):
    """`[Σ_j softmax_j(<Q h_i, K h_j> / sqrt(d)) V h_j over heads] O`, over neighbours and the node itself.

    The weight of a weighted edge multiplies its exponential. A target without edges gets a message of zeros.
    """

    self_loops: ClassVar[bool] = True
    parts: ClassVar[int] = 1  # how many rows of `width` the output map O reads

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (Affine(width, width) for _ in range(3))
        self.output = Affine(self.parts * width, width)

    def message(self, block: Block, h: Tensor) -> Tensor:
        """Return what neighbours say, heads side by side: `(N, 1, width)`."""
        query, key, value = (part(h).unflatten(-1, (self.heads, -1)) for part in (self.query, self.key, self.value))
        weights = block.dot_attention(query * query.shape[-1] ** -0.5, key, self.self_loops)
        return block.aggregate(weights, value, self.self_loops).flatten(-2)

    def forward(self, block: Block, h: Tensor) -> Tensor:
        """Map `(N, 1, width)` to `(N, 1, width)`."""
        return self.output(self.message(block, h))


class TransformerLayer(nn.Module):
    """`h + attention(norm(h))`, then `h + W2 gelu(W1 norm(h))`; dropout where the benchmark's code has it."""

    def __init__(self, attention: DotAttention, width: int, rate: float) -> None:
        super().__init__()
        self.rate, self.attention = rate, attention
        self.norms = nn.ModuleList(RowNorm("layer", width) for _ in range(2))
        self.inner, self.outer = Affine(width, width), Affine(width, width)

    def forward(self, block: Block, h: Tensor, dropout: Dropout | None) -> Tensor:
        """Map `(N, 1, width)` to `(N, 1, width)`."""
        h = h + drop(self.attention(block, self.norms[0](h)), dropout, self.rate)
        inner = F.gelu(drop(self.inner(self.norms[1](h)), dropout, self.rate))
        return h + drop(self.outer(inner), dropout, self.rate)


class TransformerNetwork(nn.Module):
    """An affine map with GELU, transformer layers, a norm, and an affine map to logits."""

    def __init__(self, num_features: int, num_classes: int, settings: GT) -> None:
        super().__init__()
        width, self.dropout, self.input_dropout = settings.hidden, settings.dropout, settings.input_dropout
        self.embedding = Affine(num_features, width)
        self.layers = nn.ModuleList(
            TransformerLayer(settings.attention(width, settings.heads), width, self.dropout)
            for _ in range(settings.layers)
        )
        self.norm, self.head = RowNorm("layer", width), Affine(width, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        block = engine.block(engine.topology)
        x = drop_features(engine.features, dropout, self.input_dropout)
        h = F.gelu(drop(self.embedding(x), dropout, self.dropout))
        for layer in self.layers:
            h = layer(block, h, dropout)
        return self.head(self.norm(h)).squeeze(1)


@dataclass(eq=False, repr=False, kw_only=True)
class GT(NeuralBaseline):
    """Graph transformer: scaled dot-product attention over neighbours and the node itself.

    The attention is that of Section 3.1 of Shi et al. without edge features and gates. Around it stands what Platonov
    et al. give all their networks: LayerNorm before each module, a residual connection around it, and after each
    attention a feed-forward module of two layers with GELU.

    Args:
        heads: Attention heads; they share `hidden`.
    """

    name = "gt"
    title = "GT"
    citation = "Shi et al., 2021: Masked Label Prediction; as in Platonov et al., 2023"
    family = "gnn"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"
    attention: ClassVar[type[DotAttention]] = DotAttention

    layers: int = 3
    heads: int = 8
    dropout: float = 0.2
    input_dropout: float = 0.0
    learning_rate: float = 3e-3
    weight_decay: float = 0.0

    def check(self) -> None:
        """Refuse heads that do not divide the width."""
        super().check()
        if self.heads < 1 or self.hidden % self.heads:
            raise ConfigError(f"heads={self.heads}: it must divide hidden={self.hidden}")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the transformer."""
        return TransformerNetwork(num_features, num_classes, self)
