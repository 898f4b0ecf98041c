"""The neighbour sampler: the right number of different neighbours, fairly drawn, and the same for the same key."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from examples import random_graph
from redisc import Graph
from redisc.kernels.neighbours import sample_hop

SEEDS = st.integers(0, 10_000)


def sample(graph, targets, fanout, key=0):
    marker = np.full(graph.num_nodes, -1, np.int32)
    weight = np.empty(0, np.float32)
    found = sample_hop(np.asarray(targets), graph.indptr, graph.indices, weight, fanout, np.uint64(key), marker)
    assert (marker == -1).all()
    return found


@given(SEEDS, st.integers(0, 6), SEEDS)
def test_edges_are_distinct_edges_of_the_graph(seed, fanout, key):
    graph = random_graph(seed, nodes=12, edges=40)
    targets = np.random.default_rng(seed).permutation(12)[:5]
    sources, indptr, place, edge, scale = sample(graph, targets, fanout, key)
    assert np.array_equal(sources[:5], targets)
    assert len(set(sources)) == len(sources)
    for k, node in enumerate(targets):
        mine = slice(indptr[k], indptr[k + 1])
        degree = graph.degree[node]
        assert indptr[k + 1] - indptr[k] == (min(degree, fanout) if fanout else degree)
        assert len(set(edge[mine])) == indptr[k + 1] - indptr[k]
        assert np.array_equal(sources[place[mine]], graph.indices[edge[mine]])
        assert ((graph.indptr[node] <= edge[mine]) & (edge[mine] < graph.indptr[node + 1])).all()
        np.testing.assert_allclose(scale[mine].sum(), degree)


@given(SEEDS, SEEDS)
def test_a_targets_edges_do_not_depend_on_who_stands_beside_it(seed, key):
    graph = random_graph(seed, nodes=12, edges=60)
    alone = sample(graph, [3], 2, key)
    among = sample(graph, [7, 3, 1], 2, key)
    assert np.array_equal(alone[3], among[3][among[1][1] : among[1][2]])


def test_every_neighbour_is_drawn_equally_often():
    star = Graph(edge_index=np.stack([np.zeros(7, int), np.arange(1, 8)]), num_nodes=8)
    counts = np.zeros(7)
    for key in range(3000):
        counts[sample(star, [0], 3, key * 2**40 + 12345)[3]] += 1
    assert chisquare(counts).pvalue > 1e-3
