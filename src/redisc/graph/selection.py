"""What remains of adjacency and splits when only some nodes are kept."""

from typing import Any

import numpy as np

from redisc.errors import EmptyGraphError, MaskError
from redisc.graph.adjacency import index_dtype
from redisc.graph.arrays import as_array, read_only
from redisc.graph.splits import Split, as_mask


def chosen_nodes(nodes: Any, num_nodes: int) -> np.ndarray:
    """Node numbers, in the given order, from a mask or from distinct node numbers."""
    given = as_array(nodes, "nodes", MaskError)
    mask = as_mask(given, num_nodes, "nodes")
    if not mask.any():
        raise EmptyGraphError("nodes selects no node: a subgraph needs at least one")
    return np.flatnonzero(mask) if given.dtype.kind == "b" else given.astype(np.int64)


def induced_csr(adjacency: Any, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays (indptr, indices, values) of the adjacency among the nodes, columns sorted."""
    induced = adjacency[nodes][:, nodes]
    induced.sort_indices()
    indices = induced.indices.astype(index_dtype(nodes.size), copy=False)
    return read_only(induced.indptr.astype(np.int64)), read_only(indices), read_only(induced.data)


def restrict_splits(splits: tuple[Split, ...], nodes: np.ndarray) -> tuple[Split, ...]:
    """The splits on the chosen nodes, without those that have no training node left."""
    kept = (split for split in splits if split.train[nodes].any())
    return tuple(Split(*(read_only(mask[nodes]) for mask in (split.train, split.val, split.test))) for split in kept)
