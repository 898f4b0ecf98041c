"""Planted communities: a graph on which predicting labels jointly visibly matters, at any size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redisc.datasets import splits
from redisc.datasets.block_model import Layout, class_features, lay_out, power_law_weights, sample_edges
from redisc.datasets.parameters import fraction, integer, number
from redisc.graph import Graph, Split
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
    plan = Plan.draw(
        nodes=nodes,
        classes=classes,
        mean_degree=mean_degree,
        homophily=homophily,
        community_size=community_size,
        locality=locality,
        degree_exponent=degree_exponent,
        features=features,
        feature_noise=feature_noise,
        train_fraction=train_fraction,
        val_fraction=val_fraction,
        seed=seed,
    )
    edges = sample_edges(plan.layout, plan.num_edges, plan.homophily, plan.locality, plan.rng)
    x = class_features(plan.y, plan.classes, plan.features, plan.noise, plan.rng)
    return Graph(x=x, edge_index=plan.node_at[edges], y=plan.y, splits=(plan.split(),), name="planted")


@dataclass(frozen=True)
class Plan:
    """A planted graph before its edges and features are drawn; `node_at` (N,) is the node at each position."""

    layout: Layout
    node_at: NDArray[np.int64]
    y: NDArray[np.int64]
    classes: int
    num_edges: int
    homophily: float
    locality: float
    features: int
    noise: float
    shares: tuple[float, float, float]
    seed: int
    rng: np.random.Generator

    @classmethod
    def draw(
        cls,
        *,
        nodes: int,
        classes: int,
        mean_degree: float,
        homophily: float,
        community_size: int,
        locality: float,
        degree_exponent: float | None,
        features: int,
        feature_noise: float,
        train_fraction: float,
        val_fraction: float,
        seed: int,
    ) -> Plan:
        """Check the parameters of `planted` and draw where the nodes lie."""
        classes = integer("classes", classes, minimum=2)
        nodes = integer("nodes", nodes, minimum=classes)
        mean_degree = number("mean_degree", mean_degree, minimum=0.0, maximum=nodes - 1)
        communities = max(classes, round(nodes / integer("community_size", community_size, minimum=1)))
        homophily, locality = fraction("homophily", homophily), fraction("locality", locality)
        features = integer("features", features, minimum=1)
        noise = number("feature_noise", feature_noise, minimum=0.0)
        shares = splits.train_val_rest(train_fraction, val_fraction)
        rng = numpy_generator(integer("seed", seed, minimum=0), "planted")
        layout = lay_out(nodes, classes, communities, _weights(nodes, degree_exponent, mean_degree, rng))
        node_at = rng.permutation(nodes)
        y = np.empty(nodes, dtype=np.int64)
        y[node_at] = layout.label
        num_edges = round(nodes * mean_degree / 2)
        return cls(layout, node_at, y, classes, num_edges, homophily, locality, features, noise, shares, seed, rng)

    def split(self) -> Split:
        """Draw training, validation and test nodes."""
        return splits.stratified(self.y, self.shares, self.seed)


def _weights(nodes: int, exponent: float | None, mean_degree: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return each position's degree weight; an exponent of 2 or less has no mean degree."""
    if exponent is None:
        return np.ones(nodes)
    exponent = number("degree_exponent", exponent, minimum=2.05)
    return power_law_weights(nodes, exponent, max(mean_degree, 1.0), rng)
