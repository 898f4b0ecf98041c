"""Mini-batches: a set of nodes in random order, cut into slices, again and again."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from redisc.em.config import EMConfig
from redisc.engine import Engine
from redisc.seeds import numpy_generator

CLUSTERS = 16
"""Clusters that make a mini-batch, where it is made of clusters."""


class Batches:
    """Slices of `nodes (M,)` of about equal size, `size` on average at the most; each round is a new permutation.

    With `place (N,)`, which puts neighbours near each other, a slice is a union of 16 runs of consecutive places:
    clusters, whose nodes share neighbours, so that a batch reads fewer rows. `position` is how many slices have been
    taken; set it to go on from there. Where one slice holds all nodes, it is `nodes` as they are.
    """

    def __init__(self, nodes: Tensor, size: int, seed: int, place: Tensor | None = None) -> None:
        self._nodes, self._seed, self.position = nodes, seed, 0
        self.per_round = max(1, math.ceil(len(nodes) / size))
        self._round, self._slices = -1, [nodes]
        ordered = None if place is None else nodes[place[nodes].argsort()]
        count = min(CLUSTERS * self.per_round, len(nodes))
        self._clusters = None if ordered is None else ordered.tensor_split(max(1, count))

    def __next__(self) -> Tensor:
        self.position += 1
        return self._slice(self.position - 1)

    def peek(self) -> Tensor | None:
        """Return the next slice of this round without taking it; None where the round is over."""
        return self._slice(self.position) if self.position % self.per_round else None

    def _slice(self, position: int) -> Tensor:
        round_, place = divmod(position, self.per_round)
        if self.per_round > 1 and round_ != self._round:
            self._round, self._slices = round_, [part.sort().values for part in self._deal(round_)]
        return self._slices[place]

    def _deal(self, round_: int) -> list[Tensor]:
        """Permute nodes, or clusters of them, and cut."""
        generator = numpy_generator(self._seed, round_)
        if self._clusters is None:
            order = torch.from_numpy(generator.permutation(len(self._nodes))).to(self._nodes.device)
            return list(self._nodes[order].tensor_split(self.per_round))
        order = torch.from_numpy(generator.permutation(len(self._clusters)))
        return [torch.cat([self._clusters[k] for k in part]) for part in order.tensor_split(self.per_round)]


def places_for(engine: Engine, config: EMConfig) -> Tensor | None:
    """Return where `Batches` looks for clusters; None where batches are of single nodes."""
    clustered = config.batch_size and config.batches_of == "clusters"
    return torch.from_numpy(engine.topology.locality) if clustered else None
