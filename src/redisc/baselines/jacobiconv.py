"""JacobiConv (Wang & Zhang, 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Weighting
from redisc.nn.affine import Affine, drop_features
from redisc.settings import check_count, check_positive


def jacobi_basis(matrix: SparseMatrix, z: Tensor, hops: int, a: float, b: float) -> list[Tensor]:
    """Return `[P_0(S) z, ..., P_K(S) z]` for the Jacobi polynomials P_k^(a,b), by their three-term recurrence."""
    basis = [z, (a - b) / 2 * z + (a + b + 2) / 2 * (matrix @ z)]
    for k in range(2, hops + 1):
        s = 2 * k + a + b
        scale = 2 * k * (k + a + b) * (s - 2)
        ahead, here = (s - 1) * s * (s - 2) / scale, (s - 1) * (a**2 - b**2) / scale
        back = 2 * (k + a - 1) * (k + b - 1) * s / scale
        basis.append(ahead * (matrix @ basis[-1]) + here * basis[-1] - back * basis[-2])
    return basis[: hops + 1]


class JacobiFilter(nn.Module):
    """A polynomial filter for each channel, its coefficients decomposed as `beta (K+1, C)` times products of K factors.

    alpha_kl = beta_kl gamma_1 ... gamma_k with gamma_i = limit tanh(eta_i).
    """

    def __init__(self, channels: int, hops: int, a: float, b: float, limit: float) -> None:
        super().__init__()
        self.a, self.b, self.limit, self.hops = a, b, limit, hops
        self.eta = nn.Parameter(torch.empty(hops))
        self.beta = nn.Parameter(torch.empty(hops + 1, channels))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start with equal channels, and factors near 1 where the limit allows."""
        nn.init.constant_(self.eta, min(1 / self.limit, 1.0))
        nn.init.ones_(self.beta)

    def coefficients(self) -> Tensor:
        """Return alpha `(K+1, C)`."""
        factors = (self.limit * self.eta.tanh()).cumprod(0)
        return self.beta * torch.cat([factors.new_ones(1), factors])[:, None]

    def forward(self, matrix: SparseMatrix, z: Tensor) -> Tensor:
        """Filter the channels of `z (N, C)`."""
        basis = jacobi_basis(matrix, z, self.hops, self.a, self.b)
        total = torch.zeros_like(z)
        for row, alpha in zip(basis, self.coefficients(), strict=True):
            total = total + alpha * row
        return total


class JacobiConvNetwork(nn.Module):
    """A linear map and a filter."""

    def __init__(self, num_features: int, num_classes: int, settings: JacobiConv) -> None:
        super().__init__()
        self.dropout, self.input_dropout = settings.dropout, settings.input_dropout
        self.map = Affine(num_features, num_classes)
        self.filter = JacobiFilter(num_classes, settings.hops, settings.a, settings.b, settings.limit)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        z = self.map(drop_features(engine.features, dropout, self.input_dropout)).squeeze(1)
        z = z if dropout is None else dropout.dense(z, self.dropout)
        return self.filter(engine.topology.propagator(Weighting("sym")), z)


@dataclass(eq=False, repr=False, kw_only=True)
class JacobiConv(NeuralBaseline):
    """JacobiConv: a linear model with a polynomial filter for every class.

    logits_l = sum_k alpha_kl P_k^(a,b)(S) (X W + w)_l with S = D^-1/2 A D^-1/2, Jacobi polynomials P_k, and the
    decomposed coefficients alpha_kl = beta_kl prod_(i<=k) gamma' tanh(eta_i). `hidden` and `layers` have no meaning
    here.

    Args:
        hops: The highest degree K.
        a: First parameter of the polynomials; a larger one puts weight on high frequencies.
        b: Second parameter, for low frequencies.
        limit: gamma', the largest factor.
    """

    name = "jacobiconv"
    title = "JacobiConv"
    citation = "Wang & Zhang, 2022: How Powerful are Spectral Graph Neural Networks"
    family = "heterophily"
    heterophilic = True
    cost = "O(N F C + K E C) an epoch, K hops, F features"

    dropout: float = 0.1
    input_dropout: float = 0.2
    learning_rate: float = 0.05
    hops: int = 10
    a: float = 1.0
    b: float = 1.0
    limit: float = 1.0

    def check(self) -> None:
        """Refuse fewer than one hop, parameters without polynomials, and a limit that is not above 0."""
        super().check()
        check_count("hops", self.hops)
        check_positive("limit", self.limit)
        if min(self.a, self.b) <= -1:
            raise ConfigError(f"a={self.a}, b={self.b}: both must be above -1")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return JacobiConvNetwork(num_features, num_classes, self)
