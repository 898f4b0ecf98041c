"""The row-wise affine map that every other module is made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from redisc.kernels.dropout import Dropout
from redisc.kernels.narrow_product import NARROW, narrow_product
from redisc.kernels.sparse import SparseMatrix

Features = Tensor | SparseMatrix
"""Node features as layers take them: dense `(N, 1, F)`, or a sparse N x F matrix."""


class Affine(nn.Module):
    """`h W + b` on the last dimension, also of sparse features; parameters are drawn by `reset_parameters` alone."""

    def __init__(self, in_width: int, out_width: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_width, out_width))
        self.bias = nn.Parameter(torch.empty(out_width)) if bias else None

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw Glorot-uniform weights; the bias starts at zero."""
        nn.init.xavier_uniform_(self.weight, generator=generator)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, h: Features) -> Tensor:
        """Map `(..., in_width)` to `(..., out_width)`; sparse `N x in_width` to `(N, 1, out_width)`."""
        if isinstance(h, SparseMatrix):
            out = (h @ self.weight).unsqueeze(1)
            return out if self.bias is None else out + self.bias
        if self.bias is None:
            return narrow_product(h, self.weight)
        return narrow_product(h, self.weight) + self.bias if self.weight.shape[1] < NARROW else self.join(h)

    def join(self, *parts: Tensor) -> Tensor:
        """Map the parts as if they stood side by side, without putting them there; the bias costs no extra pass."""
        assert self.bias is not None
        weights = self.weight.split([part.shape[-1] for part in parts])
        out: Tensor = self.bias
        for part, weight in zip(parts, weights, strict=True):
            out = torch.addmm(out, part.reshape(-1, part.shape[-1]), weight)
        return out.view(*parts[0].shape[:-1], -1)


def reset_all(module: nn.Module, generator: torch.Generator) -> None:
    """Call `reset_parameters(generator)` on every submodule that has one, in the order of registration."""
    for part in module.modules():
        if part is not module and hasattr(part, "reset_parameters"):
            part.reset_parameters(generator)  # type: ignore[operator]


def drop_features(x: Features, dropout: Dropout | None, rate: float) -> Features:
    """Apply dropout to dense or sparse features; none where `dropout` is None (evaluation)."""
    if dropout is None or rate <= 0:
        return x
    return dropout.sparse(x, rate) if isinstance(x, SparseMatrix) else dropout.dense(x, rate)
