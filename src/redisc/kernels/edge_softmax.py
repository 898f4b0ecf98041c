"""Attention over edges: a softmax over each target's edges, and the weighted sum of what they carry.

Every tensor has edges or rows first; the dimensions behind are independent copies and heads.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def edge_softmax(scores: Tensor, target: Tensor, num_targets: int) -> Tensor:
    """Normalise `scores (E, ...)` over the edges that share a `target (E,)`."""
    shape = (num_targets, *scores.shape[1:])
    index = target.view(-1, *[1] * (scores.dim() - 1)).expand_as(scores)
    peak = scores.new_full(shape, -torch.inf).scatter_reduce(0, index, scores.detach(), "amax")
    heat = (scores - peak[target]).exp()
    total = heat.new_zeros(shape).index_add(0, target, heat)
    return heat / total[target]


def weighted_aggregate(weights: Tensor, values: Tensor, source: Tensor, target: Tensor, num_targets: int) -> Tensor:
    """Sum `weights (E, ...) * values[source] (S, ..., d)` over the edges of each target: `(num_targets, ..., d)`."""
    return _WeightedAggregate.apply(weights, values, source, target, num_targets)


class _WeightedAggregate(torch.autograd.Function):
    """Recomputes the per-edge products in the backward pass instead of keeping `(E, ..., d)` of them alive."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, source: Tensor, target: Tensor, num_targets: int) -> Tensor:
        ctx.save_for_backward(weights, values, source, target)
        messages = weights.unsqueeze(-1) * values[source]
        return messages.new_zeros(num_targets, *messages.shape[1:]).index_add_(0, target, messages)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        weights, values, source, target = ctx.saved_tensors
        arriving = gradient[target]
        weight_gradient = (arriving * values[source]).sum(-1)
        value_gradient = torch.zeros_like(values).index_add_(0, source, weights.unsqueeze(-1) * arriving)
        return weight_gradient, value_gradient, None, None, None
