import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisc.errors import ConfigError, MaskError
from redisc.uncertainty import conformal_sets, split_for_calibration

CLASSES = np.array([3, 5, 9])


def draw(rng, nodes, sharpness=3.0):
    """Probabilities (nodes, 3), and labels that follow other ones: a model that is wrong about its certainty."""
    logits = rng.normal(size=(nodes, 3))
    p = np.exp(sharpness * logits)
    q = np.exp(logits)
    q /= q.sum(1, keepdims=True)
    labels = (q.cumsum(1) < rng.random((nodes, 1))).sum(1).clip(max=2)
    return p / p.sum(1, keepdims=True), CLASSES[labels]


def test_the_threshold_is_the_right_rank_of_the_calibration_scores():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1], [0.6, 0.3, 0.1]])
    sets = conformal_sets(probabilities, CLASSES, np.arange(4), np.array([3, 5, 3, 5]), alpha=0.4)
    # Scores are 0.3, 0.2, 0.7, 0.6; rank ceil(5 * 0.6) = 3, so the threshold is 0.6.
    assert sets.threshold == pytest.approx(0.6)
    assert np.asarray(sets).tolist() == [
        [True, False, False], [False, True, False], [False, False, True], [True, True, False], [True, False, False],
    ]  # fmt: skip
    assert sets[3].tolist() == [3, 5]
    assert sets.sizes.tolist() == [1, 1, 1, 2, 1]
    assert "60 %" in str(sets)
    assert "4 nodes" in str(sets)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from([20, 100]))
def test_coverage_is_as_stated_however_wrong_the_model_is(seed, alpha, size):
    """Mean coverage over many calibrations lies between 1 - alpha and a little more, to within sampling error."""
    rng, rounds, fresh = np.random.default_rng(seed), 60, 100
    covered = []
    for _ in range(rounds):
        probabilities, labels = draw(rng, size + fresh)
        sets = conformal_sets(probabilities, CLASSES, np.arange(size), labels[:size], alpha)
        covered.append(sets.coverage(labels, np.arange(size, size + fresh)))
    error = np.std(covered) / math.sqrt(rounds)
    assert np.mean(covered) > 1 - alpha - 5 * error
    assert np.mean(covered) < 1 - alpha + 1 / (size + 1) + 5 * error + 0.01


@given(st.integers(0, 10**6))
def test_a_smaller_alpha_gives_larger_sets_and_no_set_is_empty(seed):
    probabilities, labels = draw(np.random.default_rng(seed), 60)
    strict, lax = (conformal_sets(probabilities, CLASSES, np.arange(30), labels[:30], a) for a in (0.1, 0.4))
    assert (np.asarray(strict) >= np.asarray(lax)).all()
    assert lax.sizes.min() >= 1


def test_too_few_calibration_nodes_are_said_to_be_too_few():
    probabilities, labels = draw(np.random.default_rng(0), 10)
    with pytest.warns(UserWarning, match="5 calibration nodes are too few"):
        sets = conformal_sets(probabilities, CLASSES, np.arange(5), labels[:5], 0.1)
    assert np.asarray(sets).all()


def test_a_class_that_no_fit_has_seen_is_never_covered():
    probabilities, labels = draw(np.random.default_rng(0), 40)
    strange = np.where(np.arange(40) % 4 == 0, 4, labels)
    sets = conformal_sets(probabilities, CLASSES, np.arange(20), strange[:20], 0.5)
    assert sets.coverage(strange, strange == 4) == 0
    assert math.isfinite(sets.threshold)


def test_no_promise_is_made_where_none_can_be_kept():
    probabilities, labels = draw(np.random.default_rng(0), 40)
    strange = np.where(np.arange(40) % 4 == 0, 4, labels)
    with pytest.warns(UserWarning, match="5 of them of classes that the fit has not seen"):
        sets = conformal_sets(probabilities, CLASSES, np.arange(20), strange[:20], 0.1)
    assert sets.stated_coverage == 0
    assert "promise nothing" in str(sets)


def test_an_answer_can_be_taken_into_its_set():
    probabilities, labels = draw(np.random.default_rng(0), 40)
    sets = conformal_sets(probabilities, CLASSES, np.arange(20), labels[:20], 0.6)
    more = sets.including(labels)
    assert more.coverage(labels, np.arange(40)) == 1
    assert (np.asarray(more) >= np.asarray(sets)).all()
    assert more.sizes.sum() - sets.sizes.sum() == round(40 * (1 - sets.coverage(labels, np.arange(40))))


@pytest.mark.parametrize("alpha", [0, 1, -0.1, float("nan")])
def test_an_impossible_alpha_is_refused(alpha):
    with pytest.raises(ConfigError, match="alpha"):
        conformal_sets(np.ones((2, 3)) / 3, CLASSES, np.array([0]), np.array([3]), alpha)


@given(st.integers(2, 40), st.integers(0, 10**6))
def test_validation_nodes_are_dealt_into_two_halves(count, seed):
    val = np.zeros(60, dtype=bool)
    val[:count] = True
    kept, aside = split_for_calibration(val, np.random.default_rng(seed))
    assert ((kept | aside) == val).all()
    assert not (kept & aside).any()
    assert aside.sum() - kept.sum() in (0, 1)


def test_a_single_validation_node_can_t_be_dealt():
    with pytest.raises(MaskError, match="calibration_mask"):
        split_for_calibration(np.arange(4) == 2, np.random.default_rng(0))
