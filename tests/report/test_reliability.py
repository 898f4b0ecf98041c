import numpy as np
import pytest

from redisc.errors import MaskError
from redisc.report import draw_reliability


def test_bars_gaps_and_counts_are_those_of_the_bins(tmp_path, figures):
    """Confidences 0.9, 0.8, 0.9 and 0.6, of which the third is wrong: 0.8 on average, right three times in four."""
    y = np.array([0, 0, 1, 1, 0])
    first = np.array([0.9, 0.8, 0.9, 0.4, 0.6])
    draw_reliability(y, np.stack([first, 1 - first], axis=1), np.array([0, 1, 2, 3]), tmp_path / "a.png", bins=2)
    upper, lower = figures[0].axes
    assert upper.get_title() == "expected calibration error 0.050 (4 nodes)"
    accuracy, gap = [[bar.get_height() for bar in bars] for bars in upper.containers]
    assert accuracy == [0.75]
    np.testing.assert_allclose(gap, [np.nan, 0.05])
    assert [bar.get_height() for bar in lower.containers[0]] == [0, 4]
    assert [text.get_text() for text in lower.texts] == ["", "4"]


def test_the_title_gives_the_calibration_error(tmp_path, figures):
    draw_reliability(np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]]), None, tmp_path / "a.svg", bins=1)
    assert "error 0.350 (2 nodes)" in figures[0].axes[0].get_title()


def test_a_mask_without_nodes_is_refused(tmp_path):
    with pytest.raises(MaskError):
        draw_reliability(np.array([0]), np.ones((1, 1)), [], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
