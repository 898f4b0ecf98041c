"""Result tables and growth as pictures: what was measured, where it was measured."""

import pytest

from redisc.errors import ConfigError
from redisc.report import draw_growth, draw_table

ROWS = [
    {"dataset": "cora", "title": "GCN", "node": 81.0, "node_std": 0.5, "paper_node": 80.7, "paper_metric": "accuracy"},
    {"dataset": "cora", "title": "ReDiSC (GCN)", "node": 83.3, "node_std": None, "paper_node": None},
    {"dataset": "pubmed", "title": "GCN", "node": None, "paper_node": 79.0},
    {"dataset": "mines", "title": "GAT", "node": 88.0, "paper_node": 91.0, "paper_metric": "roc_auc"},
]


def test_only_accuracies_that_were_measured_or_printed_have_a_mark(tmp_path, figures):
    draw_table(ROWS, tmp_path / "a.png")
    cora, mines = figures[0].axes
    assert cora.get_title() == "cora"
    assert [tick.get_text() for tick in cora.get_yticklabels()] == ["GCN", "ReDiSC (GCN)"]
    ours, paper = [bars.lines[0].get_xydata().tolist() for bars in cora.containers]
    assert ours == [[81.0, -0.12], [83.3, 1]]  # beside the printed one, or in the middle
    assert paper == [[80.7, 0.12]]
    assert [bars.lines[0].get_xydata().tolist() for bars in mines.containers] == [[[88.0, 0]]]
    assert cora.get_ylim() == mines.get_ylim() == (1.5, -0.5)  # the first row on top


def test_an_empty_table_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="nothing to draw"):
        draw_table(ROWS[2:3], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_growth_has_a_panel_for_each_thing_that_was_varied(tmp_path, figures):
    base = {"nodes": 100, "mean_degree": 4, "steps": 10, "m_step_s": 0.02, "sample_s": 0.1}
    rows = [
        {**base, "varied": key, key: factor * base[key]}
        for key in ("nodes", "mean_degree", "steps")
        for factor in (1, 2)
    ]
    draw_growth(rows, tmp_path / "a.svg")
    nodes, degree, steps = figures[0].axes
    assert [line.get_xdata().tolist() for line in nodes.get_lines()] == [[100, 200], [100, 200]]
    assert steps.get_lines()[1].get_ydata().tolist() == [100, 100]
    assert degree.get_xlabel() == "mean degree"
