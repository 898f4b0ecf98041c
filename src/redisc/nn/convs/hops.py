"""Hops computed ahead (SIGN: Frasca et al., 2020) with the diffusion's labels beside them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.nn.block import Block, Weighting
from redisc.nn.convs.conv import Conv

LABEL_HOPS = 2
"""Labels are counted over so many hops at most: a third would have to be propagated anew at every step."""


class HopConv(Conv):
    """`[X, P X, ..., P^k X] W + Σ_j P^j (γ_j ∘ V_j)[Y(t)] + b` with P = D^-1 A and j = 1, 2.

    Features reach the layer with their hops beside them (`redisc.engine.hop_features`), so no message passes for
    them; labels are counted over two hops. A row needs nothing of other rows, so a mini-batch is a slice. The table
    holds one part for each hop, side by side.
    """

    weighting = Weighting("mean")

    def __init__(self, in_width: int, out_width: int, hops: int) -> None:
        super().__init__(in_width, out_width, width=out_width)
        self.label_hops = min(hops, LABEL_HOPS)
        self.table_width = self.label_hops * out_width
        self.bias = nn.Parameter(torch.empty(out_width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero the bias; the projection resets itself."""
        nn.init.zeros_(self.bias)

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Add label counts of all hops, through their tables, to the targets' own rows."""
        out = block.own(z) + self.bias
        if table is None:
            return out
        for hop, part in enumerate(table.split(self.out_width, dim=-1), start=1):
            out = out + block.label_hop(part, self.weighting, hop)
        return out
