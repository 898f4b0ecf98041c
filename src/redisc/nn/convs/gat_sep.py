"""GAT-sep: attention with the node kept apart from its neighbours (Platonov et al., 2023)."""

from __future__ import annotations

from torch import Tensor

from redisc.nn.affine import Affine
from redisc.nn.block import Block
from redisc.nn.convs.attention import AttentionHeads
from redisc.nn.convs.conv import Conv


class GATSepConv(Conv):
    """`[H~_i || attention over neighbours] W + b`: on heterophilic graphs a node is not like its neighbours."""

    def __init__(self, in_width: int, out_width: int, heads: int = 8, width: int | None = None) -> None:
        super().__init__(in_width, out_width, width=width or out_width)
        self.attention = AttentionHeads(self.width, heads, self_loops=False)
        self.update = Affine(2 * self.width, out_width)

    @property
    def bias(self) -> Tensor | None:
        """Return b."""
        return self.update.bias

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Attend over neighbours, put the node's own row beside, and mix the two row-wise."""
        fused = block.fuse(z, table)
        message = self.attention(block, fused).flatten(-2)
        return self.update.join(block.own(fused), message)
