"""Two linear layers on receptive fields: from labels to the logits of the rows being revealed, in one compiled pass.

The mathematics is that of `nn.convs.linear.LinearConv`, twice, with a ReLU between; tests hold the two together. What
it saves is the thirty small operations of a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from redisc.kernels.compiled import launch, serial, threaded
from redisc.kernels.labels import add_counted_labels
from redisc.kernels.narrow_product import multiply_row


class Walks(NamedTuple):
    """A graph as CSR, and its weighting as factors of nodes: an edge counts `left[i] * edge_weight * right[j]`."""

    indptr: np.ndarray
    indices: np.ndarray
    edge_weight: np.ndarray
    left: np.ndarray
    right: np.ndarray
    loop: np.ndarray


class Layers(NamedTuple):
    """Two layers with frozen weights at one step; S = C + 1 states of a label.

    `base (N, d)` holds propagated features and the bias. Root tables are empty where the layers are not rooted;
    otherwise the first half of `columns` makes the root part.
    """

    base: np.ndarray
    table: np.ndarray  # (S, d)
    root: np.ndarray  # (S, d)
    columns: np.ndarray  # (C or 2 C, d), the second layer's weights
    bias: np.ndarray  # (C,)
    second_table: np.ndarray  # (S, C)
    second_root: np.ndarray  # (S, C)


def two_layer_logits(
    nodes: np.ndarray,
    bounds: np.ndarray,
    chain: np.ndarray,
    labels: np.ndarray,
    marker: np.ndarray,
    walks: Walks,
    layers: Layers,
) -> tuple[np.ndarray, int]:
    """Return logits `(R, C)` of the chains' rows and the number of edges walked.

    Rows come in parts, which threads share: `bounds[p]` to `bounds[p + 1]` of `nodes` belong to chain `chain[p]`.
    `labels (chains, N)` holds negative numbers where masked; `marker (parts, N)` is scratch memory that holds -1
    everywhere, before and after.
    """
    logits = np.empty((len(nodes), len(layers.bias)), layers.base.dtype)
    walked = np.zeros(len(chain), np.int64)
    work = len(nodes) * layers.base.shape[1] * 64
    launch(_logits_of_parts, work, nodes, bounds, chain, labels, marker, *walks, *layers, logits, walked)
    return logits, int(walked.sum())


@threaded
def _logits_of_parts(  # type: ignore[no-untyped-def]
    nodes, bounds, chain, labels, marker, indptr, indices, edge_weight, left, right, loop, base, table, root, columns,
    bias, second_table, second_root, logits, walked,
):  # fmt: skip
    for p in prange(len(chain)):
        rows = slice(bounds[p], bounds[p + 1])
        walked[p] = _logits_of_part(
            nodes[rows], labels[chain[p]], marker[p], indptr, indices, edge_weight, left, right, loop, base, table,
            root, columns, bias, second_table, second_root, logits[rows],
        )  # fmt: skip


@serial
def _logits_of_part(  # type: ignore[no-untyped-def]
    targets, labels, marker, indptr, indices, edge_weight, left, right, loop, base, table, root, columns, bias,
    second_table, second_root, logits,
):  # fmt: skip
    sources, walked = _neighbourhood(targets, indptr, indices, marker)
    states, width, classes = len(table), base.shape[1], logits.shape[1]
    counts, hidden = np.empty(states, base.dtype), np.empty(width, base.dtype)
    z = np.empty((len(sources), len(columns)), base.dtype)
    for s in range(len(sources)):
        i = sources[s]
        hidden[:] = base[i]
        add_counted_labels(i, indptr, indices, edge_weight, left, right, loop, labels, counts, table, hidden)
        if len(root):
            hidden += root[labels[i] if labels[i] >= 0 else states - 1]
        for d in range(width):
            hidden[d] = max(hidden[d], 0)
        multiply_row(hidden, columns, z[s])
    first = len(columns) - classes  # where the neighbour part begins
    for k in range(len(targets)):
        i, out = targets[k], logits[k]
        out[:] = bias
        for e in range(indptr[i], indptr[i + 1]):
            weight = left[i] * right[indices[e]]
            weight = weight * edge_weight[e] if len(edge_weight) else weight
            for d in range(classes):
                out[d] += weight * z[marker[indices[e]], first + d]
        for d in range(classes):
            out[d] += loop[i] * z[k, first + d]
        add_counted_labels(i, indptr, indices, edge_weight, left, right, loop, labels, counts, second_table, out)
        if len(second_root):
            state = labels[i] if labels[i] >= 0 else states - 1
            for d in range(classes):
                out[d] += z[k, d] + second_root[state, d]
    marker[sources] = -1
    return walked


@serial
def _neighbourhood(targets, indptr, indices, marker):  # type: ignore[no-untyped-def]
    """Return targets and neighbours, each once and targets first, and how many edges led there; mark their places."""
    walked = 0
    for k in range(len(targets)):
        walked += indptr[targets[k] + 1] - indptr[targets[k]]
        marker[targets[k]] = k
    found = len(targets)
    sources = np.empty(found + walked, np.int64)
    sources[:found] = targets
    for k in range(len(targets)):
        for e in range(indptr[targets[k]], indptr[targets[k] + 1]):
            j = indices[e]
            if marker[j] < 0:
                marker[j] = found
                sources[found] = j
                found += 1
    return sources[:found], walked
