"""Which known labels drive a node: how its probabilities change when a known label is masked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from redisc.clock import Told
from redisc.diffusion.masking import MASKED
from redisc.graph import Graph
from redisc.task import place_of

Probabilities = Callable[[np.ndarray], np.ndarray]
"""From known labels `(N,)` to probabilities `(N, C)`, with the same random numbers on every call."""


VISIBLE = 0.001
"""A change that is worth being shown: a tenth of a point."""


@dataclass(frozen=True)
class Drivers:
    """For each of `nodes (M,)` the known nodes that drive it most, `known (M, K)`, -1 where there are fewer.

    `change (M, K)` is the probability of the node's answer less what it is with that known label masked: above 0 the
    label speaks for the answer, below 0 against it.
    """

    nodes: np.ndarray
    known: np.ndarray
    change: np.ndarray
    alone: bool  # each known label was masked on its own

    def of(self, node: int) -> list[tuple[int, float]]:
        """Return the drivers of a node as pairs of known node and change, the strongest first."""
        return self._pairs(place_of(node, self.nodes))

    def lists(self, least: float = VISIBLE) -> list[list[tuple[int, float]]]:
        """Return the drivers of every node of `nodes`, in their order; changes below `least` are left out."""
        every = (self._pairs(row) for row in range(len(self.nodes)))
        return [[(known, change) for known, change in pairs if abs(change) >= least] for pairs in every]

    def _pairs(self, row: int) -> list[tuple[int, float]]:
        pairs = zip(self.known[row].tolist(), self.change[row].tolist(), strict=True)
        return [(known, change) for known, change in pairs if known >= 0]


def find_drivers(
    graph: Graph,
    known: np.ndarray,
    probabilities: Probabilities,
    nodes: np.ndarray,
    answers: np.ndarray,
    reach: int,
    groups: int,
    top: int,
    generator: np.random.Generator,
    told: Told | None = None,
) -> Drivers:
    """Mask known labels within `reach` hops of `nodes`, in at most `groups` groups, and rank them by their effect.

    The effect is that on the probability of `answers (M,)`, one class number a node.
    Where there are no more candidates than groups each is masked alone. Else a group holds labels scattered over the
    graph at random, and a change counts for the member that is nearest to the node, within `reach` hops.
    """
    rows = np.arange(len(nodes))
    before = probabilities(known)[nodes][rows, answers]
    candidates = _candidates(graph, known, nodes, reach)
    parts = np.array_split(generator.permutation(candidates), min(groups, len(candidates))) if len(candidates) else []
    owners, changes = [], []
    for place, part in enumerate(parts):
        changes.append(before - probabilities(_without(known, part))[nodes][rows, answers])
        owners.append(nearest_of(graph, part, reach)[nodes])
        if told is not None:
            told("masking labels", place + 1, len(parts))
    return _ranked(nodes, known, owners, changes, top, alone=len(parts) == len(candidates))


def nearest_of(graph: Graph, sources: np.ndarray, reach: int) -> np.ndarray:
    """Return for every node the nearest of `sources` within `reach` hops, -1 where there is none."""
    owner = np.full(graph.num_nodes, -1)
    owner[sources] = sources
    source, target = graph.edge_index()
    for _ in range(reach):
        found = (owner[source] >= 0) & (owner[target] < 0)
        if not found.any():
            break
        # Of two neighbours with an owner the one with the larger number wins: any fixed rule would do.
        np.maximum.at(owner, target[found], owner[source[found]])
    return owner


def _candidates(graph: Graph, known: np.ndarray, nodes: np.ndarray, reach: int) -> np.ndarray:
    """Return the known nodes within `reach` hops of any of `nodes`."""
    return np.flatnonzero((nearest_of(graph, nodes, reach) >= 0) & (known != MASKED))


def _without(known: np.ndarray, masked: np.ndarray) -> np.ndarray:
    rest = known.copy()
    rest[masked] = MASKED
    return rest


def _ranked(
    nodes: np.ndarray, known: np.ndarray, owners: list[np.ndarray], changes: list[np.ndarray], top: int, alone: bool
) -> Drivers:
    """Keep the `top` strongest changes of each node; known nodes have no drivers."""
    if not owners:
        empty = np.empty((len(nodes), 0))
        return Drivers(nodes, empty.astype(np.int64), empty, alone)
    owner, change = np.stack(owners, axis=1), np.stack(changes, axis=1)
    change = np.where((owner < 0) | (known[nodes] != MASKED)[:, None], 0.0, change)
    order = np.argsort(-np.abs(change), axis=1, kind="stable")[:, :top]
    strongest = np.take_along_axis(change, order, axis=1)
    named = np.where(strongest == 0, -1, np.take_along_axis(owner, order, axis=1))
    return Drivers(nodes, named, strongest, alone)
