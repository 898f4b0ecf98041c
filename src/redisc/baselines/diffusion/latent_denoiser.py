"""LGD's denoiser of node latents, conditioned on an embedding of the graph."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.diffusion.cross_attention import CrossAttention
from redisc.kernels.dropout import Dropout
from redisc.nn import Affine, Block, TimeEncoder
from redisc.nn.normalisation import RowNorm
from redisc.nn.time_gate import TIME_WIDTH


class DenoisingLayer(nn.Module):
    """Cross-attention and a feed-forward part, each with a residual connection."""

    def __init__(self, width: int, heads: int, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.norms = nn.ModuleList(RowNorm("layer", width) for _ in range(2))
        self.attention = CrossAttention(width, heads)
        self.inner, self.outer = Affine(width, 2 * width), Affine(2 * width, width)

    def forward(self, block: Block, h: Tensor, condition: Tensor, dropout: Dropout | None) -> Tensor:
        """Map `h (N, copies, width)` to the same shape; see `CrossAttention`."""
        h = h + self._drop(self.attention(block, self.norms[0](h), condition), dropout)
        return h + self._drop(self.outer(F.relu(self.inner(self.norms[1](h)))), dropout)

    def _drop(self, h: Tensor, dropout: Dropout | None) -> Tensor:
        return h if dropout is None else dropout.dense(h, self.rate)


class LatentDenoiser(nn.Module):
    """Predicts clean latents from noisy ones, the step, and the conditions of the neighbourhood.

    Noisy latents of different nodes do not see each other, so those of unlabelled nodes, which nobody knows, play no
    part in training.
    """

    def __init__(self, latent: int, width: int, heads: int, layers: int, dropout: float, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.enter, self.leave = Affine(latent, width), Affine(width, latent)
        self.time, self.shift = TimeEncoder(), Affine(TIME_WIDTH, width)
        self.layers = nn.ModuleList(DenoisingLayer(width, heads, dropout) for _ in range(layers))

    def forward(
        self, block: Block, noisy: Tensor, t: Tensor, condition: Tensor, dropout: Dropout | None = None
    ) -> Tensor:
        """Return clean latents `(N, copies, latent)` for `noisy` ones at steps `t (copies,)`."""
        h = self.enter(noisy) + self.shift(F.elu(self.time(t, self.steps)))
        for layer in self.layers:
            h = layer(block, h, condition, dropout)
        return self.leave(h)
