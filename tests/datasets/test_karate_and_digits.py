import numpy as np
import pytest

from redisc.datasets import load
from redisc.errors import DatasetError
from redisc.graph import Graph


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return {(int(a), int(b)) for a, b in zip(rows, graph.indices, strict=True) if a < b}


def test_the_club_and_its_factions_are_networkxs() -> None:
    networkx = pytest.importorskip("networkx")
    club, graph = networkx.karate_club_graph(), load("karate")
    assert edge_set(graph) == {tuple(sorted(edge)) for edge in club.edges}
    assert graph.class_names is not None
    assert [graph.class_names[label] for label in graph.y] == [club.nodes[i]["club"] for i in range(34)]


def test_the_four_communities_are_pygs() -> None:
    datasets = pytest.importorskip("torch_geometric.datasets")
    data, graph = datasets.KarateClub()[0], load("karate", classes=4)
    assert np.array_equal(graph.y, data.y.numpy())
    assert edge_set(graph) == {(a, b) for a, b in data.edge_index.T.tolist() if a < b}


@pytest.mark.parametrize("classes", [2, 4])
def test_every_class_of_the_club_is_in_every_part(classes: int) -> None:
    graph = load("karate", classes=classes)
    (split,) = graph.splits
    assert all(len(set(graph.y[part])) == classes for part in (split.train, split.val, split.test))
    assert np.array_equal(graph.x, np.eye(34))


def test_the_club_has_two_or_four_classes() -> None:
    with pytest.raises(DatasetError, match="2 factions or 4 communities"):
        load("karate", classes=3)


def test_digits_link_each_image_to_its_nearest_neighbours() -> None:
    graph = load("digits", neighbours=3)
    pixels = np.asarray(graph.x, dtype=np.float64)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (1797, 64, 10)
    assert graph.degree.min() >= 3
    for node in (0, 500, 1796):
        distance = ((pixels - pixels[node]) ** 2).sum(axis=1)
        distance[node] = np.inf
        neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        assert np.sort(distance[neighbours])[0] == pytest.approx(distance.min())


def test_digits_have_pixels_from_zero_to_one_and_twenty_labels_a_class() -> None:
    graph = load("digits")
    assert graph.x.min() == 0 and graph.x.max() == 1
    assert graph.splits[0].sizes == (200, 300, 1297)
    assert graph.describe().edge_homophily > 0.9


def test_noise_on_digits_changes_features_and_not_edges() -> None:
    clean, noisy = load("digits"), load("digits", feature_noise=0.5, seed=0)
    assert np.array_equal(clean.indices, noisy.indices)
    assert np.std(noisy.x - clean.x) == pytest.approx(0.5, rel=0.02)
