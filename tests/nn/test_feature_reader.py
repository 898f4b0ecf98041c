"""The reader of features against plain matrices, and its place in a committee."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from redisc.kernels.sparse import SparseMatrix
from redisc.nn import Committee, FeatureReader, Pooling, with_reader

SEEDS = st.integers(0, 10_000)


def words(seed, nodes=12, width=9):
    """Counts of words; one node has none, and one word stands nowhere."""
    x = np.random.default_rng(seed).poisson(0.8, (nodes, width)).astype(float)
    x[3], x[:, 5] = 0, 0
    return x


def nodes(x):
    """Nodes of these features, with neighbours enough."""
    return SimpleNamespace(own_features=x, crowding=torch.full((x.shape[0], 1), 2.0, dtype=torch.float64))


def numbers(seed, nodes=12, width=6):
    """Numbers of both signs; one column is constant."""
    x = np.random.default_rng(seed).normal(2, 3, (nodes, width))
    x[:, 2] = 123.456
    return x


def seen(x):
    """The rows z that the docstring promises, by plain numpy."""
    if (x >= 0).all():
        total, mean = x.sum(1, keepdims=True), x.sum(0) / x.sum()
        profiles = np.divide(x, total, out=np.tile(mean, (len(x), 1)), where=total > 0)
        z = np.divide(profiles - mean, np.sqrt(mean), out=np.zeros_like(x), where=mean > 0)
    else:
        deviation = x.std(0)
        z = np.divide(x - x.mean(0), deviation, out=np.zeros_like(x), where=deviation > 1e-9)
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return np.divide(z, length, out=np.zeros_like(z), where=length > 1e-6)


def reader_of(x, seed=0, classes=3):
    reader = FeatureReader(x.shape[1], classes).double()
    reader.measure(dense(x))
    generator = torch.Generator().manual_seed(seed)
    for parameter in reader.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return reader


def dense(x):
    return torch.from_numpy(x).unsqueeze(1)


def sparse(x):
    return SparseMatrix(sp.csr_array(x), torch.float64)


@given(SEEDS, st.sampled_from([words, numbers]), st.sampled_from([dense, sparse]))
def test_logits_are_linear_in_what_the_docstring_says_is_seen(seed, kind, form):
    x = kind(seed)
    reader = reader_of(x, seed)
    expected = torch.from_numpy(seen(x)) @ reader.weight + reader.bias
    torch.testing.assert_close(reader(form(x))[0], expected, rtol=0, atol=1e-7)


@given(SEEDS, st.sampled_from([words, numbers]))
def test_sparse_features_are_measured_as_dense_ones_are(seed, kind):
    x = kind(seed)
    readers = FeatureReader(x.shape[1], 3).double(), FeatureReader(x.shape[1], 3).double()
    for reader, form in zip(readers, (dense, sparse), strict=True):
        reader.measure(form(x))
    for name, value in readers[0].named_buffers():
        torch.testing.assert_close(readers[1].get_buffer(name), value)


@given(SEEDS, st.floats(0.1, 50))
def test_how_much_a_node_has_of_everything_tells_nothing(seed, much):
    x = words(seed)
    reader, more = reader_of(x, seed), x.copy()
    more[0] *= much
    torch.testing.assert_close(reader(dense(more))[0][0], reader(dense(x))[0][0], rtol=0, atol=1e-8)


def test_large_features_are_read_in_pieces(monkeypatch):
    x = words(1)
    reader = reader_of(x)
    whole, measured = reader(dense(x))[0], {name: b.clone() for name, b in reader.named_buffers()}
    monkeypatch.setattr("redisc.nn.feature_reader._PIECE_ROWS", 5)
    reader.measure(dense(x))
    for name, value in measured.items():
        torch.testing.assert_close(reader.get_buffer(name), value)
    torch.testing.assert_close(reader(dense(x))[0], whole)


def test_without_a_reader_the_answers_are_left_alone():
    answers = torch.rand(4, 3)
    assert with_reader(Committee([]), answers, nodes(torch.rand(4, 1, 2))) is answers


@pytest.mark.parametrize("form", [dense, sparse])
@pytest.mark.parametrize("x", [np.zeros((4, 3)), np.ones((4, 3)), np.full((4, 3), -0.1)], ids=["none", "all", "flat"])
def test_where_features_tell_nothing_the_networks_answer_stands(x, form):
    committee, answers = Committee([], reader_of(x), Pooling(0.9)), torch.rand(4, 3, dtype=torch.float64).softmax(1)
    assert torch.equal(with_reader(committee, answers, nodes(form(x))), answers)


@pytest.mark.parametrize("form", [dense, sparse])
def test_a_node_without_words_keeps_the_networks_answer_and_others_do_not(form):
    x = words(2)
    answers = torch.rand(len(x), 3, dtype=torch.float64).softmax(1)
    together = with_reader(Committee([], reader_of(x), Pooling(0.5)), answers, nodes(form(x)))
    kept = (together == answers).all(1)
    assert kept.tolist() == [node == 3 for node in range(len(x))]


@pytest.mark.parametrize("form", [dense, sparse])
def test_words_that_the_fitted_graph_never_had_are_not_read(form):
    x = words(4)
    reader, other = reader_of(x), x.copy()
    other[:, 5] = 7.0
    torch.testing.assert_close(reader(form(other))[0], reader(form(x))[0])


@pytest.mark.parametrize("column", [0.1, 123.456, -99.9, 1e6], ids=str)
def test_in_single_precision_a_constant_column_changes_nothing(column):
    x = np.random.default_rng(0).normal(size=(500, 5))
    wider = np.concatenate([x, np.full((500, 1), column)], axis=1)
    found = []
    for features in (x, wider):
        reader = FeatureReader(features.shape[1], 3)
        reader.measure(dense(features).float())
        torch.nn.init.ones_(reader.weight)
        found.append(reader(dense(features).float())[0])
    torch.testing.assert_close(*found, rtol=0, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e7], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1000.0], ids=str)
def test_in_single_precision_the_unit_of_numbers_does_not_matter(scale, shift):
    x = np.random.default_rng(1).normal(size=(500, 4))
    x[:, 0] += shift
    expected = torch.from_numpy(seen(x)).float().sum(1, keepdim=True)
    reader = FeatureReader(4, 1)
    features = dense(x * scale).float()
    reader.measure(features)
    torch.nn.init.ones_(reader.weight)
    torch.testing.assert_close(reader(features)[0], expected, rtol=0, atol=2e-3)
