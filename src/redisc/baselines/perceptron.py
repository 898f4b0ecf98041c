"""A perceptron on node features: the part of several methods that does not look at the graph."""

from __future__ import annotations

import itertools

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features


class Perceptron(nn.Module):
    """Affine maps with ReLU and dropout between them; a single layer is linear."""

    def __init__(
        self, num_features: int, num_classes: int, hidden: int, layers: int, dropout: float, input_dropout: float
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout = dropout, input_dropout
        widths = [num_features, *[hidden] * (layers - 1), num_classes]
        self.layers = nn.ModuleList(Affine(i, o) for i, o in itertools.pairwise(widths))

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        h = self.layers[0](drop_features(engine.features, dropout, self.input_dropout))
        for layer in self.layers[1:]:
            h = layer(Activation(F.relu, self.dropout, dropout)(h))
        return h.squeeze(1)
