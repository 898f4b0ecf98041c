"""Mini-batches of message-passing backbones: with all neighbours exact, with some of them right on average."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import FAST, random_graph
from nn.networks import GATES, STEPS, denoiser, engine, mean_field, noisy_labels, steps_of
from redisc import ReDiSC, datasets
from redisc.diffusion import MASKED, ReverseProcess, Schedule, get_routing
from redisc.engine import mini_batch
from redisc.engine.mini_batch import MiniBatchEngine
from redisc.engine.sampled_block import SampledBlock, sample_hops
from redisc.nn import BACKBONES

SEEDS = st.integers(0, 10_000)
NETWORKS = st.fixed_dictionaries(
    {
        "backbone": st.sampled_from(BACKBONES),
        "layers": st.integers(1, 3),
        "residual": st.booleans(),
        "initial_residual": st.sampled_from([0.0, 0.3]),
        "normalisation": st.sampled_from(["none", "layer"]),
        "head_layers": st.integers(0, 1),
        "self_loop": st.sampled_from([0.0, 1.0, 2.0]),
    }
)
GRAPHS = st.builds(
    random_graph, SEEDS, nodes=st.just(12), edges=st.sampled_from([0, 6, 14, 40]), weighted=st.booleans()
)


def batched(graph, fanout=0):
    whole = engine(graph)
    return MiniBatchEngine(whole.topology, whole.features, fanout=fanout)


def some_rows(seed):
    return torch.from_numpy(np.random.default_rng(seed).permutation(12)[:4])


@given(GRAPHS, NETWORKS, st.sampled_from(GATES), SEEDS)
def test_with_all_neighbours_logits_and_gradients_are_those_of_the_whole_graph(graph, network, gate, seed):
    model, rows = denoiser(**network, gate=gate, seed=seed), some_rows(seed)
    labels, t, found = noisy_labels(seed, 3), steps_of(seed, 3), []
    for way in (engine(graph), batched(graph)):
        model.zero_grad()
        logits = way.noisy_rows(model, labels, t, rows)
        logits.square().sum().backward()
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]
        found.append([logits.detach(), *gradients])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-8, atol=1e-9)


@given(GRAPHS, NETWORKS, SEEDS, st.sampled_from([1, 5, 100]))
def test_inference_layer_by_layer_is_exact_whatever_the_pieces(graph, network, seed, piece):
    model, whole = mean_field(**network, seed=seed), engine(graph)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(mini_batch, "_PIECE_ROWS", piece)
        found = batched(graph).mean_field(model)
    torch.testing.assert_close(found, whole.mean_field(model).detach(), rtol=0, atol=1e-10)


@given(GRAPHS, NETWORKS, st.sampled_from(GATES), SEEDS)
def test_samples_are_the_references(graph, network, gate, seed):
    """Linear layers meet their features in another order, so logits agree to rounding and samples with them."""
    model, known = denoiser(**network, gate=gate, seed=seed), torch.full((12,), MASKED)
    known[:3] = torch.arange(3)
    samples = []
    for way in (engine(graph), batched(graph)):
        schedule = Schedule.cosine(STEPS)
        process = ReverseProcess(way.denoise(model), schedule, get_routing("labelled-first"), known, seed)
        samples.append(process.run(3))
    assert torch.equal(*samples)


@given(GRAPHS, NETWORKS, SEEDS)
def test_samples_in_pieces_of_rows_are_the_references(graph, network, seed):
    model, known, samples = denoiser(**network, seed=seed), torch.full((12,), MASKED), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_batch, "_LARGE", 0)
        patch.setattr(mini_batch, "_INFERENCE_ROWS", 3)
        for way in (engine(graph), batched(graph)):
            process = ReverseProcess(way.denoise(model), Schedule.cosine(STEPS), get_routing("uniform"), known, seed)
            samples.append(process.run(2))
    assert torch.equal(*samples)


def test_chains_may_sample_neighbours():
    graph = datasets.load("planted", nodes=300, mean_degree=12.0, feature_noise=0.5)
    chosen = {**FAST, "backbone": "sage", "batch_size": 100, "masks": 2, "random_state": 0}
    exact, sampled = (ReDiSC(**chosen, inference_fanout=fanout).fit(graph) for fanout in (0, 3))
    assert np.array_equal(sampled.predict(), sampled.predict())
    assert not np.array_equal(sampled.predict_proba(2), exact.predict_proba(2))
    assert sampled.score(mask=graph.splits[0].test) > 0.5


@settings(max_examples=10)
@given(SEEDS)
def test_sampled_attention_counts_edges_as_often_as_they_stand_for_others(seed):
    """Equal scores: on average each neighbour gets what it gets from the full softmax, and the node itself too."""
    graph = random_graph(seed, nodes=12, edges=60)
    topology, values = engine(graph).topology, torch.eye(12, dtype=torch.float64)
    zeros = torch.zeros(12, 1, 1, dtype=torch.float64)

    def shares(fanout, draw):
        (hop,) = sample_hops(topology, np.arange(12), 1, fanout, draw)
        block = SampledBlock(topology, hop)
        weights = block.attention(zeros[hop.sources], zeros, self_loops=True)
        return block.aggregate(weights, values[hop.sources][:, None, None], self_loops=True).squeeze()

    exact, draws = shares(0, 0), torch.stack([shares(2, k) for k in range(400)])
    error = (draws.mean(0) - exact).abs()
    assert (error <= 6 * draws.std(0) / 400**0.5 + 1e-9).all()


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(["gcn", "sage"]))
def test_sampled_neighbours_are_right_on_average(seed, backbone):
    """One linear layer: the mean over draws tends to the exact logits."""
    graph = random_graph(seed, nodes=12, edges=60)
    model, rows = mean_field(backbone, seed=seed, layers=1), torch.arange(12)
    way = batched(graph, fanout=2)
    with torch.no_grad():
        draws = torch.stack([way.mean_field_rows(model, rows, draw=k) for k in range(600)])
        exact = engine(graph).mean_field(model)
    error = (draws.mean(0) - exact).abs()
    assert (error <= 6 * draws.std(0) / 600**0.5 + 1e-9).all()
    assert draws.std(0).max() > 0


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_fit_in_mini_batches_learns_and_can_be_repeated(backbone):
    graph = datasets.load("planted", nodes=400, feature_noise=0.5)
    chosen = {"backbone": backbone, "batch_size": 150, "fanout": 5, "masks": 2, "iterations": 40}
    chosen |= {"initial_residual": 0.2} if backbone == "appnp" else {}
    fits = [ReDiSC(**{**FAST, **chosen}, random_state=0).fit(graph) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(2), fits[1].predict_proba(2))
    assert fits[0].score(mask=graph.splits[0].test) > 0.5


def test_sparse_features_are_cut_into_rows():
    graph = random_graph(3)
    x = np.where(np.abs(graph.x) > 1.6, graph.x, 0.0)
    sparse = engine(type(graph)(x=x, edge_index=graph.edge_index(), y=graph.y))
    model, rows = mean_field("sage", layers=2), torch.tensor([2, 9])
    with torch.no_grad():
        found = MiniBatchEngine(sparse.topology, sparse.features).mean_field_rows(model, rows)
        torch.testing.assert_close(found, sparse.mean_field(model)[rows])


@pytest.mark.parametrize("announced", [None, 7, 8])
def test_a_batch_prepared_ahead_is_the_one_prepared_at_once(announced):
    """Announced, announced in vain, or not at all."""
    graph = random_graph(1, edges=60)
    model, rows, way = mean_field("sage"), torch.tensor([2, 9, 4]), batched(graph, fanout=2)
    expected = batched(graph, fanout=2).mean_field_rows(model, rows, draw=7)
    if announced is not None:
        way.announce(rows, model.depth, announced)
    assert torch.equal(way.mean_field_rows(model, rows, draw=7), expected)


@pytest.mark.parametrize("backbone", ["sage", "hops"])
def test_a_fitted_model_can_be_copied(backbone):
    graph = datasets.load("planted", nodes=300)
    clf = ReDiSC(**{**FAST, "masks": 2}, backbone=backbone, batch_size=100, random_state=0).fit(graph)
    assert np.array_equal(copy.deepcopy(clf).predict(), clf.predict())
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict(), clf.predict())
