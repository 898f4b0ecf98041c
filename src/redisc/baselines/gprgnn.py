"""GPR-GNN (Chien et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.baselines.perceptron import Perceptron
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Weighting
from redisc.settings import check_count, check_share


class PageRank(nn.Module):
    """Generalised PageRank with learnable weights `gamma (K+1,)`."""

    def __init__(self, hops: int, alpha: float) -> None:
        super().__init__()
        self.hops, self.alpha = hops, alpha
        self.gamma = nn.Parameter(torch.empty(hops + 1))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start as personalised PageRank: alpha (1 - alpha)^k, with (1 - alpha)^K for the last hop."""
        with torch.no_grad():
            self.gamma.copy_((1 - self.alpha) ** torch.arange(self.hops + 1.0))
            self.gamma[:-1] *= self.alpha

    def forward(self, matrix: SparseMatrix, z: Tensor) -> Tensor:
        """Return sum_k gamma_k P^k z for the propagation matrix P."""
        total = self.gamma[0] * z
        for gamma in self.gamma[1:]:
            z = matrix @ z
            total = total + gamma * z
        return total


class GPRGNNNetwork(nn.Module):
    """A perceptron whose outputs travel."""

    def __init__(self, num_features: int, num_classes: int, settings: GPRGNN) -> None:
        super().__init__()
        shape = (settings.hidden, settings.layers, settings.dropout, settings.input_dropout)
        self.perceptron = Perceptron(num_features, num_classes, *shape)
        self.pagerank = PageRank(settings.hops, settings.alpha)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        return self.pagerank(engine.topology.propagator(Weighting("sym", 1.0)), self.perceptron(engine, dropout))


@dataclass(eq=False, repr=False, kw_only=True)
class GPRGNN(NeuralBaseline):
    """GPR-GNN: logits = sum_k gamma_k P^k MLP(X) with P = (D + I)^-1/2 (A + I) (D + I)^-1/2.

    The weights gamma of the hops are learnt, and may be negative. `layers` is the depth of the perceptron.

    Args:
        hops: The highest power K.
        alpha: Teleport probability of the PageRank that the weights start from.
    """

    name = "gprgnn"
    title = "GPR-GNN"
    citation = "Chien et al., 2021: Adaptive Universal Generalized PageRank Graph Neural Network"
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + K E C) an epoch, K hops"

    dropout: float = 0.2
    input_dropout: float = 0.2
    hops: int = 10
    alpha: float = 0.1

    def check(self) -> None:
        """Refuse fewer than one hop, and an alpha that is no probability."""
        super().check()
        check_count("hops", self.hops)
        check_share("alpha", self.alpha)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return GPRGNNNetwork(num_features, num_classes, self)
