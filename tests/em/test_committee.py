"""Several mean-field GNNs as one warm start: trained in turn, asked together."""

import numpy as np
import pytest
import torch

from redisc.clock import Clock
from redisc.em import EMConfig
from redisc.em.committee import train_committee
from redisc.nn import Committee, members_of

EPOCHS = 7


def train(case, clock=None, **settings):
    config = EMConfig(**{"mean_field_epochs": EPOCHS, "mean_field_patience": EPOCHS, **settings})
    return train_committee(case.model.mean_field, case.engine, case.problem, config, 0, clock or Clock())


def opinions(case):
    with torch.no_grad():
        return torch.stack([case.engine.mean_field(member).softmax(1) for member in members_of(case.model.mean_field)])


def test_the_answer_is_the_mean_of_the_members_probabilities(bench):
    case = bench(members=3, dropout=0.5)
    warm = train(case)
    torch.testing.assert_close(warm.probabilities, opinions(case).mean(0), rtol=0, atol=1e-15)
    assert warm.validation == case.problem.validation.score(warm.probabilities.argmax(1), warm.probabilities)
    assert warm.epochs == 3 * EPOCHS


def test_members_start_and_drop_out_on_their_own_and_the_first_as_if_alone(bench):
    case, alone = bench(members=3, dropout=0.5), bench(dropout=0.5)
    train(case)
    single = train(alone)
    first, second, third = opinions(case)
    assert torch.equal(first, single.probabilities)
    assert not torch.allclose(first, second)
    assert not torch.allclose(second, third)


def test_one_member_is_no_committee(bench):
    assert not isinstance(bench(members=1).model.mean_field, Committee)
    assert len(members_of(bench(members=2).model.mean_field)) == 2


@pytest.mark.parametrize("turns", [1, 2])
def test_members_whose_turn_does_not_come_have_no_voice(bench, turns):
    case, clock = bench(members=5), Clock()
    asked = []

    def is_past(share):
        asked.append(share)
        return len(asked) >= turns * (EPOCHS + 1)

    clock.is_past = is_past
    warm = train(case, clock)
    found, whole = opinions(case), bench(members=5)
    train(whole)
    torch.testing.assert_close(found[:turns], opinions(whole)[:turns], rtol=0, atol=0)
    torch.testing.assert_close(warm.probabilities, found[:turns].mean(0), rtol=0, atol=1e-15)
    assert case.model.mean_field.voices.tolist() == [k < turns for k in range(5)]
    assert all(torch.isfinite(weights).all() for weights in case.model.mean_field.parameters())


@pytest.mark.parametrize(("spent", "trained"), [(40.0, 3), (60.0, 1)])
def test_no_member_begins_when_half_of_the_time_is_over(bench, monkeypatch, spent, trained):
    monkeypatch.setattr(Clock, "elapsed", spent)
    assert train(bench(members=3), Clock(100.0)).epochs == trained * EPOCHS


def test_progress_counts_the_epochs_of_all_members(bench):
    reports = []
    train(bench(members=3), Clock(None, reports.append))
    assert [report.done for report in reports] == list(range(1, 3 * EPOCHS + 1))
    assert {(report.phase, report.total) for report in reports} == {("mean-field", 3 * EPOCHS)}


def test_estimated_shares_shift_every_member_alike(bench):
    settings = {"mean_field_epochs": 40, "mean_field_patience": 40, "mean_field_learning_rate": 0.1}
    plain, shifted = bench(members=2), bench(members=2)
    train(plain, **settings)
    warm = train(shifted, **settings, class_shares="estimated")
    assert warm.shift is not None
    with torch.no_grad():
        for one, other in zip(*(members_of(case.model.mean_field) for case in (plain, shifted)), strict=True):
            change = shifted.engine.mean_field(other) - plain.engine.mean_field(one)
            torch.testing.assert_close(change, warm.shift.expand_as(change), rtol=0, atol=1e-12)
    np.testing.assert_allclose(warm.probabilities.sum(1), 1)
