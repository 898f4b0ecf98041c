"""The final evaluation: the one place where a run looks at test labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from redisc import metrics
from redisc.classifier import NodeClassifier
from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.graph import Graph, Split


class Answer(NamedTuple):
    """What a model says: class values `(N,)` and probabilities `(N, C)`, with the columns of its `classes_`."""

    labels: np.ndarray
    probabilities: np.ndarray


def scored_nodes(graph: Graph, split: Split) -> tuple[str, np.ndarray]:
    """Return which nodes a run is scored on: "test" where test nodes have labels, else "validation", which flatters."""
    tested = split.test & (graph.y != MASKED)
    return ("test", tested) if tested.any() else ("validation", split.val)


def evaluate_run(clf: NodeClassifier, graph: Graph, mask: np.ndarray, samples: int = 32) -> dict[str, Any]:
    """Score a method on `mask` by all metrics of `redisc.metrics.evaluate`; ReDiSC's mean-field GNN too.

    Labels inside the mask are never conditioned on. What the method does condition on counts as known for both models.
    """
    known = known_outside(clf, mask)
    answers = {clf.name: Answer(clf.predict(graph, known), clf.predict_proba(samples, known, graph=graph))}
    if isinstance(clf, ReDiSC):
        answers["mean_field"] = mean_field_answer(clf, graph)
    return score_answers(clf, graph, mask, answers)


def known_outside(clf: NodeClassifier, mask: np.ndarray) -> np.ndarray:
    """Return the labels `(N,)` that a method conditions on when it is scored on `mask`."""
    return np.where(mask, MASKED, clf.known_)


def mean_field_answer(clf: ReDiSC, graph: Graph) -> Answer:
    """Return what the backbone says of every node on its own."""
    probabilities = clf.mean_field_proba(graph)
    return Answer(clf.classes_[probabilities.argmax(1)], probabilities)


def all_classes(clf: NodeClassifier, graph: Graph) -> np.ndarray:
    """Return the classes that the method or any label knows, sorted."""
    return np.union1d(clf.classes_, np.unique(graph.y[graph.y != MASKED]))


def score_answers(
    clf: NodeClassifier, graph: Graph, mask: np.ndarray, answers: dict[str, Answer]
) -> dict[str, dict[str, float]]:
    """Score each answer on `mask`.

    A class that no training or validation node had can't be predicted; it gets a probability of zero.
    """
    classes = all_classes(clf, graph)
    truth = np.where(graph.y == MASKED, MASKED, np.searchsorted(classes, graph.y))
    known, columns = known_outside(clf, mask) != MASKED, np.searchsorted(classes, clf.classes_)
    scores = {}
    for name, (labels, probabilities) in answers.items():
        padded = np.zeros((len(truth), len(classes)))
        padded[:, columns] = probabilities
        scores[name] = metrics.evaluate(graph, truth, np.searchsorted(classes, labels), padded, mask, known)
    return scores
