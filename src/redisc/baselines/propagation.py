"""Rows that travel over a graph until they settle: what label propagation and its relatives share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from redisc.baselines.base import Baseline, Lesson
from redisc.diffusion.masking import MASKED
from redisc.engine import FullGraphEngine
from redisc.kernels.sparse import SparseMatrix
from redisc.settings import check_count, check_positive
from redisc.training import Trained


def one_hot(known: Tensor, num_classes: int, dtype: torch.dtype) -> Tensor:
    """Return `(N, C)`: a one for each label of `known (N,)`, zeros where it is MASKED."""
    return F.one_hot(known.clamp_min(0), num_classes).to(dtype) * (known != MASKED)[:, None]


def spread(
    matrix: SparseMatrix, start: Tensor, damping: float, iterations: int = 1000, tolerance: float = 1e-6
) -> Tensor:
    """Iterate `F <- damping M F + (1 - damping) start`, whose limit is `(1 - damping) (I - damping M)^-1 start`."""
    source = (1 - damping) * start
    return _settle(lambda rows: damping * (matrix @ rows) + source, start, iterations, tolerance)


def spread_clamped(
    matrix: SparseMatrix, start: Tensor, clamped: Tensor, iterations: int = 1000, tolerance: float = 1e-6
) -> Tensor:
    """Iterate `F <- M F` with the rows of `clamped (N,)` held at `start (N, C)`."""
    return _settle(lambda rows: torch.where(clamped[:, None], start, matrix @ rows), start, iterations, tolerance)


def as_probabilities(scores: Tensor, otherwise: Tensor) -> Tensor:
    """Scale non-negative rows `(N, C)` to sum 1; rows of zeros become `otherwise`, `(C,)` or `(N, C)`."""
    total = scores.sum(1, keepdim=True)
    smallest = torch.finfo(scores.dtype).tiny
    return torch.where(total > smallest, scores / total.clamp_min(smallest), otherwise)


def _settle(update: Callable[[Tensor], Tensor], rows: Tensor, iterations: int, tolerance: float) -> Tensor:
    """Repeat `update` until no entry changes by more than `tolerance`."""
    for _ in range(iterations):
        before, rows = rows, update(rows)
        if (rows - before).abs().max() <= tolerance:
            break
    return rows


class ClassFrequencies(nn.Module):
    """All that a method without weights remembers: how often each class was seen, `(C,)`."""

    frequencies: Tensor

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.full((num_classes,), 1 / num_classes))


@dataclass(eq=False, repr=False, kw_only=True)
class PropagationBaseline(Baseline):
    """Labels travel, features are not looked at; a node that no label reaches gets the training labels' frequencies.

    Args:
        iterations: At the most.
        tolerance: Iterations end when no entry changes by more.
    """

    iterations: int = 1000
    tolerance: float = 1e-6

    def propagate(self, engine: FullGraphEngine, labels: Tensor, labelled: Tensor) -> Tensor:
        """Return scores `(N, C)` from one-hot labels `(N, C)`, zeros where `labelled (N,)` is false."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse an iteration that can't run or never ends."""
        check_count("iterations", self.iterations)
        check_positive("tolerance", self.tolerance)

    def network(self, num_features: int, num_classes: int) -> nn.Module:
        """Build the memory of class frequencies."""
        return ClassFrequencies(num_classes)

    def learn(self, network: nn.Module, lesson: Lesson) -> Trained:
        """Count the classes; there is nothing to train."""
        assert isinstance(network, ClassFrequencies)
        known = lesson.problem.known
        counts = torch.bincount(known[lesson.labelled], minlength=lesson.problem.num_classes)
        network.frequencies.copy_(counts / counts.sum())
        return Trained(lesson.validate(self.infer(network, lesson.engine, known, 1)), 0)

    def infer(self, network: nn.Module, engine: FullGraphEngine, known: Tensor, n_samples: int) -> Tensor:
        """Propagate the known labels."""
        assert isinstance(network, ClassFrequencies)
        prior = network.frequencies
        labels = one_hot(known, len(prior), prior.dtype)
        return as_probabilities(self.propagate(engine, labels, known != MASKED), prior)
