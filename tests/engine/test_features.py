import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from redisc import Graph
from redisc.engine import FeatureScaling
from redisc.errors import ConfigError
from redisc.kernels.sparse import SparseMatrix

SEEDS = st.integers(0, 10_000)


def features(seed, rows=9, columns=4, density=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(1, 2, size=(rows, columns)) * (rng.random((rows, columns)) < density)


def dense(x):
    return x.to_dense() if isinstance(x, SparseMatrix) else x[:, 0]


@given(SEEDS, st.booleans())
def test_none_leaves_features_as_they_are(seed, sparse):
    x = features(seed, density=0.6)
    scaled = FeatureScaling.fit("none", x).apply(sp.csr_array(x) if sparse else x, torch.float64)
    assert isinstance(scaled, SparseMatrix) == sparse
    np.testing.assert_array_equal(dense(scaled), x)


@given(SEEDS, st.booleans())
def test_row_makes_each_nodes_features_sum_to_one_and_keeps_empty_rows(seed, sparse):
    x = abs(features(seed, density=0.6))
    x[2] = 0
    scaled = dense(FeatureScaling.fit("row", x).apply(sp.csr_array(x) if sparse else x, torch.float64)).numpy()
    full = x.any(axis=1)
    np.testing.assert_allclose(scaled.sum(1), full.astype(float), atol=1e-12)
    np.testing.assert_allclose(scaled[full], x[full] / x[full].sum(1, keepdims=True), atol=1e-12)
    assert (scaled[~full] == 0).all()


@given(SEEDS)
def test_row_divides_features_with_signs_by_their_absolute_sum(seed):
    x = features(seed)
    scaled = FeatureScaling.fit("row", x).apply(x, torch.float64)[:, 0]
    np.testing.assert_allclose(scaled, x / abs(x).sum(1, keepdims=True), atol=1e-12)


@given(SEEDS)
def test_standard_is_scikit_learns_and_other_graphs_are_scaled_by_the_fitted_one(seed):
    x, other = features(seed), features(seed + 1, rows=5) + 3
    scaling, oracle = FeatureScaling.fit("standard", x), StandardScaler().fit(x)
    np.testing.assert_allclose(scaling.apply(x, torch.float64)[:, 0], oracle.transform(x), atol=1e-10)
    np.testing.assert_allclose(scaling.apply(other, torch.float64)[:, 0], oracle.transform(other), atol=1e-10)


@given(SEEDS, st.floats(-1e3, 1e3), st.integers(2, 400))
def test_a_constant_column_is_shifted_and_not_blown_up(seed, constant, rows):
    x = features(seed, rows=rows)
    x[:, 1] = constant
    scaling = FeatureScaling.fit("standard", x)
    assert abs(scaling.apply(x, torch.float64)[:, 0, 1]).max() < 1e-9
    moved = scaling.apply(x + 1, torch.float64)[:, 0, 1]
    np.testing.assert_allclose(moved, np.ones(rows), atol=1e-9)


def test_standard_keeps_features_dense_however_empty_and_refuses_sparse_ones():
    x = features(0, rows=40, density=0.02)
    scaling = FeatureScaling.fit("standard", x)
    assert isinstance(scaling.apply(x), torch.Tensor)
    with pytest.raises(ConfigError, match="sparse"):
        FeatureScaling.fit("standard", sp.csr_array(x))
    with pytest.raises(ConfigError, match="sparse"):
        scaling.apply(sp.csr_array(x))


@given(SEEDS, st.sampled_from(["none", "row", "binary"]))
def test_features_that_are_mostly_zeros_become_sparse_with_the_same_product(seed, kind):
    x = features(seed, rows=30, columns=20, density=0.04)
    scaled = FeatureScaling.fit(kind, x).apply(x, torch.float64)
    assert isinstance(scaled, SparseMatrix)
    total = abs(x).sum(1, keepdims=True)
    expected = {"none": x, "row": x / np.where(total > 0, total, 1), "binary": np.sign(abs(x))}[kind]
    weight = np.random.default_rng(seed).normal(size=(20, 3))
    np.testing.assert_allclose(scaled @ torch.from_numpy(weight), expected @ weight, atol=1e-12)
    assert isinstance(FeatureScaling.fit(kind, x).apply(x + 1), torch.Tensor)


@pytest.mark.parametrize("kind", ["none", "row", "binary", "standard"])
@pytest.mark.parametrize("given_", [np.float64, np.float32, np.int64, bool])
def test_dense_features_are_rows_copies_columns_in_the_dtype_asked_for(kind, given_):
    x = abs(features(0)).astype(given_)
    for dtype in (torch.float32, torch.float64):
        scaled = FeatureScaling.fit(kind, x).apply(x, dtype)
        assert scaled.shape == (9, 1, 4)
        assert scaled.dtype == dtype


@pytest.mark.parametrize("kind", ["none", "row", "binary", "standard"])
def test_the_features_of_a_graph_are_read_without_warning_and_never_written(kind):
    x = features(0)
    graph = Graph(x=x.copy(), y=np.arange(9) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = FeatureScaling.fit(kind, graph.x).apply(graph.x, torch.float64)
    scaled.fill_(7.0)
    np.testing.assert_array_equal(graph.x, x)


def test_sparse_features_of_the_caller_are_never_written():
    x = sp.csr_array(features(0, density=0.5))
    before = x.toarray()
    scaled = FeatureScaling().apply(x, torch.float64)
    scaled.values.fill_(7.0)
    np.testing.assert_array_equal(x.toarray(), before)


def test_an_unknown_scaling_is_refused_by_name():
    with pytest.raises(ConfigError, match="minmax"):
        FeatureScaling.fit("minmax", features(0))


@given(SEEDS)
def test_binary_features_tell_what_is_set_and_nothing_else(seed):
    x = features(seed, density=0.7)
    for given_ in (x, sp.csr_array(x)):
        scaled = FeatureScaling.fit("binary", given_).apply(given_, torch.float64)
        dense = scaled.to_dense() if isinstance(scaled, SparseMatrix) else scaled.squeeze(1)
        np.testing.assert_array_equal(dense, x != 0)
