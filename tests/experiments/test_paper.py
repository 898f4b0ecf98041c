"""The paper's figures are at hand as they are printed."""

from collections import Counter

from redisc.experiments import baselines
from redisc.experiments.paper import printed, printed_figure
from redisc.experiments.tables import TABLES, table_lines
from redisc.methods import METHODS


def test_every_table_is_there():
    assert Counter(row["table"] for row in printed()) == {
        "homophilic": 55, "heterophilic": 51, "large": 14, "priority-queue": 10, "labelled-first": 10, "time-aware": 10
    }  # fmt: skip


def test_figures_are_found_by_method_dataset_and_backbone():
    assert printed_figure("redisc", "cora", "gcn")["node"] == 82.27
    assert printed_figure("redisc", "cora", "gat")["subgraph"] == 62.74
    assert printed_figure("lpa", "cora", "gat")["node"] == 81.40
    assert printed_figure("gat_sep", "minesweeper_benchmark")["node"] == 93.91
    assert printed_figure("dpm_snc", "ogbn_products", "sage")["node"] is None
    assert printed_figure("gin", "cora") is None
    assert printed_figure("redisc", "cora", "gcn", "time-aware", "without")["node"] == 82.21


def test_every_printed_figure_stands_beside_a_line_of_its_table():
    reached = [
        printed_figure(line.method, line.dataset, line.backbone, name, line.variant)
        for name in TABLES
        for line in table_lines(name)
    ]
    assert [row for row in printed() if row not in reached] == []


def test_figures_of_the_heterophily_benchmark_are_marked_as_roc_auc():
    marked = {(row["dataset"], row["method"]) for row in printed() if row.get("metric") == "roc_auc"}
    assert ("minesweeper_benchmark", "gat_sep") in marked
    assert {dataset for dataset, _ in marked} == {"minesweeper_benchmark"}
    assert not {method for _, method in marked} & {"redisc", "dpm_snc", "lgd"}


def test_every_printed_method_is_one_of_ours():
    assert {row["method"] for row in printed()} <= set(METHODS)


def test_the_comparison_names_known_methods_and_settings():
    for entry in baselines.entries():
        METHODS[entry["method"]](**entry["settings"])
