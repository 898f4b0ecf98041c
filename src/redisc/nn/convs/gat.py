"""Graph attention (Velickovic et al., 2018)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.nn.block import Block
from redisc.nn.convs.attention import AttentionHeads
from redisc.nn.convs.conv import Conv


class GATConv(Conv):
    """Attention over neighbours and the node itself; heads are concatenated, or averaged where they emit logits."""

    activation = staticmethod(F.elu)

    def __init__(self, in_width: int, out_width: int, heads: int = 8, concatenate: bool = True) -> None:
        super().__init__(in_width, out_width, width=out_width if concatenate else out_width * heads)
        self.concatenate = concatenate
        self.attention = AttentionHeads(self.width, heads, self_loops=True)
        self.bias = nn.Parameter(torch.empty(out_width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero the bias; the other parts reset themselves."""
        nn.init.zeros_(self.bias)

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Attend over fused rows."""
        heads = self.attention(block, block.fuse(z, table))
        return (heads.flatten(-2) if self.concatenate else heads.mean(-2)) + self.bias
