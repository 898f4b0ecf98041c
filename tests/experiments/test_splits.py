"""A seed takes its own column of a graph's splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisc import Graph
from redisc.errors import ConfigError
from redisc.experiments.splits import redrawn, split_of
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


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 6), st.integers(0, 3)), min_size=1), st.integers(0, 99))
def test_labels_drawn_anew_are_as_many_of_each_class_and_never_test_nodes(counts, seed):
    y = np.concatenate([np.full(sum(parts), value) for value, parts in enumerate(counts)])
    part = np.concatenate([np.repeat([0, 1, 2], parts) for parts in counts])
    graph = Graph(np.eye(len(y)), np.zeros((2, 0), int), y)
    drawn = redrawn(graph, Split(part == 0, part == 1, part == 2), seed)
    assert np.array_equal(np.bincount(y[drawn.train]), np.bincount(y[part == 0]))
    assert np.array_equal(drawn.test, part == 2)
    assert np.array_equal(drawn.train ^ drawn.val, part != 2)


def test_every_seed_draws_other_labels():
    graph = Graph(np.eye(40), np.zeros((2, 0), int), np.repeat([0, 1], 20))
    nodes = np.arange(40)
    split = Split(nodes % 4 == 0, nodes % 4 == 1, nodes % 4 > 1)
    drawn = [tuple(np.flatnonzero(redrawn(graph, split, seed).train)) for seed in (0, 1, 0)]
    assert drawn[0] == drawn[2] != drawn[1]
