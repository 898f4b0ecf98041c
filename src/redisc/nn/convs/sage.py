"""GraphSAGE with the mean aggregator (Hamilton, Ying & Leskovec, 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.nn.block import Block, Weighting
from redisc.nn.convs.conv import Conv


class SAGEConv(Conv):
    """`H~_root + D^-1 A H~_neighbour + b`: the projection holds the root and the neighbour weights side by side.

    A node without neighbours keeps its root term alone.
    """

    linear = True
    weighting = Weighting("mean")

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__(in_width, out_width, width=2 * out_width)
        self.bias = nn.Parameter(torch.empty(out_width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero the bias; the projection resets itself."""
        nn.init.zeros_(self.bias)

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Add the targets' own rows to the mean over their neighbours."""
        root, neighbour = z.split(self.out_width, dim=-1)
        if table is None:
            return block.own(root) + block.propagate(neighbour, self.weighting, None, self.bias)
        root_table, neighbour_table = table.split(self.out_width, dim=-1)
        own = block.own(root) + block.lookup_own(root_table)
        return own + block.propagate(neighbour, self.weighting, neighbour_table, self.bias)

    def preaggregate(self, block: Block, z: Tensor) -> Tensor:
        """Return the root part as it is beside the mean of the neighbour part."""
        root, neighbour = z.split(self.out_width, dim=-1)
        return torch.cat([root, block.propagate(neighbour, self.weighting)], dim=-1)
