"""Consistency between views: what dropout hides from one pass must not change the answer.

For the mean-field GNN of a graph with few labels, after GRAND (Feng et al., 2020): several passes with dropout agree on
labelled nodes with the labels, and on all nodes with their own sharpened mean.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHARPENING = 0.5
"""Temperature of the mean that views are drawn to; below 1 it is more certain than they are."""


def disagreement(views: Tensor) -> Tensor:
    """Mean over views and nodes of the squared distance to the sharpened mean, which no gradient flows through.

    `views (V, N, C)` are logits.
    """
    probabilities = views.softmax(2)
    return (probabilities - sharpened(probabilities.detach().mean(0))).square().sum(2).mean()


def sharpened(probabilities: Tensor, temperature: float = SHARPENING) -> Tensor:
    """Raise `(N, C)` to the power of 1 / temperature and make rows sum to 1 again."""
    return torch.softmax(probabilities.clamp_min(1e-30).log() / temperature, dim=1)
