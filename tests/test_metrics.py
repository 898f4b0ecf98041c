import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from redisc import metrics
from redisc.errors import LabelError, LengthError, MaskError, MetricError
from redisc.graph import Graph

seeds = st.integers(0, 10_000)
few = settings(max_examples=40, deadline=None)


def random_case(seed, classes=3):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 15))
    graph = Graph(edge_index=rng.integers(0, nodes, (2, int(rng.integers(0, 30)))), num_nodes=nodes, directed=False)
    y_true = rng.integers(-1, classes, nodes)
    y_true[0] = 0
    y_pred = np.where(rng.random(nodes) < 0.7, y_true, rng.integers(0, classes, nodes))
    mask = (y_true >= 0) & (rng.random(nodes) < 0.6)
    mask[0] = True
    return graph, y_true, y_pred, mask, rng.random(nodes) < 0.3


def random_probabilities(seed, nodes=60, classes=3):
    rng = np.random.default_rng(seed)
    y_true = rng.permutation(np.arange(nodes) % classes)
    return y_true, rng.dirichlet(np.ones(classes), nodes)


def naive_subgraph_accuracy(graph, y_true, y_pred, mask, known):
    def right(node):
        return known[node] or y_pred[node] == y_true[node]

    def right_with_neighbours(node):
        neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        return right(node) and all(right(other) for other in neighbours if y_true[other] >= 0)

    return np.mean([right_with_neighbours(node) for node in np.flatnonzero(mask)])


@few
@given(seeds)
def test_subgraph_accuracy_equals_a_loop_over_nodes(seed):
    case = random_case(seed)
    assert metrics.subgraph_accuracy(*case) == pytest.approx(naive_subgraph_accuracy(*case))


@few
@given(seeds)
def test_without_edges_subgraph_accuracy_is_node_accuracy(seed):
    graph, y_true, y_pred, mask, _ = random_case(seed)
    bare = Graph(num_nodes=graph.num_nodes)
    assert metrics.subgraph_accuracy(bare, y_true, y_pred, mask) == metrics.node_accuracy(y_true, y_pred, mask)


def test_one_wrong_neighbour_makes_a_node_wrong_unless_it_is_known_or_unlabelled():
    path = Graph(edge_index=[[0, 1], [1, 2]], num_nodes=3)
    y_pred, ends = np.array([0, 1, 0]), [0, 2]
    assert metrics.subgraph_accuracy(path, np.array([0, 0, 0]), y_pred, ends) == 0
    assert metrics.subgraph_accuracy(path, np.array([0, 0, 0]), y_pred, ends, known=[1]) == 1
    assert metrics.subgraph_accuracy(path, np.array([0, -1, 0]), y_pred, ends) == 1


def test_no_mask_means_every_labelled_node():
    assert metrics.node_accuracy(np.array([0, 1, -1]), np.array([0, 0, 0])) == 0.5


@few
@given(seeds, st.integers(2, 5))
def test_roc_auc_equals_scikit_learn(seed, classes):
    y_true, proba = random_probabilities(seed, classes=classes)
    expected = roc_auc_score(y_true, proba[:, 1] if classes == 2 else proba, multi_class="ovr")
    assert metrics.roc_auc(y_true, proba) == pytest.approx(expected)


def test_roc_auc_averages_over_the_classes_present():
    y_true, proba = random_probabilities(0)
    expected = np.mean([roc_auc_score(y_true[y_true < 2] == c, proba[y_true < 2, c]) for c in (0, 1)])
    assert metrics.roc_auc(y_true, proba, y_true < 2) == pytest.approx(expected)


def test_roc_auc_of_a_single_class_is_nan():
    y_true, proba = random_probabilities(0)
    assert math.isnan(metrics.roc_auc(y_true, proba, y_true == 0))


@few
@given(seeds)
def test_balanced_accuracy_equals_scikit_learn(seed):
    y_true, proba = random_probabilities(seed)
    y_pred = proba.argmax(axis=1)
    assert metrics.balanced_accuracy(y_true, y_pred) == pytest.approx(balanced_accuracy_score(y_true, y_pred))


@few
@given(seeds, st.integers(1, 20))
def test_calibration_error_equals_a_loop_over_bins(seed, bins):
    y_true, proba = random_probabilities(seed)
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == y_true
    expected = 0.0
    for number in range(bins):
        inside = (confidence > number / bins) & (confidence <= (number + 1) / bins)
        if inside.any():
            expected += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert metrics.expected_calibration_error(y_true, proba, bins=bins) == pytest.approx(expected)


def test_reliability_bins_by_hand():
    proba = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])
    bins = metrics.reliability_bins(np.array([0, 1, 1, 1]), proba, bins=4)
    assert bins.count.tolist() == [0, 1, 1, 2]
    np.testing.assert_allclose(bins.confidence, [np.nan, 0.5, 0.7, 0.85])
    np.testing.assert_allclose(bins.accuracy, [np.nan, 0.0, 0.0, 1.0])
    assert bins.calibration_error == pytest.approx((0.5 + 0.7 + 2 * 0.15) / 4)


def test_certain_and_right_is_perfectly_calibrated():
    assert metrics.expected_calibration_error(np.array([0, 1]), np.eye(2)) == 0


def test_evaluate_gives_every_metric_and_nan_without_probabilities():
    graph, y_true, y_pred, mask, known = random_case(3)
    figures = metrics.evaluate(graph, y_true, y_pred, None, mask, known)
    assert figures["subgraph_accuracy"] == metrics.subgraph_accuracy(graph, y_true, y_pred, mask, known)
    assert figures["node_accuracy"] == metrics.node_accuracy(y_true, y_pred, mask)
    assert math.isnan(figures["roc_auc"])
    assert math.isnan(figures["calibration_error"])
    assert set(figures) == {
        "node_accuracy",
        "subgraph_accuracy",
        "roc_auc",
        "balanced_accuracy",
        "calibration_error",
    }


def test_unlabelled_nodes_in_the_mask_are_named():
    with pytest.raises(LabelError, match=r"1 nodes of the mask have no label .* node 2"):
        metrics.node_accuracy(np.array([0, 1, -1]), np.array([0, 1, 0]), [0, 2])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: metrics.node_accuracy(np.array([0, 1]), np.array([0])), LengthError, "y_pred has 1"),
        (lambda: metrics.node_accuracy(np.array([0, 1]), np.array([0, 1]), []), MaskError, "no node"),
        (lambda: metrics.roc_auc(np.array([0, 3]), np.full((2, 2), 0.5)), LabelError, "label 3"),
        (lambda: metrics.roc_auc(np.array([0, 1]), np.array([0.5, 0.5])), MetricError, "shape"),
        (lambda: metrics.roc_auc(np.array([0, 1]), np.array([[1, 0], [7, 0]])), MetricError, "node 1"),
        (lambda: metrics.expected_calibration_error(np.array([0]), np.eye(1), bins=0), MetricError, "bins"),
        (
            lambda: metrics.subgraph_accuracy(Graph(num_nodes=3), np.array([0]), np.array([0])),
            LengthError,
            "3 nodes",
        ),
    ],
)
def test_wrong_input_gets_a_named_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
