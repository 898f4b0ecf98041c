"""How many nodes there are, and whether everything that was given agrees on it."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from redisc.errors import EmptyGraphError, GraphError, LengthError


def count_nodes(edges: np.ndarray, features: Any, labels: np.ndarray | None, num_nodes: int | None) -> int:
    """The number of nodes on which features, labels and `num_nodes` agree, or else what the edges need."""
    counts: dict[str, int] = {}
    if features is not None:
        counts["x has {} rows"] = int(features.shape[0])
    if labels is not None:
        counts["y has {} labels"] = labels.size
    if num_nodes is not None:
        counts["the number of nodes is {}"] = _whole_count(num_nodes)
    if len(set(counts.values())) > 1:
        given = ", ".join(text.format(count) for text, count in counts.items())
        raise LengthError(f"{given}: these must be equal, one for each node")
    count = next(iter(counts.values())) if counts else int(edges.max(initial=-1)) + 1
    if count < 1:
        raise EmptyGraphError("the graph has no nodes: pass features, labels, edges or num_nodes of at least one node")
    return count


def _whole_count(num_nodes: Any) -> int:
    try:
        count = operator.index(num_nodes)
    except TypeError:
        raise GraphError(f"num_nodes must be an integer, not {num_nodes!r}") from None
    if count < 0:
        raise GraphError(f"num_nodes must not be negative, but is {count}")
    return count


def read_node_ids(node_ids: Sequence[Any] | np.ndarray | None, num_nodes: int) -> np.ndarray | None:
    """The caller's ids as an (N,) array; those that are not an array already become one of objects."""
    if node_ids is None:
        return None
    if isinstance(node_ids, np.ndarray) and node_ids.ndim == 1:
        ids = node_ids.copy()
    else:
        ids = np.empty(len(node_ids), dtype=object)
        ids[:] = list(node_ids)
    if ids.size != num_nodes:
        raise LengthError(f"node_ids has {ids.size} entries, but the graph has {num_nodes} nodes")
    ids.flags.writeable = False
    return ids
