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
        source_scores, target_scores = (fused @ self._score_matrix()).split(self.heads, dim=-1)
        weights = block.attention(source_scores, block.own(target_scores), self.self_loops)
        return block.aggregate(weights, fused.unflatten(-1, (self.heads, -1)), self.self_loops)

    def _score_matrix(self) -> Tensor:
        """Both attention vectors as one `(width, 2 heads)` matrix: a matrix product beats products head by head."""
        vectors = torch.stack([self.source, self.target])  # (2, heads, d)
        diagonal = torch.eye(self.heads, dtype=vectors.dtype, device=vectors.device)
        blocks = vectors[..., None] * diagonal[:, None]  # (2, heads, d, heads)
        return blocks.permute(1, 2, 0, 3).reshape(-1, 2 * self.heads)
