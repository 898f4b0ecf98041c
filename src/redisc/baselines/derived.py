"""Matrices that a method derives from a graph: made once, and kept for as long as the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from weakref import WeakKeyDictionary

from redisc.engine import Topology
from redisc.kernels.sparse import SparseMatrix


def once_a_topology(derive: Callable[[Topology], SparseMatrix]) -> Callable[[Topology], SparseMatrix]:
    """Call `derive` once for each topology."""
    kept: WeakKeyDictionary[Topology, SparseMatrix] = WeakKeyDictionary()

    @wraps(derive)
    def derived(topology: Topology) -> SparseMatrix:
        if topology not in kept:
            kept[topology] = derive(topology)
        return kept[topology]

    return derived
