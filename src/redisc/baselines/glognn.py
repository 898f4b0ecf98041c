"""GloGNN (Li et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.baselines.perceptron import Perceptron
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Weighting
from redisc.settings import check_count


class GlobalAggregation(nn.Module):
    """One layer H' = (1 - gamma) Z H + gamma H_0 with the best Z of `GloGNN`, without forming Z."""

    def __init__(self, gamma: float, beta_1: float, beta_2: float, hops: int) -> None:
        super().__init__()
        self.gamma, self.beta_1, self.beta_2 = gamma, beta_1, beta_2
        self.hop_weights = nn.Parameter(torch.empty(hops))  # the paper's lambda

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start with equal weights of sum 1."""
        nn.init.constant_(self.hop_weights, 1 / len(self.hop_weights))

    def forward(self, matrix: SparseMatrix, h: Tensor, initial: Tensor) -> Tensor:
        """Return H' `(N, c)` for H, H_0 `(N, c)`.

        The inverse of Z's closed form meets H alone, and by Woodbury's formula
        [(1-gamma)^2 H H' + beta I_N]^-1 H = H [(1-gamma)^2 H' H + beta I_c]^-1 with beta = beta_1 + beta_2.
        """
        kept = 1 - self.gamma
        gram = h.T @ h
        ridge = (self.beta_1 + self.beta_2) * torch.eye(len(gram), dtype=h.dtype, device=h.device)
        solved = torch.linalg.solve(kept**2 * gram + ridge, h, left=False)
        alike = kept * (h - self.gamma * initial) @ (h.T @ solved)
        return kept * (alike + self.beta_2 * self._near(matrix, solved)) + self.gamma * initial

    def _near(self, matrix: SparseMatrix, rows: Tensor) -> Tensor:
        """Return sum_k lambda_k P^k rows, k = 1..K."""
        total = torch.zeros_like(rows)
        for weight in self.hop_weights:
            rows = matrix @ rows
            total = total + weight * rows
        return total


class GloGNNNetwork(nn.Module):
    """A perceptron, and global aggregations of its outputs."""

    def __init__(self, num_features: int, num_classes: int, settings: GloGNN) -> None:
        super().__init__()
        self.perceptron = Perceptron(
            num_features, num_classes, settings.hidden, 2, settings.dropout, settings.input_dropout
        )
        shape = (settings.gamma, settings.beta_1, settings.beta_2, settings.hops)
        self.depth, self.aggregation = settings.layers, GlobalAggregation(*shape)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        matrix = engine.topology.propagator(Weighting("sym", 1.0))
        h = initial = self.perceptron(engine, dropout)
        for _ in range(self.depth):
            h = self.aggregation(matrix, h, initial)
        return h


@dataclass(eq=False, repr=False, kw_only=True)
class GloGNN(NeuralBaseline):
    """GloGNN: every node learns from all others, by coefficients Z that have a closed form in each layer.

    From H_0 = MLP(X), `(N, C)`, a layer is H' = (1 - gamma) Z H + gamma H_0, where Z minimises
    |H - (1 - gamma) Z H - gamma H_0|^2 + beta_1 |Z|^2 + beta_2 |Z - sum_k lambda_k P^k|^2 with
    P = (D + I)^-1/2 (A + I) (D + I)^-1/2, k = 1..K and learnt lambda:

    Z = [(1-gamma) H H' + beta_2 sum_k lambda_k P^k - gamma (1-gamma) H_0 H'] [(1-gamma)^2 H H' + (beta_1+beta_2) I]^-1.

    The paper's H_0 also has a part MLP(A), one row of weights a node; it is left out, since a model must answer on
    other graphs too.

    Args:
        gamma: Share of H_0 in a layer.
        beta_1: Penalty on large coefficients.
        beta_2: Penalty on coefficients that differ from the graph's.
        hops: K.
    """

    name = "glognn"
    title = "GloGNN"
    citation = "Li et al., 2022: Finding Global Homophily in Graph Neural Networks When Meeting Heterophily"
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + L (N C^2 + K E C)) an epoch, L layers, K hops"

    dropout: float = 0.2
    input_dropout: float = 0.2
    learning_rate: float = 0.05
    gamma: float = 0.2
    beta_1: float = 0.0
    beta_2: float = 1000.0
    hops: int = 5

    def check(self) -> None:
        """Refuse a gamma that is no share, penalties that are negative or all zero, and fewer than one hop."""
        super().check()
        check_count("hops", self.hops)
        if not 0 <= self.gamma < 1:
            raise ConfigError(f"gamma={self.gamma}: it must lie in [0, 1)")
        if min(self.beta_1, self.beta_2) < 0 or self.beta_1 + self.beta_2 <= 0:
            raise ConfigError(f"beta_1={self.beta_1}, beta_2={self.beta_2}: both must be 0 or more, and one above 0")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return GloGNNNetwork(num_features, num_classes, self)
