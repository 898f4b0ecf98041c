"""The attention heads that GAT and GAT-sep share (Velickovic et al., 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.errors import ConfigError
from redisc.nn.block import Block


class AttentionHeads(nn.Module):
    """`Σ_j softmax_j(LeakyReLU(a·H~_i + b·H~_j)) H~_j` per head, over a target's edges.

    The weight of a weighted edge multiplies its exponential. A target without edges gets zeros.
    """

    def __init__(self, width: int, heads: int, self_loops: bool) -> None:
        super().__init__()
        if width % heads:
            raise ConfigError(f"{heads} heads do not divide a width of {width}")
        self.heads, self.self_loops = heads, self_loops
        self.source = nn.Parameter(torch.empty(heads, width // heads))
        self.target = nn.Parameter(torch.empty(heads, width // heads))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw Glorot-uniform attention vectors."""
        nn.init.xavier_uniform_(self.source, generator=generator)
        nn.init.xavier_uniform_(self.target, generator=generator)

    def forward(self, block: Block, fused: Tensor) -> Tensor:
        """Map `fused (sources, copies, width)` to `(targets, copies, heads, width / heads)`."""
        values = fused.unflatten(-1, (self.heads, -1))
        source_scores = (values * self.source).sum(-1)
        target_scores = block.own((values * self.target).sum(-1))
        weights = block.attention(source_scores, target_scores, self.self_loops)
        return block.aggregate(weights, values, self.self_loops)
