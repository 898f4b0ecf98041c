"""Which of a graph's splits a seed takes: column `seed` of those that came with it, or the one that it drew."""

from __future__ import annotations

from redisc.errors import ConfigError
from redisc.graph import Graph, Split


def split_of(graph: Graph, seed: int) -> Split:
    """Return a seed's split; seeds beyond the last column begin again with the first."""
    if not graph.splits:
        raise ConfigError("the graph comes without splits, and a seed has to take one")
    return graph.splits[seed % len(graph.splits)]
