"""Graph convolution (Kipf & Welling, 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.nn.block import Block, Weighting
from redisc.nn.convs.conv import Conv


class GCNConv(Conv):
    """`D^-1/2 (A + sI) D^-1/2 H~ + b`, with self-loops of weight s (the authors' code has s = 2)."""

    linear = True

    def __init__(self, in_width: int, out_width: int, self_loop: float = 1.0) -> None:
        super().__init__(in_width, out_width, width=out_width)
        self.weighting = Weighting("sym", self_loop)
        self.bias = nn.Parameter(torch.empty(out_width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero the bias; the projection resets itself."""
        nn.init.zeros_(self.bias)

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Propagate features and label counts with symmetric weights."""
        return block.propagate(z, self.weighting, table, self.bias)

    def preaggregate(self, block: Block, z: Tensor) -> Tensor:
        """Return `A X~`."""
        return block.propagate(z, self.weighting)
