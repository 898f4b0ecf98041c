import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from kernels.ambient import ambient_randomness_untouched
from redisc.kernels.edge_softmax import edge_softmax, weighted_aggregate

SEEDS = st.integers(0, 10_000)
SHAPES = st.sampled_from([(), (2,), (2, 3)])
"""Dimensions behind the edges: none, heads, copies and heads."""


def edges(seed, targets, sources, density=0.3):
    """Random distinct edges in no order; as a rule some targets have none."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.argwhere(rng.random((targets, sources)) < density))
    target, source = torch.from_numpy(places.reshape(-1, 2).T)
    return source, target


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scattered(scores, source, target, targets, sources, empty):
    """Edge values as a dense `(targets, sources, ...)` array."""
    dense = np.full((targets, sources, *scores.shape[1:]), empty)
    dense[target.numpy(), source.numpy()] = scores
    return dense


def dense_softmax(scores, source, target, targets, sources):
    """Softmax over sources of a dense matrix where absent edges are -inf; rows without edges are zero."""
    heat = np.exp(scattered(scores, source, target, targets, sources, -np.inf))
    total = heat.sum(1, keepdims=True)
    return np.divide(heat, total, out=np.zeros_like(heat), where=total > 0)


@given(SEEDS, SHAPES, st.integers(1, 6), st.integers(1, 6))
def test_weights_are_a_dense_masked_softmax(seed, shape, targets, sources):
    source, target = edges(seed, targets, sources)
    scores = normal(seed, len(source), *shape)
    weights = edge_softmax(scores, target, targets)
    expected = dense_softmax(scores.numpy(), source, target, targets, sources)
    np.testing.assert_allclose(weights, expected[target.numpy(), source.numpy()], rtol=0, atol=1e-12)


@given(SEEDS, SHAPES, st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))
def test_aggregation_is_a_dense_product_and_targets_without_edges_get_zeros(seed, shape, targets, sources, width):
    source, target = edges(seed, targets, sources)
    weights, values = normal(seed, len(source), *shape), normal(seed + 1, sources, *shape, width)
    out = weighted_aggregate(weights, values, source, target, targets)
    dense = scattered(weights.numpy(), source, target, targets, sources, 0.0)
    np.testing.assert_allclose(out, np.einsum("ts...,s...d->t...d", dense, values), rtol=0, atol=1e-12)
    lonely = np.setdiff1d(np.arange(targets), target.numpy())
    assert (out[lonely] == 0).all()


@given(SEEDS, SHAPES)
def test_gradients_are_right(seed, shape):
    source, target = edges(seed, 4, 5)
    scores = normal(seed, len(source), *shape).requires_grad_()
    values = normal(seed + 1, 5, *shape, 2).requires_grad_()
    if len(source):
        assert gradcheck(lambda s: edge_softmax(s, target, 4), (scores,))
    assert gradcheck(lambda w, v: weighted_aggregate(w, v, source, target, 4), (scores, values))

    def attend(s, v):
        return weighted_aggregate(edge_softmax(s, target, 4), v, source, target, 4)

    assert gradcheck(attend, (scores, values))


@given(SEEDS, st.floats(-1e4, 1e4))
def test_a_shift_common_to_a_target_changes_nothing_however_large(seed, shift):
    source, target = edges(seed, 4, 5, density=0.7)
    scores = normal(seed, len(source), 2)
    moved = edge_softmax(scores + shift * (1 + target[:, None]), target, 4)
    assert torch.isfinite(moved).all()
    torch.testing.assert_close(moved, edge_softmax(scores, target, 4), rtol=0, atol=1e-9)


def test_a_lone_edge_has_weight_one():
    weights = edge_softmax(torch.tensor([[300.0], [-2.0], [-2.0]]), torch.tensor([2, 0, 0]), 4)
    assert weights.flatten().tolist() == [1, 0.5, 0.5]


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_a_graph_without_edges_gives_zeros(shape):
    none = torch.empty(0, dtype=torch.int64)
    weights = edge_softmax(torch.empty(0, *shape), none, 3)
    out = weighted_aggregate(weights, torch.ones(3, *shape, 2), none, none, 3)
    assert out.shape == (3, *shape, 2)
    assert (out == 0).all()


def test_ambient_randomness_is_not_used():
    source, target = edges(0, 4, 5)
    scores = normal(0, len(source)).requires_grad_()
    with ambient_randomness_untouched():
        weighted_aggregate(edge_softmax(scores, target, 4), normal(1, 5, 2), source, target, 4).sum().backward()
