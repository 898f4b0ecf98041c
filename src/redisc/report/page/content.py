"""What the report shows of a run, gathered once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from redisc.classifier import NodeClassifier
from redisc.diffusion import Trace
from redisc.diffusion.masking import MASKED
from redisc.errors import DatasetError
from redisc.estimator import ReDiSC
from redisc.evaluation import Answer, Examination, scored_nodes
from redisc.graph import Graph, Split
from redisc.run import Run

MOST_NODES, MOST_EDGES = 50_000, 250_000
"""The player is left out of larger graphs: nobody could read the picture, and the file would be too big to open."""

_DRIVER_CHAINS = 8
"""Chains behind each change of a posterior."""

_DRIVER_GROUPS, _MOST_DRIVEN = 32, 5_000
"""Masking takes this many times the chains of one answer, which larger graphs do on demand alone."""

DriverLists = list[list[tuple[int, float]]]
"""For each node the known nodes that drive it, largest effect first, with what their label adds to the probability of
the node's likeliest label."""


@dataclass(frozen=True, eq=False)
class Content:
    """A run, what it answers, and how well; labels of the scored nodes were hidden from the model.

    `trace` is None where there is no path to show, and `no_player` says why.
    """

    facts: dict[str, Any]
    split: Split
    kind: str  # of the scored nodes: "test", "validation", "training" where none was held out, or "new"
    exam: Examination
    answers: dict[str, Answer]  # of the method and, beside ReDiSC, of its mean-field GNN
    scores: dict[str, dict[str, float]]  # of the same
    trace: Trace | None
    no_player: str
    drivers: DriverLists | None

    @property
    def graph(self) -> Graph:
        """The graph of the run."""
        return self.exam.graph

    @property
    def clf(self) -> NodeClassifier:
        """The fitted method."""
        return self.exam.clf

    @property
    def known(self) -> np.ndarray:
        """Which nodes `(N,)` have a label that the answers are conditioned on."""
        return self.exam.known != MASKED

    @property
    def class_names(self) -> list[str]:
        """The names of the examination's classes."""
        return self.graph.names_of(self.exam.classes)


def collect(run: Run, samples: int = 32, driver_groups: int | None = None, new: Graph | None = None) -> Content:
    """Ask a run everything that its report shows; `samples` chains stand behind the probabilities.

    What drives a node is asked by masking known labels in `driver_groups` groups, or not at all for 0; by default where
    the graph is small enough. A `new` graph is scored on all of its labels, none of which the model is told.
    """
    clf, graph = run.model(), run.graph() if new is None else new
    split = run.split(graph) if new is None else _nobody_seen(graph)
    kind, mask = scored_nodes(graph, split) if new is None else ("new", split.test)
    exam = Examination(clf, graph, mask, None if new is None else np.full(graph.num_nodes, MASKED))
    no_player = _why_no_player(clf, graph)
    trace = clf.trace(graph, exam.known) if isinstance(clf, ReDiSC) and not no_player else None
    answers = exam.answers(clf.predict(graph, exam.known) if trace is None else trace.labels, samples)
    scores = {name: exam.score(answer) for name, answer in answers.items()}
    if driver_groups is None:
        driver_groups = _DRIVER_GROUPS if graph.num_nodes <= _MOST_DRIVEN else 0
    drivers = None if trace is None or not driver_groups else _drivers(clf, exam, driver_groups)
    return Content(run.facts(), split, kind, exam, answers, scores, trace, no_player, drivers)


def _nobody_seen(graph: Graph) -> Split:
    labelled = graph.y != MASKED
    if not labelled.any():
        raise DatasetError("the new nodes have no label to score: see `redisc predict` for theirs")
    return Split(np.zeros_like(labelled), np.zeros_like(labelled), labelled)


def _drivers(clf: NodeClassifier, exam: Examination, groups: int) -> DriverLists:
    assert isinstance(clf, ReDiSC)
    return clf.drivers(labels=exam.known, graph=exam.graph, n_samples=_DRIVER_CHAINS, groups=groups).lists()


def _why_no_player(clf: NodeClassifier, graph: Graph) -> str:
    if not isinstance(clf, ReDiSC):
        return f"{clf.title} reveals no labels step by step, so that there is nothing to play."
    if graph.num_nodes > MOST_NODES or graph.num_edges > MOST_EDGES:
        return f"The player is left out: it draws at most {MOST_NODES:,} nodes and {MOST_EDGES:,} edges."
    return ""
