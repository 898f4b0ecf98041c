"""Tables come from the store: what is there is summarised, what is not is said."""

import json

import pytest

from experiments.rows import stored
from redisc.experiments.paired import paired_differences
from redisc.experiments.reproduce import as_csv, as_markdown, table_rows
from redisc.experiments.store import ResultStore
from redisc.experiments.tables import TABLES, Line, table_lines
from redisc.methods import METHODS
from test_cli import redisc, refused


@pytest.fixture
def store(tmp_path):
    results = ResultStore(tmp_path / "runs.jsonl")
    whole, part = (Line("redisc", "cora", "gcn", v, c) for v, c in (("with", {}), ("without", {"priority": "none"})))
    for seed, (a, b) in enumerate([(0.82, 0.80), (0.84, 0.83), (0.83, 0.80)]):
        results.add(stored(whole, seed, a))
        results.add(stored(part, seed, b))
    return results


@pytest.mark.parametrize("name", TABLES)
def test_every_line_of_every_table_can_be_built(name):
    for line in table_lines(name):
        METHODS[line.method](**line.settings)


def test_rows_are_means_and_deviations_over_seeds_beside_the_papers(store):
    rows = table_rows("homophilic", ["cora"], 10, store)
    (row,) = [row for row in rows if row["method"] == "redisc" and row["backbone"] == "gcn"]
    assert row["seeds"] == 3
    assert row["node"] == pytest.approx(83.0)
    assert row["node_std"] == pytest.approx(1.0)
    assert row["subgraph"] == pytest.approx(41.5)
    assert row["paper_node"] == 82.27
    assert {r["state"] for r in rows if r["method"] != "redisc"} <= {"not run", "no data"}
    assert all(r["node"] is None for r in rows if r["state"] != "measured")
    assert "| 83.00 ± 1.00 | 82.27 ± 0.85 |" in as_markdown(rows)
    assert as_csv(rows).count("\n") == len(rows) + 1


def test_every_row_has_every_key(store):
    keys = {f"{mine}{name}{end}" for mine in ("", "paper_") for name in ("node", "subgraph") for end in ("", "_std")}
    assert all(keys <= set(row) for row in table_rows("homophilic", None, 10, store))


@pytest.mark.parametrize(
    ("name", "ablated", "kept"),
    [
        ("priority-queue", "priority", "validation"),
        ("labelled-first", "routing", "labelled-first"),
        ("labelled-first", "e_step_routing", "labelled-first"),
        ("time-aware", "time_aware", True),
    ],
)
def test_both_arms_of_an_ablation_say_what_is_ablated(name, ablated, kept):
    """A recipe may route otherwise: Minesweeper's answers are confident-first."""
    for line in table_lines(name):
        assert (line.settings[ablated] == kept) == (line.variant == "with")


def test_fewer_seeds_than_stored_can_be_asked_for(store):
    rows = table_rows("priority-queue", ["cora"], 2, store)
    assert [row["seeds"] for row in rows] == [2, 2]


def test_differences_are_paired_by_seed_with_a_t_interval(store):
    (row,) = paired_differences(table_rows("priority-queue", ["cora"], 10, store), "priority-queue", 10, store)
    assert row["pairs"] == 3
    assert row["difference"] == pytest.approx(2.0)
    assert row["half_width"] == pytest.approx(4.302653 * 1.0 / 3**0.5, rel=1e-5)


def test_the_command_shows_the_store(store, monkeypatch, capsys, tmp_path):
    given = ("reproduce", "priority-queue", "--datasets", "cora", "--store", store.path, "--show")
    rows = json.loads(redisc(*given, "--json").stdout)
    assert [row["variant"] for row in rows] == ["with", "without"]
    assert {"method", "dataset", "backbone", "seeds", "node", "node_std", "subgraph", "subgraph_std"} <= set(rows[0])
    shown = redisc(*given, "--csv", tmp_path / "t.csv", "--plot", tmp_path / "t.png")
    assert "cora: with - without = +2.00 ± 2.48 (95 %), 3 pairs" in shown.stdout
    assert "cora: with - without = +2.00, 1 pairs" in redisc(*given, "--seeds", "1").stdout  # no interval of one
    assert (tmp_path / "t.png").stat().st_size > 5000
    assert (tmp_path / "t.csv").read_text().startswith("method,")
    assert "unknown table 'magic'" in refused(monkeypatch, capsys, "reproduce", "magic", "--show")
    wrong = ("reproduce", "steps", "--datasets", "karate", "--show")
    assert "no dataset karate" in refused(monkeypatch, capsys, *wrong)
