import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from redisc import Graph, metrics
from redisc.errors import MaskError
from redisc.report import draw_accuracy_by_degree
from redisc.report.by_degree import DegreeBin, accuracy_by_degree, degree_bins

STAR = Graph(edge_index=[[0, 0, 0], [1, 2, 3]], y=[0, 0, 0, 1, 1])
"""A hub with three leaves, and a lone node; the last leaf is guessed wrong."""

GUESS = np.zeros(5, dtype=int)


def test_a_star_by_hand():
    """The hub is right but has a wrong leaf; two leaves of three are right, and so is their hub."""
    found = accuracy_by_degree(STAR, STAR.y, GUESS, np.ones(5, dtype=bool))
    third = pytest.approx(2 / 3)
    assert found == [DegreeBin(0, 0, 1, 0.0, 0.0), DegreeBin(1, 1, 3, third, third), DegreeBin(3, 3, 1, 1.0, 0.0)]


def test_known_nodes_are_right_for_their_neighbours():
    hub = accuracy_by_degree(STAR, STAR.y, GUESS, [0], known=[3])
    assert hub == [DegreeBin(3, 3, 1, 1.0, 1.0)]


def test_many_degrees_share_bins_that_double():
    assert degree_bins(np.arange(20)) == [(0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32)]
    assert degree_bins(np.array([3, 5, 8, 8])) == [(3, 3), (5, 5), (8, 8)]
    assert degree_bins(np.array([1, 2, 3, 4, 5, 6, 7, 8, 100])) == [(1, 1), (2, 2), (3, 4), (5, 8), (65, 128)]


@given(st.integers(0, 1000), st.integers(5, 200))
def test_bins_weighed_by_their_nodes_give_the_metrics(seed, edges):
    graph = random_graph(seed, nodes=40, edges=edges)
    rng = np.random.default_rng(seed)
    guess, mask = rng.integers(3, size=40), rng.random(40) < 0.6
    mask[0] = True
    found = accuracy_by_degree(graph, graph.y, guess, mask)
    counts = [part.count for part in found]
    assert sum(counts) == mask.sum()
    whole = metrics.node_accuracy(graph.y, guess, mask), metrics.subgraph_accuracy(graph, graph.y, guess, mask)
    assert np.average([part.node_accuracy for part in found], weights=counts) == pytest.approx(whole[0])
    assert np.average([part.subgraph_accuracy for part in found], weights=counts) == pytest.approx(whole[1])


def test_isolated_nodes_make_no_bin_for_degree_one():
    assert degree_bins(np.array([0, *range(2, 14)]))[:2] == [(0, 0), (2, 2)]
    assert degree_bins(np.arange(14))[:3] == [(0, 0), (1, 1), (2, 2)]


def lines_of(panel):
    return {line.get_label(): line.get_ydata() for line in panel.get_lines() if not line.get_label().startswith("_")}


def test_every_answer_is_a_line_in_both_panels(tmp_path, figures):
    edges = np.concatenate([STAR.edge_index() + 5 * k for k in range(10)], axis=1)
    stars = Graph(edge_index=edges, y=np.tile(STAR.y, 10))
    answers = {"guess": np.tile(GUESS, 10), "truth": stars.y}
    draw_accuracy_by_degree(stars, stars.y, answers, np.ones(50, dtype=bool), None, tmp_path / "a.png")
    node, subgraph = figures[0].axes
    drawn = {name: heights.tolist() for name, heights in lines_of(subgraph).items()}
    assert drawn == {"guess": [0, pytest.approx(2 / 3), 0], "truth": [1, 1, 1]}
    assert [tick.get_text() for tick in node.get_xticklabels()] == ["0\n(10)", "1\n(30)", "3\n(10)"]


def test_bins_of_few_nodes_are_pale_and_have_no_line(tmp_path, figures):
    draw_accuracy_by_degree(STAR, STAR.y, {"guess": GUESS}, np.ones(5, dtype=bool), None, tmp_path / "a.png")
    node = figures[0].axes[0]
    assert np.isnan(lines_of(node)["guess"]).all()
    (pale,) = [line for line in node.get_lines() if line.get_label().startswith("_")]
    assert pale.get_ydata().tolist() == [0, pytest.approx(2 / 3), 1]
    assert pale.get_alpha() < 1


def test_an_empty_mask_is_refused(tmp_path):
    with pytest.raises(MaskError, match="no node"):
        draw_accuracy_by_degree(STAR, STAR.y, {"guess": GUESS}, [], None, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
