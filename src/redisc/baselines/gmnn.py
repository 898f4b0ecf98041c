"""Graph Markov neural network (Qu, Bengio & Tang, 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine
from redisc.kernels.draw import draw_labels
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture, MeanField
from redisc.nn.activation import Activation
from redisc.nn.affine import Affine
from redisc.nn.block import Weighting
from redisc.seeds import derive_seed
from redisc.settings import check_count, check_positive
from redisc.training import Trained, train


class LabelDependency(nn.Module):
    """`p_φ(y_n | y_NB(n))`: a perceptron on the mean of the neighbours' label vectors.

    One hop, so that the node's own label never reaches its own prediction, neither by a self-loop nor there and back.
    """

    def __init__(self, num_classes: int, settings: GMNN) -> None:
        super().__init__()
        self.dropout, self.input_dropout = settings.dropout, settings.input_dropout
        self.inner, self.outer = Affine(num_classes, settings.hidden), Affine(settings.hidden, num_classes)

    def forward(self, engine: FullGraphEngine, labels: Tensor, dropout: Dropout | None) -> Tensor:
        """Return logits `(N, C)`, given label vectors `labels (N, C)`."""
        given = labels if dropout is None else dropout.dense(labels, self.input_dropout)
        seen = engine.topology.propagator(Weighting("mean")) @ given
        return self.outer(Activation(F.relu, self.dropout, dropout)(self.inner(seen)))


class GMNNNetwork(nn.Module):
    """q_θ, a GNN on features that predicts, and p_φ, a model of how labels depend on their neighbours'."""

    def __init__(self, num_features: int, num_classes: int, settings: GMNN) -> None:
        super().__init__()
        s = settings
        shape = Architecture("gcn", s.hidden, s.layers, dropout=s.dropout, input_dropout=s.input_dropout)
        self.q = MeanField(shape, num_features, num_classes)
        self.p = LabelDependency(num_classes, settings)

    def forward(self, engine: FullGraphEngine, dropout: Dropout | None) -> Tensor:
        """Return the logits `(N, C)` of q_θ."""
        return engine.mean_field(self.q, dropout)


def clamp(probabilities: Tensor, known: Tensor) -> Tensor:
    """Put a one-hot row in place of `probabilities (N, C)` wherever a label is known."""
    certain = F.one_hot(known.clamp_min(0), probabilities.shape[1]).to(probabilities.dtype)
    return torch.where((known == MASKED)[:, None], probabilities, certain)


@dataclass(eq=False, repr=False, kw_only=True)
class GMNN(NeuralBaseline):
    """Graph Markov neural network: a conditional random field over labels, trained by variational EM.

    After q_θ has learnt the known labels, rounds of two steps follow (Section 4 of its paper). M-step: labels are
    drawn from q_θ, known ones kept, and p_φ learns to tell each from its neighbours', which maximises the
    pseudo-likelihood Σ_n log p_φ(y_n | y_NB(n)). E-step: q_θ learns p_φ's probabilities where no label is known, and
    the known labels elsewhere. Predictions are q_θ's, of the round that validates best.

    Args:
        rounds: Of EM.
        temperature: Of the draws from q_θ.
    """

    name = "gmnn"
    title = "GMNN"
    citation = "Qu, Bengio & Tang, 2019: GMNN: Graph Markov Neural Networks"
    family = "structured"
    cost = "O(N d^2 + E d) an epoch"

    rounds: int = 3
    temperature: float = 0.1

    def check(self) -> None:
        """Refuse fewer rounds than one and temperatures that draw nothing."""
        super().check()
        check_count("rounds", self.rounds)
        check_positive("temperature", self.temperature)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build both networks."""
        return GMNNNetwork(num_features, num_classes, self)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Pre-train q_θ and alternate M- and E-steps; keep the q_θ that validates best, the latest of equals."""
        assert isinstance(network, GMNNNetwork)
        best = super().learn(network, lesson)
        state, epochs = _copy(network.q), best.epochs
        for number in range(self.rounds):
            if lesson.clock.is_over():
                break
            labels = self.draw(network, lesson, number)
            learnt = self.m_step(network, lesson, labels), self.e_step(network, lesson, labels)
            epochs += sum(step.epochs for step in learnt)
            if learnt[1].validation >= best.validation:
                best, state = learnt[1], _copy(network.q)
        network.q.load_state_dict(state)
        return Trained(best.validation, epochs)

    @torch.no_grad()
    def draw(self, network: GMNNNetwork, lesson: Lesson, number: int) -> Tensor:
        """Draw a label vector for every node from q_θ, known ones kept: `(N, C)`."""
        logits = network(lesson.engine, None)
        node = torch.arange(len(logits), device=logits.device)
        seed = derive_seed(lesson.seed, "labels")
        labels = draw_labels(logits, self.temperature, seed, torch.zeros_like(node), number, node)
        return clamp(F.one_hot(labels, logits.shape[1]).to(logits.dtype), lesson.problem.known)

    def m_step(self, network: GMNNNetwork, lesson: Lesson, labels: Tensor) -> Trained:
        """Fit p_φ to all labels `(N, C)`, each given its neighbours'."""
        return train(
            network.p,
            lambda: F.cross_entropy(network.p(lesson.engine, labels, lesson.dropout), labels),
            lambda: lesson.validate(network.p(lesson.engine, labels, None).softmax(1)),
            self.pace,
            lesson.clock,
            "M-step",
        )

    def e_step(self, network: GMNNNetwork, lesson: Lesson, labels: Tensor) -> Trained:
        """Fit q_θ to what p_φ says of each node given its neighbours' labels, and to the known labels."""
        targets = self.targets(network, lesson, labels)
        return self.minimise(network, lesson, lambda: F.cross_entropy(network(lesson.engine, lesson.dropout), targets))

    @torch.no_grad()
    def targets(self, network: GMNNNetwork, lesson: Lesson, labels: Tensor) -> Tensor:
        """Return p_φ's probabilities, one-hot where a label is known: `(N, C)`."""
        return clamp(network.p(lesson.engine, labels, None).softmax(1), lesson.problem.known)


def _copy(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}
