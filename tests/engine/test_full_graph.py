import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from kernels.ambient import ambient_randomness_untouched
from nn.networks import GATES, denoiser, engine, mean_field, noisy_labels, normal
from redisc.engine import FeatureScaling, FullGraphEngine, Topology
from redisc.nn import BACKBONES

SEEDS = st.integers(0, 10_000)
NAMES = st.sampled_from(BACKBONES)


@given(NAMES, st.sampled_from(GATES), SEEDS, st.integers(1, 10), st.integers(0, 20))
def test_the_sampler_gets_the_rows_that_it_asks_for(backbone, gate, seed, t, count):
    on, model = engine(random_graph(seed)), denoiser(backbone, gate, seed, dropout=0.9, input_dropout=0.9)
    labels = noisy_labels(seed, 3)
    generator = torch.Generator().manual_seed(seed)
    chain = torch.randint(3, (count,), generator=generator)
    node = torch.randint(12, (count,), generator=generator)
    rows = on.denoise(model)(labels, t, chain, node)
    assert rows.shape == (count, 3)
    every = on.noisy_logits(model, labels, torch.full((3,), t))
    torch.testing.assert_close(rows, every[node, chain].detach(), rtol=0, atol=1e-12)


@given(NAMES, SEEDS)
def test_one_prepared_denoiser_answers_for_every_state_and_step(backbone, seed):
    on, model = engine(random_graph(seed)), denoiser(backbone, "vector", seed)
    ask = on.denoise(model)
    chain, node = torch.zeros(12, dtype=torch.int64), torch.arange(12)
    for t in (9, 4, 1):
        labels = noisy_labels(seed + t, 1)
        expected = on.noisy_logits(model, labels, torch.tensor([t]))[:, 0].detach()
        torch.testing.assert_close(ask(labels, t, chain, node), expected, rtol=0, atol=1e-12)


def test_sampling_records_no_gradient_and_training_does():
    on, model, labels = engine(random_graph(0)), denoiser(), noisy_labels(0, 2)
    everyone = torch.zeros(12, dtype=torch.int64), torch.arange(12)
    assert not on.denoise(model)(labels, 3, *everyone).requires_grad
    assert on.noisy_logits(model, labels, torch.tensor([3, 4])).requires_grad
    assert on.mean_field(mean_field()).requires_grad
    assert torch.is_grad_enabled()


@given(NAMES, SEEDS)
def test_labels_and_features_are_left_as_they_were(backbone, seed):
    x = normal(seed, 12, 1, 5)
    on, model, labels = engine(random_graph(seed), x.clone()), denoiser(backbone, "vector", seed), noisy_labels(seed, 2)
    before = labels.clone()
    on.denoise(model)(labels, 3, torch.tensor([0]), torch.tensor([5]))
    on.noisy_logits(model, labels, torch.tensor([3, 4])).sum().backward()
    assert torch.equal(labels, before)
    assert torch.equal(on.features, x)


def test_in_single_precision_answers_agree_to_its_rounding():
    graph, labels, t = random_graph(0), noisy_labels(0, 2), torch.tensor([3, 8])
    single = FullGraphEngine(Topology(graph, torch.float32), FeatureScaling().apply(graph.x, torch.float32))
    for backbone in BACKBONES:
        exact = engine(graph).noisy_logits(denoiser(backbone), labels, t)
        found = single.noisy_logits(denoiser(backbone).float(), labels, t)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-4)


def test_ambient_randomness_is_not_used():
    on, model, plain = engine(random_graph(0)), denoiser(), mean_field()
    with ambient_randomness_untouched():
        on.denoise(model)(noisy_labels(0, 2), 3, torch.tensor([0]), torch.tensor([5]))
        on.mean_field(plain)
