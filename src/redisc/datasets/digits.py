"""Handwritten digits as a graph: real data that scikit-learn carries in its wheel."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from redisc.datasets import splits
from redisc.datasets.parameters import integer, number
from redisc.graph import Graph
from redisc.seeds import numpy_generator


def digits(*, neighbours: int = 8, feature_noise: float = 0.0, seed: int = 0) -> Graph:
    """Link every image to its nearest `neighbours`, either way round; features are the pixels, 0 to 1.

    `feature_noise` is the standard deviation of Gaussian noise on the pixels; edges come from the clean ones.
    One split of 20 training and 30 validation nodes a class.
    """
    pixels, labels = import_module("sklearn.datasets").load_digits(return_X_y=True)
    neighbours = integer("neighbours", neighbours, minimum=1)
    number("neighbours", neighbours, minimum=1, maximum=len(labels) - 1)
    noise = number("feature_noise", feature_noise, minimum=0.0)
    rng = numpy_generator(integer("seed", seed, minimum=0), "digits")

    nearest = import_module("sklearn.neighbors").kneighbors_graph(pixels, neighbours).tocoo()
    edges = np.sort(np.stack([nearest.row, nearest.col]).astype(np.int64), axis=0)
    x = (pixels / 16.0 + noise * rng.standard_normal(pixels.shape)).astype(np.float32)
    return Graph(
        x=x,
        edge_index=edges,
        y=labels.astype(np.int64),
        splits=(splits.per_class(labels, seed=seed),),
        name="digits",
        class_names=tuple(str(digit) for digit in range(10)),
    )
