"""The arrays built in chunks on disk are those built in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisc.errors import EdgeIndexError, EdgeWeightError
from redisc.graph.adjacency import build_adjacency
from redisc.scale.csr_builder import build_csr


@st.composite
def edge_lists(draw):
    nodes = draw(st.integers(1, 10))
    node = st.integers(0, nodes - 1)
    edges = np.array(draw(st.lists(st.tuples(node, node), max_size=40)), dtype=np.int64).reshape(-1, 2).T
    return nodes, edges, draw(st.integers(1, 50))


def in_chunks(edges, weight, size):
    starts = range(0, max(1, edges.shape[1]), size)
    return [(edges[:, s : s + size], None if weight is None else weight[s : s + size]) for s in starts]


def assert_equal(built, expected) -> None:
    for name in ("indptr", "indices", "edge_weight"):
        one, other = getattr(built, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype and np.array_equal(one, other)
    for name in ("dropped_self_loops", "one_way", "mutual"):
        assert getattr(built, name) == getattr(expected, name)


@given(edge_lists(), st.booleans())
def test_chunks_on_disk_give_the_arrays_of_memory(tmp_path_factory, case, symmetric_weights) -> None:
    nodes, edges, size = case
    weight = (edges.sum(axis=0) + 1).astype(np.float32) / 4 if symmetric_weights else None
    built = build_csr(in_chunks(edges, weight, size), nodes, tmp_path_factory.mktemp("csr"))
    assert built.conflict is None
    assert_equal(built.adjacency, build_adjacency(edges, weight, nodes))


@given(edge_lists(), st.randoms(use_true_random=False))
def test_of_repeated_edges_the_largest_weight_counts(tmp_path_factory, case, random) -> None:
    nodes, edges, size = case
    weight = np.array([random.choice([0.5, 1, 2]) for _ in edges[0]], dtype=np.float32)
    built = build_csr(in_chunks(edges, weight, size), nodes, tmp_path_factory.mktemp("csr"))
    largest = np.zeros((nodes, nodes), dtype=np.float32)
    np.maximum.at(largest, (np.minimum(*edges), np.maximum(*edges)), weight)
    largest = np.triu(largest, 1) + np.triu(largest, 1).T
    rows = np.repeat(np.arange(nodes), np.diff(built.adjacency.indptr))
    assert np.array_equal(built.adjacency.edge_weight, largest[rows, built.adjacency.indices])
    try:
        expected = build_adjacency(edges, weight, nodes)
    except EdgeWeightError as fault:
        assert str(built.conflict) == str(fault)
    else:
        assert built.conflict is None
        assert_equal(built.adjacency, expected)


def test_rows_longer_than_any_small_case_are_sorted(tmp_path) -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 300, (2, 60_000))
    edges[0, :20_000] = 7
    built = build_csr(in_chunks(edges, None, 777), 300, tmp_path)
    assert_equal(built.adjacency, build_adjacency(edges, None, 300))
    assert np.array_equal(np.load(tmp_path / "indices.npy"), built.adjacency.indices)


def test_an_end_outside_the_graph_is_named(tmp_path) -> None:
    with pytest.raises(EdgeIndexError, match="joins nodes 0 and 5, but there are 3 nodes"):
        build_csr([(np.array([[0], [5]]), None)], 3, tmp_path)
