"""A fit that is killed and resumed ends in the same bits as one that was left alone."""

import json

import numpy as np
import pytest
import torch

from redisc.clock import Clock
from redisc.em.keeper import Keeper
from redisc.errors import CheckpointError, ConfigError
from redisc.nn import Pooling

FIT = {"seed": 0}  # what a keeper takes for the description of a fit
NOISY = {"dropout": 0.5}


class KilledError(BaseException):
    """Stands for the end of a process."""


class Killer:
    """A listener that keeps every report and ends the process at one of them."""

    def __init__(self, phase=None, done=None):
        self.phase, self.done, self.reports = phase, done, []

    def __call__(self, progress):
        self.reports.append(progress)
        if (progress.phase, progress.done) == (self.phase, self.done):
            raise KilledError


def run(case, folder, every, resume, stop=(None, None), **settings):
    """Fit in the way that a process does: everything is built anew, and only the folder is handed on."""
    trainer, killer = case.trainer(**settings), Killer(*stop)
    keeper = Keeper(folder, every, resume)
    keeper.claim(FIT)
    try:
        trainer.fit(Clock(None, killer), keeper)
    except KilledError:
        return None, killer
    keeper.remove()
    return trainer, killer


def outcome(trainer):
    """Everything that a fit leaves behind but the time it took."""
    history = {k: v for k, v in trainer.history.as_dict().items() if "elapsed" not in k and "seconds" not in k}
    networks = {"denoiser": trainer.denoiser, "mean_field": trainer.mean_field}
    weights = {f"{n}.{k}": v.clone() for n, network in networks.items() for k, v in network.state_dict().items()}
    queue = trainer.queue.draw(20, np.random.default_rng(0))
    return history, {**weights, "queue": queue, "chances": torch.from_numpy(trainer.queue.probabilities())}


def assert_same(first, second):
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    for name, value in first[1].items():
        assert torch.equal(value, second[1][name]), name


def undisturbed(case, **settings):
    trainer = case.trainer(**settings)
    trainer.fit(Clock())
    return outcome(trainer)


STOPS = {
    "in the warm start": [("mean-field", 3)],
    "at the warm start's end": [("diffusion", 1)],
    "after a look": [("diffusion", 5)],
    "between looks": [("diffusion", 7)],
    "at the last update": [("diffusion", 12)],
    "again and again": [("mean-field", 2), ("mean-field", 5), ("diffusion", 3), ("diffusion", 11)],
}


@pytest.mark.parametrize("stops", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize(
    "settings",
    [
        {"priority": "validation", "warm_iterations": 5, "patience": 2},
        {"priority": "train-cv", "keep_draw": True, "e_step_every": 4},
        {"priority": "none", "antithetic": False, "masks": 3},
        {"batch_size": 5, "batches_per_draw": 3, "masks": 2},
        {"batch_size": 5, "batches_of": "clusters", "masks": 1},
        {"class_shares": "estimated", "mean_field_epochs": 40, "mean_field_learning_rate": 0.1},
        {"anchor": 0.7, "mean_field_temperature": 0.7},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_a_killed_fit_ends_in_the_same_bits(bench, tmp_path, settings, stops):
    expected = undisturbed(bench(**NOISY), **settings)
    for stop in stops:
        run(bench(**NOISY), tmp_path / "state", 0, (tmp_path / "state").exists(), stop, **settings)
    trainer, _ = run(bench(**NOISY), tmp_path / "state", 0, True, **settings)
    assert_same(outcome(trainer), expected)
    assert not (tmp_path / "state").exists()
    assert bool(trainer.history.class_shares) == ("class_shares" in settings)


@pytest.mark.parametrize("stops", [[3], [5], [6], [15], [2, 8, 14]], ids=str)
@pytest.mark.parametrize(
    ("backbones", "members", "generations", "reader"),
    [((), 3, 1, 0), (("gcn", "appnp"), 3, 1, 0), ((), 1, 3, 0), ((), 2, 2, 0), ((), 2, 2, 0.5), ((), 1, 3, 0.5)],
    ids=str,
)
def test_a_committee_that_is_killed_ends_in_the_same_bits(
    bench, tmp_path, stops, backbones, members, generations, reader
):
    settings = {"anchor": 1.0, "mean_field_generations": generations, "mean_field_reader": reader, "hub_doubt": 0.5}
    committee = {**NOISY, "members": members, "backbones": backbones, "pooling": Pooling(reader, 0.5)}
    expected = undisturbed(bench(**committee), **settings)
    for stop in stops:
        again = (tmp_path / "state").exists()
        run(bench(**committee), tmp_path / "state", 0, again, ("mean-field", stop), **settings)
    trainer, _ = run(bench(**committee), tmp_path / "state", 0, True, **settings)
    assert_same(outcome(trainer), expected)


def test_between_two_saves_a_fit_goes_on_from_the_first(bench, tmp_path):
    expected = undisturbed(bench(**NOISY))
    run(bench(**NOISY), tmp_path / "state", 3600, False, ("diffusion", 9))
    trainer, killer = run(bench(**NOISY), tmp_path / "state", 3600, True)
    first = next(report for report in killer.reports if not report.is_aside)
    assert (first.phase, first.done) == ("diffusion", 1)
    assert_same(outcome(trainer), expected)


def test_keeping_the_state_changes_nothing(bench, tmp_path):
    trainer, _ = run(bench(**NOISY), tmp_path / "state", 0, False)
    assert_same(outcome(trainer), undisturbed(bench(**NOISY)))


@pytest.mark.parametrize(("phase", "done", "total"), [("mean-field", 4, 5), ("diffusion", 8, 12)])
def test_progress_goes_on_with_what_is_done_and_the_time_it_took(bench, tmp_path, phase, done, total):
    run(bench(), tmp_path / "state", 0, False, (phase, done))
    head = tmp_path / "state" / "state.json"
    spent = json.loads(head.read_text())["figures"]["clock"]
    _, killer = run(bench(), tmp_path / "state", 0, True)
    first = killer.reports[0]
    assert (first.phase, first.done, first.total) == (phase, done, total)
    assert first.elapsed >= spent["elapsed"]
    assert first.phase_elapsed >= spent["phase_elapsed"]
    assert first.remaining == pytest.approx(first.phase_elapsed / done * (total - done))


def test_time_spent_before_counts_towards_the_limit(bench, tmp_path):
    run(bench(), tmp_path / "state", 0, False, ("diffusion", 4))
    trainer, keeper = bench().trainer(), Keeper(tmp_path / "state", 0, True)
    clock = Clock(1000.0)
    keeper.claim(FIT)
    keeper._found.figures["clock"]["elapsed"] = 1000.0
    trainer.fit(clock, keeper)
    assert trainer.history.stopped_by == "max_time"
    assert trainer.history.iteration == [4]


def test_a_missing_state_is_a_note_and_a_fit_from_the_beginning(bench, tmp_path):
    with pytest.warns(UserWarning, match="there is no unfinished fit in .*state: starting from the beginning"):
        trainer, _ = run(bench(), tmp_path / "state", 0, True)
    assert_same(outcome(trainer), undisturbed(bench()))


def test_an_interrupt_keeps_the_best_weights_and_a_fit_can_be_made_anew(bench, tmp_path):
    trainer, keeper = bench().trainer(), Keeper(tmp_path / "state", 0)

    def interrupt(progress):
        if (progress.phase, progress.done) == ("diffusion", 6):
            raise KeyboardInterrupt

    trainer.fit(Clock(None, interrupt), keeper)
    assert trainer.history.stopped_by == "interrupt"
    assert trainer.history.iteration == [4]


def test_a_state_of_other_sizes_is_one_clear_error(bench, tmp_path):
    run(bench(), tmp_path / "state", 0, False, ("diffusion", 4))
    with pytest.raises(CheckpointError, match="does not fit this model") as fault:
        run(bench(classes=4), tmp_path / "state", 0, True)
    assert "\n" not in str(fault.value)


def test_a_full_disk_does_not_end_a_fit(bench, tmp_path, monkeypatch):
    def full(self, state):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("redisc.io.state.StateFolder.save", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        trainer, _ = run(bench(), tmp_path / "state", 0, False)
    assert_same(outcome(trainer), undisturbed(bench()))


@pytest.mark.parametrize("every", [-1, float("nan"), float("inf"), "often", True, None])
def test_an_interval_must_be_a_number_of_seconds(tmp_path, every):
    with pytest.raises(ConfigError, match="checkpoint_every"):
        Keeper(tmp_path / "state", every)
