"""The objective of the M-step: a weighted cross-entropy (Eq. 12 of the paper, with its sign mended)."""

from __future__ import annotations

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion.masking import MASKED
from redisc.diffusion.schedule import Schedule
from redisc.errors import ConfigError

Objective = Literal["paper", "unweighted", "authors", "labelled"]


def node_weights(objective: Objective, schedule: Schedule, t: Tensor, noisy: Tensor, labelled: Tensor) -> Tensor:
    """Weight of each node's cross-entropy, `(B, N)`, for masks drawn at steps `t (B,)`.

    - "paper": T λ'(t-1) / N on masked nodes. The factor T makes the mean over uniform t the ELBO's sum over t (Eq. 6),
      in nats a node, so that the scale against Adam's coupled weight decay depends on neither N nor T.
    - "unweighted": 1 / N on masked nodes.
    - "authors": 1 / |L| on labelled and 1 / |U| on unlabelled nodes, masked or not, as the authors' code has it.
    - "labelled": 1 / |L| on masked labelled nodes: pseudo-labels are context, never a target. For graphs with many
      labels, where a sample's own mistakes are the worse teacher.

    `noisy (B, N)` holds Y(t); `labelled (N,)` tells V_L.
    """
    masked = noisy == MASKED
    if objective == "paper":
        rate = schedule.reveal_rate(t).to(noisy.device)
        rate = rate if rate.dim() == 2 else rate[:, None]
        return masked * rate * (schedule.steps / noisy.shape[1])
    if objective == "unweighted":
        return masked.to(torch.float64) / noisy.shape[1]
    if objective == "labelled":
        return (masked & labelled) / labelled.to(torch.float64).sum().clamp_min(1)
    if objective == "authors":
        inside = labelled.to(torch.float64)
        shares = inside / inside.sum().clamp_min(1) + (1 - inside) / (1 - inside).sum().clamp_min(1)
        return shares.expand(noisy.shape)
    raise ConfigError(f"unknown objective {objective!r}; choose one of {', '.join(get_args(Objective))}")


def weighted_cross_entropy(
    logits: Tensor, clean: Tensor, weights: Tensor, class_weight: Tensor | None = None
) -> Tensor:
    """Mean over B masks of the weighted sum over nodes of CE(Y(0), softmax(logits)).

    Shapes: `logits (N, B, C)`, `clean (B, N)` or `(N,)`, `weights (B, N)`, `class_weight (C,)`.
    """
    clean = clean.expand(weights.shape)
    losses = F.cross_entropy(logits.permute(1, 2, 0), clean, reduction="none")
    if class_weight is not None:
        weights = weights * class_weight[clean]
    return (losses * weights.to(losses.dtype)).sum(1).mean()
