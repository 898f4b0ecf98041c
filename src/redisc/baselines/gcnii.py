"""GCNII: deep graph convolutions with initial residual and identity mapping (Chen et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features
from redisc.nn.block import Weighting


class GCNIILayer(nn.Module):
    """`((1 - α) P H + α H0) ((1 - β) I + β W)` (Eq. 5)."""

    def __init__(self, width: int, alpha: float, beta: float) -> None:
        super().__init__()
        self.alpha, self.beta = alpha, beta
        self.map = Affine(width, width, bias=False)

    def forward(self, propagator: SparseMatrix, h: Tensor, initial: Tensor) -> Tensor:
        """Map `(N, width)` to `(N, width)`."""
        support = torch.lerp(propagator @ h, initial, self.alpha)
        return torch.lerp(support, self.map(support), self.beta)


class GCNIINetwork(nn.Module):
    """An affine map to H0, GCNII layers, and an affine map to logits."""

    def __init__(self, num_features: int, num_classes: int, settings: GCNII) -> None:
        super().__init__()
        self.dropout, self.input_dropout = settings.dropout, settings.input_dropout
        self.embedding = Affine(num_features, settings.hidden)
        betas = [log(settings.lam / depth + 1) for depth in range(1, settings.layers + 1)]
        self.layers = nn.ModuleList(GCNIILayer(settings.hidden, settings.alpha, beta) for beta in betas)
        self.head = Affine(settings.hidden, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        propagator = engine.topology.propagator(Weighting("sym", 1.0))
        activation = Activation(F.relu, self.dropout, dropout)
        x = drop_features(engine.features, dropout, self.input_dropout)
        initial = F.relu(self.embedding(x).squeeze(1))
        h = initial if dropout is None else dropout.dense(initial, self.dropout)
        for layer in self.layers:
            h = activation(layer(propagator, h, initial))
        return self.head(h)

    def layer_norm(self) -> Tensor:
        """Return the squared Frobenius norm of all layers' weights."""
        return torch.stack([layer.map.weight.square().sum() for layer in self.layers]).sum()  # type: ignore[union-attr,operator]


@dataclass(eq=False, repr=False, kw_only=True)
class GCNII(NeuralBaseline):
    """GCNII: H' = relu(((1 - α) P H + α H0) ((1 - β_l) I + β_l W)), β_l = log(λ / l + 1), Eq. 5 of its paper.

    P = D^-1/2 (A + I) D^-1/2, and H0 is an affine map of the features, whose rows are scaled as in the authors' code.

    Args:
        alpha: α, the share of H0 in every layer.
        lam: λ; the larger, the further a layer's map may be from the identity.
        layer_decay: Weight decay of the layers' W; `weight_decay` is that of the affine maps before and after.
    """

    name = "gcnii"
    title = "GCNII"
    citation = "Chen et al., 2020: Simple and Deep Graph Convolutional Networks"
    family = "gnn"
    cost = "O(N d^2 + E d) an epoch"

    feature_scaling: str = "row"
    layers: int = 16
    dropout: float = 0.6
    input_dropout: float = 0.6
    alpha: float = 0.1
    lam: float = 0.5
    layer_decay: float = 0.01

    def check(self) -> None:
        """Refuse shares outside [0, 1] and negative numbers."""
        super().check()
        if not 0 <= self.alpha <= 1:
            raise ConfigError(f"alpha={self.alpha}: it must lie in [0, 1]")
        for name in ("lam", "layer_decay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)}: it must be 0 or more")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the layers."""
        return GCNIINetwork(num_features, num_classes, self)

    def loss(self, network: nn.Module, lesson: Lesson) -> Tensor:
        """Add what the layers' decay differs from the others': Adam's coupled decay is this term's gradient."""
        assert isinstance(network, GCNIINetwork)
        return super().loss(network, lesson) + (self.layer_decay - self.weight_decay) / 2 * network.layer_norm()
