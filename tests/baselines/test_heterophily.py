"""The heterophily methods against their definitions, computed with dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import eval_jacobi
from torch_geometric.nn import APPNP

from baselines.quick import heterophilic, homophilic, quick
from examples import path, random_graph
from redisc import Graph
from redisc.baselines import CPGNN, FAGCN, FSGNN, GBKGNN, GPRGNN, H2GCN, GloGNN, JacobiConv
from redisc.baselines.cpgnn import balance, estimate_compatibility, plain_adjacency, propagate_beliefs
from redisc.baselines.fsgnn import map_powers
from redisc.baselines.gbkgnn import gate_loss
from redisc.baselines.glognn import GlobalAggregation
from redisc.baselines.gprgnn import PageRank
from redisc.baselines.h2gcn import combine_rounds, strict_two_hop, two_hop_propagator
from redisc.baselines.jacobiconv import JacobiFilter, jacobi_basis
from redisc.engine import FullGraphEngine, Topology, choose_engine
from redisc.errors import ConfigError
from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Affine, Architecture
from redisc.nn.affine import reset_all

seeds = st.integers(0, 10_000)


def engine_of(graph: Graph, sparse: bool = False) -> FullGraphEngine:
    """The engine that baselines use, in double precision."""
    x = np.asarray(graph.x, dtype=np.float64)
    features = SparseMatrix(sp.csr_array(x), torch.float64) if sparse else torch.tensor(x).unsqueeze(1)
    return choose_engine(Topology(graph, torch.float64), features, Architecture())


def fresh(clf, graph: Graph):
    """The method's network with drawn weights and with biases that are not zero, in double precision."""
    network = clf.network(graph.num_features, graph.num_classes).double()
    generator = torch.Generator().manual_seed(0)
    reset_all(network, generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.rand(parameter.shape, generator=generator, dtype=torch.float64), alpha=0.1)
    return network


def dense(graph: Graph) -> np.ndarray:
    return graph.adjacency().toarray().astype(np.float64)


def normalise(a: np.ndarray, self_loop: float = 0.0) -> np.ndarray:
    """D^-1/2 (A + sI) D^-1/2; zero rows stay zero."""
    a = a + self_loop * np.eye(len(a))
    degree = a.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0)
    return scale[:, None] * a * scale


def weights(affine: Affine) -> tuple[np.ndarray, np.ndarray]:
    bias = 0 if affine.bias is None else affine.bias.detach().numpy()
    return affine.weight.detach().numpy(), bias


def apply(affine: Affine, h: np.ndarray) -> np.ndarray:
    weight, bias = weights(affine)
    return h @ weight + bias


def logits(network, engine: FullGraphEngine) -> np.ndarray:
    with torch.no_grad():
        return network(engine, None).numpy()


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


# H2GCN


def distances(a: np.ndarray) -> np.ndarray:
    """Steps between nodes, by powers of the adjacency: 0, 1, 2, or 3 for "further"."""
    near, two = a > 0, (a > 0).astype(int) @ (a > 0).astype(int) > 0
    steps = np.where(near, 1, np.where(two, 2, 3))
    np.fill_diagonal(steps, 0)
    return steps


def test_h2gcn_two_hops_of_a_triangle_with_a_tail():
    """On 0-1-2-0 with the tail 2-3-4, only 3 is two steps from 0 and 1, and only 4 from 2."""
    edges = np.array([[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]])
    graph = Graph(x=np.ones((5, 1)), edge_index=edges, y=np.zeros(5, dtype=np.int64))
    expected = np.zeros((5, 5))
    for i, j in [(0, 3), (1, 3), (2, 4)]:
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(strict_two_hop(graph.adjacency()).toarray(), expected)


@given(seeds, st.booleans())
def test_h2gcn_two_hops_are_exactly_two_steps_whatever_the_weights(seed, weighted):
    graph = random_graph(seed, weighted=weighted)
    expected = (distances(dense(graph)) == 2).astype(float)
    np.testing.assert_array_equal(strict_two_hop(graph.adjacency()).toarray(), expected)
    two_hop = two_hop_propagator(Topology(graph, torch.float64)).to_dense().numpy()
    np.testing.assert_allclose(two_hop, normalise(expected), atol=1e-12)


def test_h2gcn_is_its_definition():
    graph = random_graph(2)
    network, engine = fresh(H2GCN(hidden=4), graph), engine_of(graph)
    one, two = normalise(dense(graph)), normalise((distances(dense(graph)) == 2).astype(float))
    r0 = np.maximum(apply(network.embedding, graph.x), 0)
    r1 = np.hstack([one @ r0, two @ r0])
    r2 = np.hstack([one @ r1, two @ r1])
    final = np.hstack([r0, r1, r2])
    np.testing.assert_allclose(combine_rounds(torch.from_numpy(r0), engine.topology, 2), final, atol=1e-12)
    np.testing.assert_allclose(logits(network, engine), apply(network.classifier, final), atol=1e-12)


def test_h2gcn_derives_two_hops_once_a_graph():
    topology, other = Topology(random_graph(0)), Topology(random_graph(0))
    assert two_hop_propagator(topology) is two_hop_propagator(topology)
    assert two_hop_propagator(topology) is not two_hop_propagator(other)


# CPGNN


@given(seeds, st.integers(1, 4))
def test_cpgnn_propagates_centred_beliefs(seed, hops):
    rng, graph = np.random.default_rng(seed), random_graph(seed, weighted=True)
    prior, compatibility = rng.dirichlet(np.ones(3), size=12), rng.normal(size=(3, 3))
    expected = centred = prior - 1 / 3
    for _ in range(hops):
        expected = centred + dense(graph) @ expected @ compatibility
    adjacency = plain_adjacency(Topology(graph, torch.float64))
    beliefs = propagate_beliefs(adjacency, torch.from_numpy(prior), torch.from_numpy(compatibility), hops)
    np.testing.assert_allclose(beliefs, expected + 1 / 3, rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(2, 7))
def test_cpgnn_balances_to_a_doubly_stochastic_matrix_of_the_same_kind(seed, classes):
    """Sinkhorn-Knopp only scales rows and columns: cross ratios stay."""
    counts = np.random.default_rng(seed).uniform(0.5, 10, size=(classes, classes))
    balanced = balance(torch.from_numpy(counts)).numpy()
    np.testing.assert_allclose(balanced.sum(0), 1, atol=1e-8)
    np.testing.assert_allclose(balanced.sum(1), 1, atol=1e-8)
    ratio = counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0])
    kept = balanced[0, 0] * balanced[1, 1] / (balanced[0, 1] * balanced[1, 0])
    assert kept == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize("counts", [np.zeros((3, 3)), np.diag([4.0, 0, 2]), np.eye(3)[[1, 2, 0]]])
def test_cpgnn_balances_matrices_with_zeros(counts):
    balanced = balance(torch.from_numpy(counts)).numpy()
    np.testing.assert_allclose(balanced.sum(0), 1, atol=1e-4)
    np.testing.assert_allclose(balanced.sum(1), 1, atol=1e-4)


@given(seeds)
def test_cpgnn_estimate_is_symmetric_and_centred(seed):
    rng, graph = np.random.default_rng(seed), random_graph(seed)
    known = torch.from_numpy(np.where(rng.random(12) < 0.5, graph.y, -1))
    prior = torch.from_numpy(rng.dirichlet(np.ones(3), size=12))
    centred = estimate_compatibility(plain_adjacency(Topology(graph, torch.float64)), known, prior).numpy()
    np.testing.assert_allclose(centred, centred.T, atol=1e-12)
    np.testing.assert_allclose(centred.sum(1), 0, atol=1e-3)


def test_cpgnn_estimate_finds_that_only_different_classes_are_neighbours():
    """On a path whose labels alternate, a node's neighbours are of the other class."""
    graph = Graph(x=np.ones((6, 1)), edge_index=np.stack(np.nonzero(np.triu(path(6)))), y=np.arange(6) % 2)
    adjacency = plain_adjacency(Topology(graph, torch.float64))
    chance = torch.full((6, 2), 0.5, dtype=torch.float64)
    centred = estimate_compatibility(adjacency, torch.tensor(graph.y), chance)
    np.testing.assert_allclose(centred, [[-0.5, 0.5], [0.5, -0.5]], atol=1e-3)


def test_cpgnn_learns_whether_neighbours_are_alike():
    """The diagonal of the compatibility matrix is positive under homophily and negative under heterophily."""
    alike, unlike = (quick(CPGNN).fit(graph)._network.compatibility for graph in (homophilic(), heterophilic()))
    assert (alike.centred.diagonal() > 0).all()
    assert (unlike.centred.diagonal() < 0).all()
    for compatibility in (alike, unlike):
        assert compatibility.excess() < 0.3


# GPR-GNN


@given(seeds, st.integers(1, 6), st.floats(0.05, 0.95))
def test_gprgnn_starts_as_appnp(seed, hops, alpha):
    graph, rng = random_graph(seed), np.random.default_rng(seed)
    topology, z = Topology(graph, torch.float64), torch.from_numpy(rng.normal(size=(12, 3)))
    pagerank = PageRank(hops, alpha).double()
    pagerank.reset_parameters(torch.Generator())
    engine = engine_of(graph)
    reference = APPNP(hops, alpha)(z, engine.block(topology).edge_index())
    np.testing.assert_allclose(logits(lambda e, d: pagerank(propagator(e, 1.0), z), engine), reference, atol=1e-6)


def propagator(engine: FullGraphEngine, self_loop: float) -> SparseMatrix:
    return SparseMatrix(normalise(engine.topology.adjacency.toarray().astype(np.float64), self_loop), torch.float64)


def test_gprgnn_is_its_series():
    graph = random_graph(3, weighted=True)
    network = fresh(GPRGNN(hidden=4, hops=4), graph)
    first, second = network.perceptron.layers
    z = apply(second, np.maximum(apply(first, graph.x), 0))
    p = normalise(dense(graph), 1.0)
    gamma = network.pagerank.gamma.detach().numpy()
    expected = sum(g * np.linalg.matrix_power(p, k) @ z for k, g in enumerate(gamma))
    np.testing.assert_allclose(logits(network, engine_of(graph)), expected, atol=1e-12)


# FSGNN


@pytest.mark.parametrize("hidden", [4, 6], ids=["features_wider", "features_narrower"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_fsgnn_is_its_definition(hidden, sparse):
    graph = random_graph(4, weighted=True)
    network = fresh(FSGNN(hidden=hidden, hops=2), graph)
    p, q = normalise(dense(graph)), normalise(dense(graph), 1.0)
    hops = [graph.x, p @ graph.x, p @ p @ graph.x, q @ graph.x, q @ q @ graph.x]
    attention = network.selection.attention.detach().numpy()
    shares = np.exp(attention) / np.exp(attention).sum()
    parts = []
    for share, hop, affine, bias in zip(
        shares, hops, network.maps, network.selection.bias.detach().numpy(), strict=True
    ):
        row = apply(affine, hop) + bias
        parts.append(share * row / np.linalg.norm(row, axis=1, keepdims=True))
    expected = apply(network.classifier, np.maximum(np.hstack(parts), 0))
    np.testing.assert_allclose(logits(network, engine_of(graph, sparse)), expected, atol=1e-12)


def test_fsgnn_gradients_do_not_depend_on_what_travels():
    graph = random_graph(5)
    dense_engine, matrix = engine_of(graph), propagator(engine_of(graph), 0.0)
    gradients = []
    for x in (dense_engine.features, engine_of(graph, sparse=True).features):
        maps = [Affine(5, 8, bias=False).double() for _ in range(3)]
        generator = torch.Generator().manual_seed(0)
        for affine in maps:
            affine.reset_parameters(generator)
        sum(row.square().sum() for row in map_powers(matrix, x, maps)).backward()
        gradients.append([affine.weight.grad for affine in maps])
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second)


# GloGNN


@given(seeds, st.floats(0, 0.9), st.floats(0.1, 10), st.floats(0.1, 10))
def test_glognn_is_the_aggregation_by_its_coefficient_matrix(seed, gamma, beta_1, beta_2):
    """Woodbury's order of products against the N x N inverse of the closed form."""
    graph, rng = random_graph(seed, weighted=True), np.random.default_rng(seed)
    h, h0 = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    p, hop_weights = normalise(dense(graph), 1.0), rng.normal(size=2)
    near = hop_weights[0] * p + hop_weights[1] * p @ p
    left = (1 - gamma) * h @ h.T + beta_2 * near - gamma * (1 - gamma) * h0 @ h.T
    z = left @ np.linalg.inv((1 - gamma) ** 2 * h @ h.T + (beta_1 + beta_2) * np.eye(12))
    layer = GlobalAggregation(gamma, beta_1, beta_2, 2).double()
    with torch.no_grad():
        layer.hop_weights.copy_(torch.from_numpy(hop_weights))
        out = layer(propagator(engine_of(graph), 1.0), torch.from_numpy(h), torch.from_numpy(h0))
    np.testing.assert_allclose(out, (1 - gamma) * z @ h + gamma * h0, rtol=1e-8, atol=1e-8)


def test_glognn_coefficients_minimise_its_objective():
    """The closed form that the layer follows is where the objective's gradient vanishes."""
    gamma, beta_1, beta_2 = 0.3, 0.7, 1.5
    rng = np.random.default_rng(0)
    h, h0 = (torch.from_numpy(rng.normal(size=(8, 3))) for _ in range(2))
    near = torch.from_numpy(rng.normal(size=(8, 8)))
    left = (1 - gamma) * h @ h.T + beta_2 * near - gamma * (1 - gamma) * h0 @ h.T
    z = left @ torch.linalg.inv((1 - gamma) ** 2 * h @ h.T + (beta_1 + beta_2) * torch.eye(8, dtype=torch.float64))
    z.requires_grad_()
    residual = h - (1 - gamma) * z @ h - gamma * h0
    (residual.square().sum() + beta_1 * z.square().sum() + beta_2 * (z - near).square().sum()).backward()
    assert z.grad.abs().max() < 1e-10


# FAGCN


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_fagcn_is_its_definition(weighted):
    graph = random_graph(6, weighted=weighted)
    network, s = fresh(FAGCN(hidden=4, epsilon=0.4), graph), normalise(dense(graph))
    h = h0 = np.maximum(apply(network.embedding, graph.x), 0)
    for gate in network.gates:
        target, source = apply(gate.scores, h).T
        h = 0.4 * h0 + (np.tanh(target[:, None] + source[None, :]) * s) @ h
    np.testing.assert_allclose(logits(network, engine_of(graph)), apply(network.classifier, h), atol=1e-12)


# GBK-GNN


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_gbkgnn_is_its_definition(sparse):
    graph = random_graph(7)
    network = fresh(GBKGNN(hidden=4), graph)
    a = dense(graph)
    mean = a / np.maximum(a.sum(1, keepdims=True), 1)
    h = graph.x
    for k, layer in enumerate(network.layers):
        target, source = apply(layer.gate, h).T
        alpha = sigmoid(target[:, None] + source[None, :])
        mixed = (alpha * mean) @ apply(layer.similar, h) + ((1 - alpha) * mean) @ apply(layer.different, h)
        h = apply(layer.own, h) + mixed
        h = np.maximum(h, 0) if k == 0 else h
    np.testing.assert_allclose(logits(network, engine_of(graph, sparse)), h, atol=1e-12)


def test_gbkgnn_gates_are_told_about_edges_between_labelled_nodes_only():
    """Of the path 0-1-2-3 with labels a, a, b, ?, the edge 0-1 agrees, 1-2 does not, and 2-3 is not told."""
    source, target = torch.tensor([0, 1, 1, 2, 2, 3]), torch.tensor([1, 0, 2, 1, 3, 2])
    known = torch.tensor([0, 0, 1, -1])
    gates = [torch.tensor([0.5, -1.0, 2.0, 0.1, 9.0, -9.0], dtype=torch.float64) for _ in range(2)]
    chance = sigmoid(gates[0].numpy())
    expected = -(np.log(chance[:2]).sum() + np.log(1 - chance[2:4]).sum()) / 4
    assert float(gate_loss(gates, known, known >= 0, source, target)) == pytest.approx(2 * expected)
    assert float(gate_loss(gates, known, known > 5, source, target)) == 0


def test_gbkgnn_gates_learn_to_tell_edges_apart():
    """With the gates' loss, edges between classes get smaller gates than edges within."""
    graph = homophilic()
    clf = quick(GBKGNN, gate_weight=5.0).fit(graph)
    with torch.no_grad():
        gates = clf._network.run(clf._engine, None)[1][-1].numpy()
    edges = clf._engine.topology.edges(False)
    agree = graph.y[edges.source.numpy()] == graph.y[edges.target.numpy()]
    assert gates[agree].mean() > gates[~agree].mean()


# JacobiConv


@given(seeds, st.integers(1, 8), st.floats(-0.9, 2), st.floats(-0.9, 2))
def test_jacobiconv_basis_is_jacobi_polynomials_of_the_eigenvalues(seed, hops, a, b):
    graph = random_graph(seed)
    s = normalise(dense(graph))
    z = np.random.default_rng(seed).normal(size=(12, 2))
    values, vectors = np.linalg.eigh(s)
    basis = jacobi_basis(SparseMatrix(sp.csr_array(s), torch.float64), torch.from_numpy(z), hops, a, b)
    assert len(basis) == hops + 1
    for k, row in enumerate(basis):
        expected = vectors @ (eval_jacobi(k, a, b, values)[:, None] * (vectors.T @ z))
        np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-8)


def test_jacobiconv_is_its_definition():
    graph = random_graph(8, weighted=True)
    network = fresh(JacobiConv(hops=3, a=0.5, b=-0.25, limit=1.5), graph)
    z, eta = apply(network.map, graph.x), network.filter.eta.detach().numpy()
    values, vectors = np.linalg.eigh(normalise(dense(graph)))
    expected = np.zeros_like(z)
    for k, beta in enumerate(network.filter.beta.detach().numpy()):
        alpha = beta * np.prod(1.5 * np.tanh(eta[:k]))
        expected += alpha * (vectors @ (eval_jacobi(k, 0.5, -0.25, values)[:, None] * (vectors.T @ z)))
    np.testing.assert_allclose(logits(network, engine_of(graph)), expected, atol=1e-10)


def test_jacobiconv_coefficients_stay_below_the_limit():
    layer = JacobiFilter(2, 4, 1.0, 1.0, 0.5)
    layer.reset_parameters(torch.Generator())
    with torch.no_grad():
        layer.eta.fill_(100.0)
    expected = 0.5 ** np.arange(5)[:, None] * np.ones(2)
    np.testing.assert_allclose(layer.coefficients().detach(), expected, atol=1e-6)


# Settings


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (CPGNN, {"hops": 0}),
        (CPGNN, {"pretraining": 0}),
        (CPGNN, {"prior_weight": -1.0}),
        (GPRGNN, {"hops": 0}),
        (GPRGNN, {"alpha": 1.0}),
        (FSGNN, {"hops": 0}),
        (GloGNN, {"hops": 0}),
        (GloGNN, {"gamma": 1.0}),
        (GloGNN, {"beta_1": 0.0, "beta_2": 0.0}),
        (FAGCN, {"epsilon": 1.5}),
        (GBKGNN, {"gate_weight": -1.0}),
        (JacobiConv, {"hops": 0}),
        (JacobiConv, {"a": -1.0}),
        (JacobiConv, {"limit": 0.0}),
    ],
    ids=lambda value: getattr(value, "name", None) or "-".join(map(str, value)),
)
def test_settings_of_ones_own_are_checked(kind, settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        quick(kind, **settings).fit(homophilic())
