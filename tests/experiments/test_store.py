"""The result store keeps what was added, and survives a crash in the middle of a line."""

import pytest

from redisc.errors import CheckpointError
from redisc.experiments.batch import missing, run_missing
from redisc.experiments.cell import Cell, _defaults, row_key, run_cell
from redisc.experiments.store import ResultStore
from redisc.experiments.summary import by_group, summarise

CELL = Cell("lp", "karate", 0)


def test_rows_come_back_in_order(tmp_path):
    store = ResultStore(tmp_path / "deep" / "runs.jsonl")
    assert list(store) == []
    for k in range(3):
        store.add({"k": k})
    assert [row["k"] for row in store] == [0, 1, 2]


def test_a_line_cut_short_is_left_out_and_mended_by_the_next(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    store.add({"k": 0})
    with store.path.open("a") as file:
        file.write('{"k": 1, "me')
    assert [row["k"] for row in store] == [0]
    store.add({"k": 2})
    assert [row["k"] for row in store] == [0, 2]


def test_a_damaged_line_is_named(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    store.path.write_text('{"k": 0}\nnonsense\n{"k": 1}\n')
    with pytest.raises(CheckpointError, match="line 2"):
        list(store)


def test_a_cell_tells_everything_about_its_run():
    row = run_cell(CELL)
    assert row_key(row) == CELL.key
    assert row["metrics"]["node_accuracy"] > 0.6
    assert set(row) >= {"versions", "split", "seconds", "peak_mib", "parameters", "validation", "backbone"}
    assert run_cell(CELL)["metrics"] == row["metrics"]


def test_a_row_stays_with_the_defaults_it_ran_with(tmp_path, monkeypatch):
    store, other = ResultStore(tmp_path / "runs.jsonl"), {**_defaults("lp"), "iterations": 7}
    store.add(run_cell(CELL))
    assert missing([CELL], store) == []
    assert missing([Cell("lp", "karate", 0, {"iterations": 9})], store)
    with monkeypatch.context() as changed:
        changed.setattr("redisc.experiments.cell._defaults", lambda method: other)
        assert missing([CELL], store) == [CELL]
    with monkeypatch.context() as added:
        added.setattr("redisc.experiments.cell._defaults", lambda method: {**_defaults("lp"), "newer": 0})
        assert missing([CELL], store) == []


def test_only_missing_cells_run_each_in_a_process_of_its_own(tmp_path):
    store, lines = ResultStore(tmp_path / "runs.jsonl"), []
    cells = [Cell("lp", "karate", seed) for seed in (0, 1)]
    store.add(run_cell(cells[0]))
    assert missing([*cells, cells[1]], store) == [cells[1]]
    assert run_missing(cells, store, workers=1, report=lines.append) == []
    assert len(lines) == 1
    assert "[1/1] lp on karate, seed 1" in lines[0]
    (summary,) = [summarise(rows) for rows in by_group(store).values()]
    assert summary["seeds"] == 2
    assert summary["node_std"] is not None
    assert run_missing(cells, store, report=lines.append) == []
    assert len(lines) == 1


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_others(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    cells = [Cell("gcn", "karate", 0, {"hidden": 0}), CELL]
    (failure,) = run_missing(cells, store, workers=1, report=lambda _: None)
    assert "hidden=0" in failure
    assert [row["method"] for row in store] == ["lp"]
