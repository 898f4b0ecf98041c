import itertools

import numpy as np
import pytest

from redisc.datasets import load
from redisc.datasets.minesweeper import board_edges, minesweeper
from redisc.errors import DatasetError
from redisc.graph import Graph


@pytest.fixture(scope="module")
def board() -> Graph:
    return minesweeper(seed=0)


def count_by_hand(mines: np.ndarray, row: int, column: int) -> int:
    rows, columns = mines.shape
    around = itertools.product((-1, 0, 1), (-1, 0, 1))
    return sum(
        int(mines[row + dr, column + dc])
        for dr, dc in around
        if (dr, dc) != (0, 0) and 0 <= row + dr < rows and 0 <= column + dc < columns
    )


def test_the_default_board_has_the_benchmarks_counts(board: Graph) -> None:
    assert (board.num_nodes, board.num_edges, board.num_features, board.num_classes) == (10_000, 39_402, 7, 2)
    assert board.y.sum() == 2000


def test_homophily_is_the_benchmarks(board: Graph) -> None:
    # Pairs of cells agree with probability .8^2 + .2^2 = .68.
    assert board.describe().edge_homophily == pytest.approx(0.68, abs=0.015)


def test_exactly_half_of_the_cells_are_hidden_and_show_nothing_else(board: Graph) -> None:
    hidden = board.x[:, 0] == 1
    assert hidden.sum() == 5000
    assert not board.x[hidden, 1:].any()


def test_every_row_is_one_hot(board: Graph) -> None:
    assert set(np.unique(board.x)) == {0.0, 1.0}
    assert (board.x.sum(axis=1) == 1).all()


def test_shown_counts_are_right_by_brute_force_for_mines_too() -> None:
    graph = minesweeper(rows=11, columns=7, mine_fraction=0.4, seed=3)
    mines = graph.y.reshape(11, 7)
    shown = graph.x[:, 0] == 0
    assert graph.y[shown].any()
    for node in np.flatnonzero(shown):
        count = count_by_hand(mines, *divmod(int(node), 7))
        assert graph.x[node, 1:].argmax() == min(count, 5)


def test_cells_touch_up_down_and_across_corners() -> None:
    edges = board_edges(4, 5)
    pairs = {(a, b) for a, b in edges.T.tolist()}
    cells = itertools.combinations(range(20), 2)
    expected = {(a, b) for a, b in cells if abs(a // 5 - b // 5) <= 1 and abs(a % 5 - b % 5) <= 1}
    assert {tuple(sorted(pair)) for pair in pairs} == expected
    assert len(pairs) == edges.shape[1]


def test_ten_splits_of_the_benchmarks_sizes_each_with_a_fifth_of_mines(board: Graph) -> None:
    assert len(board.splits) == 10
    for split in board.splits:
        assert split.sizes == (5000, 2500, 2500)
        assert [int(board.y[part].sum()) for part in (split.train, split.val, split.test)] == [1000, 500, 500]


def test_the_ten_splits_differ(board: Graph) -> None:
    assert len({split.train.tobytes() for split in board.splits}) == 10


def test_a_board_is_a_function_of_its_seed(board: Graph) -> None:
    again, other = minesweeper(seed=0), minesweeper(seed=1)
    assert np.array_equal(board.x, again.x) and np.array_equal(board.y, again.y)
    assert not np.array_equal(board.y, other.y)


def test_splits_do_not_follow_the_mines_or_the_hidden_cells(board: Graph) -> None:
    hidden = board.x[:, 0] == 1
    for split in board.splits:
        assert abs(hidden[split.train].mean() - 0.5) < 0.03


def test_a_generated_board_says_so() -> None:
    assert load("minesweeper").name == "minesweeper (generated)"


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"rows": 0}, "rows"),
        ({"columns": 2.5}, "columns"),
        ({"mine_fraction": 1.2}, "mine_fraction"),
        ({"hidden_fraction": float("nan")}, "hidden_fraction"),
        ({"num_splits": 0}, "num_splits"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict, named: str) -> None:
    with pytest.raises(DatasetError, match=named):
        minesweeper(**parameters)
