"""Lines 1 to 8 of Algorithm 1: the mean-field GNN and the samples that first fill the queue."""

import copy

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from redisc.clock import Clock
from redisc.diffusion import MASKED
from redisc.em import EMConfig
from redisc.em.warm_start import sample_mean_field, train_mean_field
from redisc.kernels.dropout import Dropout

P = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])


def sample(known=(MASKED,) * 4, n=30_000, temperature=1.0):
    drawn = sample_mean_field(P, torch.tensor(known), n, temperature, np.random.default_rng(0))
    return torch.stack(list(drawn)).numpy()


@pytest.mark.parametrize("temperature", [0.3, 1.0, 3.0])
def test_samples_follow_the_tempered_probabilities(temperature):
    samples = sample(temperature=temperature)
    for node in (0, 1, 3):
        tempered = P[node].double().numpy() ** (1 / temperature)
        expected = len(samples) * tempered / tempered.sum()
        assert chisquare(np.bincount(samples[:, node], minlength=3), expected).pvalue > 1e-3
    assert (samples[:, 2] == 0).all()


def test_nodes_are_drawn_independently():
    samples = sample()
    both = ((samples[:, 0] == 0) & (samples[:, 3] == 0)).mean()
    assert both == pytest.approx(0.7 / 3, abs=4 * (0.25 / len(samples)) ** 0.5)


def test_known_labels_stand_in_every_sample_whatever_the_probabilities():
    samples = sample(known=(2, MASKED, 1, MASKED), n=200)
    assert (samples[:, 0] == 2).all()
    assert (samples[:, 2] == 1).all()
    assert len(np.unique(samples[:, 3])) == 3


class Scores:
    """A validation set that gives the scores it was told, whatever it is shown; afterwards the last one."""

    metric, nodes, reads_probabilities = "accuracy", np.arange(2), False

    def __init__(self, *scores):
        self.scores = list(scores)

    def score(self, labels, probabilities):
        return self.scores.pop(0) if len(self.scores) > 1 else self.scores[0]

    score_rows = score


def train(bench, scores, epochs, patience=100, clock=None):
    problem = copy.copy(bench.problem)
    object.__setattr__(problem, "validation", Scores(*scores))
    config = EMConfig(mean_field_epochs=epochs, mean_field_patience=patience)
    dropout = Dropout(np.random.default_rng(0))
    return train_mean_field(bench.model.mean_field, bench.engine, problem, config, dropout, 0, clock or Clock())


def test_the_weights_of_the_best_epoch_are_restored(bench):
    best, longer = bench(), bench()
    train(best, [0.1, 0.2, 0.9], 3)
    warm = train(longer, [0.1, 0.2, 0.9, 0.3, 0.8, 0.9, 0.4], 6)
    assert warm.epochs == 6
    for first, second in zip(best.model.mean_field.parameters(), longer.model.mean_field.parameters(), strict=True):
        assert torch.equal(first, second)
    with torch.no_grad():
        logits = longer.engine.mean_field(longer.model.mean_field)
    assert torch.equal(warm.probabilities, logits.softmax(1))


def test_training_stops_after_epochs_without_a_gain(bench):
    assert train(bench(), [0.1, 0.5, 0.4], 50, patience=7).epochs == 9
    assert train(bench(), [0.1, 0.5, 0.5], 50, patience=7).epochs == 9


def test_training_stops_when_time_is_over_after_one_epoch(bench):
    assert train(bench(), [0.5], 50, clock=Clock(0.0)).epochs == 1


def test_training_lowers_the_cross_entropy_of_known_labels(bench):
    case = bench()
    known = case.problem.known
    inside = known != MASKED

    def loss():
        with torch.no_grad():
            logits = case.engine.mean_field(case.model.mean_field)[inside]
        return float(torch.nn.functional.cross_entropy(logits, known[inside]))

    before = loss()
    train(case, [k / 100 for k in range(60)], 50)
    assert loss() < 0.85 * before
