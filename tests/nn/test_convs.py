"""Every layer against the equations of its paper, and against PyG's layer of the same name."""

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from examples import random_graph
from nn.dense_layers import mix
from nn.networks import noisy_labels, normal, randomise
from oracles import dense_adjacency
from redisc.engine import FullBlock, Topology
from redisc.errors import ConfigError
from redisc.nn.convs import GATConv, GATSepConv, GCNConv, SAGEConv

MAKERS = {
    "gcn": lambda: GCNConv(5, 4),
    "gcn, heavy self-loops": lambda: GCNConv(5, 4, self_loop=2.0),
    "gcn, no self-loops": lambda: GCNConv(5, 4, self_loop=0.0),
    "gat, concatenated": lambda: GATConv(5, 4, heads=2),
    "gat, averaged": lambda: GATConv(5, 4, heads=3, concatenate=False),
    "sage": lambda: SAGEConv(5, 4),
    "gat-sep": lambda: GATSepConv(5, 4, heads=2),
    "gat-sep, wide": lambda: GATSepConv(5, 3, heads=2, width=8),
}
NAMES = st.sampled_from(list(MAKERS))
SEEDS = st.integers(0, 10_000)


def self_loop(conv):
    return conv.weighting.self_loop if isinstance(conv, GCNConv) else 1.0


def block_of(graph, labels=None):
    return FullBlock(Topology(graph, torch.float64), labels)


@given(NAMES, SEEDS, st.booleans(), st.sampled_from([(1, 1, 1), (3, 3, 3), (1, 3, 1), (1, 3, 3), (3, 3, 1), (1, 1, 3)]))
def test_a_layer_is_its_papers_equation_on_features_plus_label_vectors(name, seed, weighted, sizes):
    """`sizes` are the copies of the rows, of the labels and of the table: any of them may be one for all."""
    row_copies, label_copies, table_copies = sizes
    graph = random_graph(seed, weighted=weighted)
    conv = randomise(MAKERS[name](), seed)
    h, labels = normal(seed, 12, row_copies, 5), noisy_labels(seed, label_copies)
    table = normal(seed + 1, table_copies, 4, conv.width)
    out = conv(block_of(graph, labels), conv.project(h), table)
    assert out.shape == (12, max(sizes), conv.out_width)
    a, weight = dense_adjacency(graph), conv.projection.weight.detach().numpy()
    for b in range(max(sizes)):
        vectors = table[b % table_copies].numpy()[labels[b % label_copies].numpy()]  # -1 reads the last row
        expected = mix(conv, a, h[:, b % row_copies].numpy() @ weight + vectors, self_loop(conv))
        np.testing.assert_allclose(out[:, b].detach(), expected, rtol=0, atol=1e-10)


@given(NAMES, SEEDS, st.booleans(), st.integers(1, 3))
def test_without_labels_a_layer_is_its_papers_equation(name, seed, weighted, copies):
    graph = random_graph(seed, weighted=weighted)
    conv = randomise(MAKERS[name](), seed)
    h = normal(seed, 12, copies, 5)
    out = conv(block_of(graph), conv.project(h), None)
    for b in range(copies):
        fused = h[:, b].numpy() @ conv.projection.weight.detach().numpy()
        expected = mix(conv, dense_adjacency(graph), fused, self_loop(conv))
        np.testing.assert_allclose(out[:, b].detach(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", MAKERS)
def test_the_graphs_of_these_tests_have_isolated_nodes_and_the_edges_matter(name):
    conv = randomise(MAKERS[name]())
    isolated = [(random_graph(seed).degree == 0).sum() for seed in range(20)]
    assert sum(n > 0 for n in isolated) > 3
    z = conv.project(normal(0, 12, 1, 5))
    plain, weighted = (conv(block_of(random_graph(0, weighted=w)), z, None) for w in (False, True))
    assert not torch.allclose(plain, weighted)
    assert not torch.allclose(plain, conv(block_of(random_graph(1)), z, None))


@given(SEEDS, st.booleans(), st.booleans())
def test_gcn_without_labels_is_pygs(seed, improved, weighted):
    graph = random_graph(seed, weighted=weighted)
    ours = randomise(GCNConv(5, 4, self_loop=2.0 if improved else 1.0), seed)
    theirs = pyg.GCNConv(5, 4, improved=improved).double()
    theirs.lin.weight.data, theirs.bias.data = ours.projection.weight.data.T, ours.bias.data
    # PyG forgets `improved` where it is given no weights at all, so it gets ones.
    weight = torch.tensor(graph.edge_weight if weighted else np.ones(len(graph.indices))).double()
    compare_with_pyg(graph, ours, lambda x, edges: theirs(x, edges, weight))


@given(SEEDS, st.booleans())
def test_gat_without_labels_is_pygs(seed, concatenate):
    ours = randomise(GATConv(5, 4, heads=2, concatenate=concatenate), seed)
    theirs = pyg.GATConv(5, 2 if concatenate else 4, heads=2, concat=concatenate).double()
    copy_attention(ours, theirs)
    theirs.bias.data = ours.bias.data
    compare_with_pyg(random_graph(seed), ours, theirs)


@given(SEEDS)
def test_gat_sep_without_labels_is_pygs_attention_without_self_loops_beside_the_nodes_own_row(seed):
    ours = randomise(GATSepConv(5, 4, heads=2), seed)
    theirs = pyg.GATConv(5, 2, heads=2, add_self_loops=False, bias=False).double()
    copy_attention(ours, theirs)

    def separate(x, edges):
        return torch.cat([theirs.lin(x), theirs(x, edges)], 1) @ ours.update.weight + ours.update.bias

    compare_with_pyg(random_graph(seed), ours, separate)


@given(SEEDS)
def test_sage_without_labels_is_pygs(seed):
    ours, theirs = randomise(SAGEConv(5, 4), seed), pyg.SAGEConv(5, 4).double()
    root, neighbour = ours.projection.weight.data.T.split(4)
    theirs.lin_r.weight.data, theirs.lin_l.weight.data, theirs.lin_l.bias.data = root, neighbour, ours.bias.data
    compare_with_pyg(random_graph(seed), ours, theirs)


def copy_attention(ours, theirs):
    theirs.lin.weight.data = ours.projection.weight.data.T
    theirs.att_src.data, theirs.att_dst.data = ours.attention.source.data[None], ours.attention.target.data[None]


def compare_with_pyg(graph, ours, theirs):
    x = torch.from_numpy(np.array(graph.x))
    found = ours(block_of(graph), ours.project(x[:, None]), None)[:, 0]
    torch.testing.assert_close(found, theirs(x, torch.from_numpy(graph.edge_index())), rtol=0, atol=1e-10)


@given(NAMES, st.integers(0, 50), st.booleans())
def test_gradients_of_a_layer_are_right(name, seed, weighted):
    graph = random_graph(seed, nodes=5, edges=6, weighted=weighted)
    conv = randomise(MAKERS[name](), seed)
    block = block_of(graph, noisy_labels(seed, 2, nodes=5))
    z = normal(seed, 5, 1, conv.width).requires_grad_()
    table = normal(seed + 1, 2, 4, conv.width).requires_grad_()
    assert gradcheck(lambda h, entries: conv(block, h, entries), (z, table), fast_mode=True)


def test_heads_must_divide_the_width():
    with pytest.raises(ConfigError, match="3 heads"):
        GATConv(5, 4, heads=3)
