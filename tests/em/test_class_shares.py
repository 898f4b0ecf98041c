"""Shares of classes among unlabelled nodes: against counting, against a search over all shares, and as laws."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from redisc.clock import Clock
from redisc.diffusion import MASKED
from redisc.em import EMConfig
from redisc.em.class_shares import class_shift, estimate_shares
from redisc.em.warm_start import train_mean_field
from redisc.kernels.dropout import Dropout

EVEN = torch.full((3,), 1 / 3, dtype=torch.float64)


def likelihood(shares, p, drawn):
    """What the estimate maximises, one node's worth of the drawn shares included."""
    return float((p @ (shares / drawn)).log().sum() + (drawn * shares.log()).sum())


def some_answers(seed, nodes=40, classes=3, sharpness=2.0):
    generator = torch.Generator().manual_seed(seed)
    logits = sharpness * torch.randn(nodes, classes, generator=generator, dtype=torch.float64)
    drawn = torch.rand(classes, generator=generator, dtype=torch.float64) + 0.1
    return logits.softmax(1), drawn / drawn.sum()


@pytest.mark.parametrize("separation", [1.0, 2.0, 4.0])
def test_shares_are_found_from_the_answers_to_labels_drawn_evenly(separation):
    generator, shares = np.random.default_rng(0), np.array([0.7, 0.2, 0.1])
    truth = generator.choice(3, 20_000, p=shares)
    centres = separation * np.eye(3)
    x = centres[truth] + generator.normal(size=(len(truth), 3))
    posterior = torch.from_numpy(-0.5 * ((x[:, None] - centres) ** 2).sum(2)).softmax(1)  # of classes equally common
    found = estimate_shares(posterior, EVEN).numpy()
    assert np.abs(found - np.bincount(truth) / len(truth)).max() < 0.03
    counted = np.bincount(posterior.argmax(1).numpy(), minlength=3) / len(truth)
    assert np.abs(found - shares).max() < np.abs(counted - shares).max() + 1e-9


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 5))
def test_no_other_shares_explain_the_answers_better(seed, sharpness):
    p, drawn = some_answers(seed, sharpness=sharpness)
    found = estimate_shares(p, drawn)
    assert float(found.sum()) == pytest.approx(1)
    assert (found > 0).all()
    best = likelihood(found, p, drawn)
    grid = torch.cartesian_prod(*[torch.arange(1, 40, dtype=torch.float64)] * 2) / 40
    grid = grid[grid.sum(1) < 1]
    for pair in grid:
        assert likelihood(torch.cat([pair, 1 - pair.sum(0, keepdim=True)]), p, drawn) < best + 1e-4


def test_certain_answers_are_counted():
    p = torch.eye(3, dtype=torch.float64)[[0, 0, 0, 1, 1, 2, 0, 0, 0]]
    assert torch.allclose(estimate_shares(p, EVEN), (p.sum(0) + EVEN) / 10)


def test_answers_that_know_nothing_leave_the_shares_as_they_are():
    drawn = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    assert torch.allclose(estimate_shares(drawn.expand(9, 3), drawn), drawn)
    assert torch.allclose(estimate_shares(torch.empty(0, 3, dtype=torch.float64), drawn), drawn)


@pytest.mark.parametrize("chance", [0.1, 0.25, 0.4])
def test_a_class_without_a_label_keeps_its_odds_on_the_average(chance):
    uneven, _ = some_answers(0, nodes=400)
    p = torch.cat([uneven.pow(2) / uneven.pow(2).sum(1, keepdim=True) * (1 - chance), torch.full((400, 1), chance)], 1)
    known = torch.full((400,), MASKED)
    known[:7] = torch.tensor([0, 0, 1, 1, 1, 1, 2])
    shift = class_shift(p, known)
    assert shift.abs().max() > 0.1
    after = (p.log() + shift).softmax(1)[known == MASKED, 3]
    assert float((after / (1 - after)).mean()) == pytest.approx(chance / (1 - chance), rel=1e-2)


def test_a_node_that_is_certain_of_a_class_without_a_label_tells_nothing_of_the_others():
    p = torch.cat([some_answers(0)[0], torch.zeros(40, 1)], 1).float()
    known = torch.full((41,), MASKED)
    known[:6] = torch.arange(6) % 3
    certain = torch.cat([p, torch.tensor([[0.0, 0.0, 0.0, 1.0]])])
    assert torch.allclose(class_shift(certain, known), class_shift(p, known[:40]), atol=0.05)


def test_a_class_that_certain_answers_hold_no_node_of_is_rare():
    known = torch.full((40,), MASKED)
    known[:6] = torch.arange(6) % 3
    sure = torch.full((40, 3), 1e-4, dtype=torch.float64)
    sure[torch.arange(40), torch.arange(40) % 2] = 1
    shift = class_shift(sure / sure.sum(1, keepdim=True), known)
    assert shift[2] < shift[:2].min() - 1


def test_uncertain_answers_that_would_push_a_class_out_are_no_estimate():
    logits = torch.tensor([0.5, 0.0, 0.0]) + 0.01 * torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    known = torch.full((50,), MASKED)
    known[:3] = torch.arange(3)
    with pytest.warns(UserWarning, match="too uncertain"):
        assert class_shift(logits.softmax(1), known) is None


def test_more_nodes_than_enough_are_sampled_evenly(monkeypatch):
    p, _ = some_answers(0, nodes=3000)
    known = torch.full((3000,), MASKED)
    known[:9] = torch.arange(9) % 3
    whole = class_shift(p, known)
    monkeypatch.setattr("redisc.em.class_shares._ENOUGH", 1000)
    assert torch.allclose(class_shift(p, known), whole, atol=0.2)
    assert not torch.equal(class_shift(p, known), whole)


def test_the_denoiser_learns_through_the_shift_that_the_warm_start_found(bench):
    trainer = bench().trainer(class_shares="estimated", mean_field_epochs=20)
    warm = trainer.fit(Clock())
    assert warm.shift.abs().max() > 0.01
    assert torch.equal(trainer._m_step.shift, warm.shift)
    assert sum(trainer.history.class_shares) == pytest.approx(1)
    resumed = bench().trainer(class_shares="estimated", mean_field_epochs=20)
    resumed.restore(trainer.state())
    assert torch.equal(resumed._m_step.shift, warm.shift)


def test_the_warm_start_answers_with_the_shift_and_keeps_it_in_its_network(bench):
    def trained(shares):
        case = bench()
        config = EMConfig(mean_field_epochs=20, class_shares=shares)
        dropout = Dropout(np.random.default_rng(0))
        warm = train_mean_field(case.model.mean_field, case.engine, case.problem, config, dropout, 0, Clock())
        with torch.no_grad():
            return case, warm, case.engine.mean_field(case.model.mean_field)

    case, plain, learned = trained("labelled")
    _, warm, shifted = trained("estimated")
    assert plain.shift is None
    assert torch.allclose(warm.shift, class_shift(plain.probabilities, case.problem.known))
    assert warm.shift.abs().max() > 0.01
    assert torch.allclose(shifted, learned + warm.shift)
    assert torch.allclose(warm.probabilities, shifted.softmax(1))
