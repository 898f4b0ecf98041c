"""The reader of features learns what the networks answer, and is heard beside them."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from redisc import Graph, ReDiSC, datasets, metrics
from redisc.clock import Clock
from redisc.em import EMConfig
from redisc.em.committee import train_committee
from redisc.em.generations import handed_down
from redisc.em.teaching import fit_reader
from redisc.errors import ConfigError
from redisc.nn import FeatureReader, Pooling
from redisc.nn.pooling import pooled

EPOCHS, DECAY = 6, 1e-3
POOLING = Pooling(0.6, hub_doubt=0.5)


def train(case, generations=1, epochs=EPOCHS, **settings):
    config = EMConfig(
        mean_field_epochs=epochs,
        mean_field_patience=epochs,
        mean_field_generations=generations,
        mean_field_reader_decay=DECAY,
        **settings,
    )
    return train_committee(case.model.mean_field, case.engine, case.problem, config, 0, Clock())


def read(case, answers):
    """Logits of a reader that was taught `answers` by hand."""
    features = case.engine.own_features
    reader = FeatureReader(features.shape[-1], case.problem.num_classes).double()
    fit_reader(reader, features, handed_down(answers, case.problem.known), DECAY)
    return reader(features)[0].detach()


def together(case, answers):
    """What networks that answer so and such a reader say together."""
    return pooled(answers, read(case, answers), POOLING.share(case.engine))


def test_the_fit_is_that_of_softmax_regression():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(80, 5)), generator.integers(0, 3, 80)
    features, reader = torch.from_numpy(x).unsqueeze(1), FeatureReader(5, 3).double()
    fit_reader(reader, features, torch.eye(3, dtype=torch.float64)[torch.from_numpy(y)], DECAY)
    z = (x - x.mean(0)) / x.std(0)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    oracle = LogisticRegression(C=1 / (2 * DECAY * len(x)), tol=1e-10, max_iter=10_000).fit(z, y)
    np.testing.assert_allclose(reader(features)[0].softmax(1).detach(), oracle.predict_proba(z), atol=1e-4)


def test_the_warm_start_is_what_networks_and_reader_say_together(bench):
    plain = train(bench(members=2)).probabilities
    case = bench(members=2, pooling=POOLING)
    found = train(case).probabilities
    assert torch.equal(case.engine.answers(case.model.mean_field), plain)
    torch.testing.assert_close(found, together(case, plain))
    assert not torch.allclose(found, plain)


def test_pupils_are_taught_what_both_say_together(bench, monkeypatch):
    both, lessons = train(bench(pooling=POOLING)).probabilities, []
    monkeypatch.setattr("redisc.em.committee.handed_down", lambda p, known: lessons.append(p) or handed_down(p, known))
    train(bench(pooling=POOLING), generations=2)
    assert len(lessons) == 1
    assert torch.equal(lessons[0], both)


def test_shares_of_classes_are_estimated_from_the_networks_alone_and_the_reader_learns_what_they_then_say(bench):
    settings = {"class_shares": "estimated", "mean_field_learning_rate": 0.1, "epochs": 40}
    case = bench()
    plain, read_too = train(case, **settings), train(bench(pooling=POOLING), **settings)
    assert plain.shift is not None
    assert torch.equal(plain.shift, read_too.shift)
    torch.testing.assert_close(read_too.probabilities, together(case, plain.probabilities))


FAST = {"hidden": 8, "iterations": 3, "queue_size": 2, "steps": 4, "mean_field_epochs": 30, "random_state": 0}


def fitted(**changed):
    graph = datasets.load("karate")
    split = graph.splits[0]
    return ReDiSC(**FAST, **changed).fit(graph, split.train, split.val), graph


@pytest.mark.parametrize("doubt", [0.0, 0.5])
def test_a_saved_model_keeps_its_reader(tmp_path, doubt):
    clf, graph = fitted(mean_field_reader=0.5, anchor=1.0, hub_doubt=doubt)
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(graph), clf.predict())
    assert np.array_equal(loaded.mean_field_proba(graph), clf.mean_field_proba())
    assert not np.array_equal(clf.mean_field_proba(), fitted(anchor=1.0)[0].mean_field_proba())
    other = graph.subgraph(np.arange(graph.num_nodes - 3))
    assert np.isfinite(loaded.mean_field_proba(other)).all()


def test_doubt_of_hubs_changes_the_warm_start_and_the_anchored_denoiser():
    settings = {"mean_field_reader": 0.5, "anchor": 1.0}
    certain, graph = fitted(**settings)
    doubting, _ = fitted(**settings, hub_doubt=1.0)
    engine, networks = doubting._engine, doubting._model.mean_field
    crowd = torch.from_numpy(1 + graph.degree / graph.degree.mean())[:, None]
    with torch.no_grad():
        expected = pooled(engine.answers(networks), networks.reader(engine.own_features)[0], 0.5 / crowd)
    np.testing.assert_allclose(doubting.mean_field_proba(), expected, rtol=1e-5)
    assert not np.allclose(doubting.mean_field_proba(), certain.mean_field_proba())
    assert doubting._engine._anchor.calm is not None
    assert certain._engine._anchor.calm is None


def test_without_a_reader_doubt_of_hubs_is_idle():
    plain, doubting = (fitted(anchor=1.0, hub_doubt=doubt)[0] for doubt in (0.0, 1.0))
    assert np.array_equal(plain.predict_proba(4), doubting.predict_proba(4))


def test_hops_are_left_to_the_networks():
    clf, graph = fitted(mean_field_reader=0.5, backbone="hops")
    assert np.array_equal(clf._engine.own_features.squeeze(1).numpy(), graph.x.astype(np.float32))


def test_a_recipes_reader_and_anchor_give_way_to_what_they_cannot_go_with():
    held_out = ReDiSC(recipe="amazon_photo-gcn", priority="train-cv").settings()
    assert held_out["anchor"] == 0
    assert held_out["mean_field_reader"] == 0.7
    in_parts = ReDiSC(recipe="amazon_photo-gcn", batch_size=100)
    in_parts.check()
    assert in_parts.settings()["mean_field_reader"] == 0
    assert ReDiSC(recipe="amazon_computers-gcn", batch_size=100).settings()["hub_doubt"] == 0


@pytest.mark.parametrize(
    "settings", [{"backbone": "hops"}, {"backbone": "gat", "heads": 2}, {"feature_scaling": "row"}]
)
def test_other_networks_have_readers_too(settings):
    clf, _ = fitted(mean_field_reader=0.5, **settings)
    assert np.allclose(clf.mean_field_proba().sum(1), 1)
    assert not np.array_equal(clf.mean_field_proba(), fitted(**settings)[0].mean_field_proba())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mean_field_reader": 1.0}, "mean_field_reader=1.0: it must be below 1"),
        ({"mean_field_reader": -0.1}, "mean_field_reader=-0.1: it must be 0 or more"),
        ({"mean_field_reader": 0.5, "mean_field_reader_decay": -1.0}, "mean_field_reader_decay=-1.0: it must be 0"),
        ({"mean_field_reader": 0.5, "hub_doubt": -1.0}, "hub_doubt=-1.0: it must be 0 or more"),
        ({"mean_field_reader": 0.5, "batch_size": 4}, "mean_field_reader needs the whole graph in an update"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        fitted(**settings)


def hub_among_strangers(seed=0, leaves=60):
    """Two communities with words of their own; a hub with the words of the first is joined to all of the second."""
    generator = np.random.default_rng(seed)
    y = np.r_[np.repeat([0, 1], leaves), 0]
    chance = np.where(np.arange(20) < 10, 0.5, 0.15)
    x = (generator.random((len(y), 20)) < np.where(y[:, None] == 0, chance, chance[::-1])).astype(np.float32)
    x[-1] = np.arange(20) < 16  # nearly every word, and all of its own class
    within = [generator.choice(leaves, (2, 3 * leaves)) + k * leaves for k in (0, 1)]
    hub = np.stack([np.full(leaves, len(y) - 1), np.arange(leaves, 2 * leaves)])
    return Graph(x=x, edge_index=np.concatenate([*within, hub], axis=1), y=y, directed=False)


def test_a_hub_that_is_not_what_its_neighbours_are_is_told_by_its_words():
    graph = hub_among_strangers()
    train, val = np.zeros((2, graph.num_nodes), bool)
    train[[0, 1, 2, 3, 60, 61, 62, 63]], val[[10, 11, 12, 70, 71, 72]] = True, True
    answers = {}
    for weight in (0.0, 0.7):
        settings = {**FAST, "mean_field_epochs": 100, "mean_field_reader": weight}
        clf = ReDiSC(**settings).fit(graph, train, val)
        answers[weight] = clf.classes_[clf.mean_field_proba().argmax(1)]
    assert answers[0.0][-1] == 1
    assert answers[0.7][-1] == 0
    test = ~train & ~val
    subgraphs = [metrics.subgraph_accuracy(graph, graph.y, answers[w], test, train) for w in (0.0, 0.7)]
    assert subgraphs[1] > subgraphs[0]
