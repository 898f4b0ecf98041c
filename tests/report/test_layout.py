"""Where nodes stand: the same every time, all apart, boards as boards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import random_graph
from redisc import Graph
from redisc.datasets.minesweeper import board_edges
from redisc.report.layout import board_shape, place_nodes

sizes = st.integers(2, 9)


def board(rows, columns, edges=None):
    return Graph(edge_index=board_edges(rows, columns) if edges is None else edges, num_nodes=rows * columns)


def ring(nodes):
    return Graph(edge_index=np.stack([np.arange(nodes), np.roll(np.arange(nodes), 1)]), num_nodes=nodes, directed=False)


def distances(places):
    return np.linalg.norm(places[:, None] - places[None], axis=2)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(3, 40), st.integers(0, 60))
def test_places_are_finite_distinct_within_bounds_and_the_same_again(seed, nodes, edges):
    graph = random_graph(seed, nodes=nodes, edges=edges)
    places = place_nodes(graph)
    assert places.shape == (nodes, 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1
    assert len(np.unique(places.round(4), axis=0)) == nodes
    np.testing.assert_array_equal(places, place_nodes(graph))


def test_another_seed_gives_another_layout():
    graph = random_graph(0, nodes=40, edges=120)
    assert not np.allclose(place_nodes(graph, seed=0), place_nodes(graph, seed=1))


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_smallest_graphs_have_places(nodes):
    places = place_nodes(Graph(num_nodes=nodes))
    assert places.shape == (nodes, 2)
    assert np.abs(places).max() <= 1


@given(sizes, sizes)
def test_a_board_is_known_by_its_edges(rows, columns):
    assert board_shape(board(rows, columns)) == (rows, columns)


@given(sizes, sizes, st.integers(0, 10_000))
def test_a_board_that_lacks_or_swaps_an_edge_is_none(rows, columns, number):
    edges = board_edges(rows, columns)
    lost = number % edges.shape[1]
    kept = np.delete(edges, lost, axis=1)
    assert board_shape(board(rows, columns, kept)) is None
    far = [[0], [rows * columns - 1]]
    if max(rows, columns) > 2:
        assert board_shape(board(rows, columns, np.hstack([kept, far]))) is None


def test_a_board_with_its_cells_renumbered_is_none():
    shuffled = np.random.default_rng(0).permutation(20)
    assert board_shape(board(4, 5, shuffled[board_edges(4, 5)])) is None


def test_a_board_is_drawn_row_by_row_from_the_top():
    places = place_nodes(board(3, 5)).reshape(3, 5, 2)
    assert places[0, 0].tolist() == [-1, 0.5]
    assert places[2, 4].tolist() == [1, -0.5]
    np.testing.assert_allclose(np.diff(places[..., 0], axis=1), 0.5)
    np.testing.assert_allclose(np.diff(places[..., 1], axis=0), -0.5)


@pytest.mark.parametrize("nodes", [30, 500])
def test_a_ring_is_unfolded(nodes):
    """Both ways of pushing, by pairs and by a field: neighbours in the ring are the nearest in the picture."""
    places = place_nodes(ring(nodes))
    angle = np.unwrap(np.arctan2(*(places - places.mean(0)).T))
    assert abs(abs(angle[-1] - angle[0]) - 2 * np.pi) < 1


@pytest.mark.parametrize("nodes", [60, 600])
def test_two_communities_stand_apart(nodes):
    rng = np.random.default_rng(0)
    half = nodes // 2
    inside = [part * half + rng.integers(half, size=(2, 5 * half)) for part in (0, 1)]
    bridge = np.array([[0, 1], [half, half + 1]])
    places = place_nodes(Graph(edge_index=np.hstack([*inside, bridge]), num_nodes=nodes, directed=False))
    centres = places[:half].mean(0), places[half:].mean(0)
    nearer = np.stack([np.linalg.norm(places - centre, axis=1) for centre in centres]).argmin(0)
    assert (nearer == np.arange(nodes) // half).mean() > 0.95


def test_components_do_not_overlap_and_lone_nodes_stand_in_a_grid():
    triangle = np.array([[0, 1, 2], [1, 2, 0]])
    edges = np.hstack([ring(12).edge_index(), triangle + 12])
    places = place_nodes(Graph(edge_index=edges, num_nodes=24, directed=False))
    boxes = [(places[part].min(0), places[part].max(0)) for part in (slice(0, 12), slice(12, 15), slice(15, 24))]
    for number, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[number + 1 :]:
            assert (low > other_high).any() or (high < other_low).any()
    alone = places[15:]
    steps = np.unique(np.diff(alone[:, 0]).round(6))
    assert (steps > 0).sum() == 1


def test_weights_of_edges_do_not_matter():
    pairs = random_graph(3, nodes=20, edges=40).edge_index()
    weighted = Graph(edge_index=pairs, num_nodes=20, edge_weight=np.full(pairs.shape[1], 7.0))
    np.testing.assert_array_equal(place_nodes(weighted), place_nodes(Graph(edge_index=pairs, num_nodes=20)))
