"""The final evaluation: the one place where a run looks at test labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from redisc import metrics
from redisc.diffusion.masking import MASKED
from redisc.estimator import ReDiSC
from redisc.graph import Graph


def evaluate_run(clf: ReDiSC, graph: Graph, mask: np.ndarray, samples: int = 32) -> dict[str, Any]:
    """Score ReDiSC and its mean-field GNN on `mask`: all metrics of `redisc.metrics.evaluate` for both.

    Labels inside the mask are never conditioned on. What ReDiSC does condition on counts as known for both models.
    A class that no training or validation node had can't be predicted; it gets a probability of zero.
    """
    classes = np.union1d(clf.classes_, np.unique(graph.y[graph.y != MASKED]))
    truth = np.where(graph.y == MASKED, MASKED, np.searchsorted(classes, graph.y))
    columns = np.searchsorted(classes, clf.classes_)
    mean_field = clf.mean_field_proba(graph)
    known = np.where(mask, MASKED, clf.known_)
    answers = {
        "redisc": (clf.predict(graph, known), clf.predict_proba(samples, known, graph=graph)),
        "mean_field": (clf.classes_[mean_field.argmax(1)], mean_field),
    }
    scores = {}
    for name, (labels, probabilities) in answers.items():
        padded = np.zeros((len(truth), len(classes)))
        padded[:, columns] = probabilities
        scores[name] = metrics.evaluate(graph, truth, np.searchsorted(classes, labels), padded, mask, known != MASKED)
    return scores
