"""A probe tells the validation accuracy of both models, and is as good as the fit it stands for."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from redisc import Graph, ReDiSC, datasets
from redisc.errors import ConfigError
from redisc.experiments.probe import Probe, means, probe, read_settings

SMALL = {"iterations": 20, "warm_iterations": 5, "evaluate_every": 10, "mean_field_epochs": 10, "steps": 5, "masks": 2}


def test_a_probe_has_the_figures_of_its_fit():
    found = probe("karate", 3, SMALL)
    graph = datasets.load("karate", seed=3)
    split = graph.splits[3 % len(graph.splits)]
    history = ReDiSC(**SMALL, random_state=3).fit(graph, split.train, split.val).history_
    assert found.mean_field == history["mean_field_validation"]
    assert found.looks == history["validation"] and len(found.looks) == 2
    assert found.best_iteration == history["best_iteration"]


def test_no_test_label_is_read(monkeypatch):
    graph = datasets.load("karate", seed=3)
    test = graph.splits[3 % len(graph.splits)].test
    blind = Graph(graph.x, graph.edge_index(), np.where(test, (graph.y + 1) % 2, graph.y), splits=graph.splits)
    seen = probe("karate", 3, SMALL)
    monkeypatch.setattr(datasets, "load", lambda *_, **__: blind)
    assert test.any() and not np.array_equal(blind.y, graph.y)
    assert replace(probe("karate", 3, SMALL), seconds=0) == replace(seen, seconds=0)


def test_the_warm_start_alone_is_that_of_the_whole_fit():
    alone, whole = probe("karate", 3, SMALL, warm_start=True), probe("karate", 3, SMALL)
    assert alone.best_iteration == 1  # nothing but one update came after it
    assert alone.mean_field == whole.mean_field
    assert alone.looks == []
    assert "chain" not in alone.line() and "chain" not in means([alone])


def test_means_are_over_the_best_look_of_every_seed():
    told = means([Probe(0, 0.5, [0.6, 0.4], 50, 1.0), Probe(1, 0.7, [0.5, 0.8], 100, 1.0)])
    assert told == "validation accuracy over 2 seeds: mean-field 60.00, chain 70.00"


def test_a_line_tells_every_look():
    line = Probe(4, 0.5, [0.6, 0.4], 50, 12.4).line()
    assert line == "seed 4: mean-field 50.00, chain 60.00 at 50 (60.0 40.0), 12 s"


def test_settings_stand_over_a_recipe():
    settings = read_settings("cora-gcn", '{"iterations": 7}')
    assert settings["iterations"] == 7 and settings["backbone"] == "gcn"


@pytest.mark.parametrize("text", ["layers=4", "[4]", '{"lairs": 4}', '{"random_state": 1}'])
def test_settings_that_make_no_sense_are_refused(text):
    with pytest.raises(ConfigError, match="--settings"):
        read_settings(None, text)


def test_it_runs_as_a_command():
    command = [sys.executable, "-m", "redisc.experiments.probe", "karate", "--seeds", "0", "1"]
    done = subprocess.run([*command, "--settings", json.dumps(SMALL)], capture_output=True, text=True, check=True)
    first, second, last = done.stdout.splitlines()
    assert first.startswith("seed 0: mean-field ") and second.startswith("seed 1: ")
    assert last.startswith("validation accuracy over 2 seeds: mean-field ")
    wrong = subprocess.run([*command, "--settings", "4"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: --settings 4: expected")


def test_labels_drawn_anew_want_halves_to_judge_them():
    command = [sys.executable, "-m", "redisc.experiments.probe", "karate", "--redraw"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == "error: --redraw goes with --halves\n"
