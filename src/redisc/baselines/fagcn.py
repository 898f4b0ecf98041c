"""FAGCN (Bo et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.kernels.dropout import Dropout
from redisc.nn import Weighting
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features
from redisc.settings import check_share


class FrequencyGate(nn.Module):
    """Signed edge weights tanh(g . [h_i || h_j]) / sqrt(d_i d_j): positive smooths, negative sharpens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scores = Affine(width, 2)

    def forward(self, engine: FullGraphEngine, h: Tensor) -> Tensor:
        """Return the weights `(E,)` of the edges for rows `h (N, d)`."""
        edges, (target, source) = engine.topology.edges(self_loops=False), self.scores(h).unbind(1)
        gate = (target.index_select(0, edges.target) + source.index_select(0, edges.source)).tanh()
        return gate * engine.topology.propagator(Weighting("sym")).values


class FAGCNNetwork(nn.Module):
    """Embedding, gated rounds that keep a share of it, and a linear classifier."""

    def __init__(self, num_features: int, num_classes: int, settings: FAGCN) -> None:
        super().__init__()
        self.epsilon, self.dropout, self.input_dropout = settings.epsilon, settings.dropout, settings.input_dropout
        self.embedding = Affine(num_features, settings.hidden)
        self.gates = nn.ModuleList(FrequencyGate(settings.hidden) for _ in range(settings.layers))
        self.classifier = Affine(settings.hidden, num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        x = drop_features(engine.features, dropout, self.input_dropout)
        initial = Activation(F.relu, self.dropout, dropout)(self.embedding(x)).squeeze(1)
        return self.classifier(self.travel(engine, initial, dropout))

    def travel(self, engine: FullGraphEngine, initial: Tensor, dropout: Dropout | None) -> Tensor:
        """Return the last round's rows `(N, d)`; dropout falls on the edge weights."""
        block, h = engine.block(engine.topology), initial
        for gate in self.gates:
            weights = gate(engine, h)
            weights = weights if dropout is None else dropout.dense(weights, self.dropout)
            mixed = block.aggregate(weights[:, None, None], h[:, None, None], self_loops=False)
            h = self.epsilon * initial + mixed.flatten(1)
        return h


@dataclass(eq=False, repr=False, kw_only=True)
class FAGCN(NeuralBaseline):
    """FAGCN: low and high frequencies by edge weights that may be negative.

    h_i' = epsilon h_i^(0) + sum_j tanh(g . [h_i || h_j]) / sqrt(d_i d_j) h_j over the neighbours j, from
    h^(0) = relu(X W_1) to logits = h^(L) W_2.

    Args:
        epsilon: Share of the first embedding in every round.
    """

    name = "fagcn"
    title = "FAGCN"
    citation = "Bo et al., 2021: Beyond Low-frequency Information in Graph Convolutional Networks"
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"

    dropout: float = 0.2
    input_dropout: float = 0.2
    weight_decay: float = 5e-5
    epsilon: float = 0.3

    def check(self) -> None:
        """Refuse an epsilon that is no share."""
        super().check()
        check_share("epsilon", self.epsilon)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return FAGCNNetwork(num_features, num_classes, self)
