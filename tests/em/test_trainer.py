"""Algorithm 1 as a whole: what ends it, which weights it keeps, and that every ablation runs."""

import itertools

import numpy as np
import pytest
import torch

from redisc.clock import Clock
from redisc.em import EMConfig
from redisc.errors import ConfigError
from redisc.problem import Problem


class Watcher:
    """A listener that keeps the denoiser's weights after every update, and may interrupt at one."""

    def __init__(self, denoiser, interrupt_at=None, phase="diffusion"):
        self.denoiser, self.interrupt_at, self.phase = denoiser, interrupt_at, phase
        self.weights, self.reports = {}, []

    def __call__(self, progress):
        self.reports.append(progress)
        if progress.phase == "diffusion":
            self.weights[progress.done] = flat(self.denoiser)
        if progress.phase == self.phase and progress.done == self.interrupt_at:
            raise KeyboardInterrupt


class Scores:
    """A validation set that gives the scores it was told to the looks, in order, and none to the mean-field GNN."""

    metric, nodes, reads_probabilities = "accuracy", np.arange(2), False

    def __init__(self, *scores):
        self.scores = list(scores)

    def score(self, labels, probabilities):
        return self.scores.pop(0) if len(self.scores) > 1 else self.scores[0]

    score_rows = score


def flat(network):
    return torch.cat([p.detach().flatten().clone() for p in network.parameters()])


def watched_fit(case, max_time=None, interrupt_at=None, scores=None, phase="diffusion", **settings):
    if scores is not None:
        problem = Problem(case.problem.known, case.problem.num_classes, Scores(*scores))
        case.problem = problem
        settings = {"mean_field_epochs": 0, "priority": "none", **settings}
    trainer = case.trainer(**settings)
    watcher = Watcher(case.model.denoiser, interrupt_at, phase)
    trainer.fit(Clock(max_time, watcher))
    return trainer, watcher


def test_the_history_has_one_entry_a_look(bench):
    trainer, _ = watched_fit(bench(), iterations=14, evaluate_every=4)
    history = trainer.history.as_dict()
    assert history["iteration"] == [4, 8, 12, 14]
    assert {len(history[name]) for name in ("iteration", "loss", "validation", "elapsed")} == {4}
    assert history["elapsed"] == sorted(history["elapsed"])
    assert np.isfinite(history["loss"]).all()
    assert history["best_validation"] == max(history["validation"])
    assert history["stopped_by"] == "iterations"
    assert 0 <= history["mean_field_validation"] <= 1
    assert history["mean_field_epochs"] == 5


def test_the_loss_of_a_look_is_the_mean_since_the_last(bench):
    trainer, watcher = watched_fit(bench(), iterations=8, evaluate_every=4)
    losses = [r.figures["loss"] for r in watcher.reports if r.phase == "diffusion"]
    assert trainer.history.loss == pytest.approx([np.mean(losses[:4]), np.mean(losses[4:])])


def test_the_best_weights_are_restored_to_the_bit(bench):
    # One score is used up by the warm start; the looks see the others.
    trainer, watcher = watched_fit(bench(), scores=[0.0, 0.5, 0.9, 0.3], iterations=12, evaluate_every=4)
    assert trainer.history.validation == [0.5, 0.9, 0.3]
    assert trainer.history.best_iteration == 8
    assert trainer.history.best_validation == 0.9
    assert torch.equal(flat(trainer.denoiser), watcher.weights[8])
    assert not torch.equal(flat(trainer.denoiser), watcher.weights[12])


def test_of_equal_scores_the_later_weights_win(bench):
    trainer, watcher = watched_fit(bench(), scores=[0.0, 0.5, 0.5, 0.4], iterations=12, evaluate_every=4)
    assert trainer.history.best_iteration == 8
    assert torch.equal(flat(trainer.denoiser), watcher.weights[8])


def test_evaluating_again_gives_the_best_validation_score_exactly(bench):
    trainer, _ = watched_fit(bench(), iterations=40, evaluate_every=2, e_step_every=10)
    assert trainer.history.validation[-1] < trainer.history.best_validation
    labels, _ = trainer.evaluate()
    assert trainer.problem.validation.score(labels, None) == trainer.history.best_validation


def test_patience_counts_looks_without_a_gain(bench):
    falling = [0.0, 0.5, 0.7, *np.linspace(0.6, 0.1, 30)]
    trainer, _ = watched_fit(bench(), scores=falling, iterations=100, evaluate_every=2, patience=3)
    assert trainer.history.stopped_by == "patience"
    assert trainer.history.iteration == [2, 4, 6, 8, 10]
    assert trainer.history.best_iteration == 4


def test_time_that_is_over_ends_a_fit_after_one_update_with_a_look(bench):
    trainer, _ = watched_fit(bench(), max_time=0.0, iterations=100, evaluate_every=50)
    assert trainer.history.stopped_by == "max_time"
    assert trainer.history.iteration == [1]
    assert trainer.history.mean_field_epochs == 1
    assert np.isfinite(trainer.history.best_validation)


def test_an_interrupt_keeps_the_best_weights_so_far(bench):
    scores = [0.0, 0.9, 0.5, 0.95]
    trainer, watcher = watched_fit(bench(), interrupt_at=10, scores=scores, iterations=100, evaluate_every=4)
    assert trainer.history.stopped_by == "interrupt"
    assert trainer.history.iteration == [4, 8]
    assert torch.equal(flat(trainer.denoiser), watcher.weights[4])
    assert not torch.equal(flat(trainer.denoiser), watcher.weights[10])


def test_an_interrupt_before_the_first_look_keeps_what_was_learnt(bench):
    trainer, watcher = watched_fit(bench(), interrupt_at=6, iterations=100, evaluate_every=50)
    assert trainer.history.stopped_by == "interrupt"
    assert trainer.history.iteration == [6]
    assert np.isfinite(trainer.history.best_validation)
    assert torch.equal(flat(trainer.denoiser), watcher.weights[6])


def test_an_interrupt_of_the_warm_start_is_passed_on(bench):
    with pytest.raises(KeyboardInterrupt):
        watched_fit(bench(), interrupt_at=2, phase="mean-field")


def test_progress_counts_up_and_time_left_never_passes_the_limit(bench):
    _, watcher = watched_fit(bench(), max_time=3600.0)
    for phase, total in (("mean-field", 5), ("diffusion", 12)):
        reports = [r for r in watcher.reports if r.phase == phase]
        assert [r.done for r in reports] == list(range(1, total + 1))
        assert all(0 <= r.remaining <= 3600 - r.elapsed + 1 for r in reports)
        assert reports[-1].remaining == 0


@pytest.mark.parametrize(("warm", "every", "pushed"), [(0, 3, 4), (5, 3, 3), (12, 3, 0)])
def test_e_steps_come_after_the_warm_iterations_at_their_pace(bench, warm, every, pushed):
    trainer = bench().trainer(warm_iterations=warm, e_step_every=every, e_step_samples=2, queue_size=8)
    fresh = []
    push = trainer.queue.push

    def watch(labels, priority):
        fresh.append(priority)
        push(labels, priority)

    trainer.queue.push = watch
    trainer.fit(Clock())
    assert len(fresh) == 8 + 2 * pushed
    assert len(trainer.queue) == 8


def queue_after(case, **settings):
    trainer, _ = watched_fit(case, mean_field_epochs=1, iterations=9, evaluate_every=100, patience=99, **settings)
    return trainer.queue.probabilities(), trainer.queue.draw(50, np.random.default_rng(0))


@pytest.mark.parametrize("priority", ["train-cv", "none", "validation"])
def test_validation_labels_reach_the_queue_only_where_the_priority_says_so(bench, priority):
    case, other = bench(), bench()
    other = other.with_validation((case.problem.validation.labels + 1) % 3)
    (chances, samples), (chances_too, samples_too) = (queue_after(c, priority=priority) for c in (case, other))
    same = np.array_equal(chances, chances_too) and torch.equal(samples, samples_too)
    assert same == (priority != "validation")
    assert len(set(chances.tolist())) == 1 if priority == "none" else len(set(chances.tolist())) > 1


def test_every_cached_sample_keeps_the_known_labels(bench):
    case = bench()
    trainer, _ = watched_fit(case, priority="train-cv", iterations=15)
    samples = trainer.queue.draw(200, np.random.default_rng(0))
    assert (samples[:, case.trained] == case.problem.known[case.trained]).all()


SWITCHES = list(
    itertools.product(
        ["validation", "train-cv", "none"],
        ["labelled-first", "uniform", "confident-first"],
        ["vector", "scalar", "added", "none"],
    )
)
OBJECTIVES = ["paper", "unweighted", "authors"]
SCHEDULES = ["cosine", "authors-cosine", "linear"]


@pytest.mark.parametrize(
    ("priority", "routing", "gate", "objective", "schedule"),
    [(*row, OBJECTIVES[k % 3], SCHEDULES[(k // 3 + k // 12) % 3]) for k, row in enumerate(SWITCHES)],
)
def test_every_ablation_runs_together_with_every_other(bench, priority, routing, gate, objective, schedule):
    case = bench(nodes=12, train=6, val=4, steps=3, gate=gate, schedule=schedule, dropout=0.5)
    settings = {"iterations": 4, "evaluate_every": 2, "e_step_every": 2, "queue_size": 4, "mean_field_epochs": 2}
    trainer, _ = watched_fit(case, priority=priority, e_step_routing=routing, objective=objective, **settings)
    assert np.isfinite(trainer.history.loss).all()
    assert torch.isfinite(flat(trainer.denoiser)).all()
    assert trainer.history.iteration == [2, 4]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[(name, 0) for name in ("iterations", "masks", "e_step_every", "e_step_samples", "queue_size")],
        *[(name, 0.0) for name in ("queue_temperature", "mean_field_temperature", "learning_rate")],
        *[(name, -0.1) for name in ("e_step_temperature", "evaluation_temperature")],
        *[(name, "nonsense") for name in ("objective", "priority")],
        ("e_step_routing", "nonsense"),
        ("warm_iterations", -1),
        ("folds", 1),
    ],
)
def test_a_setting_out_of_its_range_is_refused_when_it_is_made(setting, value):
    name = {"e_step_routing": "routing"}.get(setting, setting)
    with pytest.raises(ConfigError, match=name):
        EMConfig(**{setting: value})
