import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from examples import random_graph
from nn.dense_layers import row_mean, symmetric
from nn.networks import noisy_labels, normal
from oracles import dense_adjacency
from redisc.diffusion import MASKED
from redisc.engine import FullBlock, Topology
from redisc.errors import UnsupportedGraphError
from redisc.nn import Weighting

SEEDS = st.integers(0, 10_000)
WEIGHTINGS = st.sampled_from([Weighting(kind, loop) for kind in ("sym", "mean") for loop in (0.0, 1.0, 2.0)])
COPIES = st.sampled_from([(1, 1), (3, 3), (3, 1), (1, 3)])
"""Copies of the labels and of the table."""


def block_of(graph, labels=None):
    return FullBlock(Topology(graph, torch.float64), labels)


def labels_alone(block, table, weighting):
    """What labels add to features of zero."""
    z = torch.zeros(block.topology.num_nodes, 1, table.shape[2], dtype=torch.float64)
    return block.propagate(z, weighting, table)


@given(SEEDS, COPIES)
def test_a_lookup_reads_each_copys_own_table_and_the_last_row_where_a_label_is_masked(seed, copies):
    labels, table = noisy_labels(seed, copies[0]), normal(seed, copies[1], 4, 2)
    block = block_of(random_graph(seed), labels)
    rows = block.lookup(table)
    assert rows.shape == (12, max(copies), 2)
    for node in range(12):
        for b in range(max(copies)):
            label = int(labels[b % copies[0], node])
            expected = table[b % copies[1], 3 if label == MASKED else label]
            assert torch.equal(rows[node, b], expected)
    assert torch.equal(block.lookup_own(table), rows)


@given(SEEDS, WEIGHTINGS, COPIES, st.booleans())
def test_label_counts_times_table_is_propagation_of_looked_up_rows(seed, weighting, copies, weighted):
    graph = random_graph(seed, weighted=weighted)
    block = block_of(graph, noisy_labels(seed, copies[0]))
    table = normal(seed, copies[1], 4, 2)
    found = labels_alone(block, table, weighting)
    torch.testing.assert_close(found, block.propagate(block.lookup(table), weighting), rtol=0, atol=1e-12)
    again = normal(seed + 1, copies[1], 4, 2)
    expected = block.propagate(block.lookup(again), weighting)
    torch.testing.assert_close(labels_alone(block, again, weighting), expected, rtol=0, atol=1e-12)


@given(SEEDS, COPIES)
def test_counts_of_one_weighting_are_not_taken_for_another(seed, copies):
    block = block_of(random_graph(seed), noisy_labels(seed, copies[0]))
    table = normal(seed, copies[1], 4, 2)
    for weighting in (Weighting("sym", 1.0), Weighting("mean"), Weighting("sym", 2.0)):
        expected = block.propagate(block.lookup(table), weighting)
        torch.testing.assert_close(labels_alone(block, table, weighting), expected, rtol=0, atol=1e-12)


@given(SEEDS, WEIGHTINGS, st.integers(1, 3), st.integers(1, 3))
def test_propagation_is_the_dense_product_for_every_copy(seed, weighting, copies, width):
    graph, z = random_graph(seed), normal(seed, 12, copies, width)
    dense = {"sym": symmetric, "mean": row_mean}[weighting.kind](dense_adjacency(graph), weighting.self_loop)
    found = block_of(graph).propagate(z, weighting)
    np.testing.assert_allclose(found, np.einsum("ij,jbd->ibd", dense, z), rtol=0, atol=1e-12)


@given(SEEDS, st.booleans())
def test_slices_and_transposed_rows_propagate_as_any_others(seed, by_slice):
    """Layers hand over halves of a projection, and copies stand first elsewhere."""
    wide = normal(seed, 12, 2, 6)
    z = wide[..., 3:] if by_slice else wide.transpose(0, 1).contiguous().transpose(0, 1)
    block = block_of(random_graph(seed))
    assert not z.is_contiguous()
    assert torch.equal(block.propagate(z, Weighting("mean")), block.propagate(z.contiguous(), Weighting("mean")))
    single = wide[:, :1, 3:]
    expected = block.propagate(single.contiguous(), Weighting("mean"))
    assert torch.equal(block.propagate(single, Weighting("mean")), expected)


@given(SEEDS, COPIES, WEIGHTINGS)
def test_gradients_reach_the_table_and_the_rows(seed, copies, weighting):
    graph = random_graph(seed, nodes=5, edges=6)
    block = block_of(graph, noisy_labels(seed, copies[0], nodes=5))
    table, z = normal(seed, copies[1], 4, 2).requires_grad_(), normal(seed, 5, 2, 2).requires_grad_()
    assert gradcheck(lambda entries: labels_alone(block, entries, weighting), (table,))
    assert gradcheck(block.lookup, (table,))
    assert gradcheck(lambda rows: block.propagate(rows, weighting), (z,))


@given(SEEDS, st.booleans(), st.booleans(), st.integers(1, 3))
def test_attention_weights_are_a_weighted_softmax_over_each_targets_edges(seed, self_loops, weighted, copies):
    graph = random_graph(seed, weighted=weighted)
    block = block_of(graph)
    source, target = normal(seed, 12, copies, 2), normal(seed + 1, 12, copies, 2)
    weights = block.attention(source, target, self_loops)
    a = dense_adjacency(graph) + (np.eye(12) if self_loops else 0)
    score = source.numpy()[None] + target.numpy()[:, None]
    heat = a[:, :, None, None] * np.exp(np.where(score > 0, score, 0.2 * score))
    total = heat.sum(1, keepdims=True)
    share = np.divide(heat, total, out=np.zeros_like(heat), where=total > 0)
    edges = block.topology.edges(self_loops)
    np.testing.assert_allclose(weights, share[edges.target.numpy(), edges.source.numpy()], rtol=0, atol=1e-12)
    values = normal(seed + 2, 12, copies, 2, 3)
    found = block.aggregate(weights, values, self_loops)
    np.testing.assert_allclose(found, np.einsum("ijbh,jbhd->ibhd", share, values), rtol=0, atol=1e-12)


@given(SEEDS)
def test_every_node_is_its_own_target(seed):
    h = normal(seed, 12, 2, 3)
    assert torch.equal(block_of(random_graph(seed)).own(h), h)


@given(SEEDS)
def test_the_edge_index_holds_both_directions_and_no_self_loop(seed):
    graph = random_graph(seed)
    a = np.zeros((12, 12))
    source, target = block_of(graph).edge_index().numpy()
    np.add.at(a, (source, target), 1)
    np.testing.assert_array_equal(a, dense_adjacency(graph))


def test_a_block_without_labels_says_so():
    block = block_of(random_graph(0))
    for ask in (block.lookup, lambda table: labels_alone(block, table, Weighting("mean"))):
        with pytest.raises(ValueError, match="no labels"):
            ask(torch.ones(1, 4, 2))


def test_a_plain_edge_index_of_a_weighted_graph_is_refused():
    with pytest.raises(UnsupportedGraphError, match="edge weights"):
        block_of(random_graph(0, weighted=True)).edge_index()
