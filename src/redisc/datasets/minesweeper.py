"""Minesweeper by the rules of the heterophilous benchmark (Platonov et al., 2023), generated on the spot."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from redisc.datasets import splits
from redisc.datasets.parameters import fraction, integer
from redisc.graph import Graph
from redisc.seeds import numpy_generator

CLASS_NAMES = ("free", "mine")
# Right, down-left, down, down-right: every pair of touching cells once.
_MOVES = ((0, 1), (1, -1), (1, 0), (1, 1))
_MOST_COUNTED = 5


def minesweeper(
    *,
    rows: int = 100,
    columns: int = 100,
    mine_fraction: float = 0.2,
    hidden_fraction: float = 0.5,
    num_splits: int = 10,
    seed: int = 0,
) -> Graph:
    """Draw a board: cells are nodes, touching cells neighbours, and the label says whether there is a mine.

    Exactly `mine_fraction` of the cells are mines and exactly `hidden_fraction` hide their count. The
    defaults are the benchmark's figures, but the board is a fresh one: results are not the published ones.
    """
    rows, columns = integer("rows", rows, minimum=1), integer("columns", columns, minimum=1)
    rng = numpy_generator(integer("seed", seed, minimum=0), "minesweeper")
    mines = _choose(rows * columns, fraction("mine_fraction", mine_fraction), rng)
    hidden = _choose(rows * columns, fraction("hidden_fraction", hidden_fraction), rng)
    counts = neighbouring_mines(mines.reshape(rows, columns)).ravel()
    y = mines.astype(np.int64)
    return Graph(
        x=count_features(counts, hidden),
        edge_index=board_edges(rows, columns),
        y=y,
        splits=[splits.stratified(y, seed=seed + i) for i in range(integer("num_splits", num_splits, minimum=1))],
        name="minesweeper (generated)",
        class_names=CLASS_NAMES,
    )


def board_edges(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the edges (2, E) between cells that touch, corners included; cells are numbered row by row."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = []
    for down, right in _MOVES:
        here = cells[: rows - down, max(0, -right) : columns - max(0, right)]
        there = cells[down:, max(0, right) : columns + min(0, right)]
        pairs.append(np.stack([here.ravel(), there.ravel()]))
    return np.concatenate(pairs, axis=1)


def neighbouring_mines(mines: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the mines around each cell of a board (rows, columns), the cell itself left out."""
    windows = sliding_window_view(np.pad(mines.astype(np.int64), 1), (3, 3))
    return windows.sum(axis=(2, 3)) - mines


def count_features(counts: NDArray[np.int64], hidden: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the features (N, 7): column 0 says that the count is hidden, the others are 0, 1, 2, 3, 4, 5+.

    A visible mine shows its count as every other cell does; nothing but the count tells it apart.
    """
    x = np.zeros((counts.size, 2 + _MOST_COUNTED), dtype=np.float32)
    shown = 1 + np.minimum(counts, _MOST_COUNTED)
    x[np.arange(counts.size), np.where(hidden, 0, shown)] = 1.0
    return x


def _choose(size: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mark exactly `share` of the cells (rounded), all cells alike likely."""
    chosen = np.zeros(size, dtype=bool)
    chosen[rng.permutation(size)[: round(size * share)]] = True
    return chosen
