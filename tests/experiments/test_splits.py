"""A seed takes its own column of a graph's splits."""

import numpy as np
import pytest

from redisc import Graph
from redisc.errors import ConfigError
from redisc.experiments.splits import split_of
from redisc.graph import Split


def test_seeds_take_columns_in_turn():
    nodes = np.arange(3)
    splits = tuple(Split(nodes == k, nodes == (k + 1) % 3, nodes == (k + 2) % 3) for k in range(3))
    graph = Graph(np.eye(3), np.array([[0, 1], [1, 2]]), np.array([0, 1, 0]), splits=splits)
    assert [int(split_of(graph, seed).train.argmax()) for seed in range(5)] == [0, 1, 2, 0, 1]


def test_a_graph_without_splits_is_refused():
    graph = Graph(np.eye(3), np.array([[0, 1], [1, 2]]), np.array([0, 1, 0]))
    with pytest.raises(ConfigError, match="comes without splits"):
        split_of(graph, 0)
