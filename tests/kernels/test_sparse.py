import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from kernels.ambient import ambient_randomness_untouched
from redisc.kernels.sparse import SparseMatrix

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 7)


def sparse_and_dense(seed, rows, columns, density=0.3):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    return SparseMatrix(sp.csr_array(dense), torch.float64), torch.from_numpy(dense)


@given(SEEDS, SIZES, SIZES, st.integers(1, 4), st.sampled_from([0.0, 0.3, 1.0]))
def test_product_and_gradient_are_those_of_dense_algebra(seed, rows, columns, width, density):
    matrix, dense = sparse_and_dense(seed, rows, columns, density)
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(columns, width, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(rows, width, generator=generator, dtype=torch.float64)
    out = matrix @ z
    torch.testing.assert_close(out, dense @ z)
    (found,) = torch.autograd.grad((out * weight).sum(), z)
    torch.testing.assert_close(found, dense.T @ weight)
    assert gradcheck(lambda h: matrix @ h, (z,))


@given(SEEDS, SIZES, st.integers(2, 5))
def test_the_layout_of_the_dense_factor_does_not_matter(seed, rows, width):
    matrix, dense = sparse_and_dense(seed, rows, 6)
    z = torch.randn(width, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    torch.testing.assert_close(matrix @ z.T, dense @ z.T)
    torch.testing.assert_close(matrix @ z.T[:, ::2], dense @ z.T[:, ::2])
    turned = z.T.clone().requires_grad_()
    (found,) = torch.autograd.grad((matrix @ turned).T.sum(), turned)  # an expanded, strideless gradient arrives
    torch.testing.assert_close(found, dense.sum(0)[:, None].expand(-1, width))


@given(SEEDS, SIZES, SIZES)
def test_new_values_go_to_the_same_places_of_the_matrix_and_of_its_transpose(seed, rows, columns):
    matrix, dense = sparse_and_dense(seed, rows, columns)
    values = torch.arange(1.0, len(matrix.values) + 1, dtype=torch.float64)
    other = matrix.with_values(values)
    expected = torch.zeros_like(dense)
    expected[dense != 0] = values  # a boolean index runs row by row, as CSR does
    torch.testing.assert_close(other.to_dense(), expected, rtol=0, atol=0)
    z = torch.ones(columns, rows, dtype=torch.float64, requires_grad=True)
    weight = torch.eye(rows, dtype=torch.float64)
    (found,) = torch.autograd.grad(((other @ z) * weight).sum(), z)
    torch.testing.assert_close(found, expected.T, rtol=0, atol=0)
    torch.testing.assert_close(matrix.to_dense(), dense, rtol=0, atol=0)


def test_the_callers_matrix_is_neither_changed_nor_kept():
    """Unsorted and duplicate entries are put in order in a copy."""
    given_ = sp.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    matrix = SparseMatrix(given_, torch.float64)
    assert given_.data.tolist() == [1, 2, 3, 4]
    assert given_.indices.tolist() == [2, 0, 2, 1]
    given_.data[:] = 9
    assert matrix.to_dense().tolist() == [[2, 0, 4], [0, 4, 0]]
    assert (matrix @ torch.eye(3, dtype=torch.float64)).tolist() == [[2, 0, 4], [0, 4, 0]]


def test_any_matrix_is_taken_in_any_dtype_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given_ in (np.eye(3), np.eye(3, dtype=np.int64), sp.eye_array(3), sp.coo_array(np.eye(3)), sp.eye(3)):
            matrix = SparseMatrix(given_)
            assert matrix.shape == (3, 3)
            assert torch.equal(matrix @ torch.eye(3), torch.eye(3))
        frozen = sp.csr_array(np.eye(3, dtype=np.float32))
        frozen.data.setflags(write=False)
        assert torch.equal(SparseMatrix(frozen).to_dense(), torch.eye(3))


def test_indices_are_narrow_because_products_are_then_faster():
    matrix, _ = sparse_and_dense(0, 5, 4)
    for part in (*matrix._structure, *matrix._structure_t):
        assert part.dtype == torch.int32


def test_ambient_randomness_is_not_used():
    with ambient_randomness_untouched():
        matrix, dense = sparse_and_dense(0, 5, 4)
        matrix.with_values(matrix.values * 2) @ dense.T


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread")
def test_a_large_product_is_the_same_with_many_threads_as_with_one():
    rng = np.random.default_rng(0)
    whole = sp.csr_array(rng.standard_normal((3000, 2000), np.float32) * (rng.random((3000, 2000)) < 0.01))
    matrix, z = SparseMatrix(whole), torch.from_numpy(rng.standard_normal((2000, 64), np.float32))
    gradient = torch.from_numpy(rng.standard_normal((3000, 64), np.float32))
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append((matrix.times(z), matrix.transpose_times(gradient)))
    finally:
        torch.set_num_threads(before)
    for one, many, expected in zip(*found, (whole @ z.numpy(), whole.T @ gradient.numpy()), strict=True):
        assert torch.equal(one, many)
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)


def test_what_does_not_fit_is_refused():
    matrix, _ = sparse_and_dense(0, 5, 4)
    shapes = {"rows": (5, 2), "one dimension": (4,), "three": (4, 2, 2)}
    for wrong in (torch.ones(4, 2), *(torch.ones(shape, dtype=torch.float64) for shape in shapes.values())):
        with pytest.raises(ValueError, match="no product of"):
            matrix @ wrong
    with pytest.raises(ValueError, match="values for"):
        matrix.with_values(torch.ones(1, dtype=torch.float64))


def test_gradients_can_be_differentiated_again():
    matrix, dense = sparse_and_dense(0, 5, 4)
    found = []
    for product in (matrix, dense):
        z = torch.linspace(-1, 1, 8, dtype=torch.float64).view(4, 2).requires_grad_()
        (first,) = torch.autograd.grad((product @ z**2).square().sum(), z, create_graph=True)
        found.append(torch.autograd.grad(first.sum(), z)[0])
    torch.testing.assert_close(*found)
