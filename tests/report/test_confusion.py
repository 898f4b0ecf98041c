import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from redisc.errors import LabelError, LengthError
from redisc.report import draw_confusion
from redisc.report.confusion import confusion_counts


@given(st.integers(0, 1000), st.integers(2, 6))
def test_counts_equal_scikit_learn(seed, classes):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(classes, size=(2, 30))
    mask = rng.random(30) < 0.5
    truth[:2], mask[:2] = [0, 1], True
    expected = confusion_matrix(truth[mask], predicted[mask], labels=range(classes))
    np.testing.assert_array_equal(confusion_counts(truth, predicted, mask, classes), expected)


def test_rows_are_shares_and_counts_are_written(tmp_path, figures):
    truth, predicted = np.array([0, 0, 0, 0, 1, -1]), np.array([0, 0, 0, 1, 1, 0])
    draw_confusion(truth, predicted, truth >= 0, ["free", "mine", "none"], tmp_path / "a.png")
    panel = figures[0].axes[0]
    drawn = panel.images[0].get_array().filled(np.nan)
    np.testing.assert_array_equal(drawn, [[0.75, 0.25, 0], [0, 1, 0], [np.nan] * 3])
    written = {text.get_position(): text.get_text() for text in panel.texts}
    assert written == {(0, 0): "3", (1, 0): "1", (1, 1): "1"}
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["free", "mine", "none"]
    assert panel.get_title() == "4 of 5 right"


def test_many_classes_have_no_counts_and_fewer_names(tmp_path, figures):
    labels = np.arange(90)
    draw_confusion(labels, labels, labels >= 0, [f"class {label}" for label in labels], tmp_path / "a.png")
    panel = figures[0].axes[0]
    assert not panel.texts
    assert [tick.get_text() for tick in panel.get_yticklabels()][:2] == ["class 0", "class 3"]


@pytest.mark.parametrize(
    ("truth", "predicted", "error", "message"),
    [
        ([0, 2], [0, 1], LabelError, "y_true holds the label 2"),
        ([0, 1], [0, -1], LabelError, "y_pred holds the label -1"),
        ([0, 1], [0], LengthError, "y_pred has 1"),
    ],
)
def test_wrong_labels_are_named_and_nothing_is_written(tmp_path, truth, predicted, error, message):
    with pytest.raises(error, match=message):
        draw_confusion(np.array(truth), np.array(predicted), [0, 1], ["a", "b"], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_names_with_dollars_are_names_and_no_formulas(tmp_path):
    labels = np.array([0, 1])
    draw_confusion(labels, labels, labels >= 0, ["$x^$", r"$\foo$"], tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1000
