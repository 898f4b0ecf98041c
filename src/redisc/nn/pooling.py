"""How what the mean-field GNNs answer and what a reader of features answers become one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from redisc.nn.affine import Features

LEAST_PROBABILITY = 1e-6
"""The least probability that an answer counts as where logarithms are taken: no class is ruled out for good."""


class Nodes(Protocol):
    """What is asked of a graph's nodes when a reader of features speaks."""

    @property
    def own_features(self) -> Features:
        """The nodes' own features, scaled, without hops."""

    @property
    def crowding(self) -> Tensor:
        """How crowded neighbourhoods are, k = 1 + d / d̄ `(N, 1)`, float64."""


@dataclass(frozen=True)
class Pooling:
    """The networks' share u of the pooled answer p^u r^(1-u), for their answer p and a reader's r.

    It is u = (1 - w) c with a GNN's calm c = k^-δ, where k = 1 + d / d̄ for d neighbours and their mean number d̄. The
    mean over d neighbours spreads as 1 / √d, and a network that learned on ordinary nodes takes what little spread a
    hub has for certainty. δ = 1/2 would undo the root; what is best is measured.
    """

    reader: float = 0.0  # w, the reader's share at nodes without neighbours; 0: there is no reader
    hub_doubt: float = 0.0  # δ; of no use without a reader, since nobody else speaks then

    def calm(self, nodes: Nodes) -> Tensor | None:
        """Return c `(N, 1)`, float64; None: it is 1."""
        return nodes.crowding.pow(-self.hub_doubt) if self.reader and self.hub_doubt else None

    def share(self, nodes: Nodes) -> Tensor:
        """Return u `(N, 1)`, or `()` where it is the same at all nodes; float64."""
        whole, calm = torch.tensor(1 - self.reader, dtype=torch.float64), self.calm(nodes)
        return whole if calm is None else whole * calm


def crowding_of(degree: Tensor, mean: float) -> Tensor:
    """Return k `(N, 1)`, float64, for numbers of neighbours `(N,)`; edges' weights don't matter."""
    return 1 + degree.double()[:, None] / (mean or 1.0)


def pooled(answers: Tensor, logits: Tensor, share: Tensor) -> Tensor:
    """Return softmax(u log p + (1 - u) log r) `(N, C)` for answers p, logits log r + const and shares u `(N, 1)`."""
    ours, others = share.to(logits), (1 - share).to(logits)
    return (ours * answers.clamp_min(LEAST_PROBABILITY).log() + others * logits).softmax(1)
