"""The priority queue against softmax(priority / tau)."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from oracles import softmax
from redisc.em.replay import PriorityQueue


def queue_of(priorities, size=None, temperature=0.1, classes=200):
    """A queue whose k-th sample has label k everywhere, so that a draw tells which one it was."""
    queue = PriorityQueue(size or len(priorities), temperature, classes)
    for k, priority in enumerate(priorities):
        queue.push(torch.full((3,), k), priority)
    return queue


def drawn(queue, n=20_000, seed=0):
    labels = queue.draw(n, np.random.default_rng(seed))
    assert (labels == labels[:, :1]).all()
    return labels[:, 0].numpy()


@given(st.integers(1, 9), st.integers(1, 30))
def test_the_queue_keeps_the_newest_samples(size, pushed):
    queue = queue_of([None] * pushed, size)
    assert len(queue) == min(size, pushed)
    assert set(drawn(queue, 500)) == set(range(max(0, pushed - size), pushed))


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_draws_follow_the_softmax_of_priority_over_temperature(temperature):
    priorities = [0.71, 0.8, 0.78, 0.9, 0.66]
    counts = np.bincount(drawn(queue_of(priorities, temperature=temperature)), minlength=5)
    expected = softmax(np.array(priorities) / temperature)
    assert chisquare(counts, counts.sum() * expected).pvalue > 1e-3
    wrong = softmax(np.array(priorities) / (2 * temperature))
    assert chisquare(counts, counts.sum() * wrong).pvalue < 1e-3


def test_priorities_leave_with_their_samples():
    queue = queue_of([9.0, 0.1, 0.2, 0.3], size=3, temperature=1.0)
    assert queue.probabilities() == pytest.approx(softmax(np.array([0.1, 0.2, 0.3])))


def test_without_priorities_draws_are_uniform():
    queue = queue_of([None] * 6)
    assert queue.probabilities() == pytest.approx(np.full(6, 1 / 6))
    assert chisquare(np.bincount(drawn(queue))).pvalue > 1e-3


def test_a_sample_without_priority_counts_as_the_mean_of_the_others():
    mixed = queue_of([0.2, None, 0.8, None], temperature=0.3)
    filled = queue_of([0.2, 0.5, 0.8, 0.5], temperature=0.3)
    assert mixed.probabilities() == pytest.approx(filled.probabilities())


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=9), st.floats(0.05, 2), st.floats(1.1, 20))
def test_a_higher_temperature_is_closer_to_uniform(priorities, temperature, factor):
    low, high = (queue_of(priorities, temperature=t).probabilities() for t in (temperature, temperature * factor))
    assert low.sum() == pytest.approx(1)
    assert high.max() <= low.max() + 1e-12
    if max(priorities) - min(priorities) > 0.1 and low.min() > 1e-9:
        assert high.max() < low.max()


def test_extreme_priorities_do_not_overflow():
    chances = queue_of([1e6, 0.0, -1e6], temperature=1e-3).probabilities()
    assert chances.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("classes", "width"), [(2, 1), (256, 1), (257, 2), (32768, 2), (32769, 4)], ids=str)
def test_labels_survive_in_the_smallest_integer_type(classes, width):
    queue = PriorityQueue(2, 0.1, classes)
    labels = torch.tensor([0, 1, classes // 2, classes - 1])
    queue.push(labels, None)
    back = queue.draw(1, np.random.default_rng(0))
    assert back.dtype == torch.int64
    assert torch.equal(back[0], labels)
    assert queue._samples[0].element_size() == width


def test_a_cached_sample_is_a_copy():
    queue, labels = PriorityQueue(2, 0.1, 3), torch.tensor([0, 1, 2])
    queue.push(labels, None)
    labels[:] = 0
    assert queue.draw(1, np.random.default_rng(0)).tolist() == [[0, 1, 2]]
