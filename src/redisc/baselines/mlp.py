"""The multilayer perceptron: what features say without the graph."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from redisc.baselines.base import NeuralBaseline
from redisc.baselines.perceptron import Perceptron


@dataclass(eq=False, repr=False, kw_only=True)
class MLP(NeuralBaseline):
    """Multilayer perceptron on each node's own features: H' = relu(H W + b); edges are not looked at."""

    name = "mlp"
    title = "MLP"
    citation = "Goodfellow, Bengio & Courville, 2016: Deep Learning, Chapter 6"
    family = "gnn"
    cost = "O(N d^2) an epoch"

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the perceptron."""
        return Perceptron(num_features, num_classes, self.hidden, self.layers, self.dropout, self.input_dropout)
