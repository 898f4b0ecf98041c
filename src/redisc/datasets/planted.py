"""Planted communities: a graph on which predicting labels jointly visibly matters, at any size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redisc.datasets import splits
from redisc.datasets.block_model import class_features, lay_out, power_law_weights, sample_edges
from redisc.datasets.parameters import fraction, integer, number
from redisc.graph import Graph
from redisc.seeds import numpy_generator


def planted(
    *,
    nodes: int = 10_000,
    classes: int = 5,
    mean_degree: float = 8.0,
    homophily: float = 0.8,
    community_size: int = 30,
    locality: float = 0.8,
    degree_exponent: float | None = 2.5,
    features: int = 16,
    feature_noise: float = 1.5,
    train_fraction: float = 0.1,
    val_fraction: float = 0.1,
    seed: int = 0,
) -> Graph:
    """Draw a graph of many small communities, each of one class, with features that say little about a node.

    Labels form a Potts-like field: neighbours agree strongly, and a community's class shows only when its
    members' weak features are put together, so that labels are right or wrong together. Degrees follow a
    power law with `degree_exponent` (None for equal weights); memory is linear in the edges.
    """
    classes = integer("classes", classes, minimum=2)
    nodes = integer("nodes", nodes, minimum=classes)
    mean_degree = number("mean_degree", mean_degree, minimum=0.0, maximum=nodes - 1)
    communities = max(classes, round(nodes / integer("community_size", community_size, minimum=1)))
    homophily, locality = fraction("homophily", homophily), fraction("locality", locality)
    features = integer("features", features, minimum=1)
    noise = number("feature_noise", feature_noise, minimum=0.0)
    rng = numpy_generator(integer("seed", seed, minimum=0), "planted")

    weights = _weights(nodes, degree_exponent, mean_degree, rng)
    layout = lay_out(nodes, classes, communities, weights)
    node_at = rng.permutation(nodes)
    y = np.empty(nodes, dtype=np.int64)
    y[node_at] = layout.label
    edges = sample_edges(layout, round(nodes * mean_degree / 2), homophily, locality, rng)
    x = class_features(y, classes, features, noise, rng)
    split = splits.stratified(y, splits.train_val_rest(train_fraction, val_fraction), seed)
    return Graph(x=x, edge_index=node_at[edges], y=y, splits=(split,), name="planted")


def _weights(nodes: int, exponent: float | None, mean_degree: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return each position's degree weight; an exponent of 2 or less has no mean degree."""
    if exponent is None:
        return np.ones(nodes)
    exponent = number("degree_exponent", exponent, minimum=2.05)
    return power_law_weights(nodes, exponent, max(mean_degree, 1.0), rng)
