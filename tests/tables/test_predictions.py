"""What is written back."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from redisc.tables.predictions import join_names, set_column, split_names


@given(st.lists(st.text("|\\ab\n é", max_size=5), min_size=1, max_size=5))
@example(["a|b", "c"])
@example(["", ""])
@example(["\\", "|"])
def test_names_that_were_joined_are_told_apart_again(names):
    assert split_names(join_names(names)) == names


def test_plain_names_are_joined_by_a_bar():
    assert join_names(["left", "right"]) == "left|right"


def test_a_set_is_the_fewest_classes_that_hold_the_mass():
    probabilities = np.array([[0.95, 0.05, 0.0], [0.3, 0.5, 0.2], [0.05, 0.05, 0.9]])
    assert set_column(["x", "y|z", "w"], probabilities, probabilities.argmax(1)) == ["x", "y\\|z|x|w", "w"]


def test_the_label_is_in_its_set_however_improbable():
    probabilities = np.array([[0.95, 0.05, 0.0]])
    assert set_column(["x", "y", "w"], probabilities, np.array([2])) == ["x|w"]
    members = np.array([[False, True, False]])
    assert set_column(["x", "y", "w"], probabilities, np.array([0]), members=members) == ["y"]
