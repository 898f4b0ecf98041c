"""What a fit is about: the known labels, and the validation labels that may only steer selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redisc import metrics
from redisc.errors import ConfigError


@dataclass(frozen=True)
class Validation:
    """Held-out labels and the metric on them. It can score; it cannot be read by a loss."""

    nodes: np.ndarray  # indices of the validation nodes
    labels: np.ndarray  # their labels, 0..C-1
    metric: str = "accuracy"

    def __post_init__(self) -> None:
        if self.metric not in _METRICS:
            raise ConfigError(f"unknown metric {self.metric!r}; choose one of {', '.join(_METRICS)}")

    @property
    def reads_probabilities(self) -> bool:
        """Tell whether the metric looks at more than labels."""
        return self.metric == "roc_auc"

    def score(self, labels: Tensor, probabilities: Tensor | None) -> float:
        """Score one assignment `labels (N,)` and its `probabilities (N, C)` on the validation nodes.

        Probabilities may be left out where the metric does not read them.
        """
        nodes = torch.from_numpy(self.nodes).to(labels.device)
        return self.score_rows(labels[nodes], None if probabilities is None else probabilities[nodes])

    def score_rows(self, labels: Tensor, probabilities: Tensor | None) -> float:
        """Score the validation nodes' own labels `(V,)` and probabilities `(V, C)`."""
        shares = np.empty((0, 0)) if probabilities is None else probabilities.cpu().numpy()
        return float(_METRICS[self.metric](self.labels, labels.cpu().numpy(), shares))


_METRICS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda truth, predicted, _: metrics.node_accuracy(truth, predicted),
    "balanced_accuracy": lambda truth, predicted, _: metrics.balanced_accuracy(truth, predicted),
    "roc_auc": lambda truth, _, probabilities: metrics.roc_auc(truth, probabilities),
}


@dataclass(frozen=True)
class Problem:
    """Known labels `known (N,)` (MASKED elsewhere), the number of classes, and the validation set."""

    known: Tensor
    num_classes: int
    validation: Validation
    class_weight: Tensor | None = None  # (C,), of the cross-entropy
