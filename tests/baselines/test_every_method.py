"""What every baseline promises, whatever its mathematics."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from baselines.quick import heterophilic, homophilic, quick
from examples import random_graph
from redisc import Graph, datasets
from redisc.baselines import BASELINES, MLP, Baseline, NeuralBaseline
from redisc.errors import CheckpointError, ConfigError, FeatureError, NotFittedError
from redisc.methods import METHODS, load_model

TRAINED = [kind for kind in BASELINES if issubclass(kind, NeuralBaseline)]
SEEING = [kind for kind in BASELINES if kind is not MLP]
"""Those that look at edges, without which these graphs can't be learnt: the karate club's features are its nodes."""
HETEROPHILIC = [kind for kind in BASELINES if kind.heterophilic]


def each(kinds):
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.name)


def majority(graph: Graph) -> float:
    """Test accuracy of always saying the commonest training label."""
    split = graph.splits[0]
    return float((graph.y[split.test] == np.bincount(graph.y[split.train]).argmax()).mean())


def accuracy(clf: Baseline, graph: Graph) -> float:
    return clf.score(graph, mask=graph.splits[0].test)


def brief(kind: type[Baseline]) -> Baseline:
    """The method after a few updates: for promises that do not depend on how well it learns."""
    return quick(kind, **({"epochs": 5} if issubclass(kind, NeuralBaseline) else {}))


@each(SEEING)
def test_learns_a_homophilic_graph(kind):
    graph = homophilic()
    assert accuracy(quick(kind).fit(graph), graph) > majority(graph) + 0.25


def test_features_alone_beat_the_majority():
    graph = homophilic()
    assert accuracy(quick(MLP).fit(graph), graph) > majority(graph) + 0.1


@each(TRAINED)
def test_is_better_than_before_training(kind):
    graph = homophilic()
    assert accuracy(quick(kind).fit(graph), graph) > accuracy(quick(kind).fit(graph, max_time=0), graph)


@each([kind for kind in BASELINES if kind not in TRAINED])
def test_is_better_than_without_known_labels(kind):
    graph = homophilic()
    clf, test = quick(kind).fit(graph), graph.splits[0].test
    nothing = clf.predict(graph, np.full(graph.num_nodes, -1))
    assert accuracy(clf, graph) > (nothing == graph.y)[test].mean()


@each(SEEING)
def test_learns_the_karate_club(kind):
    graph = datasets.load("karate")
    assert accuracy(quick(kind).fit(graph), graph) > majority(graph) + 0.1


@each(HETEROPHILIC)
def test_learns_a_heterophilic_graph_where_it_claims_to(kind):
    graph = heterophilic()
    suited = {"backbone": "sage"} if hasattr(kind, "backbone") else {}
    assert accuracy(quick(kind, **suited).fit(graph), graph) > majority(graph) + 0.2


@each(BASELINES)
def test_one_seed_gives_the_same_bits_and_leaves_ambient_randomness_alone(kind):
    graph, ambient = homophilic(), torch.get_rng_state()
    numpy_ambient = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (brief(kind).fit(graph).predict_proba(4) for _ in range(2))
    assert np.array_equal(first, second)
    assert torch.equal(ambient, torch.get_rng_state())
    assert np.array_equal(numpy_ambient, np.random.get_state()[1])  # noqa: NPY002


@each(BASELINES)
def test_test_labels_do_not_leak(kind):
    graph = homophilic()
    split = graph.splits[0]
    shuffled = graph.y.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])
    changed = graph.with_labels(shuffled)
    first, second = (brief(kind).fit(g, split.train, split.val).predict_proba(4) for g in (graph, changed))
    assert np.array_equal(first, second)


@each(BASELINES)
def test_probabilities_are_probabilities_and_known_labels_stand(kind):
    graph = homophilic()
    clf, train = brief(kind).fit(graph), graph.splits[0].train
    probabilities = clf.predict_proba(4)
    assert probabilities.shape == (graph.num_nodes, 3)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)
    assert (clf.predict()[train] == graph.y[train]).all()
    assert (probabilities[train, graph.y[train]] == 1).all()


@each(BASELINES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_isolated_nodes_and_edge_weights_are_fine(kind, weighted):
    graph = random_graph(1, nodes=40, edges=30, weighted=weighted)
    assert (np.diff(graph.indptr) == 0).any()
    train = np.arange(40) < 15
    probabilities = brief(kind).fit(graph, train).predict_proba(4)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)


@each(BASELINES)
def test_a_graph_without_edges_is_fine(kind):
    rng = np.random.default_rng(0)
    graph = Graph(x=rng.normal(size=(30, 4)), edge_index=np.empty((2, 0), dtype=np.int64), y=np.arange(30) % 3)
    assert np.isfinite(brief(kind).fit(graph, np.arange(30) < 15).predict_proba(4)).all()


@each(BASELINES)
def test_save_and_load(kind, tmp_path):
    graph = homophilic()
    clf = brief(kind).fit(graph)
    clf.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert type(loaded) is kind
    assert np.array_equal(loaded.predict_proba(4, graph=graph), clf.predict_proba(4))
    assert np.array_equal(loaded.predict(graph), clf.predict())
    with pytest.raises(NotFittedError, match="holds no graph"):
        loaded.predict()
    other = next(k for k in BASELINES if k is not kind)
    with pytest.raises(CheckpointError, match="holds a model of method"):
        other.load(tmp_path / "model")


@each(BASELINES)
def test_answers_on_another_graph(kind):
    graph, other = homophilic(), datasets.load("csbm", nodes=120, classes=3, homophily=0.85, mean_degree=8, seed=9)
    clf = quick(kind).fit(graph)
    labels = np.where(np.arange(120) < 60, other.y, -1)
    answer = clf.predict(other, labels)
    assert answer.shape == (120,)
    assert (answer[:60] == other.y[:60]).all()


@each(BASELINES)
def test_wrong_input_is_one_clear_sentence(kind):
    graph = homophilic()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        quick(kind).predict()
    clf = brief(kind).fit(graph)
    narrower = Graph(x=np.zeros((5, 2)), edge_index=np.array([[0], [1]]), y=np.zeros(5, dtype=np.int64))
    with pytest.raises(FeatureError, match="fitted to 16 features"):
        clf.predict(narrower)
    with pytest.raises(ConfigError, match="metric"):
        quick(kind, metric="speed").fit(graph)
    with pytest.raises(ConfigError, match="n_samples"):
        clf.predict_proba(0)


@each(TRAINED)
@pytest.mark.parametrize(("name", "value"), [("hidden", 0), ("dropout", 1.0), ("learning_rate", -1.0), ("epochs", "x")])
def test_a_setting_that_makes_no_sense_is_refused(kind, name, value):
    with pytest.raises(ConfigError, match=name):
        quick(kind, **{name: value}).fit(homophilic())


@each(BASELINES)
def test_is_described_and_can_be_cloned(kind):
    assert METHODS[kind.name] is kind
    assert kind.family in ("propagation", "gnn", "heterophily", "diffusion", "structured")
    assert kind.cost.startswith("O(")
    assert any(str(year) in kind.citation for year in range(1990, 2027)), kind.citation
    assert kind.__doc__
    assert clone(quick(kind)).get_params() == quick(kind).get_params()
