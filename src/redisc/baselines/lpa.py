"""GNNs with label propagation as a regulariser of their edge weights (Wang & Leskovec, 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson
from redisc.baselines.partition import partition
from redisc.baselines.propagation import one_hot
from redisc.baselines.stacked import StackedBaseline
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine
from redisc.engine.full_block import FullBlock
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture, MeanField
from redisc.nn.affine import Affine
from redisc.nn.block import Weighting
from redisc.settings import check_count
from redisc.training import Trained

_UNLIKELY = 1e-6
"""Probabilities count as this at least, where a logarithm is taken."""


class EdgeAffinity(nn.Module):
    """Edge weights exp(τ cos(P x_i, P x_j)) with learned P and τ, normalised over each target's edges."""

    def __init__(self, num_features: int, width: int) -> None:
        super().__init__()
        self.projection = Affine(num_features, width, bias=False)
        self.sharpness = nn.Parameter(torch.empty(1))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start with τ = 1; the projection resets itself."""
        nn.init.ones_(self.sharpness)

    def forward(self, engine: FullGraphEngine, self_loops: bool) -> Tensor:
        """Return weights `(E, 1, 1)` that sum to 1 over each target's edges."""
        place = F.normalize(self.projection(engine.features), dim=-1).unsqueeze(2)
        return engine.block(engine.topology).dot_attention(self.sharpness * place, place, self_loops)


class LearnedBlock(FullBlock):
    """The whole graph with learned `weights (E, 1, 1)` in the place of fixed ones."""

    def __init__(self, engine: FullGraphEngine, weights: Tensor) -> None:
        super().__init__(engine.topology)
        self.inner, self.weights = engine.block(engine.topology), weights

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Sum rows over each target's edges."""
        mixed = self.inner.aggregate(self.weights, z.unsqueeze(2), weighting.self_loop > 0).squeeze(2)
        return mixed if bias is None else mixed + bias


class WatchedBlock(FullBlock):
    """The whole graph; `weights (E, 1, 1)` are the first layer's attention, averaged over its heads."""

    weights: Tensor

    def __init__(self, engine: FullGraphEngine) -> None:
        super().__init__(engine.topology)
        self.inner, self.seen = engine.block(engine.topology), False

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(E, copies, heads)`."""
        attention = self.inner.attention(source_scores, target_scores, self_loops)
        if not self.seen:
            self.weights, self.seen = attention.mean(-1, keepdim=True), True
        return attention

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(N, copies, heads, d)`."""
        return self.inner.aggregate(weights, values, self_loops)


class SharedWeights(nn.Module):
    """A GNN and the edge weights that it shares with label propagation."""

    def __init__(self, architecture: Architecture, num_features: int, num_classes: int, width: int) -> None:
        super().__init__()
        self.gnn = MeanField(architecture, num_features, num_classes)
        self.affinity = None if architecture.backbone == "gat" else EdgeAffinity(num_features, width)
        self.self_loops = architecture.backbone != "sage"

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`."""
        return self.with_weights(engine, dropout)[0]

    def with_weights(self, engine: FullGraphEngine, dropout: Dropout | None) -> tuple[Tensor, Tensor]:
        """Return logits `(N, C)` and edge weights `(E, 1, 1)`."""
        block = (
            WatchedBlock(engine)
            if self.affinity is None
            else LearnedBlock(engine, self.affinity(engine, self.self_loops))
        )
        return self.gnn([block] * self.gnn.depth, engine.features, dropout), block.weights

    def propagate_labels(
        self, engine: FullGraphEngine, weights: Tensor, start: Tensor, known: Tensor, steps: int
    ) -> Tensor:
        """Iterate `Y <- P Y` on `start (N, C)` with the weights as P, rows with known labels put back each time."""
        block, rows, free = engine.block(engine.topology), start, (known == MASKED)[:, None]
        for _ in range(steps):
            moved = block.aggregate(weights, rows[:, None, None], self.self_loops)[:, 0, 0]
            rows = torch.where(free, moved, start)
        return rows


@dataclass(eq=False, repr=False, kw_only=True)
class LPA(StackedBaseline):
    """GCN-LPA: a GNN and label propagation share positive edge weights, and both must predict training labels.

    The loss is that of the GNN plus λ times that of label propagation Y <- D^-1 A* Y (Eqs. 1, 2 and the unified loss of
    its paper), so that edges between nodes of one class grow heavy. The answer is the GNN's.

    The paper has one free weight for each edge of one graph. Here a weight is a function of the features at its ends,
    which other graphs have too: with GCN and GraphSAGE A*_ij = exp(τ cos(P x_i, P x_j)), with GAT the first layer's
    attention, averaged over heads. And a training label is predicted from others alone: at each epoch a random half of
    them is propagated and the other half asked for, since a node's own label would come back to it.

    Args:
        backbone: "gcn", "gat" or "sage".
        heads: Attention heads of "gat".
        label_weight: λ, the share of label propagation in the loss.
        propagation_steps: Steps of label propagation.
        affinity_width: Rows of P.
    """

    name = "lpa"
    title = "LPA"
    citation = "Wang & Leskovec, 2020: Unifying Graph Convolutional Neural Networks and Label Propagation"
    family = "propagation"
    cost = "O(N d^2 + E (d + K C)) an epoch"

    backbone: str = "gcn"
    heads: int = 8
    label_weight: float = 1.0
    propagation_steps: int = 5
    affinity_width: int = 16

    def check(self) -> None:
        """Refuse other backbones and sizes below 1."""
        super().check()
        if self.backbone not in ("gcn", "gat", "sage"):
            raise ConfigError(f"unknown backbone {self.backbone!r}; choose gcn, gat or sage")
        if self.label_weight < 0:
            raise ConfigError(f"label_weight={self.label_weight}: it must be 0 or more")
        check_count("propagation_steps", self.propagation_steps)
        check_count("affinity_width", self.affinity_width)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the GNN and its edge weights."""
        return SharedWeights(self.architecture(), num_features, num_classes, self.affinity_width)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Minimise both losses; which labels are propagated is drawn anew each epoch."""
        assert isinstance(network, SharedWeights)
        generator, known, labelled = lesson.generator("propagated labels"), lesson.problem.known, lesson.labelled

        def loss() -> Tensor:
            logits, weights = network.with_weights(lesson.engine, lesson.dropout)
            given, asked = partition(known, 0.5, generator)
            predicted = self.predict_labels(network, lesson.engine, weights, given, logits.shape[1])
            likelihood = predicted[asked].gather(1, known[asked, None]).clamp_min(_UNLIKELY).log()
            return F.cross_entropy(logits[labelled], known[labelled]) - self.label_weight * likelihood.mean()

        return self.minimise(network, lesson, loss)

    def predict_labels(
        self, network: SharedWeights, engine: FullGraphEngine, weights: Tensor, given: Tensor, num_classes: int
    ) -> Tensor:
        """Return label propagation's own probabilities `(N, C)`; nodes without a label start at equal ones."""
        start = torch.where(
            (given == MASKED)[:, None], 1 / num_classes, one_hot(given, num_classes, engine.topology.dtype)
        )
        return network.propagate_labels(engine, weights, start, given, self.propagation_steps)
