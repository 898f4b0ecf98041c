"""Mini-batches: a set of nodes in random order, cut into slices, again and again."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from redisc.seeds import numpy_generator


class Batches:
    """Slices of `nodes (M,)` of about equal size, `size` at the most; each round is a new permutation.

    `position` is how many slices have been taken; set it to go on from there. Where one slice holds all nodes, it is
    `nodes` as they are.
    """

    def __init__(self, nodes: Tensor, size: int, seed: int) -> None:
        self._nodes, self._seed, self.position = nodes, seed, 0
        self.per_round = max(1, math.ceil(len(nodes) / size))
        self._round, self._slices = -1, [nodes]

    def __next__(self) -> Tensor:
        self.position += 1
        return self._slice(self.position - 1)

    def peek(self) -> Tensor | None:
        """Return the next slice of this round without taking it; None where the round is over."""
        return self._slice(self.position) if self.position % self.per_round else None

    def _slice(self, position: int) -> Tensor:
        round_, place = divmod(position, self.per_round)
        if self.per_round > 1 and round_ != self._round:
            order = torch.from_numpy(numpy_generator(self._seed, round_).permutation(len(self._nodes)))
            cut = self._nodes[order.to(self._nodes.device)].tensor_split(self.per_round)
            self._round, self._slices = round_, [part.sort().values for part in cut]
        return self._slices[place]
