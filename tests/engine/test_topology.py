import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from nn.dense_layers import row_mean, symmetric
from oracles import dense_adjacency
from redisc import Graph
from redisc.engine import Topology
from redisc.nn import Weighting

SEEDS = st.integers(0, 10_000)
LOOPS = st.sampled_from([0.0, 1.0, 2.0])
KINDS = st.sampled_from(["sym", "mean"])


@given(SEEDS, KINDS, LOOPS, st.booleans())
def test_propagators_are_the_dense_normalised_matrices(seed, kind, loop, weighted):
    graph = random_graph(seed, weighted=weighted)
    matrix = Topology(graph, torch.float64).propagator(Weighting(kind, loop)).to_dense().numpy()
    expected = {"sym": symmetric, "mean": row_mean}[kind](dense_adjacency(graph), loop)
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-12)


@given(SEEDS, LOOPS, st.booleans())
def test_sums_are_the_adjacency_itself_with_self_loops(seed, loop, weighted):
    graph = random_graph(seed, weighted=weighted)
    matrix = Topology(graph, torch.float64).propagator(Weighting("sum", loop)).to_dense().numpy()
    np.testing.assert_allclose(matrix, dense_adjacency(graph) + loop * np.eye(12), rtol=0, atol=1e-12)


@given(SEEDS, KINDS, LOOPS, st.booleans())
def test_means_sum_to_one_symmetric_weights_are_symmetric_and_isolated_nodes_get_nothing(seed, kind, loop, weighted):
    graph = random_graph(seed, weighted=weighted)
    matrix = Topology(graph, torch.float64).propagator(Weighting(kind, loop)).to_dense()
    reached = torch.from_numpy((graph.degree > 0) | (loop > 0))
    assert (matrix[~reached] == 0).all()
    if kind == "mean":
        torch.testing.assert_close(matrix.sum(1), reached.double())
    else:
        torch.testing.assert_close(matrix, matrix.T)
        assert torch.linalg.eigvalsh(matrix).abs().max() <= 1 + 1e-12


@given(SEEDS, KINDS)
def test_weights_that_are_all_equal_are_no_weights_where_there_is_no_self_loop(seed, kind):
    graph = random_graph(seed)
    edges = graph.edge_index()
    heavy = Graph(x=graph.x, edge_index=edges, y=graph.y, edge_weight=np.full(edges.shape[1], 3.0))
    plain, other = (Topology(g, torch.float64).propagator(Weighting(kind)).to_dense() for g in (graph, heavy))
    torch.testing.assert_close(plain, other)


@given(SEEDS, st.booleans(), st.booleans())
def test_edge_lists_hold_every_edge_once_sorted_by_target(seed, self_loops, weighted):
    graph = random_graph(seed, weighted=weighted)
    edges = Topology(graph, torch.float64).edges(self_loops)
    assert (edges.target.diff() >= 0).all()
    assert (edges.log_weight is not None) == weighted
    found = np.zeros((12, 12))
    weights = np.ones(len(edges.source)) if edges.log_weight is None else edges.log_weight.exp().numpy()
    np.add.at(found, (edges.target.numpy(), edges.source.numpy()), weights)
    expected = dense_adjacency(graph) + (np.eye(12) if self_loops else 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert len(edges.source) == (expected != 0).sum()


def test_matrices_and_edge_lists_are_built_once():
    topology = Topology(random_graph(0))
    assert topology.propagator(Weighting("sym", 1.0)) is topology.propagator(Weighting("sym", 1.0))
    assert topology.propagator(Weighting("sym", 2.0)) is not topology.propagator(Weighting("sym", 1.0))
    assert topology.propagator(Weighting("mean")) is not topology.propagator(Weighting("sym"))
    assert topology.edges(True) is topology.edges(True)
    assert topology.edges(True) is not topology.edges(False)


def test_the_dtype_is_the_one_asked_for():
    for dtype in (torch.float32, torch.float64):
        topology = Topology(random_graph(0, weighted=True), dtype)
        assert topology.propagator(Weighting("sym")).values.dtype == dtype
        assert topology.edges(True).log_weight.dtype == dtype


def test_a_graph_without_edges_has_empty_matrices():
    topology = Topology(Graph(x=np.ones((3, 1)), y=[0, 1, 0]))
    assert (topology.propagator(Weighting("mean")).to_dense() == 0).all()
    assert torch.equal(topology.propagator(Weighting("sym", 2.0)).to_dense(), torch.eye(3))
    assert len(topology.edges(False).source) == 0
    assert topology.edges(True).source.tolist() == [0, 1, 2]
