"""Generations of the warm start: networks drawn anew learn the known labels, and the answers of those before them.

The first generation has few labels to learn from. The second has an answer for every node, uncertain where the first
was, and no reason to repeat what chance did to its weights (born-again networks: Furlanello et al., 2018).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from redisc.diffusion.masking import MASKED


def handed_down(probabilities: Tensor, known: Tensor) -> Tensor:
    """Return what a generation teaches the next: its probabilities `(N, C)`, and labels where they are known."""
    labels = F.one_hot(known.clamp_min(0), probabilities.shape[1]).to(probabilities)
    return torch.where((known != MASKED)[:, None], labels, probabilities)


def imitation(views: Tensor, taught: Tensor) -> Tensor:
    """Mean cross-entropy, over all nodes and `views (V, N, C)` of logits, against the answers `taught (N, C)`."""
    return -(taught * views.log_softmax(2)).sum(2).mean()
