"""The contextual stochastic block model: classes seen through the edges and through noisy features."""

from __future__ import annotations

import numpy as np

from redisc.datasets import splits
from redisc.datasets.block_model import class_features, lay_out, sample_edges
from redisc.datasets.parameters import fraction, integer, number
from redisc.graph import Graph
from redisc.seeds import numpy_generator


def csbm(
    *,
    nodes: int = 1000,
    classes: int = 4,
    mean_degree: float = 10.0,
    homophily: float = 0.8,
    features: int = 16,
    feature_noise: float = 1.0,
    train_fraction: float = 0.1,
    val_fraction: float = 0.1,
    seed: int = 0,
) -> Graph:
    """Draw a graph of equal classes in which every pair of a kind is equally likely to be an edge.

    `homophily` is the share of edges inside a class and `feature_noise` the noise's standard deviation
    in units of the distance between two class means. One stratified split; the rest is for testing.
    """
    classes = integer("classes", classes, minimum=2)
    nodes = integer("nodes", nodes, minimum=classes)
    mean_degree = number("mean_degree", mean_degree, minimum=0.0, maximum=nodes - 1)
    features = integer("features", features, minimum=1)
    homophily = fraction("homophily", homophily)
    noise = number("feature_noise", feature_noise, minimum=0.0)
    rng = numpy_generator(integer("seed", seed, minimum=0), "csbm")

    layout = lay_out(nodes, classes, communities=classes, weights=np.ones(nodes))
    node_at = rng.permutation(nodes)
    y = np.empty(nodes, dtype=np.int64)
    y[node_at] = layout.label
    edges = sample_edges(layout, round(nodes * mean_degree / 2), homophily, 0.0, rng)
    x = class_features(y, classes, features, noise, rng)
    split = splits.stratified(y, splits.train_val_rest(train_fraction, val_fraction), seed)
    return Graph(x=x, edge_index=node_at[edges], y=y, splits=(split,), name="csbm")
