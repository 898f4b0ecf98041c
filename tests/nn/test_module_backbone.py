"""A PyG module of the user's own as the backbone."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GraphSAGE

from examples import random_graph
from kernels.ambient import ambient_randomness_untouched
from nn.dense_layers import one_hot
from nn.networks import STEPS, engine, noisy_labels, steps_of
from redisc.engine import FeatureScaling
from redisc.errors import UnsupportedGraphError
from redisc.kernels.dropout import Dropout
from redisc.nn import ModuleDenoiser, ModuleMeanField, sinusoidal_encoding

SEEDS = st.integers(0, 10_000)


def make(in_width, out_width):
    return GraphSAGE(in_width, 8, 2, out_width, dropout=0.5)


def module_denoiser(seed=0):
    model = ModuleDenoiser(make, 5, 3, STEPS).double()
    model.reset_parameters(torch.Generator().manual_seed(seed))
    return model


def module_mean_field(seed=0):
    model = ModuleMeanField(make, 5, 3).double()
    model.reset_parameters(torch.Generator().manual_seed(seed))
    return model


@given(SEEDS, st.integers(1, 4))
def test_the_module_sees_features_labels_and_time_side_by_side(seed, copies):
    graph, model = random_graph(seed), module_denoiser(seed)
    labels, t = noisy_labels(seed, copies), steps_of(seed, copies)
    logits = engine(graph).noisy_logits(model, labels, t)
    assert logits.shape == (12, copies, 3)
    edges = torch.from_numpy(graph.edge_index())
    for b in range(copies):
        time = sinusoidal_encoding(t[b : b + 1], STEPS).double().numpy()
        rows = np.hstack([graph.x, one_hot(labels[b].numpy(), 3), np.tile(time, (12, 1))])
        expected = model.module.eval()(torch.from_numpy(rows), edges)
        torch.testing.assert_close(logits[:, b], expected, rtol=0, atol=1e-12)


@given(SEEDS)
def test_the_mean_field_module_sees_features_alone(seed):
    graph, model = random_graph(seed), module_mean_field(seed)
    expected = model.module.eval()(torch.tensor(graph.x), torch.from_numpy(graph.edge_index()))
    torch.testing.assert_close(engine(graph).mean_field(model), expected, rtol=0, atol=1e-12)


@given(SEEDS, st.integers(2, 5))
def test_copies_at_once_are_copies_one_by_one_each_at_its_own_step(seed, copies):
    on, model = engine(random_graph(seed)), module_denoiser(seed)
    labels, t = noisy_labels(seed, copies), steps_of(seed, copies)
    together = on.noisy_logits(model, labels, t)
    for b in range(copies):
        alone = on.noisy_logits(model, labels[b : b + 1], t[b : b + 1])
        torch.testing.assert_close(together[:, b : b + 1], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_logits_depend_on_the_step_and_on_the_labels(seed):
    on, model, labels = engine(random_graph(seed)), module_denoiser(seed), noisy_labels(seed, 1)
    labels[0, 0] = 1
    logits = on.noisy_logits(model, labels, torch.tensor([2]))
    assert not torch.allclose(logits, on.noisy_logits(model, labels, torch.tensor([9])))
    changed = labels.clone()
    changed[0, 0] = 2
    assert not torch.allclose(logits, on.noisy_logits(model, changed, torch.tensor([2])))


@given(SEEDS)
def test_sparse_features_give_the_same_logits(seed):
    graph = random_graph(seed)
    sparse = engine(graph, FeatureScaling().apply(sp.csr_array(graph.x), torch.float64))
    labels, t = noisy_labels(seed, 2), steps_of(seed, 2)
    for ask in (
        lambda on: on.noisy_logits(module_denoiser(), labels, t),
        lambda on: on.mean_field(module_mean_field()),
    ):
        torch.testing.assert_close(ask(sparse), ask(engine(graph)), rtol=0, atol=1e-12)


def test_building_resetting_and_asking_leave_ambient_randomness_as_it_was():
    on, drop = engine(random_graph(0)), Dropout(np.random.default_rng(0))
    with ambient_randomness_untouched():
        on.noisy_logits(module_denoiser(), noisy_labels(0, 2), steps_of(0, 2), drop)
        on.noisy_logits(module_denoiser(), noisy_labels(0, 2), steps_of(0, 2))
        on.mean_field(module_mean_field(), drop)


def test_ambient_randomness_survives_a_module_that_fails():
    def broken(in_width, out_width):
        torch.rand(3)
        raise RuntimeError("out of order")

    with ambient_randomness_untouched(), pytest.raises(RuntimeError, match="out of order"):
        ModuleMeanField(broken, 5, 3)


@given(SEEDS, st.sampled_from([module_denoiser, module_mean_field]))
def test_reset_is_decided_by_the_generator(seed, build):
    first, again, other = (build(k).state_dict() for k in (seed, seed, seed + 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_dropout_follows_its_generator_and_none_means_evaluation():
    on, model, labels, t = engine(random_graph(0)), module_denoiser(), noisy_labels(0, 2), steps_of(0, 2)
    first, again, other, none, still = (
        on.noisy_logits(model, labels, t, None if k is None else Dropout(np.random.default_rng(k)))
        for k in (0, 0, 1, None, None)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first, none)
    assert torch.equal(none, still)


def test_one_dropout_gives_every_call_its_own_draws():
    on, model, drop = engine(random_graph(0)), module_mean_field(), Dropout(np.random.default_rng(0))
    assert not torch.equal(on.mean_field(model, drop), on.mean_field(model, drop))


def test_edge_weights_that_the_module_cannot_see_are_refused():
    with pytest.raises(UnsupportedGraphError, match="edge weights"):
        engine(random_graph(0, weighted=True)).mean_field(module_mean_field())
