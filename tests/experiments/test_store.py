"""The result store keeps what was added, and survives a crash in the middle of a line."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from redisc.errors import CheckpointError
from redisc.experiments.batch import CellError, Crew, Estimate, missing, run_apart, run_missing
from redisc.experiments.cell import Cell, _defaults, recipe_of, row_key, run_cell
from redisc.experiments.store import ResultStore
from redisc.experiments.summary import by_group, summarise
from redisc.recipes import recipe_settings

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


def test_a_whole_last_line_without_an_end_is_kept(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    store.path.write_text('{"k": 0}\n{"k": 1}')
    assert [row["k"] for row in store] == [0, 1]
    store.add({"k": 2})
    assert [row["k"] for row in store] == [0, 1, 2]


def test_a_damaged_line_is_named(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    store.path.write_text('{"k": 0}\nnonsense\n{"k": 1}\n')
    with pytest.raises(CheckpointError, match="line 2"):
        list(store)
    store.path.write_text("5\n")
    with pytest.raises(CheckpointError, match="line 1: it is no run"):
        missing([CELL], store)


def test_a_cell_tells_everything_about_its_run():
    row = run_cell(CELL)
    assert row_key(row) == CELL.key
    assert row["metrics"]["node_accuracy"] > 0.6
    told = {"versions", "processor", "split", "seconds", "peak_mib", "parameters", "validation", "backbone"}
    assert set(row) >= told
    assert run_cell(CELL)["metrics"] == row["metrics"]


def test_a_run_names_its_recipe_where_it_follows_one():
    own = recipe_settings("cora-gcn")
    assert recipe_of("redisc", "cora", own) == "cora-gcn"
    assert recipe_of("redisc", "cora", {**own, "priority": "none"}) is None
    assert recipe_of("redisc", "karate", {}) == recipe_of("redisc", "cora", {}) == "default"
    assert recipe_of("lp", "cora", {}) is None


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


def test_the_estimate_knows_what_such_cells_took(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    row = {**run_cell(CELL), "seconds": 90.0}
    store.add(row)
    estimate, strange = Estimate(store, at_once=2), Cell("gcn", "karate", 0)
    assert estimate.left([]) == 0
    assert estimate.left([CELL]) == 90  # a worker can't share a cell
    assert estimate.left([CELL] * 4) == 180
    assert estimate.left([strange]) == 0  # nothing is known yet
    estimate.learn({**row, "method": "mlp", "seconds": 30.0})
    assert estimate.left([strange, CELL]) == 90


SLOW = Cell("redisc", "karate", 0, {"iterations": 10**6, "patience": 10**6})  # hours
on_linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")


@contextlib.contextmanager
def _batch_at_work(store):
    """Run a batch of a short and an endless run in a process of its own; yields it and its children at work."""
    program = (
        "import signal, sys\nfrom pathlib import Path\nfrom redisc.experiments.batch import run_missing\n"
        "from redisc.experiments.cell import Cell\nfrom redisc.experiments.store import ResultStore\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs have it ignored
        f"run_missing([Cell('lp', 'karate', 0), Cell(**{asdict(SLOW)!r})], ResultStore(Path(sys.argv[1])), workers=2)"
    )
    command = [sys.executable, "-c", program, store.path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as parent:
        try:
            assert any("lp on karate" in line for line in iter(parent.stderr.readline, ""))
            children = _children(parent.pid)
            assert children
            yield parent, children
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)


@on_linux
def test_an_interrupt_ends_the_processes_at_work_and_keeps_what_is_done(tmp_path):
    """The parent alone is interrupted: nothing is left behind, and finished runs are stored."""
    store = ResultStore(tmp_path / "runs.jsonl")
    with _batch_at_work(store) as (parent, children):
        os.kill(parent.pid, signal.SIGINT)
        assert "KeyboardInterrupt" in parent.communicate(timeout=60)[1]
        assert not any(_is_alive(pid) for pid in children)
    assert [row["method"] for row in store] == ["lp"]


@on_linux
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_run_outlives_a_batch_that_was_killed(tmp_path, how):
    with _batch_at_work(ResultStore(tmp_path / "runs.jsonl")) as (parent, children):
        os.kill(parent.pid, how)
        deadline = time.monotonic() + 30
        while any(_is_alive(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(_is_alive(pid) for pid in children)


def test_a_stopped_crew_begins_nothing():
    crew = Crew()
    crew.stop()
    with pytest.raises(CellError, match="before it began"):
        run_apart(CELL, None, crew)


def test_a_process_that_says_nothing_is_no_result():
    class Silent(Crew):
        def run(self, command, environment):
            return super().run([sys.executable, "-c", ""], environment)

    with pytest.raises(CellError, match="without a result"):
        run_apart(CELL, None, Silent())


def _is_alive(pid):
    """Tell whether a process is there and has not ended; an orphan may wait for good to be taken note of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _children(pid):
    return [c for task in Path(f"/proc/{pid}/task").iterdir() for c in (task / "children").read_text().split()]


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_others(tmp_path):
    store = ResultStore(tmp_path / "runs.jsonl")
    cells = [Cell("gcn", "karate", 0, {"hidden": 0}), CELL]
    (failure,) = run_missing(cells, store, workers=1, report=lambda _: None)
    assert "hidden=0" in failure
    assert [row["method"] for row in store] == ["lp"]
