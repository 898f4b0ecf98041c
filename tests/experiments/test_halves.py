"""A judgement is by validation nodes that chose nothing, and reads no test label."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisc import Graph, ReDiSC, datasets
from redisc.errors import ConfigError
from redisc.experiments.halves import Judgement, halve, judge, means
from redisc.experiments.splits import redrawn
from redisc.graph import Split

SMALL = {"iterations": 20, "warm_iterations": 5, "evaluate_every": 10, "mean_field_epochs": 10, "steps": 5, "masks": 2}


@given(st.integers(2, 20), st.integers(2, 20), st.integers(0, 99))
def test_halves_share_no_node_and_hold_all(first, second, seed):
    graph = Graph(np.eye(first + second), np.zeros((2, 0), int), np.repeat([0, 1], [first, second]))
    nodes = np.arange(first + second)
    one, other = halve(graph, nodes, seed)
    assert sorted([*one, *other]) == nodes.tolist()
    assert abs(len(one) - len(other)) <= 1
    assert abs((graph.y[one] == 0).sum() - (graph.y[other] == 0).sum()) <= 1


def test_each_half_chooses_once_and_judges_the_fit_that_the_other_chose(monkeypatch):
    graph = datasets.load("karate", seed=3)
    split = graph.splits[3 % len(graph.splits)]
    one, other = halve(graph, np.flatnonzero(split.val), 3)
    fits, fit = [], ReDiSC.fit

    def recorded(clf, *given):
        fits.append((given[1:], fit(clf, *given)))
        return clf

    monkeypatch.setattr(ReDiSC, "fit", recorded)
    found = judge("karate", 3, SMALL)
    assert [sorted(choosing) for (_, choosing), _ in fits] == [sorted(one), sorted(other)]
    assert all(np.array_equal(train, split.train) for (train, _), _ in fits)
    right = [clf.predict() == graph.y for _, clf in fits]
    assert found.chain == np.concatenate([right[0][other], right[1][one]]).mean()
    alone = [clf.classes_[clf.mean_field_proba().argmax(1)] == graph.y for _, clf in fits]
    assert found.mean_field == np.concatenate([alone[0][other], alone[1][one]]).mean()


@pytest.mark.parametrize("redraw", [False, True])
def test_no_test_label_is_read(monkeypatch, redraw):
    graph = datasets.load("karate", seed=3)
    test = graph.splits[3 % len(graph.splits)].test
    blind = Graph(graph.x, graph.edge_index(), np.where(test, (graph.y + 1) % 2, graph.y), splits=graph.splits)
    seen = judge("karate", 3, SMALL, redraw=redraw)
    monkeypatch.setattr(datasets, "load", lambda *_, **__: blind)
    assert test.any() and replace(judge("karate", 3, SMALL, redraw=redraw), seconds=0) == replace(seen, seconds=0)


def test_labels_are_drawn_anew_where_that_is_asked_for(monkeypatch):
    fits, fit = [], ReDiSC.fit
    monkeypatch.setattr(ReDiSC, "fit", lambda clf, *given: (fits.append(given), fit(clf, *given))[1])
    judge("karate", 3, SMALL, warm_start=True, redraw=True)
    graph = datasets.load("karate", seed=3)
    split = graph.splits[3 % len(graph.splits)]
    drawn = redrawn(graph, split, 3)
    assert not np.array_equal(drawn.train, split.train)
    assert all(np.array_equal(train, drawn.train) for _, train, _ in fits) and len(fits) == 2


def test_the_warm_start_alone_has_no_chain():
    alone, whole = judge("karate", 3, SMALL, warm_start=True), judge("karate", 3, SMALL)
    assert alone.chain is None and alone.mean_field == whole.mean_field
    assert "chain" not in alone.line() and "chain" not in means([alone])


@pytest.mark.parametrize("splits", [(), (Split(np.ones(3, bool), np.zeros(3, bool), np.zeros(3, bool)),)])
def test_a_graph_without_validation_nodes_is_refused(monkeypatch, splits):
    bare = Graph(np.eye(3), np.array([[0, 1], [1, 2]]), np.array([0, 1, 0]), splits=splits)
    monkeypatch.setattr(datasets, "load", lambda *_, **__: bare)
    with pytest.raises(ConfigError, match=r"comes without (splits|validation nodes)"):
        judge("bare", 0, SMALL)


def test_a_class_with_one_node_cannot_be_halved():
    graph = Graph(np.eye(5), np.zeros((2, 0), int), np.array([0, 0, 1, 1, 7]))
    with pytest.raises(ConfigError, match="class 7 has one validation node"):
        halve(graph, np.arange(5), 0)


def test_means_are_over_seeds():
    told = means([Judgement(0, 0.5, 0.6, 1.0), Judgement(1, 0.7, 0.8, 1.0)])
    assert told == "accuracy on validation nodes that chose nothing over 2 seeds: mean-field 60.00, chain 70.00"


def test_it_runs_as_a_command():
    command = [sys.executable, "-m", "redisc.experiments.probe", "karate", "--halves", "--settings", json.dumps(SMALL)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, last = done.stdout.splitlines()
    assert first.startswith("seed 0: mean-field ") and ", chain " in first
    assert last.startswith("accuracy on validation nodes that chose nothing over 1 seed: mean-field ")
