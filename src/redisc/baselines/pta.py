"""Propagation then training, adaptively (Dong et al., 2021)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.perceptron import Perceptron
from redisc.baselines.propagation import as_probabilities, one_hot, spread
from redisc.engine import FullGraphEngine
from redisc.nn.block import Weighting
from redisc.settings import check_count, check_positive, check_share
from redisc.training import Trained


@dataclass(eq=False, repr=False, kw_only=True)
class PTA(NeuralBaseline):
    """Propagation then training, adaptively: labels are propagated first, then a perceptron f learns from all nodes.

    With S = D^-1/2 (A + I) D^-1/2 and APPNP's operator Ā = Σ_k<K α (1-α)^k S^k + (1-α)^K S^K:

    - soft labels are Y_soft = Ā Y, with the known labels' one-hot rows in Y;
    - the loss is -Σ_jc Y_soft[j, c] f_jc^γ log f_jc over all nodes j and classes c, divided by the number of labels.
      The weight f_jc^γ has no gradient, and γ = log(1 + epoch / ε) lets the model doubt propagated labels ever more;
    - the answer is Ā f(X), as in PPNP.

    Args:
        restart: α, the share of a node's own row in Ā.
        propagation_steps: K.
        adaptation: ε; after as many epochs γ is log 2.
    """

    name = "pta"
    title = "PTA"
    citation = "Dong et al., 2021: On the Equivalence of Decoupled Graph Convolution Network and Label Propagation"
    family = "propagation"
    cost = "O(N d^2) an epoch, and O(K E C) once and for each answer"

    learning_rate: float = 0.1
    weight_decay: float = 5e-3
    restart: float = 0.1
    propagation_steps: int = 10
    adaptation: float = 100.0

    def check(self) -> None:
        """Refuse a propagation or a schedule that makes no sense."""
        super().check()
        check_share("restart", self.restart)
        check_count("propagation_steps", self.propagation_steps)
        check_positive("adaptation", self.adaptation)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the perceptron f."""
        return Perceptron(num_features, num_classes, self.hidden, self.layers, self.dropout, self.input_dropout)

    def propagate(self, engine: FullGraphEngine, rows: Tensor) -> Tensor:
        """Return Ā times `rows (N, C)`."""
        smoother = engine.topology.propagator(Weighting("sym", 1.0))
        return spread(smoother, rows, 1 - self.restart, self.propagation_steps, 0)

    def gamma(self, epoch: int) -> float:
        """Return the exponent of the adaptive weight."""
        return math.log(1 + epoch / self.adaptation)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Propagate the labels once, then fit the perceptron to all nodes."""
        known, engine = lesson.problem.known, lesson.engine
        soft = self.propagate(engine, one_hot(known, lesson.problem.num_classes, engine.topology.dtype))
        labels, epochs = int(lesson.labelled.sum()), itertools.count()

        def loss() -> Tensor:
            return adaptive_loss(network(engine, lesson.dropout), soft, self.gamma(next(epochs))) / labels

        return self.minimise(network, lesson, loss)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Return the perceptron's propagated predictions; known labels are not looked at."""
        own = network(engine, None).softmax(1)
        return as_probabilities(self.propagate(engine, own), own)


def adaptive_loss(logits: Tensor, soft: Tensor, gamma: float) -> Tensor:
    """Sum the cross-entropy of soft labels `(N, C)`, each weighted by the model's own belief to the power gamma."""
    likelihood = F.log_softmax(logits, dim=1)
    return -(soft * (gamma * likelihood.detach()).exp() * likelihood).sum()
