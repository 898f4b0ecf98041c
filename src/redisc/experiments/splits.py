"""Which of a graph's splits a seed takes: column `seed` of those that came with it, or the one that it drew."""

from __future__ import annotations

import numpy as np

from redisc.errors import ConfigError
from redisc.graph import Graph, Split
from redisc.seeds import numpy_generator


def split_of(graph: Graph, seed: int) -> Split:
    """Return a seed's split; seeds beyond the last column begin again with the first."""
    if not graph.splits:
        raise ConfigError("the graph comes without splits, and a seed has to take one")
    return graph.splits[seed % len(graph.splits)]


def redrawn(graph: Graph, split: Split, seed: int) -> Split:
    """Draw the labelled nodes anew among labelled and validation nodes, as many of each class; the rest validates.

    A public split has one draw of labels, and what suits these need not suit others. Test nodes stay test nodes.
    """
    generator, train = numpy_generator(seed, "labels drawn anew"), np.zeros_like(split.train)
    for value, count in zip(*np.unique(graph.y[split.train], return_counts=True), strict=True):
        pool = np.flatnonzero((split.train | split.val) & (graph.y == value))
        train[generator.choice(pool, count, replace=False)] = True
    return Split(train, (split.train | split.val) & ~train, split.test)
