"""CPGNN (Zhu et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.derived import once_a_topology
from redisc.baselines.perceptron import Perceptron
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine, Topology
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.settings import check_count
from redisc.training import Trained, train

_LEAST_SHARE = 1e-4


@once_a_topology
def plain_adjacency(topology: Topology) -> SparseMatrix:
    """Return A as it is: neither normalised nor with self-loops."""
    return SparseMatrix(topology.adjacency, topology.dtype, topology.device)


def balance(counts: Tensor, iterations: int = 3000, tolerance: float = 1e-10) -> Tensor:
    """Make a non-negative `(C, C)` matrix doubly stochastic by the Sinkhorn-Knopp algorithm.

    Entries are raised a little first: with zeros the iteration may have no limit, and classes may lack edges.
    """
    matrix = counts.double() / counts.double().sum().clamp_min(torch.finfo(torch.float64).tiny)
    matrix = matrix + _LEAST_SHARE / matrix.numel()
    for _ in range(iterations):
        matrix = matrix / matrix.sum(0, keepdim=True)
        excess = (matrix.sum(1) - 1).abs().max()
        matrix = matrix / matrix.sum(1, keepdim=True)
        if excess < tolerance:
            break
    return matrix.to(counts.dtype)


def estimate_compatibility(adjacency: SparseMatrix, known: Tensor, prior: Tensor) -> Tensor:
    """Return the centred compatibility `(C, C)` between labelled nodes and their neighbours.

    With one-hot labels Y of labelled nodes (zeros elsewhere) and beliefs B, which are labels where they are known and
    prior beliefs elsewhere: H = Sinkhorn-Knopp(Y' A B), made symmetric, less 1/C.
    """
    num_classes, labelled = prior.shape[1], (known != MASKED)[:, None]
    labels = F.one_hot(known.clamp_min(0), num_classes).to(prior.dtype) * labelled
    counts = labels.T @ (adjacency @ torch.where(labelled, labels, prior))
    balanced = balance(counts)
    return (balanced + balanced.T) / 2 - 1 / num_classes


def propagate_beliefs(adjacency: SparseMatrix, prior: Tensor, compatibility: Tensor, hops: int) -> Tensor:
    """Return beliefs `(N, C)` after linearised belief propagation: B <- B_0 + A B H, on centred beliefs and H."""
    share = 1 / prior.shape[1]
    initial = beliefs = prior - share
    for _ in range(hops):
        beliefs = initial + adjacency @ (beliefs @ compatibility)
    return beliefs + share


class Compatibility(nn.Module):
    """The centred compatibility matrix `centred (C, C)`: how much more than chance classes are neighbours."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.centred = nn.Parameter(torch.empty(num_classes, num_classes))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Start at chance."""
        nn.init.zeros_(self.centred)

    def set(self, centred: Tensor) -> None:
        """Take over an estimate."""
        with torch.no_grad():
            self.centred.copy_(centred)

    def excess(self) -> Tensor:
        """Return the sum of the rows' absolute sums, which are zero where the matrix is centred."""
        return self.centred.sum(1).abs().sum()


class CPGNNNetwork(nn.Module):
    """A perceptron for prior beliefs, and their propagation."""

    def __init__(self, num_features: int, num_classes: int, settings: CPGNN) -> None:
        super().__init__()
        self.hops = settings.hops
        shape = (settings.hidden, settings.layers, settings.dropout, settings.input_dropout)
        self.prior = Perceptron(num_features, num_classes, *shape)
        self.compatibility = Compatibility(num_classes)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return final beliefs `(N, C)`, which serve as logits."""
        return self.propagate(engine, self.prior(engine, dropout))

    def propagate(self, engine: FullGraphEngine, prior_logits: Tensor) -> Tensor:
        """Return final beliefs for the logits `(N, C)` of prior ones."""
        adjacency = plain_adjacency(engine.topology)
        return propagate_beliefs(adjacency, prior_logits.softmax(1), self.compatibility.centred, self.hops)


@dataclass(eq=False, repr=False, kw_only=True)
class CPGNN(NeuralBaseline):
    """CPGNN: belief propagation with a learnt matrix H of how compatible classes are.

    Prior beliefs B_p = softmax(MLP(X)) are trained alone at first. Then H starts from the training labels and B_p, and
    centred beliefs travel by B^(k) = B^(0) + A B^(k-1) H. The loss is the cross-entropy of the final beliefs, plus
    `prior_weight` times that of the prior ones, plus sum_i |sum_j H_ij|, which keeps H centred. `layers` is the
    depth of the perceptron.

    Args:
        hops: How often beliefs travel.
        pretraining: Epochs of the prior alone, at the most.
        prior_weight: Of the prior's loss.
    """

    name = "cpgnn"
    title = "CPGNN"
    citation = "Zhu et al., 2021: Graph Neural Networks with Heterophily"
    family = "heterophily"
    heterophilic = True
    cost = "O(N d^2 + E C + N C^2) an epoch"

    hops: int = 2
    pretraining: int = 400
    prior_weight: float = 1.0

    def check(self) -> None:
        """Refuse fewer than one hop or epoch, and a negative weight."""
        super().check()
        check_count("hops", self.hops)
        check_count("pretraining", self.pretraining)
        if self.prior_weight < 0:
            raise ConfigError(f"prior_weight={self.prior_weight}: it must be 0 or more")

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the network."""
        return CPGNNNetwork(num_features, num_classes, self)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Train the prior, estimate H, then train both."""
        assert isinstance(network, CPGNNNetwork)
        alone = self._train_prior(network.prior, lesson)
        with torch.no_grad():
            prior = network.prior(lesson.engine, None).softmax(1)
            adjacency = plain_adjacency(lesson.engine.topology)
            network.compatibility.set(estimate_compatibility(adjacency, lesson.problem.known, prior))
        together = super().learn(network, lesson)
        return Trained(together.validation, alone.epochs + together.epochs)

    def loss(self, network: nn.Module, lesson: Lesson) -> Tensor:
        """Cross-entropy of final and prior beliefs, and H's distance from a centred matrix."""
        assert isinstance(network, CPGNNNetwork)
        prior = network.prior(lesson.engine, lesson.dropout)
        final = _cross_entropy(network.propagate(lesson.engine, prior), lesson)
        return final + self.prior_weight * _cross_entropy(prior, lesson) + network.compatibility.excess()

    def _train_prior(self, prior: Perceptron, lesson: Lesson) -> Trained:
        return train(
            prior,
            lambda: _cross_entropy(prior(lesson.engine, lesson.dropout), lesson),
            lambda: lesson.validate(prior(lesson.engine, None).softmax(1)),
            replace(self.pace, epochs=self.pretraining),
            lesson.clock,
            "prior",
        )


def _cross_entropy(logits: Tensor, lesson: Lesson) -> Tensor:
    return F.cross_entropy(logits[lesson.labelled], lesson.problem.known[lesson.labelled])
