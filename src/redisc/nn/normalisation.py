"""Row-wise normalisation. Batch statistics are left out on purpose: they would make receptive fields inexact."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.errors import ConfigError


class RowNorm(nn.Module):
    """LayerNorm ("layer"), RMSNorm ("rms") or unit length ("l2") over the last dimension."""

    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        if kind not in ("layer", "rms", "l2"):
            raise ConfigError(f"unknown normalisation {kind!r}; choose none, layer, rms or l2")
        self.kind, self.width = kind, width
        self.scale = nn.Parameter(torch.empty(width)) if kind != "l2" else None
        self.shift = nn.Parameter(torch.empty(width)) if kind == "layer" else None

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start as the plain normalisation."""
        if self.scale is not None:
            nn.init.ones_(self.scale)
        if self.shift is not None:
            nn.init.zeros_(self.shift)

    def forward(self, h: Tensor) -> Tensor:
        """Normalise each row of `h (..., width)`."""
        if self.kind == "layer":
            return F.layer_norm(h, (self.width,), self.scale, self.shift)
        if self.kind == "rms":
            return F.rms_norm(h, (self.width,), self.scale)
        return F.normalize(h, dim=-1)
