"""The final evaluation: the one place where a run looks at test labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from redisc import metrics
from redisc.classifier import NodeClassifier
from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.graph import Graph, Split


def scored_nodes(graph: Graph, split: Split) -> tuple[str, np.ndarray]:
    """Return which nodes a run is scored on: "test" where test nodes have labels, else "validation", which flatters.

    Where no node was held out for validation these are "training" nodes, whose scores tell nothing about others.
    """
    tested = split.test & (graph.y != MASKED)
    if tested.any():
        return "test", tested
    return "training" if (split.train & split.val).any() else "validation", split.val


class Answer(NamedTuple):
    """What a model says: labels `(N,)` as places in an examination's `classes`, probabilities `(N, C)` of these."""

    labels: np.ndarray
    probabilities: np.ndarray


class Examination:
    """A method, a graph, and the nodes `mask` that it is scored on.

    Attributes:
        classes: The classes that the method or any label knows, sorted.
        truth: All labels `(N,)` as places in `classes`, -1 where there is none.
        known: Class values `(N,)` that the method conditions on, never those inside the mask; -1 elsewhere. They are
            what the fit knew unless given.
    """

    def __init__(self, clf: NodeClassifier, graph: Graph, mask: np.ndarray, known: np.ndarray | None = None) -> None:
        self.clf, self.graph, self.mask = clf, graph, mask
        self.classes = np.union1d(clf.classes_, np.unique(graph.y[graph.y != MASKED]))
        self.truth = np.where(graph.y == MASKED, MASKED, np.searchsorted(self.classes, graph.y))
        self.known = np.where(mask, MASKED, clf.known_ if known is None else known)

    def answers(self, labels: np.ndarray, samples: int) -> dict[str, Answer]:
        """Return the method's answer, whose class values `(N,)` are given, and that of ReDiSC's mean-field GNN."""
        probabilities = self.clf.predict_proba(samples, self.known, graph=self.graph)
        found = {self.clf.name: self._answer(labels, probabilities)}
        if isinstance(self.clf, ReDiSC):
            alone = self.clf.mean_field_proba(self.graph)
            found["mean_field"] = self._answer(self.clf.classes_[alone.argmax(1)], alone)
        return found

    def score(self, answer: Answer) -> dict[str, float]:
        """Return all metrics of `redisc.metrics.evaluate`."""
        return metrics.evaluate(self.graph, self.truth, *answer, self.mask, self.known != MASKED)

    def _answer(self, labels: np.ndarray, probabilities: np.ndarray) -> Answer:
        """A class that no training or validation node had can't be predicted; it gets a probability of zero."""
        padded = np.zeros((len(labels), len(self.classes)))
        padded[:, np.searchsorted(self.classes, self.clf.classes_)] = probabilities
        return Answer(np.searchsorted(self.classes, labels), padded)


def evaluate_run(
    clf: NodeClassifier, graph: Graph, mask: np.ndarray, samples: int = 32, known: np.ndarray | None = None
) -> dict[str, Any]:
    """Score a method on `mask` by all metrics of `redisc.metrics.evaluate`; ReDiSC's mean-field GNN too.

    Labels inside the mask are never conditioned on. What the method does condition on (`known`, or else what the fit
    knew) counts as known for both models.
    """
    exam = Examination(clf, graph, mask, known)
    answers = exam.answers(clf.predict(graph, exam.known), samples)
    return {name: exam.score(answer) for name, answer in answers.items()}
