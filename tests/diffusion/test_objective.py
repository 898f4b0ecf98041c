"""Eq. 12, Proposition 3 and Lemma 1, on graphs small enough to enumerate."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import HandMadeDenoiser, path
from redisc.diffusion import MASKED, Schedule, mask_labels, node_weights, weighted_cross_entropy
from redisc.errors import ConfigError
from redisc.kernels.counter_random import Stream, uniform

CLEAN = np.array([0, 1, 1, 0])
LABELLED = torch.tensor([True, False, False, True])
DENOISER = HandMadeDenoiser(path(4), classes=2, coupling=1.0, steps=6)


def loss_of(noisy, t, schedule, objective="paper"):
    """The library's loss of masked states `noisy (B, N)` at steps `t (B,)`."""
    logits = torch.stack(
        [torch.from_numpy(DENOISER.logits(row[None].numpy(), int(s))[0]) for row, s in zip(noisy, t, strict=True)]
    )
    weights = node_weights(objective, schedule, t, noisy, LABELLED)
    return weighted_cross_entropy(logits.transpose(0, 1), torch.from_numpy(CLEAN), weights)


def label_trick_loss(ratio, t):
    """Eq. 3 for label-trick input ratio `ratio`, by enumerating every partition of the nodes; positive sign."""
    total = 0.0
    for inside in itertools.product([True, False], repeat=4):
        chance = np.prod([ratio if i else 1 - ratio for i in inside])
        p = DENOISER.probabilities(tuple(np.where(inside, CLEAN, MASKED)), t)
        total += chance * -sum(np.log(p[i, CLEAN[i]]) for i in range(4) if not inside[i])
    return total


@pytest.mark.parametrize("name", ["cosine", "linear"])
def test_the_loss_is_a_mixture_of_label_trick_losses(name):
    steps, per_step = 6, 4000
    schedule = Schedule.cosine(steps) if name == "cosine" else Schedule.linear(steps)
    alpha = schedule.alpha.numpy()
    mixture = (
        sum((alpha[t - 1] - alpha[t]) / (1 - alpha[t]) * label_trick_loss(alpha[t], t) for t in range(1, steps + 1)) / 4
    )
    t = torch.arange(1, steps + 1).repeat(per_step)
    draws = uniform(0, Stream.MASK, torch.arange(len(t))[:, None], 0, torch.arange(4))
    noisy = mask_labels(torch.from_numpy(CLEAN), schedule.alpha[t][:, None], draws)
    each = torch.stack([loss_of(noisy[k : k + steps], t[k : k + steps], schedule) for k in range(0, len(t), steps)])
    error = float(each.std()) / len(each) ** 0.5
    assert float(each.mean()) == pytest.approx(mixture, abs=4 * error)
    assert error < 0.02 * mixture


@given(st.lists(st.floats(0.3, 3), min_size=4, max_size=4), st.integers(1, 5), st.integers(0, 14))
def test_per_node_schedules_only_reweight_the_loss(powers, t, which):
    """Lemma 1: the KL of one reverse step under per-node routing is the same cross-entropies, weighted by lambda'_i."""
    schedule = Schedule.cosine(6).per_node(torch.tensor(powers))
    inside = np.array([(which >> i) & 1 for i in range(4)], dtype=bool)
    noisy = np.where(inside, CLEAN, MASKED)
    p = DENOISER.probabilities(tuple(noisy), t)
    alpha = schedule.alpha.numpy()
    divergence = 0.0
    for i in np.flatnonzero(~inside):
        rate = (alpha[t - 1, i] - alpha[t, i]) / (1 - alpha[t, i])
        truth, model = np.zeros(3), np.append(rate * p[i], 1 - rate)
        truth[CLEAN[i]], truth[2] = rate, 1 - rate
        here = truth > 0
        divergence += (truth[here] * np.log(truth[here] / model[here])).sum()
    loss = loss_of(torch.from_numpy(noisy)[None], torch.tensor([t]), schedule)
    assert float(loss) == pytest.approx(divergence * schedule.steps / 4, rel=1e-9)


def test_unmasked_nodes_do_not_count_but_in_the_authors_objective():
    noisy, schedule = torch.tensor([[0, MASKED, 1, MASKED]]), Schedule.cosine(6)
    t = torch.tensor([3])
    paper = node_weights("paper", schedule, t, noisy, LABELLED)
    assert (paper[0] > 0).tolist() == [False, True, False, True]
    assert float(paper[0, 1]) == pytest.approx(6 * float(schedule.reveal_rate(3)) / 4)
    assert node_weights("unweighted", schedule, t, noisy, LABELLED).tolist() == [[0, 0.25, 0, 0.25]]
    assert node_weights("authors", schedule, t, noisy, LABELLED).tolist() == [[0.5] * 4]
    assert node_weights("labelled", schedule, t, noisy, LABELLED).tolist() == [[0, 0, 0, 0.5]]
    with pytest.raises(ConfigError, match="elbo"):
        node_weights("elbo", schedule, t, noisy, LABELLED)


def test_class_weights_multiply_the_loss_of_their_class():
    logits = torch.zeros(2, 1, 2, dtype=torch.float64)
    clean, weights = torch.tensor([0, 1]), torch.ones(1, 2, dtype=torch.float64)
    plain = weighted_cross_entropy(logits, clean, weights)
    heavy = weighted_cross_entropy(logits, clean, weights, torch.tensor([1.0, 3.0]))
    assert float(heavy) == pytest.approx(2 * float(plain))
