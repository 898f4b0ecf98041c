"""What every message-passing layer has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, Features
from redisc.nn.block import Block


class Conv(nn.Module):
    """A row-wise projection `z = h W`, and a mix of `z` and the label table over a Block.

    With the table of the time gate, `z + table[label]` is the paper's H~ = X~ + γ ∘ Y~ (Section 3.2.2); without one
    (None) the layer is an ordinary graph convolution. `width` is the width of `z`, `table_width` that of the table.
    """

    activation: Callable[[Tensor], Tensor] = staticmethod(F.relu)

    def __init__(self, in_width: int, out_width: int, width: int) -> None:
        super().__init__()
        self.out_width, self.width, self.table_width = out_width, width, width
        self.projection = Affine(in_width, width, bias=False)

    def project(self, h: Features) -> Tensor:
        """Return `z (rows, copies, width)`: the part of the layer that does not look at the graph."""
        return self.projection(h)

    @abstractmethod
    def forward(self, block: Block, z: Tensor, table: Tensor | None) -> Tensor:
        """Mix `z (sources, copies, width)` and labels over the Block: `(targets, copies, out_width)`."""

    def activated(self, block: Block, z: Tensor, table: Tensor | None, activation: Activation) -> Tensor:
        """Return `activation(self(block, z, table))`; layers that can hand the activation on to the Block do."""
        return activation(self(block, z, table))
