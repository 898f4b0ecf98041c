"""The diffusion baselines against closed forms, Bayes' rule, enumeration and finite differences."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from oracles import g_test
from redisc.baselines import DPMSNC, LGD
from redisc.baselines.diffusion.cross_attention import CrossAttention
from redisc.baselines.diffusion.gaussian import GaussianDiffusion
from redisc.baselines.diffusion.label_autoencoder import LabelAutoencoder
from redisc.baselines.diffusion.manifold_sampler import ManifoldSampler
from redisc.baselines.diffusion.uniform import UniformNoise, UniformSampler
from redisc.clock import Clock
from redisc.diffusion import MASKED, Schedule
from redisc.engine import CompiledEngine, FeatureScaling, Topology
from redisc.errors import ConfigError
from redisc.nn.affine import reset_all

STEPS = 6
PROCESS = GaussianDiffusion(Schedule.cosine(STEPS))


def test_iterated_gaussian_steps_have_the_closed_forms_mean_and_variance():
    mean, variance = 1.0, 0.0
    for t in range(1, STEPS + 1):
        kept = float(PROCESS.schedule.beta(t))
        mean, variance = np.sqrt(kept) * mean, kept * variance + 1 - kept
        ones, zeros = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64)
        assert float(PROCESS.noised(ones, t, zeros)) == pytest.approx(mean)
        assert float(PROCESS.noised(zeros, t, ones)) ** 2 == pytest.approx(variance)


@given(t=st.integers(2, STEPS), state=st.floats(-3, 3), clean=st.floats(-1, 1))
def test_the_gaussian_posterior_is_bayes_rule_on_a_grid(t: int, state: float, clean: float):
    grid = np.linspace(-12, 12, 40_001)
    kept, before = float(PROCESS.schedule.beta(t)), float(PROCESS.schedule.alpha[t - 1])
    log = -((grid - np.sqrt(before) * clean) ** 2) / (2 * (1 - before))
    log = log - (state - np.sqrt(kept) * grid) ** 2 / (2 * (1 - kept))
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    expected = (weight * grid).sum()
    deviation = np.sqrt((weight * (grid - expected) ** 2).sum())
    given_ = (torch.full((1, 1), value, dtype=torch.float64) for value in (state, clean))
    mean, spread = PROCESS.posterior(*given_, t)
    assert float(mean) == pytest.approx(expected, abs=1e-6)
    assert float(spread) == pytest.approx(deviation, rel=1e-4)


def test_noise_and_clean_invert_noising():
    clean, noise = torch.randn(4, 2, 3, dtype=torch.float64), torch.randn(4, 2, 3, dtype=torch.float64)
    t = torch.tensor([2, 5])
    state = PROCESS.noised(clean, t, noise)
    torch.testing.assert_close(PROCESS.clean(state, noise, t), clean)
    torch.testing.assert_close(PROCESS.noise(state, clean, t), noise)


def manifold_sampler(guidance: float = 1.0) -> tuple[ManifoldSampler, torch.Tensor]:
    graph = random_graph(3, nodes=10)
    clf = DPMSNC(hidden=8, steps=STEPS, dtype="float64", guidance=guidance)
    network = clf.network(graph.num_features, 3).double()
    reset_all(network, torch.Generator().manual_seed(0))
    for parameter in network.parameters():  # the output starts at zero, which would hide the gradient
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    engine = CompiledEngine(Topology(graph, torch.float64), FeatureScaling().apply(graph.x, torch.float64))
    known = torch.where(torch.arange(10) < 4, torch.from_numpy(graph.y.copy()), MASKED)
    return clf.sampler(network, engine, known, seed=0), known


def test_the_manifold_gradient_agrees_with_finite_differences():
    sampler, known = manifold_sampler()
    state = torch.randn(10, 1, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    observed, t = known != MASKED, 4
    labels = torch.nn.functional.one_hot(known.clamp_min(0), 3).double()[:, None]

    def error(at: torch.Tensor) -> float:
        with torch.no_grad():
            clean = sampler.process.clean(at, sampler.denoise(at, t), t)
        return float((clean - labels)[observed].square().sum())

    _, correction = sampler.guide(state, t)
    assert correction.abs().max() > 1e-3
    for node, label in itertools.product((0, 5, 9), range(3)):
        shift = torch.zeros_like(state)
        shift[node, 0, label] = 1e-5
        slope = (error(state + shift) - error(state - shift)) / 2e-5
        assert float(correction[node, 0, label]) == pytest.approx(slope / error(state), rel=1e-4, abs=1e-7)


def test_observed_labels_stand_in_every_sample_and_chains_do_not_depend_on_company():
    sampler, known = manifold_sampler()
    many = sampler.run(3)
    assert (many.labels[:, known != MASKED] == known[known != MASKED]).all()
    assert torch.equal(sampler.run([2]).labels[0], many.labels[2])


@given(classes=st.integers(2, 5), steps=st.integers(1, 6))
def test_uniform_transitions_multiply_to_the_closed_form(classes: int, steps: int):
    noise = UniformNoise(Schedule.cosine(steps), classes)
    product = torch.eye(classes, dtype=torch.float64)
    for t in range(1, steps + 1):
        product = product @ noise.transition(t).double()
        alpha = float(noise.schedule.alpha[t])
        closed = alpha * torch.eye(classes, dtype=torch.float64) + (1 - alpha) / classes
        torch.testing.assert_close(product, closed, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("t", [1, 3, 5])
def test_the_uniform_posterior_is_bayes_rule_by_enumeration(t: int):
    C, noise = 3, UniformNoise(Schedule.cosine(5), 3)
    clean = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    one = noise.transition(t).double()
    before = torch.eye(C, dtype=torch.float64)
    for s in range(1, t):
        before = before @ noise.transition(s).double()
    for state in range(C):
        joint = before * one[:, state]  # rows y_0, columns y_{t-1}
        expected = (clean[:, None] * joint / joint.sum(1, keepdim=True)).sum(0)
        found = noise.posterior(torch.tensor([state]), clean[None], t)[0]
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_uniform_sampling_follows_its_law_on_two_coupled_nodes():
    C, noise = 2, UniformNoise(Schedule.cosine(2), 2)
    coupling = torch.tensor([[4.0, -2.0], [1.0, 3.0]], dtype=torch.float64)

    def logits(labels: torch.Tensor) -> torch.Tensor:
        return torch.stack([coupling[labels[:, 1]], 0.5 * coupling[labels[:, 0]]], 1)

    def denoise(labels: torch.Tensor, t: int, chain: torch.Tensor, node: torch.Tensor) -> torch.Tensor:
        return logits(labels)[chain, node] * t

    law = dict.fromkeys(itertools.product(range(C), repeat=2), 1 / C**2)
    for t in (2, 1):
        after = dict.fromkeys(law, 0.0)
        for state, chance in law.items():
            clean = (logits(torch.tensor([state]))[0] * t).softmax(1)
            rows = noise.posterior(torch.tensor(state), clean, t)
            for result in after:
                after[result] += chance * float(rows[0, result[0]] * rows[1, result[1]])
        law = after
    drawn = UniformSampler(denoise, noise, torch.full((2,), MASKED), seed=7).run(20_000).labels
    assert max(law.values()) > 1.5 * min(law.values())
    assert g_test(drawn.numpy(), law) > 1e-4


def test_the_label_autoencoder_recovers_every_label():
    autoencoder = LabelAutoencoder(5, 8)
    reset_all(autoencoder, torch.Generator().manual_seed(0))
    autoencoder.fit(0.05, 200, Clock())
    latents = autoencoder.encode(torch.arange(5))
    assert (autoencoder.decode(latents).argmax(1) == torch.arange(5)).all()
    torch.testing.assert_close(latents.square().mean(1), torch.ones(5))
    assert not any(parameter.requires_grad for parameter in autoencoder.parameters())


def test_cross_attention_is_dense_softmax_attention_over_the_neighbourhood():
    graph, generator = random_graph(5, nodes=8), torch.Generator().manual_seed(0)
    engine = CompiledEngine(Topology(graph, torch.float64), FeatureScaling().apply(graph.x, torch.float64))
    layer = CrossAttention(6, 2).double()
    reset_all(layer, generator)
    h = torch.randn(8, 1, 6, dtype=torch.float64, generator=generator)
    condition = torch.randn(8, 1, 6, dtype=torch.float64, generator=generator)
    near = (graph.adjacency().toarray() > 0) | np.eye(8, dtype=bool)
    expected = (condition[:, 0] @ layer.own.weight + layer.own.bias).detach().numpy().copy()
    parts = [(rows[:, 0] @ map_.weight).detach().numpy() for rows, map_ in
             ((h, layer.query), (condition, layer.key), (condition, layer.value))]  # fmt: skip
    for head in range(2):
        q, k, v = (part[:, 3 * head : 3 * head + 3] for part in parts)
        scores = np.where(near, q @ k.T / np.sqrt(3), -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        expected[:, 3 * head : 3 * head + 3] += weights / weights.sum(1, keepdims=True) @ v
    found = layer(engine.block(engine.topology), h, condition)[:, 0].detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_ddim_takes_the_steps_that_were_asked_for_and_ends_at_zero():
    strides = LGD(steps=20, sampling_steps=4)._strides()
    assert strides == [(20, 15), (15, 10), (10, 5), (5, 0)]


def test_dpm_snc_refuses_predictions_that_are_spread():
    with pytest.raises(ConfigError, match="DPM-SNC can't have the backbone appnp"):
        DPMSNC(backbone="appnp").fit(random_graph(0, nodes=30), np.arange(15), np.arange(15, 22))
