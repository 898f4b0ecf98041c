"""What the linear layers have in common: features and labels meet only after propagation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.nn.activation import Activation
from redisc.nn.block import Block, Weighting
from redisc.nn.convs.conv import Conv


class LinearConv(Conv):
    """`P H~ + b` with a fixed propagation P, or `H~_root + P H~_neighbour + b` where the layer is rooted.

    A rooted layer's projection holds the root and the neighbour weights side by side.
    """

    rooted = False

    def __init__(self, in_width: int, out_width: int, weighting: Weighting) -> None:
        super().__init__(in_width, out_width, width=2 * out_width if self.rooted else out_width)
        self.weighting = weighting
        self.bias = nn.Parameter(torch.empty(out_width))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Zero the bias; the projection resets itself."""
        nn.init.zeros_(self.bias)

    def roots(self, z: Tensor) -> tuple[Tensor | None, Tensor]:
        """Take apart the root and the neighbour part of a projection or a table."""
        return tuple(z.split(self.out_width, dim=-1)) if self.rooted else (None, z)

    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Propagate features and label counts; add the targets' own rows where the layer is rooted."""
        root, neighbour = self.roots(z)
        root_table, neighbour_table = (None, None) if table is None else self.roots(table)
        mixed = block.propagate(neighbour, self.weighting, neighbour_table, self.bias)
        if root is None:
            return mixed
        own = block.own(root)
        return mixed + (own if root_table is None else own + block.lookup_own(root_table))

    def activated(self, block: Block, z: Tensor, table: Tensor | None, activation: Activation) -> Tensor:
        """Activate inside the propagation, where the Block has one pass for both."""
        if self.rooted:
            return super().activated(block, z, table, activation)
        return block.propagate_activated(z, self.weighting, table, self.bias, activation)

    def preaggregate(self, block: Block, z: Tensor) -> Tensor:
        """Propagate the features alone, ahead of all label states that will share them; root parts stay as they are."""
        root, neighbour = self.roots(z)
        mixed = block.propagate(neighbour, self.weighting)
        return mixed if root is None else torch.cat([root, mixed], dim=-1)
