import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from examples import random_graph
from kernels.ambient import ambient_randomness_untouched
from nn.networks import normal
from oracles import dense_adjacency, softmax
from redisc import Graph
from redisc.engine import FullBlock, Topology
from redisc.engine.compiled_block import CompiledBlock

SEEDS = st.integers(0, 10_000)
BLOCKS = st.sampled_from([FullBlock, CompiledBlock])


def rows(seed, nodes=12, copies=2, heads=3, width=4):
    return normal(seed, nodes, copies, heads, width), normal(seed + 1, nodes, copies, heads, width)


@given(BLOCKS, SEEDS, st.booleans(), st.booleans())
def test_weights_are_a_softmax_of_dot_products_over_a_targets_edges(kind, seed, self_loops, weighted):
    graph = random_graph(seed, weighted=weighted)
    topology, (query, key) = Topology(graph, torch.float64), rows(seed)
    weights = kind(topology).dot_attention(query, key, self_loops)
    a, edges = dense_adjacency(graph) + self_loops * np.eye(12), topology.edges(self_loops)
    found = np.zeros((12, 12, 2, 3))
    found[edges.target.numpy(), edges.source.numpy()] = weights
    for i in np.flatnonzero(a.any(1)):
        sources = np.flatnonzero(a[i])
        scores = np.einsum("bkd,jbkd->bkj", query[i], key[sources]) + np.log(a[i, sources])
        np.testing.assert_allclose(found[i, sources], softmax(scores).transpose(2, 0, 1), rtol=0, atol=1e-12)
    assert (found[a == 0] == 0).all()


@given(SEEDS, st.booleans(), st.booleans())
def test_compiled_gradients_are_right(seed, self_loops, weighted):
    graph = random_graph(seed, nodes=6, edges=8, weighted=weighted)
    block = CompiledBlock(Topology(graph, torch.float64))
    query, key = (part.requires_grad_() for part in rows(seed, nodes=6, copies=1, heads=2, width=3))
    assert gradcheck(lambda q, k: block.dot_attention(q, k, self_loops), (query, key))


@pytest.mark.parametrize("kind", [FullBlock, CompiledBlock])
def test_large_products_do_not_overflow(kind):
    graph = random_graph(0)
    query, key = rows(0)
    assert torch.isfinite(kind(Topology(graph, torch.float64)).dot_attention(1e4 * query, 1e4 * key, True)).all()


@pytest.mark.parametrize("kind", [FullBlock, CompiledBlock])
def test_a_graph_without_edges_has_no_weights(kind):
    graph = Graph(x=np.ones((3, 1)), y=[0, 1, 0])
    query, key = rows(0, nodes=3)
    assert kind(Topology(graph, torch.float64)).dot_attention(query, key, False).shape == (0, 2, 3)


def test_ambient_randomness_is_not_used():
    block = CompiledBlock(Topology(random_graph(0), torch.float64))
    query, key = rows(0)
    with ambient_randomness_untouched():
        block.dot_attention(query.requires_grad_(), key, True).sum().backward()
