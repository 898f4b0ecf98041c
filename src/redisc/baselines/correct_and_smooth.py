"""Correct and smooth (Huang et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from redisc.baselines.base import Lesson, NeuralBaseline
from redisc.baselines.perceptron import Perceptron
from redisc.baselines.propagation import as_probabilities, one_hot, spread, spread_clamped
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine
from redisc.errors import ConfigError
from redisc.nn.block import Weighting
from redisc.settings import check_count, check_share
from redisc.training import Trained, train

_LARGEST_SCALE = 1000.0
"""Corrections that would be scaled up by more stay as they are, as in the authors' code: they are all but zero."""


@dataclass(eq=False, repr=False, kw_only=True)
class CorrectAndSmooth(NeuralBaseline):
    """Correct and smooth: a perceptron's predictions Z, improved twice by the known labels Y (Sections 2.2 and 2.3).

    - Correct: the errors E = Y - Z of labelled nodes spread by E <- α1 S E + (1-α1) E(0), S = D^-1/2 A D^-1/2, and are
      added to Z: scaled to the mean error's size ("auto", Autoscale), or spread by E <- D^-1 A E with labelled rows
      held, and multiplied by `scale` ("fdiff", FDiff-scale).
    - Smooth: G, the labels where they are known and the corrected predictions elsewhere, spreads by
      G <- α2 S G + (1-α2) G(0).

    The perceptron is trained and selected alone; with `layers=1` it is linear.

    Args:
        scaling: "auto" or "fdiff".
        scale: Of the correction, for "fdiff".
        correct_damping: α1, for "auto".
        smooth_damping: α2.
        iterations: Of each spreading, at the most.
    """

    name = "c_and_s"
    title = "C&S"
    citation = "Huang et al., 2021: Combining Label Propagation and Simple Models Out-performs Graph Neural Networks"
    family = "propagation"
    cost = "O(N d^2) an epoch, and O(E C) an iteration of each answer"

    scaling: str = "auto"
    scale: float = 1.0
    correct_damping: float = 0.9
    smooth_damping: float = 0.95
    iterations: int = 50

    def check(self) -> None:
        """Refuse unknown scalings and dampings that are no shares."""
        super().check()
        if self.scaling not in ("auto", "fdiff"):
            raise ConfigError(f"unknown scaling {self.scaling!r}; choose auto or fdiff")
        check_share("correct_damping", self.correct_damping)
        check_share("smooth_damping", self.smooth_damping)
        check_count("iterations", self.iterations)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the perceptron."""
        return Perceptron(num_features, num_classes, self.hidden, self.layers, self.dropout, self.input_dropout)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Train the perceptron alone, then score what correcting and smoothing make of it."""
        alone = train(
            network,
            lambda: self.loss(network, lesson),
            lambda: lesson.validate(network(lesson.engine, None).softmax(1)),
            self.pace,
            lesson.clock,
        )
        with torch.no_grad():
            probabilities = self.infer(network, lesson.engine, lesson.problem.known, 1)
        return Trained(lesson.validate(probabilities), alone.epochs)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Correct and smooth the perceptron's predictions by the known labels."""
        own = network(engine, None).softmax(1)
        labels, labelled = one_hot(known, own.shape[1], own.dtype), known != MASKED
        corrected = self.correct(engine, own, labels, labelled)
        return as_probabilities(self.smooth(engine, corrected, labels, labelled).clamp_min(0), own)

    def correct(self, engine: FullGraphEngine, own: Tensor, labels: Tensor, labelled: Tensor) -> Tensor:
        """Return predictions `(N, C)` with the labelled nodes' errors spread over the others."""
        errors = (labels - own) * labelled[:, None]
        if self.scaling == "fdiff":
            walk = engine.topology.propagator(Weighting("mean"))
            return own + self.scale * spread_clamped(walk, errors, labelled, self.iterations, 0)
        smoother = engine.topology.propagator(Weighting("sym"))
        spreading = spread(smoother, errors, self.correct_damping, self.iterations, 0)
        size = errors.abs().sum() / labelled.sum().clamp_min(1)
        scale = size / spreading.abs().sum(1, keepdim=True).clamp_min(torch.finfo(own.dtype).tiny)
        return own + torch.where(scale > _LARGEST_SCALE, 1.0, scale) * spreading

    def smooth(self, engine: FullGraphEngine, corrected: Tensor, labels: Tensor, labelled: Tensor) -> Tensor:
        """Return scores `(N, C)`: known labels and corrected predictions, spread."""
        start = torch.where(labelled[:, None], labels, corrected)
        return spread(engine.topology.propagator(Weighting("sym")), start, self.smooth_damping, self.iterations, 0)
