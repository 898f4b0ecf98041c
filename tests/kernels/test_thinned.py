"""Leaving entries out is multiplying them by zero, to the bit."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from redisc.kernels.sparse import SparseMatrix
from redisc.kernels.thinned import ThinnedMatrix


def drawn(seed, rows, columns, dtype, density=0.4):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    whole = SparseMatrix(sp.csr_array(dense), dtype)
    return whole, rng.integers(0, 256, len(whole.values), dtype=np.uint8)


def with_zeros(whole, random_bytes, kept):
    mask = torch.from_numpy(random_bytes < kept).to(whole.values.dtype)
    return whole.with_values(whole.values * mask.mul_(256 / kept))


@given(
    st.integers(0, 10_000),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 20),
    st.integers(1, 256),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_products_have_the_bits_of_the_whole_matrix_with_zeros(seed, rows, columns, width, kept, dtype):
    whole, random_bytes = drawn(seed, rows, columns, dtype)
    thin, zeros = ThinnedMatrix(whole, random_bytes, kept), with_zeros(whole, random_bytes, kept)
    assert thin.shape == whole.shape
    assert len(thin.values) == (random_bytes < kept).sum()
    generator = torch.Generator().manual_seed(seed)
    z, gradient = (torch.randn(n, width, generator=generator, dtype=dtype) for n in (columns, rows))
    assert torch.equal(thin.to_dense(), zeros.to_dense())
    assert torch.equal(thin.times(z), zeros.times(z))
    assert torch.equal(thin.transpose_times(gradient), zeros.transpose_times(gradient))


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread")
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_the_width_and_change_no_bit(threads):
    whole, random_bytes = drawn(0, 6_000, 50, torch.float32, density=0.1)
    thin, zeros = ThinnedMatrix(whole, random_bytes, 128), with_zeros(whole, random_bytes, 128)
    gradient = torch.randn(6_000, 65, generator=torch.Generator().manual_seed(0))
    expected, before = zeros.transpose_times(gradient), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert torch.equal(thin.transpose_times(gradient), expected)
    finally:
        torch.set_num_threads(before)


def test_gradients_are_those_of_the_product():
    whole, random_bytes = drawn(1, 5, 4, torch.float64)
    thin = ThinnedMatrix(whole, random_bytes, 128)
    z = torch.randn(4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda h: thin @ h, (z,))
    assert gradgradcheck(lambda h: (thin @ h) ** 2, (z,))
    assert gradcheck(lambda h: thin.with_values(thin.values * 2) @ h, (z,))
    turned = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).T
    assert torch.equal(thin @ turned, thin @ turned.contiguous())


def test_what_does_not_fit_is_refused():
    whole, random_bytes = drawn(0, 5, 4, torch.float64)
    thin = ThinnedMatrix(whole, random_bytes, 128)
    with pytest.raises(ValueError, match="no product of"):
        thin @ torch.ones(5, 2, dtype=torch.float64)
    with pytest.raises(ValueError, match="no product of"):
        thin.transpose_times(torch.ones(4, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match="random bytes for"):
        ThinnedMatrix(whole, random_bytes[1:], 128)
