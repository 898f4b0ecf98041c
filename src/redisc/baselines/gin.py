"""Graph isomorphism network (Xu et al., 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, Features, drop_features
from redisc.nn.block import Block, Weighting
from redisc.nn.normalisation import RowNorm


class GINLayer(nn.Module):
    """`MLP((1 + eps) h_i + Σ_j h_j)` with a perceptron of two layers.

    The perceptron's first product commutes with the sum over neighbours and goes first. Its rows are normalised
    before its ReLU, where the paper's code normalises over the batch: sums grow with the degree.
    """

    def __init__(self, in_width: int, width: int, normalisation: str) -> None:
        super().__init__()
        self.inner, self.outer = Affine(in_width, width, bias=False), Affine(width, width)
        self.norm = None if normalisation == "none" else RowNorm(normalisation, width)
        self.bias, self.eps = nn.Parameter(torch.empty(width)), nn.Parameter(torch.empty(1))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start with eps = 0; the other parts reset themselves."""
        nn.init.zeros_(self.bias)
        nn.init.zeros_(self.eps)

    def forward(self, block: Block, h: Features) -> Tensor:
        """Map `(N, 1, in_width)` to `(N, 1, width)`."""
        z = self.inner(h)
        m = (1 + self.eps) * z + block.propagate(z, Weighting("sum")) + self.bias
        return self.outer(F.relu(m if self.norm is None else self.norm(m)))


class GINNetwork(nn.Module):
    """GIN layers, and an affine map to logits."""

    def __init__(self, num_features: int, num_classes: int, settings: GIN) -> None:
        super().__init__()
        self.dropout, self.input_dropout = settings.dropout, settings.input_dropout
        widths = [num_features] + [settings.hidden] * (settings.layers - 1)
        self.layers = nn.ModuleList(GINLayer(width, settings.hidden, settings.normalisation) for width in widths)
        self.head = Affine(settings.hidden, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        block = engine.block(engine.topology)
        activation = Activation(F.relu, self.dropout, dropout)
        h = drop_features(engine.features, dropout, self.input_dropout)
        for layer in self.layers:
            h = activation(layer(block, h))
        return self.head(h).squeeze(1)


@dataclass(eq=False, repr=False, kw_only=True)
class GIN(NeuralBaseline):
    """Graph isomorphism network: h_i' = MLP((1 + eps) h_i + Σ_j h_j), Eq. 4.1 of its paper, with a learnt eps.

    The paper classifies graphs; here an affine map of the last layer's rows classifies nodes.

    Args:
        normalisation: Of rows inside the layers' perceptrons: "none", "layer", "rms" or "l2".
    """

    name = "gin"
    title = "GIN"
    citation = "Xu et al., 2019: How Powerful are Graph Neural Networks?"
    family = "gnn"
    cost = "O(N d^2 + E d) an epoch"

    learning_rate: float = 0.005
    normalisation: str = "layer"

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the layers."""
        return GINNetwork(num_features, num_classes, self)
