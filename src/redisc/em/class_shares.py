"""How often each class is among the unlabelled nodes, where labels were drawn class by class (Saerens et al., 2002).

Twenty labels a class tell nothing of how common a class is, and a network that learned from them takes all classes for
equally common. A node's chance of class c in the graph is its chance among labels drawn as these, times π_c / d_c: the
class's share in the graph over its share among the labels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED

_ROUNDS, _SETTLED = 1000, 1e-7


def estimate_shares(probabilities: Tensor, drawn: Tensor) -> Tensor:
    """Return the shares π `(C,)` that explain the unlabelled nodes' `probabilities (U, C)` best.

    `drawn (C,)` are the classes' shares among the labels that the probabilities were learned from. EM on
    Σ_u log Σ_c p(c | u) π_c / d_c, which is concave in π; one node's worth of the drawn shares keeps every class alive.
    """
    p = probabilities.double()
    shares = drawn.double()
    for _ in range(_ROUNDS):
        ratio = torch.where(drawn > 0, shares / drawn, 1.0)
        counts = ratio * (p.T @ (p @ ratio).reciprocal())
        before, shares = shares, (counts + drawn) / (len(p) + 1)
        if (shares - before).abs().max() < _SETTLED:
            break
    return shares


def class_shift(probabilities: Tensor, known: Tensor) -> Tensor:
    """Return log(π / d) `(C,)`: what turns logits learned from the known labels into those of the graph.

    Shapes: `probabilities (N, C)`, `known (N,)`. A class that no label has is left as it is.
    """
    labelled = known != MASKED
    drawn = torch.bincount(known[labelled], minlength=probabilities.shape[1]).double()
    drawn = drawn / drawn.sum()
    shares = estimate_shares(probabilities[~labelled], drawn)
    return torch.where(drawn > 0, (shares / drawn).log(), 0.0).to(probabilities.dtype)
