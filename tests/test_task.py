"""What a fit may see: masks, classes, and no label outside of the masks."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import random_graph
from redisc import Graph
from redisc.errors import LabelError, LengthError, MaskError
from redisc.task import check_length, encode_labels, make_task

NODES = 14


def graph_with(y, **others):
    return Graph(x=np.eye(len(y)), edge_index=np.array([[0], [1]]), y=y, **others)


def quiet_task(graph, train=None, val=None, split=0, seed=0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_task(graph, train, val, split, seed)


roles = st.lists(st.sampled_from(["train", "val", "none"]), min_size=NODES, max_size=NODES).filter(
    lambda given_: "train" in given_
)
labels = st.lists(st.integers(0, 5), min_size=NODES, max_size=NODES)


@given(roles, labels, st.integers(0, 9))
def test_no_label_outside_of_the_masks_is_in_a_task(role, y, seed):
    role, y = np.array(role), np.array(y)
    outside = role == "none"
    task = quiet_task(graph_with(y), role == "train", role == "val", seed=seed)
    hidden = quiet_task(graph_with(np.where(outside, -1, y)), role == "train", role == "val", seed=seed)
    assert (task.labels[outside] == -1).all()
    for name in ("train", "val", "classes", "labels"):
        assert np.array_equal(getattr(task, name), getattr(hidden, name))


@given(roles, labels, st.integers(0, 9))
def test_labels_of_a_task_are_places_in_its_sorted_classes(role, y, seed):
    role, y = np.array(role), np.array(y) * 3 + 2
    task = quiet_task(graph_with(y), role == "train", role == "val", seed=seed)
    inside = task.train | task.val
    assert (task.classes[task.labels[inside]] == y[inside]).all()
    assert task.classes.tolist() == sorted(set(y[inside].tolist()))
    assert task.held_out == (role != "val").all()
    assert np.array_equal(task.known("train") != -1, inside if task.held_out else task.train)
    assert np.array_equal(task.known("train+val") != -1, inside)


@given(roles, labels, st.integers(0, 9))
def test_holding_out_moves_a_fifth_of_each_class_and_leaves_at_least_one(role, y, seed):
    train, y = np.array(role) == "train", np.array(y)
    task = quiet_task(graph_with(y), train, None, seed=seed)
    counts = np.bincount(y[train], minlength=6)
    if counts.max() < 2:
        assert np.array_equal(task.train, train)
        assert np.array_equal(task.val, train)
        return
    assert not (task.train & task.val).any()
    assert np.array_equal(task.train | task.val, train)
    moved = np.bincount(y[task.val], minlength=6)
    expected = [min(max(1, round(0.2 * n)), n - 1) if n else 0 for n in counts.tolist()]
    assert moved.tolist() == expected


def test_holding_out_depends_on_the_seed_alone():
    y = np.arange(60) % 3
    parts = {tuple(np.flatnonzero(quiet_task(graph_with(y), np.arange(50), None, seed=s).val)) for s in (0, 0, 1, 2)}
    assert len(parts) == 3


def test_too_few_training_nodes_to_hold_out_are_a_warning():
    with pytest.warns(UserWarning, match="too few training nodes"):
        make_task(graph_with([0, 1, -1]), [0, 1], None, 0, 0)


def test_masks_and_node_numbers_mean_the_same():
    graph = random_graph(0, nodes=NODES)
    mask = np.arange(NODES) < 6
    first = quiet_task(graph, mask, ~mask)
    second = quiet_task(graph, list(range(6)), np.arange(6, NODES))
    assert np.array_equal(first.train, second.train)
    assert np.array_equal(first.val, second.val)
    assert np.array_equal(first.labels, second.labels)


def test_without_masks_the_split_is_used_and_without_splits_all_labelled_nodes():
    y = np.array([0, 1, 0, 1, 0, 1, -1, -1])
    graph = graph_with(y, splits=[([0, 1], [2, 3], [4, 5]), ([4, 5], [0, 1], [2, 3])])
    task = quiet_task(graph, split=1)
    assert np.flatnonzero(task.train).tolist() == [4, 5]
    assert np.flatnonzero(task.val).tolist() == [0, 1]
    task = quiet_task(graph_with(y))
    assert np.array_equal(task.train | task.val, y != -1)
    task = quiet_task(graph_with(y), None, [0, 1])
    assert np.flatnonzero(task.train).tolist() == [2, 3, 4, 5]
    for number in (-1, 2):
        with pytest.raises(MaskError, match="2 splits"):
            quiet_task(graph, split=number)


def test_a_training_mask_of_ones_own_leaves_the_graphs_split_aside():
    y = np.array([0, 1] * 10)
    task = quiet_task(graph_with(y, splits=[([0, 1], [2, 3], [])]), np.arange(4, 20))
    assert np.array_equal(np.flatnonzero(task.train | task.val), np.arange(4, 20))


@pytest.mark.parametrize(
    ("train", "val", "fault"),
    [
        ([0, 1], [1, 2], "node 1 is in both"),
        ([], [1], "train mask is empty"),
        ([5], [1], "node 5 is in the train mask but has no label"),
        ([0, 1], [5], "node 5 is in the val mask but has no label"),
        ([0, 99], [1], "99"),
        (np.array([0.0, 1.0]), [2], "float64"),
        (np.array([0.0, np.nan]), [2], "float64"),
        ([0, 0], [2], "more than once"),
        (np.ones((6, 2), dtype=bool), [2], "pick one column"),
    ],
)
def test_odd_masks_are_refused_with_the_place_that_is_wrong(train, val, fault):
    with pytest.raises(MaskError, match=fault):
        make_task(graph_with([0, 1, 0, 1, 0, -1]), train, val, 0, 0)


def test_a_mask_of_the_wrong_length_is_refused():
    with pytest.raises(LengthError, match="3 entries"):
        make_task(graph_with([0, 1, 0, 1]), np.ones(3, dtype=bool), None, 0, 0)


def test_a_class_without_a_training_node_is_a_warning_and_stays_a_class():
    with pytest.warns(UserWarning, match="no training node has class 2"):
        task = make_task(graph_with([0, 1, 2, 3]), [0, 1], [2], 0, 0)
    assert task.classes.tolist() == [0, 1, 2]
    with pytest.warns(UserWarning, match="no training node has class 2, 3"):
        task = make_task(graph_with([0, 1, 0, 1], class_names=list("abcd")), [0, 1], [2], 0, 0)
    assert task.classes.tolist() == [0, 1]


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8, unique=True).map(sorted),
    st.lists(st.integers(-1, 50), min_size=1, max_size=12),
)
def test_encoding_labels_is_undone_by_the_classes_and_refuses_strangers(classes, given_):
    classes, given_ = np.array(classes), np.array(given_)
    strangers = (given_ != -1) & ~np.isin(given_, classes)
    if strangers.any():
        with pytest.raises(LabelError, match=f"node {strangers.argmax()} has label"):
            encode_labels(given_, classes)
        return
    places = encode_labels(given_, classes)
    assert np.array_equal(np.where(places == -1, -1, classes[places]), given_)


@pytest.mark.parametrize("odd", [[0.0, 1.0], [[0, 1]], [True, False], ["0", "1"], 3])
def test_labels_of_another_type_or_shape_are_refused(odd):
    with pytest.raises(LabelError, match="integers of shape"):
        encode_labels(odd, np.array([0, 1]))


def test_labels_must_be_one_a_node():
    with pytest.raises(LengthError, match="2 entries, but the graph has 4"):
        check_length(np.array([0, 1]), graph_with([0, 1, 0, 1]))
