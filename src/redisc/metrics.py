"""How good predictions are: node and subgraph accuracy, ROC-AUC, balanced accuracy and calibration.

Labels and predictions are (N,) over all nodes of a graph, probabilities (N, C). A mask, as booleans or
as node numbers, says which nodes count; all of these must have a label. No mask means every node with one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import recall_score, roc_auc_score

from redisc.errors import LabelError, LengthError, MaskError, MetricError
from redisc.graph import Graph, as_mask


def node_accuracy(y_true: np.ndarray, y_pred: np.ndarray, mask: Any = None) -> float:
    """Share of the mask's nodes whose label is right."""
    nodes = _counted_nodes(y_true, mask)
    _check_length(y_pred, y_true, "y_pred")
    return float((np.asarray(y_pred)[nodes] == np.asarray(y_true)[nodes]).mean())


def subgraph_accuracy(
    graph: Graph, y_true: np.ndarray, y_pred: np.ndarray, mask: Any = None, known: Any = None
) -> float:
    """Share of the mask's nodes that are right together with all their neighbours.

    Nodes in `known` (the training labels) count as right whatever the method says there, and neighbours
    without a label are left out. It reads labels outside the mask: use it in a final evaluation only.
    """
    return float(right_with_neighbours(graph, y_true, y_pred, known)[_counted_nodes(y_true, mask)].mean())


def right_with_neighbours(graph: Graph, y_true: np.ndarray, y_pred: np.ndarray, known: Any = None) -> np.ndarray:
    """Tell for every node `(N,)` whether it and all its neighbours are right, as `subgraph_accuracy` counts it.

    A node without a label is never wrong itself.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.size != graph.num_nodes:
        raise LengthError(f"y_true has {truth.size} entries, but the graph has {graph.num_nodes} nodes")
    _check_length(predicted, truth, "y_pred")
    wrong = (predicted != truth) & (truth >= 0)
    if known is not None:
        wrong &= ~as_mask(known, truth.size, "known")
    # The number of wrong neighbours of a row is a difference of running totals over the CSR entries.
    total = np.concatenate([[0], np.cumsum(wrong[graph.indices], dtype=np.int64)])
    wrong_neighbours = total[graph.indptr[1:]] - total[graph.indptr[:-1]]
    return ~wrong & (wrong_neighbours == 0)


def roc_auc(y_true: np.ndarray, proba: np.ndarray, mask: Any = None) -> float:
    """Area under the ROC curve: of column 1 for two classes, else one against the rest and averaged.

    The mean is over the classes present in the mask; where that is a single class the area is undefined: NaN.
    """
    truth, chance = _counted_probabilities(y_true, proba, mask)
    classes = np.unique(truth)
    if classes.size < 2:
        return float("nan")
    if chance.shape[1] == 2:
        return float(roc_auc_score(truth, chance[:, 1]))
    return float(np.mean([roc_auc_score(truth == label, chance[:, label]) for label in classes]))


def balanced_accuracy(y_true: np.ndarray, y_pred: np.ndarray, mask: Any = None) -> float:
    """Mean over the classes present in the mask of the share of their nodes that are right."""
    nodes = _counted_nodes(y_true, mask)
    _check_length(y_pred, y_true, "y_pred")
    truth, predicted = np.asarray(y_true)[nodes], np.asarray(y_pred)[nodes]
    return float(recall_score(truth, predicted, labels=np.unique(truth), average="macro"))


def expected_calibration_error(y_true: np.ndarray, proba: np.ndarray, mask: Any = None, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins of the largest probability.

    Bin b of B holds the nodes with confidence in ((b-1)/B, b/B]; bins weigh by their number of nodes.
    """
    return reliability_bins(y_true, proba, mask, bins).calibration_error


@dataclass(frozen=True)
class ReliabilityBins:
    """How often predictions of a confidence are right; every array is `(B,)`, NaN where a bin holds no node."""

    count: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray

    @property
    def calibration_error(self) -> float:
        """Mean gap between confidence and accuracy, bins weighed by their number of nodes."""
        gap = np.abs(np.nan_to_num(self.accuracy - self.confidence))
        return float((self.count * gap).sum() / self.count.sum())


def reliability_bins(y_true: np.ndarray, proba: np.ndarray, mask: Any = None, bins: int = 15) -> ReliabilityBins:
    """Sort the mask's nodes by the largest probability into B bins, ((b-1)/B, b/B], and average within each."""
    if bins < 1:
        raise MetricError(f"bins must be at least 1, but is {bins}")
    truth, chance = _counted_probabilities(y_true, proba, mask)
    confidence = chance.max(axis=1)
    right = chance.argmax(axis=1) == truth
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(place, weights=values, minlength=bins) / count for values in (confidence, right)]
    return ReliabilityBins(count, *means)


def evaluate(
    graph: Graph,
    y_true: np.ndarray,
    y_pred: np.ndarray,
    proba: np.ndarray | None,
    mask: Any = None,
    known: Any = None,
) -> dict[str, float]:
    """All metrics by name; those that need probabilities are NaN where `proba` is None."""
    missing = float("nan")
    return {
        "node_accuracy": node_accuracy(y_true, y_pred, mask),
        "subgraph_accuracy": subgraph_accuracy(graph, y_true, y_pred, mask, known),
        "roc_auc": missing if proba is None else roc_auc(y_true, proba, mask),
        "balanced_accuracy": balanced_accuracy(y_true, y_pred, mask),
        "calibration_error": missing if proba is None else expected_calibration_error(y_true, proba, mask),
    }


def _counted_nodes(y_true: np.ndarray, mask: Any) -> np.ndarray:
    """The mask as booleans, after checking that its nodes have labels."""
    truth = np.asarray(y_true)
    chosen = truth >= 0 if mask is None else as_mask(mask, truth.size)
    if not chosen.any():
        raise MaskError("the mask holds no node, so that there is nothing to measure: pass a mask of labelled nodes")
    unlabelled = np.flatnonzero(chosen & (truth < 0))
    if unlabelled.size:
        raise LabelError(
            f"{unlabelled.size} nodes of the mask have no label (-1), the first is node {unlabelled[0]}: "
            "leave them out of the mask"
        )
    return chosen


def _counted_probabilities(y_true: np.ndarray, proba: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels and float64 probabilities of the mask's nodes, checked."""
    nodes = _counted_nodes(y_true, mask)
    _check_length(proba, y_true, "proba")
    truth, chance = np.asarray(y_true)[nodes], np.asarray(proba)
    if chance.ndim != 2:
        raise MetricError(f"proba must have shape (number of nodes, number of classes), but has shape {chance.shape}")
    chance = chance[nodes].astype(np.float64)
    if truth.max() >= chance.shape[1]:
        raise LabelError(f"there is a label {truth.max()}, but proba has only {chance.shape[1]} columns")
    outside = ~((chance >= -1e-6) & (chance <= 1 + 1e-6)).all(axis=1)
    if outside.any():
        node = np.flatnonzero(nodes)[np.argmax(outside)]
        raise MetricError(f"the probabilities of node {node} are not all between 0 and 1")
    return truth, chance


def _check_length(values: np.ndarray, y_true: np.ndarray, what: str) -> None:
    if len(values) != len(y_true):
        raise LengthError(f"{what} has {len(values)} entries, but y_true has {len(y_true)}: give one for each node")
