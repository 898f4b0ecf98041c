"""The hop backbone: rows in slices and counts that follow the labels, against dense products over the whole graph."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import FAST, random_graph
from nn.networks import GATES, STEPS, denoiser, engine, mean_field, noisy_labels, steps_of
from redisc import ReDiSC, datasets
from redisc.baselines import LPA
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.engine import HopEngine, Topology
from redisc.engine.hop_features import hop_features
from redisc.engine.label_hops import LabelHops
from redisc.errors import ConfigError
from redisc.kernels.dropout import Dropout
from redisc.kernels.label_hops import count_dtype

SEEDS = st.integers(0, 10_000)
NETWORKS = st.fixed_dictionaries(
    {
        "backbone": st.just("hops"),
        "gate": st.sampled_from(GATES),
        "layers": st.integers(1, 3),
        "residual": st.booleans(),
        "initial_residual": st.sampled_from([0.0, 0.3]),
        "normalisation": st.sampled_from(["none", "layer"]),
        "head_layers": st.integers(0, 2),
    }
)
GRAPHS = st.builds(
    random_graph, SEEDS, nodes=st.just(12), edges=st.sampled_from([0, 6, 14, 40]), weighted=st.booleans()
)


def mean_matrix(graph):
    """P = D^-1 A, dense; zero rows for nodes without edges."""
    matrix = graph.adjacency().toarray().astype(np.float64)
    degree = matrix.sum(1, keepdims=True)
    return np.divide(matrix, degree, out=np.zeros_like(matrix), where=degree > 0)


def by_hand(graph, hops):
    powers = [np.linalg.matrix_power(mean_matrix(graph), k) @ graph.x for k in range(hops + 1)]
    return np.concatenate(powers, axis=1)


def reference(graph, hops):
    """The oracle: whole-graph products over features that hold their hops."""
    return engine(graph, torch.from_numpy(by_hand(graph, hops)).unsqueeze(1))


def sliced(graph, hops, classes=3):
    return HopEngine(engine(graph).topology, by_hand(graph, hops), classes, hops)


@given(GRAPHS, st.integers(0, 3))
def test_hops_of_features_are_powers_of_the_mean(graph, hops):
    whole = engine(graph)
    found = hop_features(whole.topology, whole.features, hops)
    np.testing.assert_allclose(found, by_hand(graph, hops), rtol=0, atol=1e-12)


@given(GRAPHS, NETWORKS, SEEDS)
def test_logits_of_rows_are_those_of_the_whole_graph(graph, network, seed):
    model, labels, t = denoiser(**network, seed=seed), noisy_labels(seed, 3), steps_of(seed, 3)
    rows = torch.from_numpy(np.random.default_rng(seed).choice(12, size=5, replace=False))
    expected = reference(graph, network["layers"]).noisy_logits(model, labels, t)
    slices = sliced(graph, network["layers"])
    torch.testing.assert_close(slices.noisy_logits(model, labels, t), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(slices.noisy_rows(model, labels, t, rows), expected[rows], rtol=0, atol=1e-10)


@given(GRAPHS, NETWORKS, SEEDS, st.sampled_from([0.0, 0.4]))
def test_gradients_are_those_of_the_whole_graph(graph, network, seed, dropout):
    model = denoiser(**network, seed=seed, dropout=dropout, input_dropout=dropout)
    labels, t, found = noisy_labels(seed, 3), steps_of(seed, 3), []
    for way in (reference(graph, network["layers"]), sliced(graph, network["layers"])):
        model.zero_grad()
        logits = way.noisy_logits(model, labels, t, Dropout(np.random.default_rng(seed)))
        logits.square().sum().backward()
        found.append([parameter.grad.clone() for parameter in model.parameters()])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


@given(GRAPHS, st.integers(1, 3), SEEDS)
def test_the_mean_field_network_sees_rows_alone(graph, hops, seed):
    model, rows = mean_field("hops", seed=seed, layers=hops), torch.tensor([3, 0, 7])
    expected = reference(graph, hops).mean_field(model)
    slices = sliced(graph, hops)
    torch.testing.assert_close(slices.mean_field(model), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(slices.mean_field_rows(model, rows), expected[rows], rtol=0, atol=1e-10)


@given(GRAPHS, NETWORKS, SEEDS, st.sampled_from(["labelled-first", "uniform", "confident-first"]))
def test_samples_are_the_references_to_the_bit(graph, network, seed, routing):
    model, known = denoiser(**network, seed=seed), torch.full((12,), MASKED)
    known[:3] = torch.arange(3)
    samples = []
    for way in (reference(graph, network["layers"]), sliced(graph, network["layers"])):
        process = ReverseProcess(way.denoise(model), Schedule.cosine(STEPS), get_routing(routing), known, seed)
        samples.append(torch.cat([process.run(3), process.run(torch.tensor([3, 4]))]))
    assert torch.equal(*samples)


@given(GRAPHS, st.lists(SEEDS, min_size=2, max_size=5), st.integers(1, 3))
def test_counts_that_follow_equal_counts_anew(graph, seeds, copies):
    """Whatever sequence of label states is walked through, few changes or many."""
    topology = engine(graph).topology
    walked = LabelHops(topology, 3)
    for seed in seeds:
        state = noisy_labels(seed, copies)
        for changes in (2, 12):
            target = noisy_labels(seed + changes, copies)
            state = torch.where(torch.arange(12) < changes, target, state)
            walked.follow(state)
        afresh = LabelHops(topology, 3)
        afresh.follow(state)
        copy, node = np.repeat(np.arange(copies), 12), np.tile(np.arange(12), copies)
        torch.testing.assert_close(walked.rows(copy, node, 2), afresh.rows(copy, node, 2), rtol=0, atol=1e-12)


def test_counts_of_weighted_edges_do_not_remember_what_they_went_through():
    topology = Topology(random_graph(0, weighted=True), torch.float32)
    walked, afresh, rows = LabelHops(topology, 3), LabelHops(topology, 3), (np.zeros(12, int), np.arange(12), 2)
    for seed in range(300):
        walked.follow(noisy_labels(seed, 1))
    afresh.follow(noisy_labels(299, 1))
    assert torch.equal(walked.rows(*rows), afresh.rows(*rows))


@pytest.mark.parametrize(("degree", "expected"), [(255, np.uint8), (256, np.uint16), (70_000, np.uint32)])
def test_counts_take_the_smallest_type(degree, expected):
    assert count_dtype(degree, weighted=False, real=np.dtype(np.float32)) == expected
    assert count_dtype(degree, weighted=True, real=np.dtype(np.float32)) == np.float32


def test_a_fit_in_mini_batches_learns_and_can_be_repeated():
    graph = datasets.load("planted", nodes=600, feature_noise=0.5)
    settings = {**FAST, "backbone": "hops", "batch_size": 100, "masks": 2, "random_state": 0}
    fits = [ReDiSC(**settings).fit(graph) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(4), fits[1].predict_proba(4))
    assert fits[0].score(mask=graph.splits[0].test) > 0.6


def test_arrays_on_disk_change_nothing(tmp_path):
    graph = datasets.load("planted", nodes=300)
    settings = {**FAST, "backbone": "hops", "batch_size": 100, "masks": 2, "random_state": 0}
    fits = [ReDiSC(**settings, scratch=where).fit(graph) for where in (None, str(tmp_path))]
    assert np.array_equal(*(fit.predict_proba(4) for fit in fits))
    assert isinstance(fits[1]._engine.features, np.memmap)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="no such folder"):
        ReDiSC(**settings, scratch=str(tmp_path / "nowhere")).fit(graph)


def test_a_saved_hop_model_answers_as_before(tmp_path):
    graph = datasets.load("karate")
    clf = ReDiSC(**FAST, backbone="hops", random_state=0).fit(graph)
    clf.save(tmp_path / "model")
    assert np.array_equal(ReDiSC.load(tmp_path / "model").predict(graph), clf.predict())


def test_baselines_pass_messages():
    with pytest.raises(ConfigError, match="hops"):
        LPA(backbone="hops").fit(datasets.load("karate"))
