"""The message-passing baselines against dense algebra in NumPy and against PyG's layers with the same weights."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf
from torch_geometric.utils import add_self_loops

from baselines.quick import quick
from examples import random_graph
from nn.dense_layers import affine, attend, normalise, numbers, relu, row_mean, symmetric
from nn.networks import randomise
from oracles import dense_adjacency, softmax
from redisc import Graph, datasets
from redisc.baselines import GAT, GCN, GCNII, GIN, GT, MLP, GATSep, GraphSAGE, GTSep, JKNet
from redisc.diffusion import MASKED
from redisc.engine import FeatureScaling, FullGraphEngine, Topology, choose_engine
from redisc.errors import ConfigError
from redisc.nn import Architecture

SEEDS = st.integers(0, 10_000)
FEATURES, CLASSES = 5, 3


def setting(kind, seed, weighted=False, **settings):
    """A random graph, a method's network with random weights, and its logits on the graph."""
    graph = random_graph(seed, features=FEATURES, classes=CLASSES, weighted=weighted)
    method = kind(hidden=6, **({"heads": 2} if hasattr(kind, "heads") else {}), **settings)
    network = randomise(method.network(FEATURES, CLASSES), seed)
    return graph, network, network(engine_of(graph), None).detach().numpy()


def engine_of(graph) -> FullGraphEngine:
    features = FeatureScaling().apply(graph.x, torch.float64)
    return choose_engine(Topology(graph, torch.float64), features, Architecture())


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def rows_and_edges(graph):
    return torch.from_numpy(np.array(graph.x)).double(), torch.from_numpy(graph.edge_index())


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


@given(SEEDS, st.integers(1, 3))
def test_mlp_is_affine_maps_with_relu_between(seed, layers):
    graph, network, logits = setting(MLP, seed, layers=layers)
    h = graph.x
    for k, layer in enumerate(network.layers):
        h = affine(layer, h if k == 0 else relu(h))
    close(logits, h)


def test_mlp_learns_features_and_does_not_look_at_edges():
    graph = datasets.load("csbm", nodes=300, classes=3, feature_noise=0.2, train_fraction=0.3)
    split = graph.splits[0]
    bare = Graph(x=graph.x, y=graph.y)
    first, second = (quick(MLP).fit(g, split.train, split.val) for g in (graph, bare))
    assert (first.predict()[split.test] == graph.y[split.test]).mean() > 0.8
    assert np.array_equal(first.predict_proba(), second.predict_proba())


@given(SEEDS, st.booleans())
def test_gcn_is_dense_propagation(seed, weighted):
    graph, network, logits = setting(GCN, seed, weighted)
    p, (first, second) = symmetric(dense_adjacency(graph), 1.0), (layer.conv for layer in network.gnn.stack.layers)
    hidden = relu(p @ graph.x @ numbers(first.projection.weight) + numbers(first.bias))
    close(logits, p @ hidden @ numbers(second.projection.weight) + numbers(second.bias))


@given(SEEDS)
def test_gat_is_pygs(seed):
    graph, network, logits = setting(GAT, seed)
    x, edges = rows_and_edges(graph)
    first, second = (layer.conv for layer in network.gnn.stack.layers)
    inner = pyg.GATConv(FEATURES, 3, heads=2).double()
    outer = pyg.GATConv(6, CLASSES, heads=2, concat=False).double()
    for ours, theirs in ((first, inner), (second, outer)):
        theirs.lin.weight.data, theirs.bias.data = ours.projection.weight.data.T, ours.bias.data
        theirs.att_src.data, theirs.att_dst.data = ours.attention.source.data[None], ours.attention.target.data[None]
    close(logits, outer(F.elu(inner(x, edges)), edges).detach())


@given(SEEDS)
def test_sage_is_pygs(seed):
    graph, network, logits = setting(GraphSAGE, seed)
    h, edges = rows_and_edges(graph)
    for k, layer in enumerate(network.gnn.stack.layers):
        root, neighbour = layer.conv.projection.weight.data.T.split(layer.out_width)
        theirs = pyg.SAGEConv(h.shape[1], layer.out_width).double()
        theirs.lin_r.weight.data, theirs.lin_l.weight.data = root, neighbour
        theirs.lin_l.bias.data = layer.conv.bias.data
        h = theirs(h if k == 0 else h.relu(), edges)
    close(logits, h.detach())


@given(SEEDS, st.booleans())
def test_gat_sep_is_dense_attention_over_neighbours_beside_the_nodes_own_row(seed, weighted):
    graph, network, logits = setting(GATSep, seed, weighted)
    h, a = graph.x, dense_adjacency(graph)
    for k, layer in enumerate(network.gnn.stack.layers):
        conv = layer.conv
        z = (h if k == 0 else relu(h)) @ numbers(conv.projection.weight)
        message = attend(a, z, numbers(conv.attention.source), numbers(conv.attention.target)).reshape(len(z), -1)
        h = affine(conv.update, np.hstack([z, message]))
    close(logits, h)


def dense_dot_attention(part, a, h):
    """Messages `(N, width)` by loops over nodes and heads; the weight of an edge multiplies its exponential."""
    query, key, value = (affine(p, h).reshape(len(h), part.heads, -1) for p in (part.query, part.key, part.value))
    out = np.zeros_like(value)
    for i in np.flatnonzero(a.any(1)):
        sources = np.flatnonzero(a[i])
        for k in range(part.heads):
            scores = key[sources, k] @ query[i, k] / np.sqrt(query.shape[2]) + np.log(a[i, sources])
            out[i, k] = softmax(scores) @ value[sources, k]
    return out.reshape(h.shape)


def transformer_logits(network, x, module):
    """`module(attention, h)` is one attention module in NumPy."""
    h = gelu(affine(network.embedding, x))
    for layer in network.layers:
        h = h + module(layer.attention, normalise("layer", layer.norms[0], h))
        h = h + affine(layer.outer, gelu(affine(layer.inner, normalise("layer", layer.norms[1], h))))
    return affine(network.head, normalise("layer", network.norm, h))


@given(SEEDS, st.booleans(), st.integers(1, 3))
def test_gt_is_dense_softmax_attention_with_self_loops(seed, weighted, layers):
    graph, network, logits = setting(GT, seed, weighted, layers=layers)
    a = dense_adjacency(graph) + np.eye(12)
    expected = transformer_logits(
        network, graph.x, lambda part, h: affine(part.output, dense_dot_attention(part, a, h))
    )
    close(logits, expected)


@given(SEEDS, st.booleans(), st.integers(1, 3))
def test_gt_sep_is_dense_softmax_attention_beside_the_nodes_own_row(seed, weighted, layers):
    graph, network, logits = setting(GTSep, seed, weighted, layers=layers)
    a = dense_adjacency(graph)

    def module(part, h):
        return affine(part.output, np.hstack([h, dense_dot_attention(part, a, h)]))

    close(logits, transformer_logits(network, graph.x, module))


@given(SEEDS, st.sampled_from([GT, GTSep]))
def test_transformer_messages_are_pygs(seed, kind):
    graph, network, _ = setting(kind, seed, layers=1)
    ours, (_, edges) = network.layers[0].attention, rows_and_edges(graph)
    theirs = pyg.TransformerConv(6, 3, heads=2, root_weight=False).double()
    for name in ("query", "key", "value"):
        theirs_part, part = getattr(theirs, f"lin_{name}"), getattr(ours, name)
        theirs_part.weight.data, theirs_part.bias.data = part.weight.data.T, part.bias.data
    h = torch.randn(12, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    engine = engine_of(graph)
    found = ours.message(engine.block(engine.topology), h[:, None])[:, 0]
    looped = add_self_loops(edges, num_nodes=12)[0] if kind is GT else edges
    close(found.detach(), theirs(h, looped).detach())


@pytest.mark.parametrize("kind", [GT, GTSep])
def test_heads_that_do_not_divide_the_width_are_refused(kind):
    with pytest.raises(ConfigError, match="heads=3"):
        kind(hidden=16, heads=3).fit(random_graph(0), np.arange(12) < 6)


@given(SEEDS, st.booleans(), st.sampled_from(["none", "layer", "rms", "l2"]))
def test_gin_is_a_perceptron_of_dense_sums(seed, weighted, normalisation):
    graph, network, logits = setting(GIN, seed, weighted, normalisation=normalisation)
    h, a = graph.x, dense_adjacency(graph)
    for layer in network.layers:
        total = ((1 + numbers(layer.eps)) * np.eye(12) + a) @ h
        inner = normalise(normalisation, layer.norm, total @ numbers(layer.inner.weight) + numbers(layer.bias))
        h = relu(affine(layer.outer, relu(inner)))
    close(logits, affine(network.head, h))


@given(SEEDS)
def test_gin_without_normalisation_is_pygs(seed):
    graph, network, logits = setting(GIN, seed, normalisation="none")
    h, edges = rows_and_edges(graph)
    for layer in network.layers:
        inner, outer = torch.nn.Linear(h.shape[1], 6), torch.nn.Linear(6, 6)
        theirs = pyg.GINConv(torch.nn.Sequential(inner, torch.nn.ReLU(), outer)).double()
        theirs.eps.data = layer.eps.data
        inner.weight.data, inner.bias.data = layer.inner.weight.data.T, layer.bias.data
        outer.weight.data, outer.bias.data = layer.outer.weight.data.T, layer.outer.bias.data
        h = theirs(h, edges).relu()
    close(logits, affine(network.head, h.detach().numpy()))


@given(SEEDS, st.sampled_from([("concat", "cat"), ("max", "max")]), st.integers(1, 4))
def test_jknet_joins_the_outputs_of_all_dense_propagations(seed, mode, layers):
    graph, network, logits = setting(JKNet, seed, mode=mode[0], layers=layers)
    h, p, outputs = graph.x, symmetric(dense_adjacency(graph), 1.0), []
    for conv in network.convs:
        h = relu(p @ h @ numbers(conv.projection.weight) + numbers(conv.bias))
        outputs.append(torch.from_numpy(h))
    assert len(outputs) == layers
    close(logits, affine(network.head, pyg.JumpingKnowledge(mode[1])(outputs).numpy()))


def test_jknet_refuses_an_unknown_mode():
    with pytest.raises(ConfigError, match="mode='lstm'"):
        JKNet(mode="lstm").fit(random_graph(0), np.arange(12) < 6)


@given(SEEDS, st.integers(1, 5), st.floats(0, 1), st.floats(0.1, 2))
def test_gcnii_is_pygs(seed, layers, alpha, lam):
    graph, network, logits = setting(GCNII, seed, layers=layers, alpha=alpha, lam=lam)
    x, edges = rows_and_edges(graph)
    initial = h = torch.from_numpy(relu(affine(network.embedding, x.numpy())))
    for depth, layer in enumerate(network.layers, start=1):
        theirs = pyg.GCN2Conv(6, alpha=alpha, theta=lam, layer=depth).double()
        theirs.weight1.data = layer.map.weight.data
        h = theirs(h, initial, edges).relu()
    close(logits, affine(network.head, h.detach().numpy()))


def test_gcniis_layers_have_a_decay_of_their_own():
    """Beside Adam's decay of all weights, the loss pulls at the layers' weights alone, by the difference."""
    graph, network, _ = setting(GCNII, 0, layers=3)
    method = GCNII(hidden=6, layers=3, layer_decay=0.25, weight_decay=0.05)
    lesson = Lesson(engine_of(graph), known=torch.arange(12) % 3)
    gradients = []
    for loss in (method.loss(network, lesson), super(GCNII, method).loss(network, lesson)):
        gradients.append(dict(zip(names(network), torch.autograd.grad(loss, list(network.parameters())), strict=True)))
    for name, parameter in network.named_parameters():
        pull = 0.2 * parameter.detach() if ".map." in name else torch.zeros_like(parameter)
        torch.testing.assert_close(gradients[0][name] - gradients[1][name], pull, rtol=0, atol=1e-12)


def names(module):
    return [name for name, _ in module.named_parameters()]


class Lesson:
    """What a loss asks of a lesson, without dropout."""

    dropout = None

    def __init__(self, engine, known):
        self.engine, self.problem, self.labelled = engine, self, known != MASKED
        self.known = known


@given(SEEDS, st.booleans())
def test_sage_does_not_mix_a_node_into_its_neighbours_mean(seed, weighted):
    graph, network, logits = setting(GraphSAGE, seed, weighted, layers=1)
    conv = network.gnn.stack.layers[0].conv
    root, neighbour = np.split(graph.x @ numbers(conv.projection.weight), 2, axis=1)
    close(logits, root + row_mean(dense_adjacency(graph)) @ neighbour + numbers(conv.bias))
