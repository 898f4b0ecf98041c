"""How much memory a fit of the hop backbone takes, from the counts of a graph alone."""

from __future__ import annotations

PROCESS = 420 * 2**20
"""Bytes of a process that has imported the library and done nothing yet."""


def hop_fit_bytes(
    nodes: int,
    edges: int,
    features: int,
    classes: int,
    hops: int = 2,
    hidden: int = 256,
    queue: int = 8,
    batch: int = 0,
    masks: int = 1,
) -> int:
    """Return the peak resident bytes of a fit in float32 in mini-batches, `edges` undirected and unweighted.

    `queue` samples are cached, and an update has `masks` masked states. E-steps run one chain at a time; `sample` and
    `predict_proba` run eight, each with counts of its own.

    The sum of: the graph as CSR; the features and their hops; the mean-field probabilities, with two copies in float64
    while the queue is first filled; label counts for training and for sampling (two bytes each, as for degrees up to
    65,535); cached samples; a dozen whole numbers a node; activations and gradients of a mini-batch.
    """
    graph = 8 * (nodes + 1) + 8 * edges
    rows = 4 * nodes * features * (hops + 2)
    probabilities = nodes * classes * (4 + 8 + 8)
    counts = 2 * (masks + 1) * nodes * classes
    labels = nodes * (queue + 100 + 24 * masks)
    activations = 4 * batch * (3 * (hops + 1) * features + 8 * hidden + 4 * classes)
    return PROCESS + graph + rows + probabilities + counts + labels + activations
