"""Where the nodes of a graph stand in a picture: boards as boards, other graphs by forces, components side by side."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from redisc.datasets.minesweeper import board_edges
from redisc.graph import Graph
from redisc.graph.describe import component_of
from redisc.report.forces import fit_square, spread
from redisc.seeds import numpy_generator

_RING = 6
"""Components of up to so many nodes stand in a ring; forces would say no more."""

_MARGIN = 0.8  # of the distance between neighbours


def place_nodes(graph: Graph, seed: int = 0) -> np.ndarray:
    """Return the places `(N, 2)` of all nodes in [-1, 1], the same for the same graph and seed.

    A board such as Minesweeper's is drawn as one, its first row on top. Each component of any other graph is laid out
    by forces in a square as large as its number of nodes; the squares stand in rows, the largest first, so
    that isolated nodes end up as a small grid at the foot. Ten thousand nodes with 40,000 edges take a few seconds.
    """
    shape = board_shape(graph)
    return fit_square(_cells(*shape)) if shape else fit_square(_in_rows(graph, seed))


def board_shape(graph: Graph) -> tuple[int, int] | None:
    """Return (rows, columns) where the graph is a board, numbered row by row, whose cells touch at sides and corners.

    Boards of a single row or column are paths, and left to the forces.
    """
    beside_first = graph.indices[: graph.indptr[1]]
    if len(beside_first) != 3:
        return None
    columns = int(beside_first[1])
    rows, rest = divmod(graph.num_nodes, columns)
    if rest or rows < 2 or columns < 2 or graph.num_edges != _board_size(rows, columns):
        return None
    board = np.sort(board_edges(rows, columns), axis=0)
    source, target = graph.edge_index()
    pairs = np.stack([source, target])[:, source < target]
    order = np.lexsort(board[::-1])
    return (rows, columns) if np.array_equal(pairs, board[:, order]) else None


def _board_size(rows: int, columns: int) -> int:
    """Count the edges of a board: to the right, down, and both diagonals."""
    return rows * (columns - 1) + (rows - 1) * columns + 2 * (rows - 1) * (columns - 1)


def _cells(rows: int, columns: int) -> np.ndarray:
    row, column = np.divmod(np.arange(rows * columns), columns)
    return np.stack([column, -row], axis=1).astype(np.float64)


def _in_rows(graph: Graph, seed: int) -> np.ndarray:
    """Lay every component out in its own square and set the squares in rows, the largest on top."""
    component = component_of(graph)
    sizes = np.bincount(component)
    order = np.argsort(-sizes, kind="stable")
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
    corners = _shelves(_sides(sizes[order]))
    places, adjacency = np.empty((graph.num_nodes, 2)), _unweighted(graph)
    for number, corner in zip(order, corners, strict=True):
        nodes, half = members[number], _sides(sizes[number]) / 2
        inner = half - _MARGIN / 2
        places[nodes] = corner + half * np.array([1, -1]) + inner * _shape(adjacency, nodes, seed)
    return places


def _unweighted(graph: Graph) -> scipy.sparse.csr_array:
    shape = (graph.num_nodes, graph.num_nodes)
    return scipy.sparse.csr_array((np.ones(graph.indices.size), graph.indices, graph.indptr), shape=shape)


def _sides(sizes: np.ndarray) -> np.ndarray:
    """The side of a component's square: room for its nodes at distance one, and a margin."""
    return np.sqrt(sizes) + _MARGIN * (np.asarray(sizes) > 1)


def _shelves(sides: np.ndarray) -> np.ndarray:
    """Return the upper left corners of squares, given by falling side, in rows of about the drawing's width.

    A square of less than half the row's height starts a new row.
    """
    width = max(float(sides[0]), float(np.sqrt((sides**2).sum())))
    corners, right, top, height = np.empty((len(sides), 2)), 0.0, 0.0, float(sides[0])
    for number, side in enumerate(sides):
        if right + side > width * (1 + 1e-9) or side < height / 2:
            right, top, height = 0.0, top - height, float(side)
        corners[number] = right, top
        right += side
    return corners


def _shape(adjacency: scipy.sparse.csr_array, nodes: np.ndarray, seed: int) -> np.ndarray:
    """Lay one component out in [-1, 1]."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    if len(nodes) <= _RING:
        angle = 2 * np.pi * np.arange(len(nodes)) / len(nodes)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return spread(adjacency[nodes][:, nodes], numpy_generator(seed, "layout", int(nodes[0])))
