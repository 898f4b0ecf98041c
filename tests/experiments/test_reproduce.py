"""Tables come from the store: what is there is summarised, what is not is said."""

import json

import pytest

from experiments.rows import stored
from redisc.experiments.paired import paired_differences, show_pairs
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


def test_printed_figures_say_what_they_are(tmp_path):
    store = ResultStore(tmp_path / "none.jsonl")
    shown = as_markdown(table_rows("heterophilic", ["minesweeper_benchmark"], 10, store))
    assert "| GAT-sep | " in shown
    assert "| 93.91 ± 0.35 (ROC-AUC) |" in shown  # taken over from a benchmark with that metric
    assert "| 94.55 ± 0.58 |" in shown  # ReDiSC's own is an accuracy
    large = table_rows("large", ["ogbn_products"], 10, store)
    assert {row["method"] for row in large if row["paper_state"] == "out of memory"} == {"lgd", "dpm_snc"}
    assert "| out of memory |" in as_markdown(large)


def test_no_printed_figure_stands_beside_another_graph(tmp_path):
    store = ResultStore(tmp_path / "none.jsonl")
    assert {row["paper_node"] for row in table_rows("heterophilic", ["roman_empire_glove"], 10, store)} == {None}
    assert None not in {row["paper_node"] for row in table_rows("heterophilic", ["roman_empire"], 10, store)}


def test_whole_graphs_take_the_settings_and_stand_beside_the_figures_of_their_largest_components(tmp_path):
    store = ResultStore(tmp_path / "none.jsonl")
    wholes, parts = (table_rows(name, None, 10, store) for name in ("whole-graphs", "homophilic"))
    printed = {(row["dataset"], row["title"]): row["paper_subgraph"] for row in parts}
    assert {row["paper_subgraph"] for row in wholes} > {56.04, 30.51}
    for row in wholes:
        assert row["paper_subgraph"] == printed[row["dataset"].removesuffix("_whole"), row["title"]]
    for line in table_lines("whole-graphs"):
        (other,) = (
            twin
            for twin in table_lines("homophilic", [line.dataset.removesuffix("_whole")])
            if (twin.method, twin.backbone) == (line.method, line.backbone)
        )
        assert line.settings == other.settings


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
    (row,) = paired_differences("priority-queue", ["cora"], 10, store)
    assert row["pairs"] == 3
    assert row["difference"] == pytest.approx(2.0)
    assert row["half_width"] == pytest.approx(4.302653 * 1.0 / 3**0.5, rel=1e-5)


def test_pairs_of_two_processors_are_counted(store):
    for row in list(store):
        if row["seed"] < 2:
            ran = {0: "one", 1: "other"}[row["seed"]] if row["settings"].get("priority") == "none" else "one"
            store.add({**row, "processor": ran})
    (gain,) = paired_differences("priority-queue", ["cora"], 10, store)
    assert (gain["pairs"], gain["mixed"]) == (3, 1)  # rows of seed 2 name none
    assert show_pairs(gain) == "3 pairs, 1 of them perhaps of two processors"
    (old,) = [row for row in store if row["seed"] == 2 and row["settings"].get("priority") == "none"]
    store.add({**old, "processor": "one"})
    (gain,) = paired_differences("priority-queue", ["cora"], 10, store)
    assert gain["mixed"] == 2  # one row is known, the other not
    assert show_pairs({"pairs": 1, "mixed": 0}) == "1 pair"


def test_the_command_shows_the_store(store, monkeypatch, capsys, tmp_path):
    given = ("reproduce", "priority-queue", "--datasets", "cora", "--store", store.path, "--show")
    rows = json.loads(redisc(*given, "--json").stdout)
    assert [row["variant"] for row in rows] == ["with", "without"]
    assert {"method", "dataset", "backbone", "seeds", "node", "node_std", "subgraph", "subgraph_std"} <= set(rows[0])
    shown = redisc(*given, "--csv", tmp_path / "t.csv", "--plot", tmp_path / "t.png")
    assert "cora: with - without = +2.00 ± 2.48 (95 %), 3 pairs" in shown.stdout
    assert "cora: with - without = +2.00, 1 pair\n" in redisc(*given, "--seeds", "1").stdout  # no interval of one
    assert (tmp_path / "t.png").stat().st_size > 5000
    assert (tmp_path / "t.csv").read_text().startswith("method,")
    assert "unknown table 'magic'" in refused(monkeypatch, capsys, "reproduce", "magic", "--show")
    wrong = ("reproduce", "steps", "--datasets", "karate", "--show")
    assert "no dataset karate" in refused(monkeypatch, capsys, *wrong)


@pytest.mark.parametrize(
    "named", [("cora,amazon_photo",), ("cora", "amazon_photo"), ("cora", "--datasets", "amazon_photo")]
)
def test_several_datasets_are_named_in_any_way(store, named):
    given = ("reproduce", "priority-queue", "--datasets", *named, "--store", store.path, "--show", "--json")
    assert {row["dataset"] for row in json.loads(redisc(*given).stdout)} == {"cora", "amazon_photo"}


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("gat lpa-gcn", {("gat", None), ("lpa", "gcn")}),
        ("redisc", {("redisc", "gcn"), ("redisc", "gat")}),
        ("redisc-gat", {("redisc", "gat")}),
        ("gat,lpa-gcn", {("gat", None), ("lpa", "gcn")}),
    ],
)
def test_methods_are_named_with_or_without_a_backbone(store, named, found):
    given = ("reproduce", "homophilic", "--datasets", "cora", "--methods", *named.split(), "--show")
    rows = json.loads(redisc(*given, "--store", store.path, "--json").stdout)
    assert {row["dataset"] for row in rows} == {"cora"}
    assert {(row["method"], row["backbone"]) for row in rows} == found


def test_a_method_that_the_table_lacks_is_told_with_those_it_has(monkeypatch, capsys):
    told = refused(monkeypatch, capsys, "reproduce", "large", "--methods", "gat", "--show")
    assert "--methods: there is no name" in refused(monkeypatch, capsys, "reproduce", "large", "--methods", ",")
    assert "table large has no method gat; it has lp, pta, c_and_s, lgd, lgd-sage" in told


def test_a_dataset_without_its_option_is_no_table(monkeypatch, capsys):
    assert "named with --datasets" in refused(monkeypatch, capsys, "reproduce", "homophilic", "cora", "--show")


def test_outputs_that_cannot_be_written_are_refused_before_anything_runs(monkeypatch, capsys, tmp_path):
    given = ("reproduce", "homophilic", "--datasets", "cora", "--store", tmp_path / "runs.jsonl")
    assert "can't be drawn" in refused(monkeypatch, capsys, *given, "--plot", tmp_path / "picture")
    assert "must end in .csv" in refused(monkeypatch, capsys, *given, "--csv", tmp_path / "table.txt")
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_table_is_printed_even_where_there_is_nothing_to_draw(tmp_path):
    given = ("reproduce", "homophilic", "--datasets", "cora", "--show", "--store", tmp_path / "runs.jsonl")
    done = redisc(*given, "--plot", tmp_path / "t.png")
    assert done.returncode == 2
    assert "| cora | ReDiSC (GCN) |" in done.stdout
    assert "there is no store" in done.stderr
    assert "nothing to draw" in done.stderr


def test_an_interrupted_command_says_what_is_kept(monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("redisc.cli.experiments.run_table", interrupt)
    done = redisc("reproduce", "homophilic", "--datasets", "cora", "--store", tmp_path / "runs.jsonl")
    assert done.returncode == 130
    assert "finished runs are in" in done.stderr
    assert not done.stdout


def test_a_store_of_something_else_is_refused(monkeypatch, capsys, tmp_path):
    other = ResultStore(tmp_path / "scale.jsonl")
    other.add({"nodes": 1000})
    given = ("reproduce", "homophilic", "--show", "--store", other.path)
    assert "line 1: it is no run of a method on a dataset" in refused(monkeypatch, capsys, *given)
