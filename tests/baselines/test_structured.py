"""GMNN and CL-GNN: what their networks see, what they learn from, and their answers by hand on small graphs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from baselines.quick import homophilic, quick
from examples import path, random_graph
from nn.dense_layers import affine, numbers, one_hot, relu, row_mean, symmetric
from nn.networks import noisy_labels, normal, randomise
from oracles import dense_adjacency, softmax
from redisc import Graph
from redisc.baselines import CLGNN, GMNN, Lesson
from redisc.baselines.clgnn import LabelledGNN, sample
from redisc.baselines.gmnn import clamp
from redisc.clock import Clock
from redisc.diffusion import MASKED
from redisc.engine import FeatureScaling, Topology, choose_engine
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.nn import Architecture
from redisc.problem import Problem, Validation

SEEDS = st.integers(0, 10_000)
KNOWN = torch.tensor([1, MASKED, MASKED, 0])
"""Of the path 0 - 1 - 2 - 3; two classes."""


def engine_of(graph):
    features = FeatureScaling().apply(graph.x, torch.float64)
    return choose_engine(Topology(graph, torch.float64), features, Architecture())


def path_graph():
    x = np.random.default_rng(0).normal(size=(4, 3))
    return Graph(x=x, edge_index=np.array(np.nonzero(path(4))), y=np.array([1, 0, 1, 0]))


def lesson_of(graph, known, classes, seed=0):
    validation = Validation(np.arange(1), graph.y[:1])
    dropout = Dropout(np.random.default_rng(seed))
    return Lesson(engine_of(graph), Problem(known, classes, validation), dropout, Clock(), seed)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def gmnn(graph, known, classes=2, seed=0, **settings):
    """A method, its network with random weights, and a lesson."""
    method = GMNN(hidden=6, **settings)
    network = randomise(method.network(graph.num_features, classes), seed)
    return method, network, lesson_of(graph, known, classes, seed)


def test_e_step_targets_are_p_of_the_neighbours_labels_and_known_labels_stand():
    method, network, lesson = gmnn(path_graph(), KNOWN)
    labels = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    targets = method.targets(network, lesson, torch.from_numpy(labels))
    seen_by_1 = (labels[0] + labels[2]) / 2
    seen_by_2 = (labels[1] + labels[3]) / 2
    p = network.p
    unlabelled = [softmax(affine(p.outer, relu(affine(p.inner, seen)))) for seen in (seen_by_1, seen_by_2)]
    close(targets, [[0, 1], unlabelled[0], unlabelled[1], [1, 0]])


@given(SEEDS, st.booleans())
def test_p_is_a_perceptron_of_the_neighbours_mean_label(seed, weighted):
    graph = random_graph(seed, weighted=weighted)
    _, network, lesson = gmnn(graph, torch.full((12,), MASKED), 3, seed)
    labels, p = normal(seed, 12, 3), network.p
    expected = affine(p.outer, relu(affine(p.inner, row_mean(dense_adjacency(graph)) @ labels.numpy())))
    close(p(lesson.engine, labels, None).detach(), expected)


@given(SEEDS, st.integers(0, 11))
def test_p_never_sees_the_label_that_it_tells(seed, node):
    graph = random_graph(seed)
    _, network, lesson = gmnn(graph, torch.full((12,), MASKED), 3, seed)
    labels = normal(seed, 12, 3)
    changed = labels.clone()
    changed[node] += 1
    first, second = (network.p(lesson.engine, given, None) for given in (labels, changed))
    assert torch.equal(first[node], second[node])


@given(SEEDS)
def test_labels_are_drawn_from_q_and_known_ones_are_kept(seed):
    graph = random_graph(seed)
    known = noisy_labels(seed, 1)[0]
    method, network, lesson = gmnn(graph, known, 3, seed, temperature=1e-6)
    labels = method.draw(network, lesson, 0)
    conv = [layer.conv for layer in network.q.stack.layers]
    p = symmetric(dense_adjacency(graph), 1.0)
    hidden = relu(p @ graph.x @ numbers(conv[0].projection.weight) + numbers(conv[0].bias))
    logits = p @ hidden @ numbers(conv[1].projection.weight) + numbers(conv[1].bias)
    expected = np.where(known == MASKED, logits.argmax(1), known)
    close(labels, one_hot(expected, 3))


def test_draws_follow_q_and_differ_from_round_to_round():
    method, network, lesson = gmnn(path_graph(), torch.full((4,), MASKED), temperature=1.0)
    draws = torch.stack([method.draw(network, lesson, number) for number in range(4000)])
    expected = network(lesson.engine, None).softmax(1).detach()
    assert (draws.mean(0) - expected).abs().max() < 5 * 0.5 / 4000**0.5


def test_each_step_of_em_fits_its_own_network_to_its_own_targets():
    graph = path_graph()
    method, network, lesson = gmnn(graph, KNOWN, epochs=1, dropout=0.0, input_dropout=0.0, learning_rate=1e-3)
    labels = method.draw(network, lesson, 0)

    def dependency():
        return torch.nn.functional.cross_entropy(network.p(lesson.engine, labels, None), labels).item()

    def prediction():
        targets = method.targets(network, lesson, labels)
        return torch.nn.functional.cross_entropy(network(lesson.engine, None), targets).item()

    q_before, p_loss = prediction(), dependency()
    weights = {name: value.clone() for name, value in network.named_parameters()}
    method.m_step(network, lesson, labels)
    assert dependency() < p_loss
    moved = {name for name, value in network.named_parameters() if not torch.equal(value, weights[name])}
    assert moved
    assert all(name.startswith("p.") for name in moved)
    q_before, weights = prediction(), {name: value.clone() for name, value in network.named_parameters()}
    method.e_step(network, lesson, labels)
    assert prediction() < q_before
    moved = {name for name, value in network.named_parameters() if not torch.equal(value, weights[name])}
    assert moved
    assert all(name.startswith("q.") for name in moved)


def test_clamping_keeps_probabilities_where_nothing_is_known():
    probabilities = torch.tensor([[0.2, 0.8], [0.7, 0.3], [0.5, 0.5], [0.9, 0.1]])
    close(clamp(probabilities, KNOWN), torch.tensor([[0, 1], [0.7, 0.3], [0.5, 0.5], [1, 0]]))


@pytest.mark.parametrize("kind", [GMNN, CLGNN])
def test_the_answer_is_that_of_the_round_that_validated_best(kind):
    graph = homophilic()
    clf, val = quick(kind, epochs=30).fit(graph), graph.splits[0].val
    assert (clf.predict()[val] == graph.y[val]).mean() == pytest.approx(clf.history_["best_validation"])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (GMNN, {"rounds": 0}),
        (GMNN, {"temperature": 0.0}),
        (CLGNN, {"rounds": 0}),
        (CLGNN, {"samples": 0}),
        (CLGNN, {"given": 1.0}),
        (CLGNN, {"backbone": "cnn"}),
    ],
)
def test_settings_that_make_no_sense_are_refused(kind, settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        quick(kind, **settings).fit(homophilic())


def collective(graph, seed=0, rounds=2, **settings):
    method = CLGNN(hidden=6, rounds=rounds, samples=5, **settings)
    network = randomise(method.network(graph.num_features, 3), seed)
    network.rounds.fill_(rounds)
    return method, network


def dense_stage(stage, graph, labels):
    """A GCN of two layers on [X || one-hot labels], one label state at a time, averaged."""
    first, second = (layer.conv for layer in stage.stack.layers)
    weight = np.vstack([numbers(first.projection.weight), numbers(stage.labels.weight)])
    p, total = symmetric(dense_adjacency(graph), 1.0), 0.0
    for state in labels:
        hidden = relu(p @ np.hstack([graph.x, one_hot(state, 3)]) @ weight + numbers(first.bias))
        total = total + p @ hidden @ numbers(second.projection.weight) + numbers(second.bias)
    return total / len(labels)


@given(SEEDS, st.booleans(), st.integers(1, 4))
def test_a_round_is_the_mean_over_label_states_of_a_gnn_on_features_beside_labels(seed, weighted, states):
    graph = random_graph(seed, weighted=weighted)
    _, network = collective(graph, seed)
    labels = noisy_labels(seed, states)
    for stage in network.stages:
        close(stage(engine_of(graph), labels, None).detach(), dense_stage(stage, graph, labels.numpy()))


@given(SEEDS, st.integers(0, 3), st.integers(1, 6))
def test_the_answer_is_the_mean_over_states_drawn_from_round_to_round(seed, rounds, n_samples):
    graph, known = random_graph(seed), noisy_labels(seed, 1)[0]
    method, network = collective(graph, seed, rounds=max(rounds, 1))
    network.rounds.fill_(rounds)
    states = known[None]
    for number in range(rounds):
        probabilities = softmax(dense_stage(network.stages[number], graph, states.numpy()))
        states = sample(torch.from_numpy(probabilities), known, n_samples, 0, number)
        assert states.shape == (n_samples, 12)
    expected = softmax(dense_stage(network.stages[rounds], graph, states.numpy()))
    close(method.infer(network, engine_of(graph), known, n_samples).detach(), expected)


def test_states_follow_the_probabilities_and_known_labels_stand():
    probabilities = torch.tensor([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8], [0.6, 0.4, 0.0]])
    known = torch.tensor([MASKED, MASKED, 1, MASKED])
    states = sample(probabilities, known, 4000, 0, 0)
    frequencies = torch.nn.functional.one_hot(states, 3).double().mean(0)
    expected = probabilities.double()
    expected[2] = torch.tensor([0.0, 1.0, 0.0])
    assert (frequencies - expected).abs().max() < 5 * 0.5 / 4000**0.5
    assert torch.equal(frequencies[1:3], expected[1:3])
    assert not torch.equal(states, sample(probabilities, known, 4000, 0, 1))
    assert not torch.equal(states, sample(probabilities, known, 4000, 1, 0))


def test_in_training_a_label_that_is_asked_for_enters_no_input(monkeypatch):
    graph = homophilic()
    known = torch.from_numpy(np.where(graph.splits[0].train, graph.y, MASKED))
    seen, asked, truth = [], [], LabelledGNN.forward

    def watch(self, engine, labels, dropout):
        logits = truth(self, engine, labels, dropout)
        if torch.is_grad_enabled():
            seen.append(labels)
            logits.register_hook(lambda gradient: asked.append((gradient != 0).any(1)))
        return logits

    monkeypatch.setattr(LabelledGNN, "forward", watch)
    quick(CLGNN, epochs=20, rounds=1).fit(graph)
    assert len(seen) == len(asked) == 40
    for labels, targets in zip(seen[:20], asked[:20], strict=True):
        assert (labels[:, targets] == MASKED).all()
        given = (known != MASKED) & ~targets
        assert torch.equal(labels[0, given], known[given])
        assert 0 < targets.sum() < (known != MASKED).sum()
    assert (torch.stack(asked).any(0) == (known != MASKED)).all()
    for labels, targets in zip(seen[20:], asked[20:], strict=True):
        given = (known != MASKED) & ~targets
        assert (labels[:, given] == known[given]).all()
        assert (labels != MASKED).all()


@pytest.mark.parametrize("backbone", ["gat", "sage", "gat_sep"])
def test_other_backbones_learn_too(backbone):
    graph = homophilic()
    test = graph.splits[0].test
    clf = quick(CLGNN, backbone=backbone, rounds=1, samples=2, epochs=60).fit(graph)
    assert (clf.predict()[test] == graph.y[test]).mean() > 0.5
