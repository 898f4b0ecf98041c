"""How what the mean-field GNNs answer and what a reader of features answers become one answer."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

LEAST_PROBABILITY = 1e-6
"""The least probability that an answer counts as where logarithms are taken: no class is ruled out for good."""


@dataclass(frozen=True)
class Pooling:
    """The networks' share u of the pooled answer p^u r^(1-u), for their answer p and a reader's r.

    It is u = (1 - w) c with a GNN's calm c = k^-δ, where k = 1 + d / d̄ tells how crowded a node's neighbourhood is: d
    neighbours, beside the graph's mean d̄. A mean over d neighbours varies as 1 / √d, so a GNN is √d times as certain of
    what all these neighbours have in common, right or wrong; with δ = 1/2 a hub's answer is heard as any other node's.
    """

    reader: float = 0.0  # w, the reader's share at nodes without neighbours; 0: there is no reader
    hub_doubt: float = 0.0  # δ

    def share(self, crowding: Tensor) -> Tensor:
        """Return u `(N, 1)` for k `(N, 1)`, float64."""
        return (1 - self.reader) * calm(crowding, self.hub_doubt)


def crowding(degree: Tensor, mean: float) -> Tensor:
    """Return k `(N, 1)`, float64, for degrees `(N,)`."""
    return 1 + degree.double()[:, None] / (mean or 1.0)


def calm(crowding: Tensor, doubt: float) -> Tensor:
    """Return c `(N, 1)`."""
    return crowding.pow(-doubt)


def pooled(answers: Tensor, logits: Tensor, share: Tensor) -> Tensor:
    """Return softmax(u log p + (1 - u) log r) `(N, C)` for answers p, logits log r + const and shares u `(N, 1)`."""
    ours, others = share.to(logits), (1 - share).to(logits)
    return (ours * answers.clamp_min(LEAST_PROBABILITY).log() + others * logits).softmax(1)
