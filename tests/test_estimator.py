"""ReDiSC as users hold it: fitting, predicting, sampling, and what it says of wrong input."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.base
import torch
from sklearn.utils.validation import check_is_fitted
from torch_geometric.nn import GCNConv

from examples import FAST, random_graph
from redisc import Graph, ReDiSC, datasets, metrics
from redisc.baselines import LabelPropagation
from redisc.diffusion import LabelledFirst, ReverseProcess, Schedule
from redisc.em import draw_samples
from redisc.errors import ConfigError, FeatureError, LabelError, LengthError, MaskError, NotFittedError
from redisc.nn import members_of
from redisc.seeds import derive_seed
from redisc.task import make_task

NODES, TRAIN, VAL = 40, np.arange(16), np.arange(16, 28)
TINY = {**FAST, "iterations": 4, "mean_field_epochs": 4, "evaluate_every": 2, "warm_iterations": 0, "e_step_every": 2}
GRAPH = random_graph(0, nodes=NODES, edges=80)


def fit(graph=GRAPH, train=TRAIN, val=VAL, **settings):
    return ReDiSC(**{**TINY, "random_state": 0, **settings}).fit(graph, train, val)


def flat(clf):
    networks = clf._model.denoiser, clf._model.mean_field
    return torch.cat([p.detach().flatten() for network in networks for p in network.parameters()])


def unlabelled(value=-1):
    return np.full(NODES, value)


@pytest.fixture(scope="module")
def clf():
    return ReDiSC(**FAST, random_state=0).fit(GRAPH, TRAIN, VAL)


# Known labels


def test_known_labels_are_kept_by_predictions_and_samples(clf):
    assert (clf.predict()[TRAIN] == GRAPH.y[TRAIN]).all()
    assert (clf.sample(8, temperature=5.0)[:, TRAIN] == GRAPH.y[TRAIN]).all()
    assert np.array_equal(np.flatnonzero(clf.known_ != -1), TRAIN)
    assert np.array_equal(clf.known_[TRAIN], GRAPH.y[TRAIN])


def test_labels_replace_what_is_known_for_one_call(clf):
    labels = unlabelled()
    labels[20:30] = (GRAPH.y[20:30] + 1) % 3
    samples = clf.sample(30, labels=labels, temperature=3.0)
    assert (samples[:, 20:30] == labels[20:30]).all()
    assert (samples[:, TRAIN] != GRAPH.y[TRAIN]).any(0).all()
    assert (clf.predict(labels=labels)[20:30] == labels[20:30]).all()
    assert np.array_equal(clf.predict_proba(2, labels=labels)[20:30], np.eye(3)[labels[20:30]])
    assert (clf.predict()[TRAIN] == GRAPH.y[TRAIN]).all()


def test_labels_that_are_all_known_come_back_as_they_are(clf):
    labels = np.arange(NODES) % 3
    assert np.array_equal(clf.predict(labels=labels), labels)
    assert np.array_equal(clf.predict_proba(2, labels=labels), np.eye(3)[labels])


def test_new_labels_change_what_is_said_of_other_nodes(clf):
    told = unlabelled()
    told[TRAIN] = (GRAPH.y[TRAIN] + 1) % 3
    assert not np.array_equal(clf.predict_proba(4, labels=told)[28:], clf.predict_proba(4)[28:])


@pytest.mark.parametrize("labels", [None, "some"])
def test_samples_are_those_of_a_reverse_process_that_knows_these_labels(clf, labels):
    known = unlabelled() if labels else np.where(np.arange(NODES) < 16, GRAPH.y, -1)
    if labels:
        known[[3, 33]] = 1
    model = clf._model
    engine = model.engine(GRAPH)
    process = ReverseProcess(
        engine.denoise(model.denoiser),
        model.blueprint.schedule,
        LabelledFirst(),
        torch.from_numpy(known),
        derive_seed(0, "sample 7"),
        0.8,
    )
    expected = process.run(10).numpy()
    sampled = clf.sample(10, labels=known if labels else None, temperature=0.8, random_state=7)
    assert np.array_equal(sampled, expected)
    assert torch.equal(draw_samples(process, torch.arange(10), 3).labels, process.run(10))


def test_labels_of_strangers_and_of_wrong_length_are_refused(clf):
    with pytest.raises(LabelError, match=r"node 2 has label 9, but the model knows \[0, 1, 2\]"):
        clf.predict(labels=np.where(np.arange(NODES) == 2, 9, -1))
    with pytest.raises(LengthError, match="3 entries"):
        clf.sample(labels=[0, 1, -1])
    with pytest.raises(LabelError, match="float64"):
        clf.predict_proba(labels=np.full(NODES, np.nan))


# Repetition


def test_repeated_predictions_agree(clf):
    assert np.array_equal(clf.predict(), clf.predict())
    assert np.array_equal(clf.predict(), clf.predict(GRAPH))
    assert np.array_equal(clf.predict_proba(5), clf.predict_proba(5))
    assert np.array_equal(clf.sample(4), clf.sample(4))


@pytest.mark.parametrize("few", [1, 3, 8, 9])
def test_the_first_of_many_samples_are_those_of_few(clf, few):
    assert np.array_equal(clf.sample(few), clf.sample(17)[:few])


def test_samples_differ_among_themselves_and_between_random_states(clf):
    samples = clf.sample(20, temperature=2.0)
    assert len(np.unique(samples, axis=0)) == 20
    assert not np.array_equal(samples, clf.sample(20, temperature=2.0, random_state=1))


def test_a_low_temperature_makes_samples_alike(clf):
    assert len(np.unique(clf.sample(20, temperature=0.0)[:, 28:], axis=0)) <= len(
        np.unique(clf.sample(20, temperature=2.0)[:, 28:], axis=0)
    )
    spread = [np.mean(clf.sample(20, temperature=h) != clf.predict()) for h in (0.1, 1.0, 10.0)]
    assert spread == sorted(spread)
    with pytest.raises(ConfigError, match="temperature"):
        clf.sample(temperature=-1.0)


@pytest.mark.parametrize("temperature", [0.02, 1.0, 5.0])
def test_predictions_on_validation_nodes_score_the_best_of_the_history(temperature):
    clf = fit(evaluation_temperature=temperature, iterations=12)
    assert clf.score(mask=VAL) == clf.history_["best_validation"]
    assert clf.history_["best_validation"] == max(clf.history_["validation"])


# Probabilities


def test_probabilities_are_rows_of_a_distribution_and_certain_of_known_nodes(clf):
    proba = clf.predict_proba(6)
    assert proba.shape == (NODES, 3)
    assert proba.sum(1) == pytest.approx(np.ones(NODES))
    assert np.array_equal(proba[TRAIN], np.eye(3)[GRAPH.y[TRAIN]])
    rest = np.setdiff1d(np.arange(NODES), TRAIN)
    assert (proba[rest] > 0).all()
    assert (proba[rest] < 1).all()


def test_probabilities_are_the_frequencies_of_many_samples(clf):
    votes = np.eye(3)[clf.sample(800)].mean(0)
    assert np.abs(votes - clf.predict_proba(100)).max() < 0.09


def test_mean_field_probabilities_are_rows_of_a_distribution(clf):
    proba = clf.mean_field_proba()
    assert proba.shape == (NODES, 3)
    assert proba.sum(1) == pytest.approx(np.ones(NODES), abs=1e-5)
    accuracy = (proba.argmax(1) == GRAPH.y)[VAL].mean()
    assert accuracy == pytest.approx(clf.history_["mean_field_validation"])


@pytest.mark.parametrize("call", [lambda c: c.sample(0), lambda c: c.predict_proba(0)])
def test_asking_for_no_sample_is_an_error(clf, call):
    with pytest.raises(ConfigError, match="at least one"):
        call(clf)


# Scores


def test_the_score_counts_labelled_nodes_that_are_not_known(clf):
    rest = np.setdiff1d(np.arange(NODES), TRAIN)
    assert clf.score() == pytest.approx((clf.predict() == GRAPH.y)[rest].mean())
    assert clf.score(mask=[28, 29]) == pytest.approx((clf.predict() == GRAPH.y)[28:30].mean())
    told = np.where(np.arange(NODES) < 30, GRAPH.y, -1)
    assert clf.score(labels=told) == pytest.approx((clf.predict(labels=told) == GRAPH.y)[30:].mean())


def test_the_verdict_names_metric_and_gain(clf):
    before, after = clf.history_["mean_field_validation"], clf.history_["best_validation"]
    assert (
        clf.verdict() == f"validation accuracy: mean-field GNN {before:.4f}, ReDiSC {after:.4f} ({after - before:+.4f})"
    )


# Classes


def test_class_values_that_are_not_a_range_come_back_as_such():
    values = np.array([3, 7, 10])
    plain = fit()
    named = fit(GRAPH.with_labels(values[GRAPH.y]))
    assert named.classes_.tolist() == [3, 7, 10]
    assert np.array_equal(named.predict(), values[plain.predict()])
    assert np.array_equal(named.sample(3), values[plain.sample(3)])
    assert np.array_equal(named.predict_proba(2), plain.predict_proba(2))
    assert set(named.known_.tolist()) == {-1, 3, 7, 10}
    labels = unlabelled()
    labels[5] = 10
    assert named.predict(labels=labels)[5] == 10
    with pytest.raises(LabelError, match="label 1,"):
        named.predict(labels=unlabelled(1))


def test_a_class_without_a_training_node_warns_and_gets_a_column():
    y = np.where(np.arange(NODES) < 16, GRAPH.y % 2, GRAPH.y)
    with pytest.warns(UserWarning, match="no training node has class 2"):
        clf = fit(GRAPH.with_labels(y))
    assert clf.predict_proba(1).shape == (NODES, 3)


def test_a_single_class_is_predicted_everywhere():
    clf = fit(GRAPH.with_labels(unlabelled(5)))
    assert (clf.predict() == 5).all()
    assert np.array_equal(clf.predict_proba(2), np.ones((NODES, 1)))


def test_the_mean_of_balanced_weights_equals_the_mapping_it_stands_for():
    counts = np.bincount(GRAPH.y[TRAIN])
    mapping = {c: counts.sum() / (3 * counts[c]) for c in range(3)}
    assert len(set(counts.tolist())) > 1
    balanced = fit(class_weight="balanced")
    assert torch.equal(flat(balanced), flat(fit(class_weight=mapping)))
    assert not torch.equal(flat(balanced), flat(fit()))
    assert not torch.allclose(flat(balanced), flat(fit(class_weight={0: 3.0})))


def test_a_heavy_class_is_given_more_probability_by_both_networks():
    # One epoch and one look, so that validation has nothing to choose from.
    settings = {"mean_field_epochs": 1, "mean_field_learning_rate": 0.1, "iterations": 20, "evaluate_every": 20}
    light, heavy = (fit(class_weight=w, dropout=0.0, input_dropout=0.0, **settings) for w in ({1: 0.05}, {1: 20.0}))
    assert heavy.mean_field_proba()[28:, 1].mean() > light.mean_field_proba()[28:, 1].mean() + 0.1
    assert heavy.predict_proba(4)[28:, 1].mean() > light.predict_proba(4)[28:, 1].mean() + 0.1


# Metrics and clamping


@pytest.mark.parametrize("metric", ["roc_auc", "balanced_accuracy"])
def test_the_history_is_that_of_the_chosen_metric(metric):
    clf = fit(metric=metric, iterations=20, evaluate_every=4)
    if metric == "balanced_accuracy":
        expected = metrics.balanced_accuracy(GRAPH.y, clf.predict(), VAL)
    else:
        sampled = clf._draw(None, None, 1, clf.evaluation_temperature, "evaluation")
        expected = metrics.roc_auc(GRAPH.y, sampled.probabilities.numpy(), VAL)
    assert clf.history_["best_validation"] == pytest.approx(expected)
    assert clf.verdict().startswith(f"validation {metric.replace('_', ' ')}")
    assert clf.history_["validation"] != fit(iterations=20, evaluate_every=4).history_["validation"]


def test_an_undefined_metric_is_refused_before_training():
    y = np.where(np.arange(NODES) < 16, GRAPH.y, 1)
    with pytest.raises(ConfigError, match="roc_auc"):
        fit(GRAPH.with_labels(y), metric="roc_auc")


def test_clamping_validation_nodes_changes_predictions_but_not_the_fit():
    clamped, plain = fit(clamp="train+val"), fit()
    assert torch.equal(flat(clamped), flat(plain))
    assert clamped.history_["validation"] == plain.history_["validation"]
    assert np.array_equal(np.flatnonzero(clamped.known_ != -1), np.arange(28))
    assert (clamped.predict()[VAL] == GRAPH.y[VAL]).all()
    assert (plain.predict()[VAL] != GRAPH.y[VAL]).any()


# Other graphs


def test_another_graph_is_predicted_with_nothing_known(clf):
    other = random_graph(5, nodes=NODES, edges=70)
    assert np.array_equal(clf.predict(other), clf.predict(other, labels=unlabelled()))
    assert (clf.predict(other)[TRAIN] != GRAPH.y[TRAIN]).any()
    small = random_graph(6, nodes=9, edges=12)
    assert clf.predict(small).shape == (9,)
    assert clf.sample(3, graph=small).shape == (3, 9)
    assert clf.predict_proba(2, graph=small).sum(1) == pytest.approx(np.ones(9))
    assert clf.mean_field_proba(small).shape == (9, 3)
    assert clf.predict(small, labels=[2] + [-1] * 8)[0] == 2
    assert clf.score(small) == pytest.approx((clf.predict(small) == small.y).mean())


def test_the_fitted_graph_is_recognised_by_its_contents(clf):
    again = random_graph(0, nodes=NODES, edges=80).with_labels(unlabelled())
    assert again is not GRAPH
    assert np.array_equal(clf.predict(again), clf.predict())


def test_a_graph_with_other_features_is_refused(clf):
    with pytest.raises(FeatureError, match=r"fitted to 5 features; this graph has 4"):
        clf.predict(random_graph(0, nodes=NODES, features=4))


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gat_sep"])
def test_edge_weights_matter_to_every_backbone(backbone):
    graph = random_graph(0, nodes=NODES, edges=80, weighted=True)
    rng = np.random.default_rng(1)
    upper = graph.edge_index()[:, graph.edge_index()[0] < graph.edge_index()[1]]
    other = Graph(x=graph.x, edge_index=upper, y=graph.y, edge_weight=rng.uniform(0.1, 9, upper.shape[1]))
    clf = fit(graph, backbone=backbone)
    assert np.abs(clf.mean_field_proba(other) - clf.mean_field_proba()).max() > 1e-3
    assert (
        np.abs(clf.predict_proba(4, graph=other, labels=unlabelled()) - clf.predict_proba(4, labels=unlabelled())).max()
        > 1e-3
    )


# Odd graphs


ODD = {
    "no features": Graph(edge_index=GRAPH.edge_index(), y=GRAPH.y),
    "no edges": Graph(x=GRAPH.x, edge_index=None, y=GRAPH.y),
    "isolated nodes": Graph(x=GRAPH.x, edge_index=[[0, 1], [1, 2]], y=GRAPH.y),
    "two components": Graph(x=GRAPH.x, edge_index=[[0, 1, 20, 21], [1, 2, 21, 22]], y=GRAPH.y),
    "one edge between all": Graph(x=np.zeros((NODES, 1)), edge_index=[[0], [39]], y=GRAPH.y),
}


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gat_sep"])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_are_fitted_and_completed(name, backbone):
    clf = fit(ODD[name], backbone=backbone)
    assert np.isin(clf.predict(), [0, 1, 2]).all()
    assert (clf.predict()[TRAIN] == GRAPH.y[TRAIN]).all()
    assert np.isfinite(clf.predict_proba(2)).all()
    assert torch.isfinite(flat(clf)).all()


def test_all_nodes_labelled_need_no_mask():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = ReDiSC(**TINY, random_state=0).fit(GRAPH)
    assert 0 < clf.val_mask_.sum() < clf.train_mask_.sum()
    assert np.array_equal(clf.predict(), GRAPH.y)
    all_known = fit(train=np.arange(20), val=np.arange(20, NODES), clamp="train+val")
    assert np.array_equal(all_known.predict(), GRAPH.y)


def test_without_validation_nodes_a_part_is_held_out_from_the_fit_but_kept_in_predictions():
    clf = fit(val=None)
    held_out = np.flatnonzero(clf.val_mask_)
    assert 1 <= len(held_out) <= 6
    assert set(np.union1d(held_out, np.flatnonzero(clf.train_mask_))) == set(TRAIN)
    assert set(GRAPH.y[clf.train_mask_]) == set(GRAPH.y[TRAIN])
    assert np.array_equal(clf.known_[TRAIN], GRAPH.y[TRAIN])
    fitted_on = np.where(clf.train_mask_, GRAPH.y, -1)
    assert clf.score(labels=fitted_on, mask=held_out) == clf.history_["best_validation"]


def test_where_nothing_could_be_held_out_no_gain_is_claimed(tmp_path):
    one_of_each = [int(np.flatnonzero(GRAPH.y == label)[0]) for label in np.unique(GRAPH.y)]
    for kind, words in ((ReDiSC, "what joint modelling gained"), (LabelPropagation, "how good")):
        settings = TINY if kind is ReDiSC else {}
        with pytest.warns(UserWarning, match="too few training nodes"):
            clf = kind(**settings, random_state=0).fit(GRAPH, one_of_each)
        assert clf.verdict().startswith(f"no training node was held out for validation, so {words}")
        assert not any(digit in clf.verdict() for digit in "0123456789")
        clf.save(tmp_path / clf.name)
        assert kind.load(tmp_path / clf.name).verdict() == clf.verdict()


def test_sparse_features_are_fitted_too():
    sparse = Graph(x=scipy.sparse.csr_array(np.eye(NODES)), edge_index=GRAPH.edge_index(), y=GRAPH.y)
    dense = Graph(x=np.eye(NODES), edge_index=GRAPH.edge_index(), y=GRAPH.y)
    assert np.array_equal(fit(sparse).predict(), fit(dense).predict())
    with pytest.raises(ConfigError, match="feature_scaling"):
        fit(sparse, feature_scaling="standard")


@pytest.mark.parametrize("scaling", ["row", "standard"])
def test_feature_scaling_is_used_and_measured_on_the_fitted_graph(scaling):
    clf = fit(feature_scaling=scaling)
    assert not torch.equal(flat(clf), flat(fit()))
    stretched = Graph(x=GRAPH.x * 7.0, edge_index=GRAPH.edge_index(), y=GRAPH.y)
    same = np.allclose(clf.mean_field_proba(stretched), clf.mean_field_proba(), atol=1e-5)
    assert same == (scaling == "row")


# scikit-learn's manners


def test_parameters_can_be_read_set_and_cloned():
    clf = ReDiSC("sage", hidden=32, class_weight={0: 2.0})
    params = clf.get_params()
    assert params["backbone"] == "sage"
    assert params["hidden"] == 32
    twin = sklearn.base.clone(clf)
    assert twin is not clf
    assert twin.get_params() == params
    assert clf.set_params(hidden=8, gate="scalar") is clf
    assert (clf.hidden, clf.gate) == (8, "scalar")
    with pytest.raises(ValueError, match="hiden"):
        clf.set_params(hiden=8)
    with pytest.raises(TypeError, match="hiden"):
        ReDiSC(hiden=8)


def test_a_clone_of_a_fitted_model_is_unfitted_and_fits_alike(clf):
    twin = sklearn.base.clone(clf)
    with pytest.raises(NotFittedError):
        twin.predict()
    assert torch.equal(flat(twin.fit(GRAPH, TRAIN, VAL)), flat(clf))


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.predict(),
        lambda c: c.predict(GRAPH),
        lambda c: c.sample(),
        lambda c: c.predict(decode="best-of-n"),
        lambda c: c.predict_proba(),
        lambda c: c.sets(),
        lambda c: c.sets(calibration_mask=[0]),
        lambda c: c.log_likelihood(GRAPH.y),
        lambda c: c.joint_proba([0, 1]),
        lambda c: c.drivers(),
        lambda c: c.trace(),
        lambda c: c.mean_field_proba(),
        lambda c: c.score(),
        lambda c: c.known_,
        lambda c: c.verdict(),
        lambda c: c.save("nowhere"),
        check_is_fitted,
    ],
)
def test_an_unfitted_model_says_so(use):
    with pytest.raises(sklearn.exceptions.NotFittedError, match="fit"):
        use(ReDiSC())


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("backbone", "gnc"),
        ("hidden", 0),
        ("layers", 0),
        ("dropout", 1.0),
        ("normalisation", "batch"),
        ("gate", "matrix"),
        ("feature_scaling", "max"),
        ("schedule", "cosinus"),
        ("steps", 0),
        ("iterations", 0),
        ("objective", "elbo"),
        ("priority", "test"),
        ("e_step_routing", "random"),
        ("queue_temperature", 0.0),
        ("mean_field_temperature", 0.0),
        ("evaluation_temperature", -1.0),
        ("e_step_temperature", -1.0),
        ("learning_rate", 0.0),
        ("metric", "f1"),
        ("class_weight", "even"),
        ("class_weight", {9: 1.0}),
        ("class_shares", "even"),
        ("clamp", "all"),
        ("mean_field_architecture", "gcn"),
        ("dtype", "float16"),
        ("device", "abacus"),
        ("random_state", "zero"),
    ],
)
def test_an_unknown_setting_is_refused_by_name_before_any_training(setting, value, monkeypatch):
    monkeypatch.setattr("redisc.em.Trainer.fit", lambda *_: pytest.fail("training began"))
    name = "routing" if setting == "e_step_routing" else setting
    with pytest.raises(ConfigError, match=name):
        fit(**{setting: value})


def test_a_failed_fit_leaves_the_older_one_in_place():
    clf = fit()
    before = clf.predict()
    clf.set_params(hidden=0)
    with pytest.raises(ConfigError):
        clf.fit(GRAPH, TRAIN, VAL)
    assert np.array_equal(clf.predict(), before)


@pytest.mark.parametrize(
    ("train", "val", "fault"),
    [
        (np.full(NODES, np.nan), VAL, MaskError),
        (TRAIN, TRAIN, MaskError),
        (np.ones(3, dtype=bool), VAL, LengthError),
        ([], VAL, MaskError),
        (np.ones((NODES, 2), dtype=bool), VAL, MaskError),
    ],
)
def test_odd_masks_surface_as_named_errors(train, val, fault):
    with pytest.raises(fault):
        fit(train=train, val=val)


def test_features_with_nan_are_refused():
    x = GRAPH.x.copy()
    x[3, 1] = np.nan
    with pytest.raises(FeatureError):
        fit(Graph(x=x, edge_index=GRAPH.edge_index(), y=GRAPH.y))


def test_float64_is_used_where_asked_for():
    assert flat(fit(dtype="float64")).dtype == torch.float64
    assert flat(fit()).dtype == torch.float32


def test_a_verbose_fit_shows_phases_and_the_verdict(capsys):
    clf = fit(verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "mean-field GNN" in shown.err
    assert clf.verdict() in " ".join(shown.err.split())
    fit()
    assert capsys.readouterr().err == ""


def test_time_that_is_over_ends_a_fit_with_a_usable_model():
    clf = ReDiSC(**TINY, random_state=0).fit(GRAPH, TRAIN, VAL, max_time=0.0)
    assert clf.history_["stopped_by"] == "max_time"
    assert (clf.predict()[TRAIN] == GRAPH.y[TRAIN]).all()


def test_an_interrupted_fit_gives_a_usable_model(monkeypatch):
    def interrupt(self, progress):
        if progress.phase == "diffusion" and progress.done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("redisc.progress.ProgressBar.update", interrupt)
    clf = fit(verbose=True)
    assert clf.history_["stopped_by"] == "interrupt"
    assert clf.history_["iteration"] == [2]
    assert clf.score(mask=VAL) == clf.history_["best_validation"]


def test_a_score_never_sees_the_labels_that_it_scores():
    clf = fit(val=None)
    shown = clf.score(mask=clf.val_mask_)
    hidden = np.where(clf.val_mask_, -1, clf.known_)
    assert shown == clf.score(labels=hidden, mask=clf.val_mask_)


def test_balanced_weights_leave_a_class_without_training_nodes_alone():
    clf = ReDiSC(**TINY, class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = make_task(GRAPH, np.flatnonzero(GRAPH.y != 2)[:10], np.flatnonzero(GRAPH.y == 2)[:3], 0, 0)
    weights = clf._problem(task, clf.class_weight).class_weight
    assert float(weights[2]) == 1
    counts = np.bincount(task.labels[task.train], minlength=3)[:2]
    np.testing.assert_allclose(weights[:2].numpy() * counts, counts.sum() / 2, rtol=1e-6)
    with pytest.raises(ConfigError, match="class_weight"):
        fit(class_weight={0: -1.0})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"backbone": "gat"},
        {"backbone": "gat_sep"},
        {"backbone": "sage", "head_layers": 1},
        {"hidden": 16, "initial_residual": 0.5, "head_layers": 1, "objective": "authors"},
        {"backbone": "hops", "batch_size": 7},
    ],
    ids=str,
)
def test_estimated_class_shares_reach_both_networks_and_a_saved_model(settings, tmp_path):
    graph = datasets.load("csbm", nodes=240, seed=0)
    sure = {"graph": graph, "train": graph.splits[0].train, "val": graph.splits[0].val, "mean_field_epochs": 60}
    plain, shared = fit(**sure, **settings), fit(class_shares="estimated", **sure, **settings)
    assert sum(shared.history_["class_shares"]) == pytest.approx(1, abs=1e-3)
    shift = np.log(shared.mean_field_proba()) - np.log(plain.mean_field_proba())
    shift -= shift[:, :1]
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-3)
    assert np.abs(shift).max() > 0.01
    denoisers = [torch.cat([p.flatten() for p in c._model.denoiser.parameters()]) for c in (plain, shared)]
    assert not torch.allclose(*denoisers)
    shared.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.mean_field_proba(graph), shared.mean_field_proba())
    assert loaded.class_shares == "estimated"


def test_estimated_class_shares_are_refused_where_they_can_not_be():
    with pytest.raises(ConfigError, match="class_weight"):
        fit(class_shares="estimated", class_weight="balanced")
    with pytest.raises(ConfigError, match="balanced_accuracy"):
        fit(class_shares="estimated", metric="balanced_accuracy")
    with pytest.raises(ConfigError, match="built-in backbone"):
        ReDiSC(torch.nn.Linear, class_shares="estimated").check()


@pytest.mark.parametrize(
    "wish", [{"class_weight": "balanced"}, {"metric": "balanced_accuracy"}, {"backbone": torch.nn.Linear}]
)
def test_a_wish_that_contradicts_a_recipes_class_shares_wins(wish):
    clf = ReDiSC(recipe="amazon_computers-gcn", **wish)
    clf.check()
    assert clf.settings()["class_shares"] == "labelled"
    assert ReDiSC(recipe="amazon_computers-gcn").settings()["class_shares"] == "estimated"


def test_a_module_of_the_users_own_stands_for_both_networks_whatever_a_recipe_has(tmp_path):
    clf = fit(backbone=GCNConv, recipe="pubmed-gat")
    assert clf.settings()["mean_field_architecture"] is None
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model", backbone=GCNConv)
    np.testing.assert_array_equal(loaded.mean_field_proba(GRAPH), clf.mean_field_proba())


@pytest.mark.parametrize("batch_size", [0, 7])
def test_the_mean_field_network_may_have_an_architecture_of_its_own(batch_size, tmp_path):
    """It is then the one that stands in a fit of that architecture, and the denoiser stays what it was."""
    own = {"backbone": "gcn", "layers": 3, "initial_residual": 0.3, "head_layers": 1}
    shared = {"batch_size": batch_size, "dtype": "float64", "hidden": 16}
    clf = fit(backbone="gat", mean_field_architecture=own, **shared)
    alone, plain = fit(**own, **shared), fit(backbone="gat", **shared)
    np.testing.assert_array_equal(clf.mean_field_proba(), alone.mean_field_proba())
    shapes = [{k: v.shape for k, v in c._model.denoiser.state_dict().items()} for c in (clf, plain)]
    assert shapes[0] == shapes[1]
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.mean_field_proba(GRAPH), clf.mean_field_proba())
    np.testing.assert_array_equal(loaded.predict(GRAPH, clf.known_), clf.predict())


def test_hops_stand_for_both_networks_whatever_a_recipe_has():
    assert ReDiSC("hops", recipe="citeseer-gcn").settings()["mean_field_architecture"] is None
    assert ReDiSC("sage", recipe="citeseer-gcn").settings()["mean_field_architecture"][0] == {"backbone": "gat"}


def test_members_of_a_committee_take_several_architectures_in_turn(tmp_path):
    networks = [{}, {"backbone": "appnp", "layers": 3, "initial_residual": 0.2}]
    clf = fit(mean_field_architecture=networks, mean_field_members=3, dtype="float64")
    plans = [member.stack.architecture.backbone for member in members_of(clf._model.mean_field)]
    assert plans == ["gcn", "appnp", "gcn"]
    alone = fit(dtype="float64")
    first = members_of(clf._model.mean_field)[0]
    with torch.no_grad():
        np.testing.assert_array_equal(clf._engine.mean_field(first).softmax(1), alone.mean_field_proba())
    clf.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model")
    assert loaded.settings()["mean_field_architecture"] == networks
    np.testing.assert_array_equal(loaded.mean_field_proba(GRAPH), clf.mean_field_proba())


def test_a_committee_that_ran_out_of_time_answers_the_same_after_loading(tmp_path):
    networks = [{}, {"backbone": "appnp"}]
    clf = ReDiSC(**FAST, mean_field_architecture=networks, mean_field_members=4).fit(GRAPH, max_time=1e-9)
    assert clf._model.mean_field.voices.tolist() == [True, False, False, False]
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(ReDiSC.load(tmp_path / "model").mean_field_proba(GRAPH), clf.mean_field_proba())


def test_an_architecture_that_the_mean_field_network_can_not_have_is_refused():
    with pytest.raises(ConfigError, match=r"mean_field_architecture: .* no field depth; it has backbone"):
        fit(mean_field_architecture={"depth": 3})
    with pytest.raises(ConfigError, match="layers=0"):
        fit(mean_field_architecture={"layers": 0})
    with pytest.raises(ConfigError, match="hops"):
        fit(mean_field_architecture={"backbone": "hops"})
    with pytest.raises(ConfigError, match="hops"):
        fit(backbone="hops", mean_field_architecture={"layers": 3})
    with pytest.raises(ConfigError, match="built-in backbone"):
        ReDiSC(torch.nn.Linear, mean_field_architecture={"layers": 3}).check()


def test_a_schedule_and_a_number_of_steps_that_differ_are_refused():
    with pytest.raises(ConfigError, match="4 steps"):
        fit(schedule=Schedule.cosine(4), steps=10)


def test_a_schedule_with_a_plateau_samples_and_one_for_other_nodes_is_refused():
    plateau = Schedule(torch.tensor([1.0, 0.5, 0.5, 0.0]))
    clf = fit(schedule=plateau, steps=3)
    assert np.isin(clf.sample(2), [0, 1, 2]).all()
    with pytest.raises(ConfigError, match="7 nodes"):
        fit(schedule=Schedule.cosine(10).per_node(torch.ones(7)), steps=10)


def test_the_trace_is_the_path_of_the_prediction(clf):
    trace = clf.trace()
    assert (trace.labels == clf.predict()).all()
    assert (trace.at(0) == trace.labels).all()
    assert (trace.known == (clf.known_ >= 0)).all()
    assert trace.revealed_at.min() >= 1
    assert trace.revealed_at.max() <= clf.steps


def test_questions_in_a_row_prepare_another_graph_once(clf, monkeypatch):
    other, prepared, prepare = GRAPH.subgraph(np.arange(GRAPH.num_nodes - 1)), [], clf._engine_for
    monkeypatch.setattr(clf, "_engine_for", lambda graph, told=None: prepared.append(graph) or prepare(graph, told))
    clf.predict(other)
    clf.predict_proba(2, graph=other)
    assert prepared == [other]
    third = GRAPH.subgraph(np.arange(GRAPH.num_nodes - 2))
    assert len(clf.predict(third)) == GRAPH.num_nodes - 2


def test_an_anchored_model_keeps_its_anchor_whatever_is_set_afterwards(tmp_path):
    clf = fit(anchor=2.0, mean_field_members=2)
    before = clf.predict_proba(2)
    clf.set_params(anchor=0.0, mean_field_members=1)
    other = Graph(x=GRAPH.x, edge_index=GRAPH.edge_index(), y=GRAPH.y)
    assert np.array_equal(clf.predict_proba(2), before)
    assert np.array_equal(clf.predict_proba(2, graph=other), before)
    clf.save(tmp_path / "model")
    assert ReDiSC.load(tmp_path / "model").anchor == 2.0


def test_a_strong_anchor_holds_the_answers_to_the_warm_starts():
    clf = fit(anchor=100.0)
    free = clf.known_ == -1
    sure = clf.mean_field_proba().max(1) > 0.55
    assert np.array_equal(clf.predict()[free & sure], clf.classes_[clf.mean_field_proba().argmax(1)][free & sure])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"anchor": -1.0}, "anchor=-1.0: it must be 0 or more"),
        ({"anchor": 1e308}, "anchor=1e.308: it must be 100 or less"),
        ({"anchor": float("nan")}, "anchor=nan"),
        ({"anchor": 10**400}, "anchor=10+: it must be a finite number"),
        ({"anchor": 1.0, "priority": "train-cv"}, "it knows the hidden labels"),
        ({"mean_field_members": 0}, "mean_field_members=0: it must be at least 1"),
        ({"mean_field_architecture": []}, r"mean_field_architecture=\[\]: expected a mapping"),
        ({"mean_field_architecture": [None]}, "expected a mapping such as .* or several of them in a list"),
        ({"mean_field_architecture": [{}, {"layers": 0}], "mean_field_members": 2}, "layers=0"),
    ],
)
def test_wrong_anchors_and_committees_are_refused(settings, match):
    with pytest.raises(ConfigError, match=match):
        fit(**settings)


def test_a_committee_of_modules_of_the_users_own_answers_by_its_mean():
    alone, together = (fit(backbone=GCNConv, mean_field_members=count) for count in (1, 3))
    assert together.num_parameters() > alone.num_parameters()
    with torch.no_grad():
        members = members_of(together._model.mean_field)
        answers = [together._engine.mean_field(member).softmax(1).numpy() for member in members]
    np.testing.assert_array_equal(answers[0], alone.mean_field_proba())
    assert not np.allclose(answers[0], answers[1])
    np.testing.assert_allclose(together.mean_field_proba(), np.mean(answers, 0), rtol=1e-5)
