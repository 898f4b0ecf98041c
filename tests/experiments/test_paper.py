"""The paper's figures are at hand as they are printed."""

from redisc.experiments import baselines
from redisc.experiments.paper import TABLES, printed, printed_figure
from redisc.methods import METHODS


def test_every_table_is_there():
    counts = {table: len(printed(table)) for table in TABLES}
    assert counts == {
        "homophilic": 55, "heterophilic": 51, "large": 14, "priority-queue": 10, "labelled-first": 10, "time-aware": 10
    }  # fmt: skip


def test_figures_are_found_by_method_dataset_and_backbone():
    assert printed_figure("redisc", "cora", "gcn")["node"] == 82.27
    assert printed_figure("redisc", "cora", "gat")["subgraph"] == 62.74
    assert printed_figure("lpa", "cora", "gat")["node"] == 81.40
    assert printed_figure("gat_sep", "minesweeper_benchmark")["node"] == 93.91
    assert printed_figure("dpm_snc", "ogbn_products", "sage")["node"] is None
    assert printed_figure("gin", "cora") is None


def test_every_printed_method_is_one_of_ours():
    assert {row["method"] for table in TABLES for row in printed(table)} <= set(METHODS)


def test_the_comparison_names_known_methods_and_settings():
    for entry in baselines.entries():
        METHODS[entry["method"]](**entry["settings"])
