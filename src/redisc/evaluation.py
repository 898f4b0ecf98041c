"""The final evaluation: the one place where a run looks at test labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from redisc import metrics
from redisc.classifier import NodeClassifier
from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.graph import Graph


def evaluate_run(
    clf: NodeClassifier, graph: Graph, mask: np.ndarray, samples: int = 32, known: np.ndarray | None = None
) -> dict[str, Any]:
    """Score a method on `mask` by all metrics of `redisc.metrics.evaluate`; ReDiSC's mean-field GNN too.

    Labels inside the mask are never conditioned on. What the method does condition on (`known`, or else what the fit
    knew) counts as known for both models.
    A class that no training or validation node had can't be predicted; it gets a probability of zero.
    """
    classes = np.union1d(clf.classes_, np.unique(graph.y[graph.y != MASKED]))
    truth = np.where(graph.y == MASKED, MASKED, np.searchsorted(classes, graph.y))
    columns = np.searchsorted(classes, clf.classes_)
    known = np.where(mask, MASKED, clf.known_ if known is None else known)
    answers = {clf.name: (clf.predict(graph, known), clf.predict_proba(samples, known, graph=graph))}
    if isinstance(clf, ReDiSC):
        mean_field = clf.mean_field_proba(graph)
        answers["mean_field"] = clf.classes_[mean_field.argmax(1)], mean_field
    scores = {}
    for name, (labels, probabilities) in answers.items():
        padded = np.zeros((len(truth), len(classes)))
        padded[:, columns] = probabilities
        scores[name] = metrics.evaluate(graph, truth, np.searchsorted(classes, labels), padded, mask, known != MASKED)
    return scores
