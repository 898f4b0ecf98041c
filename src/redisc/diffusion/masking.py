"""The forward process: labels are masked independently, each once (Eqs. 8 and 9 of the paper)."""

from __future__ import annotations

import torch
from torch import Tensor

MASKED = -1
"""The sink state (Eq. 8). As the paper's implementation does, the network sees it as a zero vector."""


def mask_labels(labels: Tensor, alpha: Tensor, uniforms: Tensor) -> Tensor:
    """Draw Y(t) from q(Y(t) | Y(0)) (Eq. 9): a label stays with probability alpha(t), else it is masked.

    Shapes: `labels (..., N)`, `uniforms (B, N)`, `alpha (B, 1)` or `(B, N)`; the result is `(B, N)`.
    """
    return torch.where(uniforms < alpha, labels, torch.full_like(labels, MASKED))
