import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernels.ambient import ambient_randomness_untouched
from nn.dense_layers import direct_gamma, elu, encode_time, one_hot
from nn.networks import GATES, noisy_labels, normal, randomise
from redisc.errors import ConfigError
from redisc.nn import TimeEncoder, TimeGate, sinusoidal_encoding

SEEDS = st.integers(0, 10_000)
TIMED = st.sampled_from(["vector", "scalar", "added"])


@given(st.integers(1, 200), st.data())
def test_the_encoding_is_sines_and_cosines_of_the_share_of_time(steps, data):
    t = data.draw(st.lists(st.integers(0, steps), min_size=1, max_size=4))
    expected = np.stack([encode_time(step, steps) for step in t])
    np.testing.assert_allclose(sinusoidal_encoding(torch.tensor(t), steps), expected, atol=2e-4)


@given(st.integers(1, 40), st.integers(1, 7), st.data())
def test_a_step_means_the_same_share_whatever_the_number_of_steps(steps, factor, data):
    t = data.draw(st.integers(1, steps))
    coarse = sinusoidal_encoding(torch.tensor([t]), steps)
    fine = sinusoidal_encoding(torch.tensor([t * factor]), steps * factor)
    torch.testing.assert_close(coarse, fine, rtol=0, atol=2e-4)


@pytest.mark.parametrize("steps", [10, 80, 160])
def test_different_steps_have_different_encodings(steps):
    encoding = sinusoidal_encoding(torch.arange(1, steps + 1), steps).double()
    assert torch.pdist(encoding).min() > 0.1


@given(SEEDS, st.integers(1, 5))
def test_the_encoder_is_two_layers_over_the_encoding(seed, copies):
    encoder = randomise(TimeEncoder(), seed)
    t = torch.randint(1, 81, (copies,), generator=torch.Generator().manual_seed(seed))
    (w1, b1), (w2, b2) = (
        (part.weight.detach().numpy(), part.bias.detach().numpy()) for part in (encoder.inner, encoder.outer)
    )
    encoding = sinusoidal_encoding(t, 80).double().numpy()
    np.testing.assert_allclose(encoder(t, 80).detach(), elu(encoding @ w1 + b1) @ w2 + b2, atol=1e-10)


@given(TIMED, SEEDS, st.integers(1, 3), st.integers(2, 4))
def test_table_rows_are_what_the_direct_formula_gives_every_node(gate, seed, copies, classes):
    part = randomise(TimeGate(classes, 6, gate), seed)
    time, labels = normal(seed, copies, 128), noisy_labels(seed, copies, nodes=15, classes=classes).numpy()
    table = part(time).detach().numpy()
    assert table.shape == (copies, classes + 1, 6)
    for b in range(copies):
        y = one_hot(labels[b], classes)
        gamma, embedding = direct_gamma(part, y, time[b].numpy()), y @ part.embedding.weight.detach().numpy()
        assert gamma.shape[1] == (1 if gate == "scalar" else 6)
        expected = embedding + gamma if gate == "added" else embedding * gamma
        np.testing.assert_allclose(table[b][labels[b]], expected, atol=1e-12)


@given(TIMED, SEEDS)
def test_gamma_lies_between_zero_and_one(gate, seed):
    part = randomise(TimeGate(3, 6, gate), seed)
    table, embedding = part(normal(seed, 4, 128))[:, :3], part.embedding.weight
    gamma = table - embedding if gate == "added" else table / embedding
    assert gamma.min() >= -1e-12
    assert gamma.max() <= 1 + 1e-12
    assert gamma.std() > 1e-6
    if gate == "scalar":
        torch.testing.assert_close(gamma, gamma[..., :1].expand_as(gamma))


@given(st.sampled_from(GATES), SEEDS)
def test_a_masked_label_is_a_zero_vector_unless_gamma_is_added(gate, seed):
    masked = randomise(TimeGate(3, 6, gate), seed)(normal(seed, 4, 128))[:, -1]
    assert (masked != 0).all() if gate == "added" else (masked == 0).all()


@given(TIMED, SEEDS)
def test_gamma_depends_on_the_step_and_on_the_label(gate, seed):
    part = randomise(TimeGate(3, 6, gate), seed)
    with torch.no_grad():
        part.embedding.weight.fill_(1.0)
        first, second = part(normal(seed, 2, 128))[:, :3]
    assert not torch.allclose(first, second)
    assert torch.pdist(first).min() > 1e-6


@given(SEEDS)
def test_without_a_gate_the_table_is_the_embedding_at_every_step(seed):
    part = randomise(TimeGate(3, 6, "none"), seed)
    table = part(normal(seed, 4, 128))
    assert table.shape == (4, 4, 6)
    assert all(torch.equal(rows[:3], part.embedding.weight) for rows in table)
    assert [name for name, _ in part.named_parameters()] == ["embedding.weight"]


def test_an_unknown_gate_is_refused_by_name():
    with pytest.raises(ConfigError, match="matrix"):
        TimeGate(3, 6, "matrix")


def test_ambient_randomness_is_not_used():
    with ambient_randomness_untouched():
        TimeGate(3, 6)
        TimeEncoder()
        sinusoidal_encoding(torch.tensor([3]), 10)
