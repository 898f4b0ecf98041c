"""The label propagation methods against their definitions, computed with dense matrices."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from baselines.quick import homophilic, quick
from examples import random_graph
from oracles import dense_adjacency, softmax
from redisc import Graph
from redisc.baselines import LPA, PTA, CorrectAndSmooth, LabelPropagation, LabelSpreading, LabelTrick
from redisc.baselines.base import Lesson
from redisc.baselines.label_trick import LabelledStack
from redisc.baselines.partition import partition
from redisc.baselines.pta import adaptive_loss
from redisc.baselines.stacked import StackNetwork
from redisc.clock import Clock
from redisc.engine import FullGraphEngine, Topology, choose_engine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture
from redisc.nn.affine import reset_all
from redisc.problem import Problem, Validation

graphs = st.builds(random_graph, st.integers(0, 10_000), weighted=st.booleans())
TRAIN, VAL = np.arange(12) < 5, np.arange(12) >= 10


def fitted(clf, graph: Graph):
    """The method in double precision, fitted to five labels of a small graph."""
    return clf.set_params(dtype="float64", random_state=0).fit(graph, TRAIN, VAL)


def engine_of(graph: Graph) -> FullGraphEngine:
    """The engine that baselines use, in double precision."""
    features = torch.tensor(np.asarray(graph.x, dtype=np.float64)).unsqueeze(1)
    return choose_engine(Topology(graph, torch.float64), features, Architecture())


def fresh(clf, graph: Graph):
    """The method's network with drawn weights and with biases that are not zero."""
    network = clf.network(graph.num_features, graph.num_classes).double()
    generator = torch.Generator().manual_seed(0)
    reset_all(network, generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.rand(parameter.shape, generator=generator, dtype=torch.float64))
    return network


def known_of(graph: Graph) -> np.ndarray:
    return np.where(TRAIN, graph.y, -1)


def rows_of(known: np.ndarray, classes: int = 3) -> np.ndarray:
    """One-hot rows, zeros where the label is unknown."""
    return np.eye(classes + 1)[known][:, :classes]


def walk(a: np.ndarray) -> np.ndarray:
    """D^-1 A; zero rows stay zero."""
    return a / np.where(a.sum(1) > 0, a.sum(1), 1)[:, None]


def symmetric(a: np.ndarray) -> np.ndarray:
    """D^-1/2 A D^-1/2; zero rows stay zero."""
    scale = np.where(a.sum(1) > 0, a.sum(1), 1) ** -0.5
    return scale[:, None] * a * scale


def reached(a: np.ndarray) -> np.ndarray:
    """Which nodes are connected with a label."""
    return (np.linalg.matrix_power(np.eye(len(a)) + (a > 0), len(a)) > 0)[:, TRAIN].any(1)


def harmonic(a: np.ndarray, start: np.ndarray) -> np.ndarray:
    """F_U = (I - P_UU)^-1 P_UL F_L; zeros where no label reaches."""
    p, free = walk(a), reached(a) & ~TRAIN
    out = np.where(TRAIN[:, None], start, 0)
    out[free] = np.linalg.solve(np.eye(free.sum()) - p[np.ix_(free, free)], p[np.ix_(free, TRAIN)] @ start[TRAIN])
    return out


def resolvent(a: np.ndarray, start: np.ndarray, damping: float) -> np.ndarray:
    """(1-λ) (I - λS)^-1 start."""
    return (1 - damping) * np.linalg.solve(np.eye(len(a)) - damping * symmetric(a), start)


def scaled(scores: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; `otherwise` for rows of zeros."""
    total = scores.sum(1, keepdims=True)
    return np.where(total > 1e-12, scores / np.where(total > 1e-12, total, 1), otherwise)


def assert_answers(clf, graph: Graph, expected: np.ndarray) -> None:
    """Compare the probabilities of nodes without a known label."""
    np.testing.assert_allclose(clf.predict_proba()[~TRAIN], expected[~TRAIN], atol=1e-7)


@given(graphs)
def test_label_propagation_is_the_harmonic_function(graph):
    clf = fitted(LabelPropagation(tolerance=1e-12, iterations=100_000), graph)
    labels, frequencies = rows_of(known_of(graph)), np.bincount(graph.y[TRAIN], minlength=3) / 5
    assert_answers(clf, graph, scaled(harmonic(dense_adjacency(graph), labels), frequencies))


@given(graphs, st.floats(0.05, 0.95))
def test_label_spreading_is_the_minimum_of_its_objective(graph, damping):
    clf = fitted(LabelSpreading(damping=damping, tolerance=1e-13), graph)
    labels, frequencies = rows_of(known_of(graph)), np.bincount(graph.y[TRAIN], minlength=3) / 5
    a = dense_adjacency(graph)
    scores = np.where(reached(a)[:, None], resolvent(a, labels, damping), 0)
    assert_answers(clf, graph, scaled(scores, frequencies))


@pytest.mark.parametrize("kind", [LabelPropagation, LabelSpreading])
def test_new_labels_on_a_fitted_graph_are_propagated(kind):
    graph = homophilic()
    clf = quick(kind).fit(graph)
    assert (clf.predict(graph, graph.y) == graph.y).all()
    assert (clf.predict(graph, np.where(graph.y == 2, 2, -1)) == 2).all()


@given(graphs, st.floats(0.05, 0.95), st.integers(1, 6))
def test_soft_labels_are_the_power_series(graph, restart, steps):
    clf = PTA(restart=restart, propagation_steps=steps)
    s, labels = symmetric(dense_adjacency(graph) + np.eye(12)), rows_of(known_of(graph))
    powers = [(1 - restart) ** k * np.linalg.matrix_power(s, k) for k in range(steps + 1)]
    expected = (restart * sum(powers[:-1]) + powers[-1]) @ labels
    soft = clf.propagate(engine_of(graph), torch.from_numpy(labels))
    np.testing.assert_allclose(soft.numpy(), expected, atol=1e-12)


def test_adaptive_weights_sharpen_with_the_epochs():
    clf = PTA(adaptation=50.0)
    assert clf.gamma(0) == 0
    assert clf.gamma(50) == pytest.approx(np.log(2))
    assert clf.gamma(350) == pytest.approx(3 * np.log(2))


def test_every_epoch_has_its_own_exponent(monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(PTA, "gamma", lambda self, epoch: asked.append(epoch) or 0.0)
    quick(PTA, epochs=4).fit(homophilic())
    assert asked == [0, 1, 2, 3]


@given(st.integers(0, 10_000), st.floats(0, 3))
def test_adaptive_weights_have_no_gradient(seed, gamma):
    rng = np.random.default_rng(seed)
    logits = torch.tensor(rng.normal(size=(6, 3)), requires_grad=True)
    soft = rng.uniform(size=(6, 3))
    loss = adaptive_loss(logits, torch.from_numpy(soft), gamma)
    loss.backward()
    belief = softmax(logits.detach().numpy())
    weight = soft * belief**gamma
    assert loss.item() == pytest.approx(-(weight * np.log(belief)).sum())
    np.testing.assert_allclose(logits.grad.numpy(), belief * weight.sum(1, keepdims=True) - weight, atol=1e-12)


def test_pta_answers_by_propagating_the_perceptron():
    graph = random_graph(3)
    clf, engine = PTA(propagation_steps=3, restart=0.2), engine_of(graph)
    network = fresh(clf, graph)
    with torch.no_grad():
        own = softmax(network(engine, None).numpy())
        answer = clf.infer(network, engine, torch.from_numpy(known_of(graph)), 1).numpy()
    s, rows = symmetric(dense_adjacency(graph) + np.eye(12)), own
    for _ in range(3):
        rows = 0.8 * s @ rows + 0.2 * own
    np.testing.assert_allclose(answer, rows / rows.sum(1, keepdims=True), atol=1e-12)


def transition(network, engine: FullGraphEngine, weights: torch.Tensor) -> np.ndarray:
    """Edge weights as a dense matrix, target by source."""
    edges = engine.topology.edges(network.self_loops)
    p = np.zeros((engine.topology.num_nodes,) * 2)
    p[edges.target.numpy(), edges.source.numpy()] = weights.detach().numpy().ravel()
    return p


def cosine_transition(network, graph: Graph, self_loops: bool) -> np.ndarray:
    """D^-1 A* with A*_ij = weight_ij exp(τ cos(P x_i, P x_j))."""
    place = np.asarray(graph.x, dtype=np.float64) @ network.affinity.projection.weight.detach().numpy()
    place /= np.linalg.norm(place, axis=1, keepdims=True)
    a = dense_adjacency(graph) + (np.eye(12) if self_loops else 0)
    return walk(a * np.exp(network.affinity.sharpness.item() * place @ place.T))


@given(graphs, st.sampled_from(["gcn", "sage"]))
def test_lpa_shares_its_learned_weights_with_the_gnn(graph, backbone):
    engine, network = engine_of(graph), fresh(LPA(backbone=backbone, hidden=4), graph)
    logits, weights = network.with_weights(engine, None)
    p = cosine_transition(network, graph, self_loops=backbone == "gcn")
    np.testing.assert_allclose(transition(network, engine, weights), p, atol=1e-10)
    h = np.asarray(graph.x, dtype=np.float64)
    for k, layer in enumerate(network.gnn.stack.layers):
        z, bias = h @ layer.conv.projection.weight.detach().numpy(), layer.conv.bias.detach().numpy()
        root, neighbour = (0, z) if backbone == "gcn" else np.split(z, 2, axis=1)
        h = root + p @ neighbour + bias
        h = np.maximum(h, 0) if k == 0 else h
    np.testing.assert_allclose(logits.detach().numpy(), h, atol=1e-8)


@given(graphs)
def test_lpa_over_gat_propagates_by_the_first_layers_mean_attention(graph):
    engine, network = engine_of(graph), fresh(LPA(backbone="gat", hidden=4, heads=2), graph)
    conv = network.gnn.stack.layers[0].conv
    z = (np.asarray(graph.x, dtype=np.float64) @ conv.projection.weight.detach().numpy()).reshape(12, 2, 2)
    from_source = (z * conv.attention.source.detach().numpy()).sum(-1)
    from_target = (z * conv.attention.target.detach().numpy()).sum(-1)
    scores = from_target[:, None] + from_source[None]
    heat = np.exp(np.where(scores > 0, scores, 0.2 * scores)) * (dense_adjacency(graph) + np.eye(12))[..., None]
    expected = (heat / heat.sum(1, keepdims=True)).mean(-1)
    np.testing.assert_allclose(transition(network, engine, network.with_weights(engine, None)[1]), expected, atol=1e-10)


@given(graphs, st.sampled_from(["gcn", "gat", "sage"]), st.integers(1, 6))
def test_lpa_propagates_labels_by_the_learned_weights(graph, backbone, steps):
    clf = LPA(backbone=backbone, hidden=4, heads=2, propagation_steps=steps)
    engine, network = engine_of(graph), fresh(clf, graph)
    weights = network.with_weights(engine, None)[1]
    p, known = transition(network, engine, weights), known_of(graph)
    start = np.where(TRAIN[:, None], rows_of(known), 1 / 3)
    rows = start
    for _ in range(steps):
        rows = np.where(TRAIN[:, None], start, p @ rows)
    answer = clf.predict_labels(network, engine, weights, torch.from_numpy(known), 3)
    np.testing.assert_allclose(answer.detach().numpy(), rows, atol=1e-12)


def test_label_propagation_teaches_edges_within_a_class():
    graph = homophilic()
    engine = engine_of(graph)
    same = graph.y[engine.topology.edges(True).source] == graph.y[engine.topology.edges(True).target]

    def weight_within(label_weight: float) -> float:
        clf = quick(LPA, label_weight=label_weight, dtype="float64").fit(graph)
        return float(clf._network.with_weights(engine, None)[1].detach().numpy().ravel()[same].sum())

    assert weight_within(10.0) > weight_within(0.0)


@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(1, 30))
def test_a_label_is_either_given_or_asked_for(seed, rate, labels):
    rng = np.random.default_rng(seed)
    known = torch.from_numpy(rng.permutation(np.concatenate([rng.integers(3, size=labels), np.full(10, -1)])))
    given_labels, asked = partition(known, rate, rng)
    assert asked.any()
    assert (known[asked] >= 0).all()
    assert (given_labels[asked] == -1).all()
    assert torch.equal(given_labels[~asked], known[~asked])


def test_labels_are_given_at_the_rate():
    known, rng = torch.zeros(20_000, dtype=torch.int64), np.random.default_rng(0)
    assert partition(known, 0.3, rng)[1].double().mean() == pytest.approx(0.7, abs=0.02)


class CaughtLoss(LabelTrick):
    """The label trick without training: the loss of an epoch is caught."""

    def minimise(self, network, lesson, loss):
        self.caught = loss


def test_the_label_tricks_loss_never_sees_a_label_that_is_input():
    graph, inputs = random_graph(5), []
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=(12, 3)))

    def network(engine, dropout, known):
        inputs.append(known.numpy())
        return logits

    known = known_of(graph)
    problem = Problem(torch.from_numpy(known), 3, Validation(np.flatnonzero(VAL), graph.y[VAL]))
    clf = CaughtLoss()
    clf.learn(network, Lesson(engine_of(graph), problem, Dropout(np.random.default_rng(0)), Clock(), 0))
    surprise = -np.log(softmax(logits.numpy()))
    for _ in range(20):
        loss, shown = clf.caught().item(), inputs[-1] != -1
        assert (inputs[-1][shown] == known[shown]).all()
        left = np.flatnonzero(TRAIN & ~shown)
        assert loss == pytest.approx(surprise[left, known[left]].mean())
    assert len({tuple(row) for row in inputs}) > 5


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gat_sep"])
def test_label_input_is_the_gnn_on_features_beside_labels(backbone):
    graph, known = random_graph(2, weighted=True), known_of(random_graph(2))
    clf = LabelTrick(backbone=backbone, hidden=4, heads=2)
    network = fresh(clf, graph)
    assert isinstance(network, LabelledStack)
    wide = StackNetwork(clf.architecture(), graph.num_features + 3, 3).double()
    state = {f"gnn.{key}": value for key, value in network.state_dict().items() if key.startswith("stack.")}
    first = "gnn.stack.layers.0.conv.projection.weight"
    wide.load_state_dict({**state, first: torch.cat([state[first], network.labels.weight])})
    beside = Graph(
        x=np.hstack([graph.x, rows_of(known)]),
        edge_index=np.stack(graph.adjacency().nonzero()),
        y=graph.y,
        edge_weight=graph.adjacency().data,
    )
    with torch.no_grad():
        expected = wide(engine_of(beside), None)
        logits = network(engine_of(graph), None, torch.from_numpy(known))
    np.testing.assert_allclose(logits.numpy(), expected.numpy(), atol=1e-6)


def correct_and_smooth(a: np.ndarray, own: np.ndarray, labels: np.ndarray, clf: CorrectAndSmooth) -> np.ndarray:
    """The limit of both iterations by dense solves."""
    errors = np.where(TRAIN[:, None], labels - own, 0)
    if clf.scaling == "fdiff":
        corrected = own + clf.scale * harmonic(a, errors)
    else:
        spreading = np.where(reached(a)[:, None], resolvent(a, errors, clf.correct_damping), 0)
        size, reach = np.abs(errors).sum() / TRAIN.sum(), np.abs(spreading).sum(1, keepdims=True)
        scale = np.where(reach > size / 1000, size / np.where(reach > 0, reach, 1), 1)
        corrected = own + scale * spreading
    start = np.where(TRAIN[:, None], labels, corrected)
    return scaled(resolvent(a, start, clf.smooth_damping).clip(min=0), own)


@given(graphs, st.sampled_from(["auto", "fdiff"]), st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(0.1, 2))
def test_correct_and_smooth_reaches_its_fixed_point(graph, scaling, first, second, scale):
    clf = CorrectAndSmooth(scaling=scaling, scale=scale, correct_damping=first, smooth_damping=second, iterations=1500)
    engine, network = engine_of(graph), fresh(clf, graph)
    known = known_of(graph)
    with torch.no_grad():
        own = softmax(network(engine, None).numpy())
        answer = clf.infer(network, engine, torch.from_numpy(known), 1).numpy()
    expected = correct_and_smooth(dense_adjacency(graph), own, rows_of(known), clf)
    np.testing.assert_allclose(answer, expected, atol=1e-6)


def test_correct_and_smooth_beats_its_own_perceptron():
    graph = homophilic()
    clf, test = quick(CorrectAndSmooth).fit(graph), graph.splits[0].test
    with torch.no_grad():
        own = F.softmax(clf._network(clf._engine, None), dim=1).argmax(1).numpy()
    assert (clf.predict() == graph.y)[test].mean() > (own == graph.y)[test].mean() + 0.1


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (LabelPropagation, "iterations", 0),
        (LabelPropagation, "tolerance", 0.0),
        (LabelSpreading, "damping", 1.0),
        (PTA, "restart", 0.0),
        (PTA, "propagation_steps", 0),
        (PTA, "adaptation", 0.0),
        (LPA, "backbone", "gat_sep"),
        (LPA, "label_weight", -1.0),
        (LPA, "propagation_steps", 0),
        (LabelTrick, "backbone", "mlp"),
        (LabelTrick, "label_rate", 1.0),
        (CorrectAndSmooth, "scaling", "none"),
        (CorrectAndSmooth, "smooth_damping", 1.5),
    ],
)
def test_a_propagation_that_makes_no_sense_is_refused(kind, name, value):
    with pytest.raises(ConfigError, match=name):
        quick(kind, **{name: value}).fit(homophilic())


@pytest.mark.parametrize("backbone", ["gat", "sage"])
@pytest.mark.parametrize("kind", [LPA, LabelTrick])
def test_other_backbones_learn_too(kind, backbone):
    graph = homophilic()
    clf = quick(kind, backbone=backbone).fit(graph)
    assert clf.score(graph, mask=graph.splits[0].test) > 0.6
