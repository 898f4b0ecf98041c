"""Mini-batches: a set of nodes in random order, cut into slices, again and again."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor


class Batches:
    """Slices of `nodes (M,)` of about equal size, `size` at the most; each round is a new permutation.

    Where one slice holds all nodes, it is `nodes` as they are, and no random number is drawn.
    """

    def __init__(self, nodes: Tensor, size: int, generator: np.random.Generator) -> None:
        self._nodes, self._generator = nodes, generator
        self.per_round = max(1, math.ceil(len(nodes) / size))
        self._left: list[Tensor] = []

    def __next__(self) -> Tensor:
        if self.per_round == 1:
            return self._nodes
        if not self._left:
            order = torch.from_numpy(self._generator.permutation(len(self._nodes))).to(self._nodes.device)
            self._left = [part.sort().values for part in self._nodes[order].tensor_split(self.per_round)]
        return self._left.pop()
