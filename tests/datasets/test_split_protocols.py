import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisc.datasets import splits
from redisc.datasets.csbm import csbm
from redisc.datasets.minesweeper import minesweeper
from redisc.errors import DatasetError
from redisc.graph import Graph, Split

labels = st.lists(st.integers(-1, 4), min_size=8, max_size=200).map(np.array)


def parts(split: Split) -> np.ndarray:
    return np.stack([split.train, split.val, split.test])


@given(y=labels, seed=st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_stratified_parts_cover_the_labelled_nodes_once(y: np.ndarray, seed: int) -> None:
    known = int((y >= 0).sum())
    if known < 2:
        return
    split = splits.stratified(y, seed=seed)
    assert np.array_equal(parts(split).sum(axis=0), (y >= 0).astype(int))
    assert split.sizes[:2] == (known // 2, known // 4)


@given(y=labels, seed=st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_stratified_classes_keep_their_share_of_training(y: np.ndarray, seed: int) -> None:
    if (y >= 0).sum() < 2:
        return
    split = splits.stratified(y, seed=seed)
    for label in np.unique(y[y >= 0]):
        of_class = y == label
        expected = of_class.sum() * split.train.sum() / (y >= 0).sum()
        assert abs(int(split.train[of_class].sum()) - expected) <= 1


@given(sizes=st.lists(st.integers(7, 30), min_size=2, max_size=5), seed=st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_per_class_takes_the_same_number_of_each_class(sizes: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    y = np.concatenate([y, [-1, -1]])
    split = splits.per_class(y, train=3, val=4, seed=seed)
    assert np.array_equal(parts(split).sum(axis=0), (y >= 0).astype(int))
    assert (np.bincount(y[split.train]) == 3).all()
    assert (np.bincount(y[split.val]) == 4).all()


@pytest.mark.parametrize("protocol", [splits.per_class, splits.stratified])
def test_a_draw_is_a_function_of_its_seed(protocol) -> None:
    y = np.repeat(np.arange(3), 100)
    first = [parts(protocol(y, seed=seed)) for seed in range(5)]
    again = [parts(protocol(y, seed=seed)) for seed in range(5)]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len({draw.tobytes() for draw in first}) == 5


def test_a_draw_favours_no_node() -> None:
    y = np.repeat(np.arange(2), 20)
    drawn = np.mean([splits.per_class(y, train=5, val=5, seed=seed).train for seed in range(800)], axis=0)
    # Standard error of a share of 1/4 over 800 draws is .015.
    assert np.abs(drawn - 0.25).max() < 0.07


def test_a_column_is_the_seed_modulo_their_number() -> None:
    graph = minesweeper(rows=10, columns=10, num_splits=3)
    for seed in range(7):
        assert np.array_equal(parts(splits.fixed_column(graph, seed)), parts(graph.splits[seed % 3]))


def test_public_splits_are_those_that_came_with_the_data() -> None:
    graph = csbm(nodes=100)
    assert splits.public(graph) == graph.splits
    with pytest.raises(DatasetError, match="without masks"):
        splits.public(graph.with_splits(()))


def test_index_files_become_masks() -> None:
    split = splits.from_indices(5, train=[0, 3], val=[1], test=[4])
    assert parts(split).tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]]


def test_a_class_too_small_for_the_per_class_protocol_is_named() -> None:
    with pytest.raises(DatasetError, match="class 1 has 10 nodes"):
        splits.per_class(np.repeat([0, 1], [100, 10]))


@pytest.mark.parametrize("fractions", [(0.5, 0.5), (0.5, 0.4, 0.4), (1.5, -0.25, -0.25)])
def test_fractions_must_be_three_shares_of_one(fractions: tuple) -> None:
    with pytest.raises(DatasetError, match="fractions"):
        splits.stratified(np.zeros(10, dtype=int), fractions)


def test_a_draw_without_training_nodes_is_refused() -> None:
    with pytest.raises(DatasetError, match="no training node"):
        splits.stratified(np.zeros(10, dtype=int), (0.01, 0.5, 0.49))


def test_an_unknown_protocol_names_the_known_ones() -> None:
    with pytest.raises(DatasetError, match="public, column, per-class, stratified"):
        splits.draw(csbm(nodes=100), "random", 0)


def test_a_graph_without_labels_cannot_be_split() -> None:
    with pytest.raises(DatasetError, match="no labels"):
        splits.draw(Graph(edge_index=[[0], [1]], num_nodes=2), "stratified", 0)
