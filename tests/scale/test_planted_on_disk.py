"""The planted graph drawn to disk has the distribution of the one drawn in memory."""

import numpy as np
import pytest

from redisc import Graph, datasets
from redisc.errors import DatasetError
from redisc.scale import planted_on_disk
from redisc.scale.distinct_keys import distinct_keys
from scale.same import assert_same_folders

SIZES = {"nodes": 20_000, "mean_degree": 20.0, "homophily": 0.7, "classes": 7}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted") / "g"
    planted_on_disk(folder, **SIZES, dtype="float16", seed=3)
    return Graph.open(folder)


def test_edges_labels_and_splits_are_as_asked(graph) -> None:
    about, counts = graph.describe(), np.bincount(graph.y)
    assert (graph.num_edges, graph.num_features, graph.x.dtype) == (200_000, 16, np.float16)
    assert about.edge_homophily == pytest.approx(0.7, abs=1e-5)
    assert counts.size == 7 and counts.max() - counts.min() <= 31
    assert graph.splits[0].sizes == (2000, 2000, 16_000)
    assert graph.dropped_self_loops == 0


def test_degrees_communities_and_features_are_distributed_as_in_memory(graph) -> None:
    other = datasets.load("planted", **SIZES, seed=3)
    assert np.array_equal(graph.y, other.y)
    for quantile in (0.1, 0.5, 0.9, 0.99):
        assert np.quantile(graph.degree, quantile) == pytest.approx(np.quantile(other.degree, quantile), rel=0.1)
    assert triangles(graph) == pytest.approx(triangles(other), rel=0.05)
    means = [np.stack([np.asarray(g.x, np.float32)[g.y == c].mean(axis=0) for c in range(7)]) for g in (graph, other)]
    spread = [np.linalg.norm(m[:, None] - m, axis=2)[np.triu_indices(7, 1)] for m in means]
    assert np.allclose(spread, 1, atol=0.15)
    assert np.asarray(graph.x, np.float32).std() == pytest.approx(other.x.std(), rel=0.01)


def triangles(graph) -> float:
    adjacency = graph.adjacency()
    return float((adjacency @ adjacency).multiply(adjacency).sum())


def test_a_graph_on_disk_is_a_function_of_its_seed(tmp_path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        planted_on_disk(tmp_path / name, nodes=500, seed=seed)
    assert_same_folders(tmp_path / "a", tmp_path / "b")
    assert Graph.open(tmp_path / "a").fingerprint() != Graph.open(tmp_path / "c").fingerprint()


def test_wrong_parameters_are_refused(tmp_path) -> None:
    with pytest.raises(DatasetError, match="no parameter size"):
        planted_on_disk(tmp_path / "g", size=3)
    with pytest.raises(DatasetError, match="do not fit"):
        planted_on_disk(tmp_path / "g", nodes=40, mean_degree=39.0, homophily=1.0)
    assert list(tmp_path.iterdir()) == []


def test_distinct_keys_are_the_first_of_one_long_draw() -> None:
    rng, drawn = np.random.default_rng(0), []

    def draw(count):
        drawn.append(rng.integers(0, 1000, count))
        return drawn[-1].copy()

    kept = np.concatenate(list(distinct_keys(draw, 900, piece=100)))
    assert kept.tolist() == list(dict.fromkeys(np.concatenate(drawn).tolist()))[:900]
