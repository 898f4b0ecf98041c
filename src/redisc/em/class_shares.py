"""How common each class is among the unlabelled nodes, where labels were drawn class by class (Saerens et al., 2002).

Twenty labels a class tell nothing of how common a class is, and a network that learned from them takes all classes for
equally common. Up to a factor that all classes share, an unlabelled node's chance of class c is what such a network
says, times π_c / d_c: the class's share among the unlabelled nodes over its share among the labels.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from redisc.diffusion.masking import MASKED

_ROUNDS, _SETTLED = 1000, 1e-7
_ENOUGH = 100_000  # nodes that shares are estimated from at the most


def estimate_shares(probabilities: Tensor, drawn: Tensor) -> Tensor:
    """Return the shares π `(C,)` that explain the unlabelled nodes' `probabilities (U, C)` best.

    `drawn (C,)`, all above 0, are the classes' shares among the labels that the probabilities were learned from. EM on
    Σ_u log Σ_c p(c | u) π_c / d_c, which is concave in π; one node's worth of the drawn shares keeps every class alive.
    """
    p = probabilities.double()
    shares = drawn.double()
    for _ in range(_ROUNDS):
        ratio = shares / drawn
        counts = ratio * (p.T @ (p @ ratio).reciprocal())
        before, shares = shares, (counts + drawn) / (len(p) + 1)
        if (shares - before).abs().max() < _SETTLED:
            break
    return shares


def class_shift(probabilities: Tensor, known: Tensor) -> Tensor | None:
    """Return log(π / d) `(C,)`: what turns logits learned from the known labels into those of unlabelled nodes.

    Shapes: `probabilities (N, C)`, `known (N,)`. A class that no label has is left out of the estimate and gets 0:
    on the average its odds against the others stay what they were. Answers that are too even push classes out that
    they held nodes of, and what they say is no estimate: then a warning is given, and None.
    """
    drawn = drawn_shares(known, probabilities.shape[1])
    unlabelled, held = (known == MASKED).nonzero().squeeze(1), drawn > 0
    rows = unlabelled[:: -(-len(unlabelled) // _ENOUGH) or 1]
    p = probabilities[rows][:, held].double().clamp_min(1e-30)
    p = p / p.sum(1, keepdim=True)
    ratio = estimate_shares(p, drawn[held]) / drawn[held]
    if ((ratio * drawn[held] * len(rows) < 1) & (p.sum(0) >= 1)).any():
        warnings.warn(
            "class_shares: the mean-field GNN's answers are too uncertain to tell how common classes are, "
            "so they are taken to be as common as among the labels",
            stacklevel=2,
        )
        return None
    shift = torch.zeros_like(drawn)  # where the EM has settled, the mean over nodes of 1 / Σ_c p(c) π_c / d_c is 1
    shift[held] = ratio.log()
    return shift.to(probabilities.dtype)


def drawn_shares(known: Tensor, num_classes: int) -> Tensor:
    """Return the classes' shares among the known labels, `(C,)`."""
    counts = torch.bincount(known[known != MASKED], minlength=num_classes).double()
    return counts / counts.sum()
