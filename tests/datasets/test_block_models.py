import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisc.datasets import load
from redisc.datasets.block_model import power_law_weights
from redisc.datasets.csbm import csbm
from redisc.datasets.planted import planted
from redisc.errors import DatasetError
from redisc.graph import Graph

GENERATORS = [csbm, planted]


def same(a: Graph, b: Graph) -> bool:
    arrays = ("indptr", "indices", "x", "y")
    return all(np.array_equal(getattr(a, key), getattr(b, key)) for key in arrays)


@pytest.mark.parametrize("make", GENERATORS)
@given(
    homophily=st.floats(0.0, 1.0),
    classes=st.integers(2, 6),
    mean_degree=st.floats(1.0, 10.0),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=15, deadline=None)
def test_edges_and_homophily_are_met_to_rounding(make, homophily, classes, mean_degree, seed) -> None:
    graph = make(nodes=600, classes=classes, mean_degree=mean_degree, homophily=homophily, seed=seed)
    assert graph.num_edges == round(600 * mean_degree / 2)
    assert graph.describe().edge_homophily == pytest.approx(homophily, abs=0.51 / graph.num_edges)


@pytest.mark.parametrize("make", GENERATORS)
def test_classes_are_balanced(make) -> None:
    counts = np.bincount(make(nodes=3001, classes=4).y)
    assert counts.sum() == 3001
    assert counts.max() - counts.min() <= 31


@pytest.mark.parametrize("make", GENERATORS)
def test_a_graph_is_a_function_of_its_seed(make) -> None:
    assert same(make(nodes=500, seed=4), make(nodes=500, seed=4))
    assert not same(make(nodes=500, seed=4), make(nodes=500, seed=5))


@pytest.mark.parametrize("name", ["csbm", "planted", "minesweeper", "karate", "digits"])
def test_global_random_state_is_left_alone(name: str) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    load(name, split="stratified", seed=3)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_csbm_degrees_are_those_of_independent_edges() -> None:
    degree = csbm(nodes=20_000, mean_degree=10.0, homophily=0.3, seed=1).degree
    assert degree.mean() == 10.0
    assert degree.var() == pytest.approx(10.0, rel=0.05)


def test_csbm_edges_say_nothing_but_the_class() -> None:
    graph = csbm(nodes=4000, classes=4, mean_degree=20.0, homophily=0.7, seed=2)
    rows = np.repeat(graph.y, graph.degree)
    between = np.zeros((4, 4))
    np.add.at(between, (rows, graph.y[graph.indices]), 1)
    between /= between.sum()
    assert np.diag(between) == pytest.approx(np.full(4, 0.7 / 4), rel=0.05)
    assert between[~np.eye(4, dtype=bool)] == pytest.approx(np.full(12, 0.3 / 12), rel=0.1)


@pytest.mark.parametrize("features", [3, 16])
def test_class_means_are_one_apart_and_noise_is_as_asked(features: int) -> None:
    graph = csbm(nodes=40_000, classes=4, features=features, feature_noise=0.5, mean_degree=2.0)
    means = np.stack([graph.x[graph.y == label].mean(axis=0) for label in range(4)])
    gaps = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(4, 1)]
    assert np.sqrt((gaps**2).mean()) == pytest.approx(1.0, abs=0.05)
    assert np.std(graph.x - means[graph.y]) == pytest.approx(0.5, rel=0.02)


def tail_exponent(values: np.ndarray, count: int) -> float:
    """Hill's estimate of a power law's exponent from the largest values."""
    tail = np.sort(values)[::-1][:count].astype(float)
    return float(1 + 1 / np.log(tail / tail[-1]).mean())


def test_degree_weights_have_the_exponent_asked_for() -> None:
    weights = power_law_weights(20_000, 2.5, 1e-3, np.random.default_rng(0))
    assert tail_exponent(weights, 2000) == pytest.approx(2.5, abs=0.15)
    cut = power_law_weights(20_000, 2.5, 8.0, np.random.default_rng(0))
    assert cut.max() <= weights.mean() * 50


def test_planted_degrees_are_skewed_more_the_smaller_the_exponent() -> None:
    flat = planted(nodes=20_000, degree_exponent=None).degree
    skewed = planted(nodes=20_000, degree_exponent=2.5).degree
    mild = planted(nodes=20_000, degree_exponent=4.0).degree
    assert flat.mean() == skewed.mean() == 8.0
    assert flat.max() < 40 < mild.max() < skewed.max()
    assert tail_exponent(skewed, 1000) < tail_exponent(mild, 1000) < tail_exponent(flat, 1000)


def test_planted_labels_show_in_neighbours_and_hardly_in_features() -> None:
    graph = planted(nodes=5000, seed=1)
    votes = np.zeros((5000, 5))
    np.add.at(votes, (np.repeat(np.arange(5000), graph.degree), graph.y[graph.indices]), 1)
    means = np.stack([graph.x[graph.y == label].mean(axis=0) for label in range(5)])
    nearest = np.linalg.norm(graph.x[:, None] - means, axis=2).argmin(axis=1)
    assert (votes.argmax(axis=1) == graph.y).mean() > 0.9
    assert 0.2 < (nearest == graph.y).mean() < 0.5


def test_planted_communities_close_triangles() -> None:
    local = planted(nodes=3000, locality=0.9, degree_exponent=None)
    spread = planted(nodes=3000, locality=0.0, degree_exponent=None)

    def triangles(graph: Graph) -> int:
        adjacency = graph.adjacency().astype(np.int64)
        return int((adjacency @ adjacency).multiply(adjacency).sum()) // 6

    assert triangles(local) > 10 * triangles(spread)


def test_splits_have_the_fractions_asked_for() -> None:
    graph = csbm(nodes=1000, train_fraction=0.05, val_fraction=0.2)
    assert graph.splits[0].sizes == (50, 200, 750)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"nodes": 3, "classes": 4}, "nodes"),
        ({"classes": 1}, "classes"),
        ({"homophily": -0.1}, "homophily"),
        ({"mean_degree": -1}, "mean_degree"),
        ({"features": 0}, "features"),
        ({"feature_noise": -1.0}, "feature_noise"),
        ({"train_fraction": 0.8, "val_fraction": 0.3}, "sum to more than 1"),
        ({"nodes": 20, "mean_degree": 19, "homophily": 1.0}, "do not fit"),
    ],
)
def test_a_wrong_parameter_is_named(make, parameters: dict, named: str) -> None:
    with pytest.raises(DatasetError, match=named):
        make(**parameters)


def test_a_degree_exponent_without_a_mean_is_refused() -> None:
    with pytest.raises(DatasetError, match="degree_exponent"):
        planted(degree_exponent=2.0)
