"""The mean-field GNN p_φ(Y | G) = Π_i p_φ(Y_i | G) (Eq. 1 of the paper): the warm start, and the baseline to beat."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from redisc.kernels.dropout import Dropout
from redisc.nn.affine import Features, reset_all
from redisc.nn.architecture import Architecture
from redisc.nn.block import Block
from redisc.nn.stack import ConvStack


class MeanField(nn.Module):
    """An ordinary GNN: the denoiser's stack without labels and without time."""

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.stack = ConvStack(architecture, num_features, num_classes)

    @property
    def depth(self) -> int:
        """K: how many Blocks a pass takes."""
        return len(self.stack.layers)

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw every parameter anew."""
        reset_all(self, generator)

    def shift(self, by: Tensor) -> None:
        """Add `by (C,)` to the logits of every node from now on."""
        self.stack.shift_logits(by)

    def forward(self, blocks: Sequence[Block], x: Features, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(targets, C)`."""
        return self.stack(blocks, self.stack.project(x, dropout), dropout=dropout).squeeze(1)
