"""The priority queue of pseudo-label samples (Section 3.3.2 of the paper)."""

from __future__ import annotations

from collections import deque

import numpy as np
import torch
from torch import Tensor

from redisc.io.scratch import Allocate
from redisc.state import State


class PriorityQueue:
    """Keeps the S newest samples; each is drawn with probability softmax(priority / tau).

    softmax(p / tau) is the authors' reading of "proportional to its priority with a temperature". Without
    priorities every sample has the same one, and the draw is uniform. Labels are kept in the smallest integer type,
    where `allocate` puts them.
    """

    def __init__(self, size: int, temperature: float, num_classes: int, allocate: Allocate = np.empty) -> None:
        self.temperature, self._allocate = temperature, allocate
        types = (torch.uint8, torch.int16, torch.int32)
        self._dtype = next(t for t in types if num_classes - 1 <= torch.iinfo(t).max)
        self._samples: deque[Tensor] = deque(maxlen=size)
        self._priorities: deque[float] = deque(maxlen=size)
        self.pushed = 0  # how many samples there have been

    def __len__(self) -> int:
        return len(self._samples)

    def push(self, labels: Tensor, priority: float | None) -> None:
        """Add one sample `(N,)`; the oldest leaves when the queue is full.

        A sample without a priority counts as the mean of those that have one.
        """
        self.pushed += 1
        self._samples.append(self._keep(labels))
        self._priorities.append(float("nan") if priority is None else priority)

    def _keep(self, labels: Tensor) -> Tensor:
        kept = torch.from_numpy(self._allocate(tuple(labels.shape), str(self._dtype).removeprefix("torch.")))
        return kept.copy_(labels)

    def probabilities(self) -> np.ndarray:
        """Chance of each cached sample, oldest first."""
        priority = np.asarray(self._priorities)
        given = ~np.isnan(priority)
        priority = np.where(given, priority, priority[given].mean() if given.any() else 0.0)
        heat = np.exp((priority - priority.max()) / self.temperature)
        return heat / heat.sum()

    def draw(self, n: int, generator: np.random.Generator) -> Tensor:
        """Draw `n` samples with replacement: `(n, N)`."""
        chosen = generator.choice(len(self), size=n, p=self.probabilities())
        return torch.stack([self._samples[k] for k in chosen]).long()

    def state(self) -> State:
        """Return the samples, their priorities and the count."""
        figures = {"pushed": self.pushed, "priorities": list(self._priorities)}
        return State(figures, {"labels": torch.stack(list(self._samples))})

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self.pushed = state.figures["pushed"]
        self._samples.clear()
        self._samples.extend(self._keep(labels) for labels in state.tensors["labels"])
        self._priorities.clear()
        self._priorities.extend(state.figures["priorities"])
