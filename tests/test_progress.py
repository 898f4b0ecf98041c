from dataclasses import replace

import numpy as np

from examples import FAST, random_graph
from redisc import ReDiSC
from redisc.clock import Clock, Progress
from redisc.em import Trainer
from redisc.progress import ProgressBar

ASIDE = Progress("chains", 3, 10, elapsed=9.0, remaining=7.0, phase_elapsed=3.0, is_aside=True)


def bars(bar):
    return [(task.description, task.completed) for task in bar._bar.tasks]


def test_short_work_gets_no_bar_and_long_work_has_one_while_it_lasts():
    with ProgressBar(True, "accuracy") as bar:
        bar.update(replace(ASIDE, phase_elapsed=0.5))
        assert bars(bar) == []
        bar.update(ASIDE)
        bar.update(replace(ASIDE, done=4))
        assert bars(bar) == [("chains", 4)]
        bar.update(replace(ASIDE, done=10))
        assert bars(bar) == []


def test_a_new_piece_of_work_replaces_the_last_one():
    with ProgressBar(True, "accuracy") as bar:
        bar.update(ASIDE)
        bar.update(replace(ASIDE, phase="hops of features", done=1))
        assert bars(bar) == [("hops of features", 1)]


def heard(settings, monkeypatch):
    """Fit with a listener and return what it was told beside the phases."""
    told = []
    fit = Trainer.fit

    def listened(trainer, clock, keeper):
        clock.listener = told.append
        return fit(trainer, clock, keeper)

    monkeypatch.setattr(Trainer, "fit", listened)
    graph = random_graph(0, nodes=30, edges=60)
    ReDiSC(**{**FAST, **settings}, random_state=0).fit(graph, np.arange(12), np.arange(12, 20))
    return [p for p in told if p.is_aside]


def test_a_fit_tells_of_the_steps_within_its_e_steps_and_looks(monkeypatch):
    asides = heard({"e_step_samples": 2}, monkeypatch)
    e_step = [p.done for p in asides if p.total == 2 * FAST["steps"]]
    look = [p.done for p in asides if p.total == FAST["steps"]]
    assert e_step[: 2 * FAST["steps"]] == list(range(1, 2 * FAST["steps"] + 1))
    assert look[: FAST["steps"]] == list(range(1, FAST["steps"] + 1))


def test_hops_are_counted_in_rows_of_all_hops():
    told = []
    clf = ReDiSC(**{**FAST, "backbone": "hops", "layers": 3}, random_state=0)
    graph = random_graph(0, nodes=30, edges=60)
    clf.fit(graph, np.arange(12), np.arange(12, 20))
    clf._fitted().engine(graph, lambda *what: told.append(what))
    assert told == [("hops of features", 30 * (k + 1), 90) for k in range(3)]


def test_an_aside_begins_anew_when_its_count_falls(monkeypatch):
    told, now = [], iter(range(100))
    monkeypatch.setattr("redisc.clock.time.monotonic", lambda: float(next(now)))
    clock = Clock(listener=told.append)
    for done in (1, 2, 3, 1):
        clock.aside("chains", done, 3)
    assert told[2].phase_elapsed > told[1].phase_elapsed > told[0].phase_elapsed
    assert told[3].phase_elapsed == told[0].phase_elapsed
