import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from kernels.ambient import ambient_randomness_untouched
from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix

SEEDS = st.integers(0, 10_000)
RATES = st.floats(0.02, 0.98)


def dropout(seed=0):
    return Dropout(np.random.default_rng(seed))


def rounded(rate):
    """The rate that is applied: the nearest multiple of 1/256."""
    return round(rate * 256) / 256


@given(SEEDS, RATES)
def test_the_share_of_zeros_is_the_rate_and_the_expectation_is_kept(seed, rate):
    n, rate_ = 50_000, rounded(rate)
    h = torch.ones(n, dtype=torch.float64)
    out = dropout(seed).dense(h, rate)
    zeros = (out == 0).double().mean().item()
    assert abs(zeros - rate_) < 5 * (rate_ * (1 - rate_) / n) ** 0.5
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate_)))
    assert abs(out.mean().item() - 1) < 5 * (rate_ / (1 - rate_) / n) ** 0.5


@given(SEEDS, RATES, st.sampled_from([(7,), (4, 3), (3, 2, 5)]))
def test_survivors_are_scaled_inputs_whatever_the_shape(seed, rate, shape):
    h = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    before = h.clone()
    out = dropout(seed).dense(h, rate)
    assert out.shape == h.shape
    assert out.dtype == h.dtype
    expected = torch.where(out == 0, torch.zeros_like(h), h / (1 - rounded(rate)))
    torch.testing.assert_close(out, expected)
    assert torch.equal(h, before)


def test_elements_are_dropped_independently():
    out = dropout(3).dense(torch.ones(100_000, 2), 0.4) == 0
    table = np.zeros((2, 2))
    np.add.at(table, (out[:, 0].int().numpy(), out[:, 1].int().numpy()), 1)
    assert chi2_contingency(table).pvalue > 1e-3
    table = np.zeros((2, 2))
    np.add.at(table, (out[:-1, 0].int().numpy(), out[1:, 0].int().numpy()), 1)
    assert chi2_contingency(table).pvalue > 1e-3


@given(SEEDS, RATES)
def test_the_generator_alone_decides(seed, rate):
    h = torch.ones(64)
    source = dropout(seed)
    first, second = source.dense(h, rate), source.dense(h, rate)
    again = dropout(seed)
    assert torch.equal(first, again.dense(h, rate))
    assert torch.equal(second, again.dense(h, rate))
    assert dropout(seed).draw_seed() == dropout(seed).draw_seed()


def test_calls_and_generators_differ():
    h, source = torch.ones(1000), dropout(0)
    first = source.dense(h, 0.5)
    assert not torch.equal(first, source.dense(h, 0.5))
    assert not torch.equal(first, dropout(1).dense(h, 0.5))
    assert source.draw_seed() != source.draw_seed()


@given(SEEDS, st.sampled_from([0.0, -1.0, 0.001]))
def test_a_rate_of_nothing_drops_nothing(seed, rate):
    h = torch.randn(500, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(dropout(seed).dense(h, rate), h)


def test_a_rate_next_to_one_stays_finite():
    out = dropout().dense(torch.ones(100_000), 0.9999)
    assert torch.isfinite(out).all()
    assert out.mean().item() == pytest.approx(1, abs=0.3)


@given(SEEDS, RATES)
def test_the_gradient_passes_where_the_value_passed(seed, rate):
    h = torch.ones(50, dtype=torch.float64, requires_grad=True)
    out = dropout(seed).dense(h, rate)
    (gradient,) = torch.autograd.grad(out.sum(), h)
    assert torch.equal(gradient, out.detach())


@given(SEEDS, RATES)
def test_a_sparse_matrix_keeps_its_zeros_and_its_transpose_agrees(seed, rate):
    rng = np.random.default_rng(seed)
    dense = torch.from_numpy(rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.5))
    matrix = SparseMatrix(dense.numpy(), torch.float64)
    dropped = dropout(seed).sparse(matrix, rate)
    out = dropped.to_dense()
    torch.testing.assert_close(out, torch.where(out == 0, torch.zeros_like(dense), dense / (1 - rounded(rate))))
    z = torch.ones(5, 6, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(((dropped @ z) * torch.eye(6)).sum(), z)
    assert torch.equal(gradient, out.T)
    assert torch.equal(matrix.to_dense(), dense)
    assert dropout(seed).sparse(matrix, 0) is matrix


@given(SEEDS, RATES)
def test_without_kernels_entries_are_zero_instead_of_left_out(seed, rate):
    rng = np.random.default_rng(seed)
    matrix = SparseMatrix(rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.5))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("redisc.kernels.dropout.runs_compiled", lambda *_: False)
        zeros = dropout(seed).sparse(matrix, rate)
    thin = dropout(seed).sparse(matrix, rate)
    assert len(zeros.values) == len(matrix.values)
    assert torch.equal(zeros.to_dense(), thin.to_dense())
    assert torch.equal(zeros.transpose_times(torch.ones(6, 2)), thin.transpose_times(torch.ones(6, 2)))


def test_a_sparse_matrix_loses_the_share_of_the_rate():
    matrix = SparseMatrix(np.ones((200, 200)))
    dropped = dropout(5).sparse(matrix, 0.3)
    assert (dropped.to_dense() == 0).double().mean().item() == pytest.approx(rounded(0.3), abs=0.01)
    assert dropped.to_dense().mean().item() == pytest.approx(1, abs=0.02)


def test_ambient_randomness_is_not_used():
    matrix = SparseMatrix(np.eye(4))
    with ambient_randomness_untouched():
        source = dropout()
        source.dense(torch.ones(10), 0.5)
        source.sparse(matrix, 0.5)
        source.draw_seed()
