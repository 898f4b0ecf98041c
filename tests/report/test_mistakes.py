import numpy as np

from examples import random_graph
from redisc import Graph
from redisc.report import draw_mistakes
from redisc.report.layout import place_nodes


def test_crosses_stand_on_wrong_nodes_of_the_mask(tmp_path, figures):
    graph = random_graph(2, nodes=20, edges=30)
    mask = np.arange(20) < 15
    guess = np.where(np.arange(20) % 3 == 0, (graph.y + 1) % 3, graph.y)
    draw_mistakes(graph, {"guess": guess, "truth": graph.y}, mask, tmp_path / "a.svg")
    first, second = figures[0].axes
    assert first.get_title() == "guess: 5 of 15 wrong"
    assert second.get_title() == "truth: 0 of 15 wrong"
    np.testing.assert_allclose(first.collections[-1].get_offsets(), place_nodes(graph)[[0, 3, 6, 9, 12]])


def test_nodes_without_a_label_and_many_classes_are_drawn(tmp_path, figures):
    graph = Graph(edge_index=[[0, 1], [1, 2]], y=[0, 9, -1])
    draw_mistakes(graph, {"guess": np.zeros(3, dtype=int)}, np.array([True, True, False]), tmp_path / "a.png")
    marks = [len(part.get_offsets()) for part in figures[0].axes[0].collections[1:]]
    assert marks == [1, 1, 1, 1]
