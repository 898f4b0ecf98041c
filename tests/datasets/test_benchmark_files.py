"""The benchmark files, where they are at hand, against their published figures."""

import os

import numpy as np
import pytest

from redisc.datasets import load
from redisc.datasets.loading import local_files
from redisc.datasets.minesweeper import board_edges, count_features, neighbouring_mines
from redisc.graph import Graph

pytestmark = pytest.mark.data

FIGURES = {
    "cora": ((2708, 5278, 1433, 7), 0.81, 1, (140, 500, 1000)),
    "citeseer": ((3327, 4552, 3703, 6), 0.74, 1, (120, 500, 1000)),
    "pubmed": ((19717, 44324, 500, 3), 0.80, 1, (60, 500, 1000)),
    "amazon_photo": ((7650, 119081, 745, 8), 0.83, 1, (4590, 1530, 1530)),
    "amazon_computers": ((13752, 245861, 767, 10), 0.78, 1, (8251, 2750, 2751)),
    "minesweeper": ((10000, 39402, 7, 2), 0.68, 10, (5000, 2500, 2500)),
    "roman_empire_glove": ((22662, 32927, 300, 18), 0.05, 10, (11331, 5665, 5666)),
    "arxiv_2023": ((33868, 303379, 256, 39), 0.62, 5, (0.54, 0.18, 0.28)),
}


def fetch(name: str, **options: object) -> Graph:
    if not os.environ.get("REDISC_DATA"):
        pytest.skip("REDISC_DATA is not set: it names the folder of the benchmark files")
    if name not in local_files():
        pytest.skip(f"{name}.npz is not in the folder that REDISC_DATA names")
    return load(name, download=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_has_its_published_figures(name: str) -> None:
    counts, homophily, columns, sizes = FIGURES[name]
    graph = fetch(name, split="public", largest_component=False) if name != "minesweeper" else fetch(name)
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == counts
    assert graph.describe().edge_homophily == pytest.approx(homophily, abs=0.005)
    assert len(graph.splits) == columns
    for split in graph.splits:
        expected = [size if size > 1 else size * graph.num_nodes for size in sizes]
        assert split.sizes == pytest.approx(expected, rel=0.01 if name == "arxiv_2023" else 0, abs=1)


@pytest.mark.parametrize(("name", "nodes", "edges"), [("photo", 7487, 119_043), ("computers", 13_381, 245_778)])
def test_largest_components_have_the_papers_counts(name: str, nodes: int, edges: int) -> None:
    fetch(f"amazon_{name}")
    graph = load(name, seed=3)
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert graph.splits[0].sizes[:2] == (20 * graph.num_classes, 30 * graph.num_classes)
    assert sum(graph.splits[0].sizes) == nodes


@pytest.mark.parametrize(("name", "nodes"), [("amazon_photo", 7650), ("amazon_computers", 13_752)])
def test_whole_graphs_have_the_small_components_too(name: str, nodes: int) -> None:
    fetch(name)
    graph = load(f"{name}_whole", seed=3)
    assert graph.num_nodes == sum(graph.splits[0].sizes) == nodes
    assert graph.splits[0].sizes[:2] == (20 * graph.num_classes, 30 * graph.num_classes)


def test_the_benchmarks_board_follows_the_generators_rules() -> None:
    graph = fetch("minesweeper")
    assert graph.name == "minesweeper"
    mines = graph.y.reshape(100, 100).astype(bool)
    hidden = np.asarray(graph.x[:, 0]) == 1
    assert np.array_equal(graph.x, count_features(neighbouring_mines(mines).ravel(), hidden))
    board = Graph(edge_index=board_edges(100, 100), y=graph.y)
    assert np.array_equal(board.indices, graph.indices) and np.array_equal(board.indptr, graph.indptr)
    assert (mines.sum(), hidden.sum()) == (2000, 5000)
    for split in graph.splits:
        assert [int(graph.y[part].sum()) for part in (split.train, split.val, split.test)] == [1000, 500, 500]


def test_names_of_the_arxiv_categories_are_read() -> None:
    names = fetch("arxiv_2023").class_names
    assert names is not None and len(names) == 39 and "cs.LG" in names


def test_nodes_without_features_are_kept_out_of_citeseers_masks() -> None:
    graph = fetch("citeseer")
    empty = np.asarray(graph.x.sum(axis=1)).ravel() == 0
    (split,) = graph.splits
    assert empty.sum() == 15
    assert not (empty & (split.train | split.val | split.test)).any()
