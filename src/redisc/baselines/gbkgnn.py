"""GBK-GNN (Du et al., 2022)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import Features, Weighting
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine, drop_features


class BiKernel(nn.Module):
    """One layer: two kernels for neighbours, and a gate that chooses between them edge by edge."""

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__()
        self.own = Affine(in_width, out_width)
        self.similar = Affine(in_width, out_width, bias=False)
        self.different = Affine(in_width, out_width, bias=False)
        self.gate = Affine(in_width, 2)  # the halves of W_g that meet h_i and h_j

    def forward(self, engine: FullGraphEngine, h: Features) -> tuple[Tensor, Tensor]:
        """Return rows `(N, 1, out_width)` and the gate's logits `(E,)`.

        alpha W_s h_j + (1 - alpha) W_d h_j is summed as alpha (W_s - W_d) h_j, edge by edge, plus the mean of W_d h_j.
        """
        topology, mean = engine.topology, Weighting("mean")
        gate, different = self.gate_logits(engine, h), self.different(h)
        weights = gate.sigmoid() * topology.propagator(mean).values
        contrast = (self.similar(h) - different).unsqueeze(2)
        chosen = engine.block(topology).aggregate(weights[:, None, None], contrast, self_loops=False).squeeze(2)
        return self.own(h) + chosen + engine.block(topology).propagate(different, mean), gate

    def gate_logits(self, engine: FullGraphEngine, h: Features) -> Tensor:
        """Return W_g [h_i || h_j] for each edge from j to i, `(E,)`."""
        edges, (target, source) = engine.topology.edges(self_loops=False), self.gate(h).squeeze(1).unbind(1)
        return target.index_select(0, edges.target) + source.index_select(0, edges.source)


class GBKGNNNetwork(nn.Module):
    """A stack of bi-kernel layers."""

    def __init__(self, num_features: int, num_classes: int, settings: GBKGNN) -> None:
        super().__init__()
        self.dropout, self.input_dropout = settings.dropout, settings.input_dropout
        widths = [num_features, *[settings.hidden] * (settings.layers - 1), num_classes]
        self.layers = nn.ModuleList(BiKernel(i, o) for i, o in itertools.pairwise(widths))

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        return self.run(engine, dropout)[0]

    def run(self, engine: FullGraphEngine, dropout: Dropout | None) -> tuple[Tensor, list[Tensor]]:
        """Return logits `(N, C)` and the gate's logits `(E,)` of every layer."""
        activation, gates = Activation(F.relu, self.dropout, dropout), []
        h: Features = drop_features(engine.features, dropout, self.input_dropout)
        for k, layer in enumerate(self.layers):
            rows, gate = layer(engine, h)
            gates.append(gate)
            h = activation(rows) if k + 1 < len(self.layers) else rows
        return rows.squeeze(1), gates


@dataclass(eq=False, repr=False, kw_only=True)
class GBKGNN(NeuralBaseline):
    """GBK-GNN: one kernel for neighbours of the same class, one for the others, and a gate that tells them apart.

    h_i' = relu(W_f h_i + 1/|N(i)| sum_j [alpha_ij W_s h_j + (1 - alpha_ij) W_d h_j]) with
    alpha_ij = sigmoid(W_g [h_i || h_j]). The loss adds, for every layer, the binary cross-entropy of alpha_ij on edges
    between labelled nodes, which should be 1 where labels agree.

    Args:
        gate_weight: The paper's lambda, of the gates' loss.
    """

    name = "gbkgnn"
    title = "GBK-GNN"
    citation = (
        "Du et al., 2022: GBK-GNN: Gated Bi-Kernel Graph Neural Networks for Modeling Both Homophily and Heterophily"
    )
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + E d) an epoch"

    dropout: float = 0.2
    input_dropout: float = 0.2
    gate_weight: float = 1.0

    def check(self) -> None:
        """Refuse a negative weight."""
        super().check()
        if self.gate_weight < 0:
            raise ConfigError(f"gate_weight={self.gate_weight}: it must be 0 or more")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return GBKGNNNetwork(num_features, num_classes, self)

    def loss(self, network: nn.Module, lesson: Lesson) -> Tensor:
        """Cross-entropy of the known labels, and of the gates."""
        assert isinstance(network, GBKGNNNetwork)
        known, labelled = lesson.problem.known, lesson.labelled
        logits, gates = network.run(lesson.engine, lesson.dropout)
        edges = lesson.engine.topology.edges(self_loops=False)
        loss = F.cross_entropy(logits[labelled], known[labelled])
        return loss + self.gate_weight * gate_loss(gates, known, labelled, edges.source, edges.target)


def gate_loss(gates: list[Tensor], known: Tensor, labelled: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Sum over layers the binary cross-entropy of "both ends have one label" on edges whose ends are both labelled."""
    told = (labelled[source] & labelled[target]).nonzero().squeeze(1)
    agree = (known[source[told]] == known[target[told]]).to(gates[0].dtype)
    losses = [F.binary_cross_entropy_with_logits(gate[told], agree, reduction="sum") for gate in gates]
    return torch.stack(losses).sum() / max(len(told), 1)
