import numpy as np
import pytest

from redisc.errors import ConfigError
from redisc.report import draw_training

HISTORY = {
    "iteration": [20, 40, 60],
    "loss": [0.9, 0.5, 0.4],
    "validation": [0.6, 0.8, 0.75],
    "mean_field_validation": 0.7,
    "best_iteration": 40,
    "best_validation": 0.8,
}


def lines(panel):
    return {line.get_label(): line.get_xydata().tolist() for line in panel.get_lines()}


def test_both_curves_the_level_and_the_best_look_are_drawn(tmp_path, figures):
    draw_training(HISTORY, tmp_path / "a.png", metric="roc_auc")
    loss, validation = figures[0].axes
    assert lines(loss)["ReDiSC"] == [[20, 0.9], [40, 0.5], [60, 0.4]]
    assert lines(validation)["ReDiSC"] == [[20, 0.6], [40, 0.8], [60, 0.75]]
    assert lines(validation)["best: 0.8000 at 40"] == [[40, 0.8]]
    assert [y for _, y in lines(validation)["mean-field GNN: 0.7000"]] == [0.7, 0.7]
    assert validation.get_ylabel() == "validation ROC-AUC"


def test_a_single_look_is_a_mark(tmp_path, figures):
    once = {key: value[:1] if isinstance(value, list) else value for key, value in HISTORY.items()}
    draw_training(once, tmp_path / "a.png")
    (curve,) = [line for line in figures[0].axes[0].get_lines() if line.get_label() == "ReDiSC"]
    assert curve.get_marker() == "o"


@pytest.mark.parametrize("level", [float("nan"), None])
def test_without_a_mean_field_there_is_no_level(tmp_path, figures, level):
    draw_training({**HISTORY, "mean_field_validation": level}, tmp_path / "a.svg")
    assert not any("mean-field" in name for name in lines(figures[0].axes[1]))
    assert np.isfinite(figures[0].axes[1].get_ylim()).all()


@pytest.mark.parametrize("history", [{}, {"best_validation": 0.5, "epochs": 3}, {**HISTORY, "iteration": []}])
def test_a_history_without_curves_is_refused(tmp_path, history):
    with pytest.raises(ConfigError, match="no curves"):
        draw_training(history, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_score_of_training_nodes_is_called_so_and_compared_with_nothing(tmp_path, figures):
    draw_training({**HISTORY, "nothing_held_out": True}, tmp_path / "a.svg")
    lower = figures[0].axes[1]
    assert lower.get_ylabel() == "training accuracy"
    assert not any("mean-field" in name for name in lines(lower))
