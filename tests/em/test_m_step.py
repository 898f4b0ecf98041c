"""The M-step against Eq. 12 written out in numpy."""

import numpy as np
import pytest
import torch

from oracles import softmax
from redisc.diffusion import MASKED
from redisc.em import EMConfig
from redisc.em.m_step import MStep
from redisc.em.replay import PriorityQueue


class Recording:
    """The bench's engine, with a note of every masked state, step and logit that passes."""

    def __init__(self, engine):
        self.engine, self.calls = engine, []

    def noisy_logits(self, denoiser, labels, t, dropout):
        logits = self.engine.noisy_logits(denoiser, labels, t, dropout)
        self.calls.append((labels.clone().numpy(), t.numpy(), logits.detach().numpy()))
        return logits


def m_step(case, seed=0, **settings):
    config = EMConfig(**{"masks": 6, **settings})
    engine = Recording(case.engine)
    return MStep(case.model.denoiser, case.problem, engine, case.schedule, config, seed), engine


def queue_of(*samples):
    queue = PriorityQueue(len(samples), 0.1, 3)
    for sample in samples:
        queue.push(sample, None)
    return queue


def a_sample(case, seed=0):
    drawn = torch.from_numpy(np.random.default_rng(seed).integers(3, size=len(case.problem.known)))
    return torch.where(case.problem.known != MASKED, case.problem.known, drawn)


def written_out(objective, clean, noisy, t, logits, alpha, labelled, class_weight):
    """Loops over masks and nodes: the sum that the paper's Eq. 12 and the ablations stand for."""
    total, (B, N), T = 0.0, noisy.shape, len(alpha) - 1
    for b in range(B):
        rate = (alpha[t[b] - 1] - alpha[t[b]]) / (1 - alpha[t[b]])
        for i in range(N):
            entropy = -np.log(softmax(logits[i, b])[clean[i]]) * class_weight[clean[i]]
            if objective == "authors":
                total += entropy / (labelled.sum() if labelled[i] else (~labelled).sum())
            elif noisy[b, i] == MASKED:
                total += entropy * (T * rate if objective == "paper" else 1) / N
    return total / B


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "class weights"])
@pytest.mark.parametrize("objective", ["paper", "unweighted", "authors"])
def test_the_loss_is_the_objective_written_out(bench, objective, weighted):
    case = bench()
    class_weight = np.array([0.5, 2.0, 1.5]) if weighted else np.ones(3)
    if weighted:
        object.__setattr__(case.problem, "class_weight", torch.from_numpy(class_weight))
    step, engine = m_step(case, objective=objective)
    clean = a_sample(case)
    for _ in range(3):
        loss = step(queue_of(clean))
        noisy, t, logits = engine.calls[-1]
        labelled = case.problem.known.numpy() != MASKED
        alpha = case.schedule.alpha.numpy()
        expected = written_out(objective, clean.numpy(), noisy, t, logits, alpha, labelled, class_weight)
        assert loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("batch_size", [0, 7])
def test_labels_drawn_class_by_class_are_learned_as_such(bench, batch_size):
    case = bench()
    step = MStep(case.model.denoiser, case.problem, case.engine, case.schedule, EMConfig(batch_size=batch_size), 0)
    step.shift = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    state = step.new_state(queue_of(a_sample(case)))
    rows = torch.arange(7) if batch_size else None
    logits = case.engine.noisy_logits(case.model.denoiser, state.noisy, state.t, None).detach().numpy()
    total = 0.0
    for b in range(len(state.t)):
        for i in range(7 if batch_size else len(case.problem.known)):
            drawn = logits[i, b] - (step.shift.numpy() if case.problem.known[i] != MASKED else 0)
            total += -np.log(softmax(drawn)[state.clean[b, i]]) * float(state.weights[b, i])
    assert float(step.loss(state, rows).detach()) == pytest.approx(total / len(state.t), rel=1e-9)


def test_masked_states_hold_the_drawn_sample_or_nothing_at_the_rate_of_their_step(bench):
    case = bench(nodes=200, steps=5)
    step, engine = m_step(case, masks=40)
    clean = a_sample(case)
    for _ in range(5):
        step(queue_of(clean))
    noisy = np.concatenate([call[0] for call in engine.calls])
    t = np.concatenate([call[1] for call in engine.calls])
    assert ((noisy == MASKED) | (noisy == clean.numpy())).all()
    assert len(np.unique(noisy, axis=0)) > 0.7 * len(noisy)
    for step_ in range(1, 6):
        rows = noisy[t == step_]
        alpha = float(case.schedule.alpha[step_])
        bound = 4 * (alpha * (1 - alpha) / rows.size) ** 0.5 + 1e-12
        assert (rows != MASKED).mean() == pytest.approx(alpha, abs=bound)


def test_each_mask_takes_its_own_sample_of_the_queue(bench):
    case = bench()
    samples = [a_sample(case, seed) for seed in range(3)]
    step, engine = m_step(case, masks=30)
    step(queue_of(*samples))
    noisy = engine.calls[-1][0]
    fits = np.array([[((row == MASKED) | (row == s.numpy())).all() for s in samples] for row in noisy])
    assert fits.any(1).all()
    assert fits.any(0).all()
    assert not fits.all(1).all()


@pytest.mark.parametrize("masks", [1, 2, 5, 8])
def test_antithetic_steps_pair_to_one_more_than_the_number_of_steps(bench, masks):
    step, engine = m_step(bench(steps=7), masks=masks, antithetic=True)
    for _ in range(20):
        step(queue_of(a_sample(bench())))
    for _, t, _ in engine.calls:
        pairs = masks // 2
        half = (masks + 1) // 2
        assert len(t) == masks
        assert (t[:pairs] + t[half : half + pairs] == 8).all()


@pytest.mark.parametrize("antithetic", [False, True])
def test_steps_are_uniform_on_one_to_the_last(bench, antithetic):
    step, engine = m_step(bench(steps=7), masks=20, antithetic=antithetic)
    for _ in range(40):
        step(queue_of(a_sample(bench())))
    counts = np.bincount(np.concatenate([t for _, t, _ in engine.calls]), minlength=8)
    assert counts[0] == 0
    assert len(counts) == 8
    assert (np.abs(counts[1:] - 800 / 7) < 5 * np.sqrt(800 / 7 * 2)).all()


@pytest.mark.parametrize("objective", ["paper", "unweighted", "authors"])
@pytest.mark.parametrize("steps", [1, 80])
def test_gradients_are_finite_and_the_weights_move(bench, objective, steps):
    case = bench(steps=steps)
    before = [p.detach().clone() for p in case.model.denoiser.parameters()]
    step, _ = m_step(case, objective=objective)
    for _ in range(5):
        assert np.isfinite(step(queue_of(a_sample(case))))
    gradients = [p.grad for p in case.model.denoiser.parameters()]
    assert all(g is not None and torch.isfinite(g).all() for g in gradients)
    moved = [not torch.equal(a, b) for a, b in zip(before, case.model.denoiser.parameters(), strict=True)]
    assert any(moved) if steps == 1 else all(moved)  # with one step no label is ever shown, and gates rest


def test_updates_lower_the_loss_on_a_sample(bench):
    case = bench()
    step, _ = m_step(case, masks=16, objective="unweighted", weight_decay=0.0)
    losses = [step(queue_of(a_sample(case))) for _ in range(120)]
    assert np.mean(losses[-20:]) < 0.7 * np.mean(losses[:20])


def test_the_same_seed_takes_the_same_steps_to_the_bit(bench):
    def weights(seed):
        case = bench(dropout=0.5)
        step, _ = m_step(case, seed)
        losses = [step(queue_of(a_sample(case), a_sample(case, 1))) for _ in range(3)]
        return losses, torch.cat([p.detach().flatten() for p in case.model.denoiser.parameters()])

    (losses, first), (again, second), (_, other) = weights(0), weights(0), weights(1)
    assert losses == again
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_a_kept_draw_changes_only_with_the_queue(bench):
    case = bench()
    step, _ = m_step(case, keep_draw=True)
    queue = queue_of(*(a_sample(case, seed) for seed in range(8)))
    first = step._draw(queue)
    assert all(torch.equal(step._draw(queue), first) for _ in range(5))
    queue.push(a_sample(case, 9), None)
    assert not torch.equal(step._draw(queue), first)
    free, _ = m_step(case)
    assert not torch.equal(free._draw(queue), free._draw(queue))
