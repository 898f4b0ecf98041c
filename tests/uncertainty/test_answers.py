"""Questions to a fitted model: sets, likelihoods, decoding; and what is refused."""

import numpy as np
import pytest

from examples import FAST
from redisc import Graph, ReDiSC, datasets
from redisc.baselines import LabelPropagation
from redisc.errors import ConfigError, LabelError, MaskError, NotFittedError

GRAPH = datasets.load("planted", nodes=400, classes=3, features=8, feature_noise=2.0, seed=1)
NODES = np.random.default_rng(0).permutation(400)
TRAIN, VAL, ASIDE, TEST = NODES[:60], NODES[60:120], NODES[120:240], NODES[240:]


@pytest.fixture(scope="module")
def clf():
    return ReDiSC(**FAST, random_state=0).fit(GRAPH, TRAIN, VAL)


def as_mask(nodes):
    return np.isin(np.arange(400), nodes)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("planted", {"nodes": 900, "feature_noise": 3.0}), ("minesweeper", {"rows": 30, "columns": 30}), ("digits", {})],
)
def test_sets_reach_their_coverage_on_nodes_that_were_held_out(name, parameters):
    """Coverage given the calibration nodes varies, as does its estimate on test nodes: both errors count."""
    alpha, graph = 0.1, datasets.load(name, **parameters)
    nodes = np.random.default_rng(0).permutation(graph.num_nodes)
    train, val, aside, test = np.split(nodes, [100, 200, 450])
    clf = ReDiSC(**{**FAST, "iterations": 20}, random_state=0).fit(graph, train, val)
    sets = clf.sets(alpha, aside, n_samples=4)
    error = np.sqrt(alpha * (1 - alpha) * (1 / len(test) + 1 / len(aside)))
    right = (clf.predict_proba(4).argmax(1) == np.searchsorted(clf.classes_, graph.y))[test].mean()
    assert sets.coverage(graph.y, test) > 1 - alpha - 3 * error
    assert sets.coverage(graph.y, test) < max(1 - alpha, right) + 3 * error  # not by sets that hold everything
    assert sets.calibration_size == len(aside)
    assert (sets.sizes[train] == 1).all()


def test_sets_without_a_mask_set_half_of_the_validation_nodes_aside(clf):
    sets = clf.sets(alpha=0.3, n_samples=4)
    assert sets.calibration_size == len(VAL) // 2
    copy, aside = clf._calibrated()
    assert not (aside & (copy.train_mask_ | copy.val_mask_)).any()
    assert (as_mask(VAL) == (aside | copy.val_mask_)).all()
    assert clf.sets(alpha=0.3, n_samples=4).threshold == sets.threshold  # the copy is fitted once
    assert clf._calibrated()[0] is copy


def test_nodes_that_the_fit_has_seen_calibrate_nothing(clf):
    for seen in (TRAIN, VAL):
        with pytest.raises(MaskError, match="the fit has seen"):
            clf.sets(calibration_mask=np.concatenate([ASIDE, seen[:1]]))


def test_a_loaded_model_and_a_copy_of_the_graph_remember_whom_the_fit_has_seen(clf, tmp_path):
    clf.save(tmp_path / "model")
    copy = Graph(x=GRAPH.x, edge_index=GRAPH.edge_index(), y=GRAPH.y)
    for asked in (clf, ReDiSC.load(tmp_path / "model")):
        with pytest.raises(MaskError, match="the fit has seen"):
            asked.sets(calibration_mask=VAL, graph=copy)


def test_sets_of_another_graph_need_nodes_of_that_graph(clf):
    other = datasets.load("planted", nodes=400, classes=3, features=8, feature_noise=2.0, seed=2)
    with pytest.raises(MaskError, match="another graph"):
        clf.sets(graph=other)
    known = np.where(np.arange(400) < 100, other.y, -1)
    sets = clf.sets(0.3, np.arange(200), labels=known, n_samples=2, graph=other)  # the fit has seen none of them
    assert sets.calibration_size == 200


def test_calibration_labels_are_hidden_from_the_model(clf):
    """A call that is given the calibration labels as known ones builds the same sets as one that is not."""
    known = clf.known_.copy()
    known[ASIDE] = GRAPH.y[ASIDE]
    given = clf.sets(calibration_mask=ASIDE, n_samples=4, labels=known)
    assert np.array_equal(np.asarray(given), np.asarray(clf.sets(calibration_mask=ASIDE, n_samples=4)))


def test_a_loaded_model_needs_a_mask_and_gives_the_same_sets(clf, tmp_path):
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    with pytest.raises(NotFittedError, match="calibration_mask"):
        loaded.sets()
    mine, theirs = clf.sets(calibration_mask=ASIDE, n_samples=4), loaded.sets(0.1, ASIDE, n_samples=4, graph=GRAPH)
    assert np.array_equal(np.asarray(mine), np.asarray(theirs))


def test_every_method_has_sets():
    sets = LabelPropagation().fit(GRAPH, TRAIN, VAL).sets(0.2, ASIDE)
    assert sets.coverage(GRAPH.y, TEST) > 0.7


def test_the_true_labels_are_more_probable_than_shuffled_ones(clf):
    shuffled = GRAPH.y.copy()
    unknown = clf.known_ < 0
    shuffled[unknown] = np.random.default_rng(0).permutation(shuffled[unknown])
    for method, samples in (("elbo", 8), ("chain-rule", 2)):
        true, false = (clf.log_likelihood(y, method=method, n_samples=samples) for y in (GRAPH.y, shuffled))
        assert float(true) > float(false)
        assert true.nodes == unknown.sum()


@pytest.mark.parametrize("decode", ["sample", "confident", "best-of-n"])
def test_every_decoding_keeps_known_labels_and_repeats_itself(clf, decode):
    first, second = (clf.predict(decode=decode, n_samples=4) for _ in range(2))
    assert (first == second).all()
    known = clf.known_
    assert (first[known >= 0] == known[known >= 0]).all()


def test_what_makes_no_sense_is_refused_in_one_sentence(clf):
    gap, against = GRAPH.y.copy(), GRAPH.y.copy()
    gap[TEST[0]] = -1
    against[TRAIN[0]] = (against[TRAIN[0]] + 1) % 3
    with pytest.raises(LabelError, match=f"node {TEST[0]} has no label"):
        clf.log_likelihood(gap)
    with pytest.raises(LabelError, match=f"node {TRAIN[0]} is known to be"):
        clf.log_likelihood(against)
    with pytest.raises(ConfigError, match="elbo, chain-rule"):
        clf.log_likelihood(GRAPH.y, method="exact")
    with pytest.raises(ConfigError, match="best-of-n"):
        clf.predict(decode="greedy")
    for nodes, fault in (([400], "400"), ([1, 1], "twice"), ([0.5], "numbers"), ([], "numbers")):
        with pytest.raises(MaskError, match=fault):
            clf.joint_proba(nodes)
    with pytest.raises(MaskError, match="400"):
        GRAPH.neighbourhood(400)
    for wrong in ({"groups": 0}, {"n_samples": 0}, {"top": 0}, {"reach": -1}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            clf.drivers([int(TEST[0])], **wrong)
    with pytest.raises(MaskError, match="asked about"):
        clf.drivers([int(TEST[0])], n_samples=1, groups=1).of(int(TEST[1]))


def test_a_neighbourhood_is_a_node_and_its_neighbours():
    node = int(GRAPH.degree.argmax())
    beside = GRAPH.indices[GRAPH.indptr[node] : GRAPH.indptr[node + 1]]
    assert GRAPH.neighbourhood(node).tolist() == [node, *beside.tolist()]
