"""Promises that users rely on without asking: reproducible bits, untouched inputs, no peeking at test labels."""

import random

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SAGEConv

from examples import FAST, random_graph
from redisc import Graph, ReDiSC
from redisc.errors import CheckpointError, MaskError, UnsupportedGraphError

NODES = 40
TRAIN, VAL = np.arange(NODES) < 15, (np.arange(NODES) >= 15) & (np.arange(NODES) < 25)
OUTSIDE = ~(TRAIN | VAL)
SMALL = {
    **FAST,
    "iterations": 24,
    "mean_field_epochs": 10,
    "evaluate_every": 8,
    "e_step_every": 6,
    "warm_iterations": 4,
}
GRAPH = random_graph(1, nodes=NODES, edges=80)


def fit(graph=GRAPH, train=TRAIN, val=VAL, seed=0, **settings):
    return ReDiSC(**{**SMALL, **settings}, random_state=seed).fit(graph, train, val)


def outputs(clf):
    """Everything that a fit leaves behind or says, but for the time it took."""
    networks = {"denoiser": clf._model.denoiser, "mean_field": clf._model.mean_field}
    weights = {f"{n}.{k}": v.numpy() for n, network in networks.items() for k, v in network.state_dict().items()}
    history = {k: v for k, v in clf.history_.items() if "elapsed" not in k and "seconds" not in k}
    said = {
        "predict": clf.predict(),
        "sample": clf.sample(4),
        "proba": clf.predict_proba(3),
        "mean_field": clf.mean_field_proba(),
        "known": clf.known_,
        "classes": clf.classes_,
    }
    return weights, history, said


def same(first, second):
    return all(
        a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a) for a, b in zip(first, second, strict=True)
    )


@pytest.fixture(scope="module")
def fitted():
    return fit()


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gat_sep"])
def test_the_same_seed_gives_the_same_bits(backbone):
    assert same(outputs(fit(backbone=backbone)), outputs(fit(backbone=backbone)))


def test_another_seed_gives_other_weights_and_samples(fitted):
    first, second = outputs(fitted), outputs(fit(seed=1))
    assert all(not np.array_equal(first[0][k], second[0][k]) for k in first[0] if k.endswith("weight"))
    assert not np.array_equal(first[2]["sample"], second[2]["sample"])


def test_a_generator_as_random_state_is_reproducible_too():
    first, second = (fit(seed=np.random.default_rng(4)) for _ in range(2))
    assert same(outputs(first), outputs(second))


def test_ambient_random_state_has_no_influence(fitted):
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    random.seed(99)
    assert same(outputs(fitted), outputs(fit()))


class Net(torch.nn.Module):
    """A user's module, with dropout that draws from torch's global random state."""

    def __init__(self, in_width, out_width):
        super().__init__()
        self.first, self.second = SAGEConv(in_width, 8), GCNConv(8, out_width)

    def forward(self, x, edge_index):
        h = torch.nn.functional.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        return self.second(h, edge_index)


@pytest.mark.parametrize("backbone", ["gcn", Net], ids=["built in", "of ones own"])
def test_no_call_touches_global_random_state(backbone, tmp_path):
    def state():
        return random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002

    def check(before):
        after = state()
        assert before[0] == after[0]
        assert all(np.array_equal(a, b) for a, b in zip(before[1], after[1], strict=True))
        assert torch.equal(before[2], after[2])

    before = state()
    clf = fit(backbone=backbone)
    check(before)
    clf.predict(), clf.sample(2), clf.predict_proba(2), clf.mean_field_proba(), clf.score()
    check(before)
    clf.save(tmp_path / "model")
    check(before)
    ReDiSC.load(tmp_path / "model", backbone=backbone).predict(GRAPH)
    check(before)
    ReDiSC(**SMALL).fit(GRAPH, TRAIN)
    check(before)


# No peeking


@pytest.mark.parametrize("priority", ["validation", "train-cv"])
@pytest.mark.parametrize("tampering", ["permuted", "erased", "new class"])
def test_labels_outside_of_training_and_validation_change_no_bit(tampering, priority):
    y = GRAPH.y.copy()
    if tampering == "permuted":
        y[OUTSIDE] = (y[OUTSIDE] + 1) % 3
    else:
        y[OUTSIDE] = -1 if tampering == "erased" else 17
    assert same(outputs(fit(priority=priority)), outputs(fit(GRAPH.with_labels(y), priority=priority)))


def test_test_masks_of_the_graphs_own_split_are_not_read_either():
    splits = [(TRAIN, VAL, OUTSIDE)]
    whole = GRAPH.with_splits(splits)
    erased = GRAPH.with_labels(np.where(OUTSIDE, -1, GRAPH.y)).with_splits(splits)
    first, second = (ReDiSC(**SMALL, random_state=0).fit(g) for g in (whole, erased))
    assert same(outputs(first), outputs(second))
    assert same(outputs(first), outputs(fit()))


def test_the_check_for_peeking_sees_training_and_validation_labels(fitted):
    for mask in (TRAIN, VAL):
        y = np.where(mask, (GRAPH.y + 1) % 3, GRAPH.y)
        assert not same(outputs(fitted), outputs(fit(GRAPH.with_labels(y))))


# Untouched inputs


def test_the_callers_arrays_and_masks_are_left_as_they_were():
    rng = np.random.default_rng(0)
    arrays = {
        "x": rng.normal(size=(NODES, 4)),
        "edge_index": GRAPH.edge_index(),
        "y": GRAPH.y.copy(),
        "edge_weight": np.ones(2 * GRAPH.num_edges),
    }
    masks = {"train": TRAIN.copy(), "val": np.flatnonzero(VAL)}
    labels = np.where(TRAIN, GRAPH.y, -1)
    copies = {k: v.copy() for k, v in (arrays | masks | {"labels": labels}).items()}
    clf = fit(Graph(**arrays), masks["train"], masks["val"], feature_scaling="standard")
    clf.predict(labels=labels), clf.sample(2, labels=labels), clf.predict_proba(2), clf.score(mask=masks["val"])
    for name, array in (arrays | masks | {"labels": labels}).items():
        assert np.array_equal(array, copies[name])
        assert array.flags.writeable


def test_what_a_call_returns_is_the_callers_to_change(fitted):
    before = outputs(fitted)
    for result in (fitted.predict(), fitted.sample(2), fitted.predict_proba(2), fitted.known_):
        result[:] = 0
    assert same(before, outputs(fitted))


def data_of(columns=False):
    masks = {"train_mask": TRAIN, "val_mask": VAL, "test_mask": OUTSIDE}
    if columns:
        masks = {k: np.stack([np.roll(v, 7), v], axis=1) for k, v in masks.items()}
    return Data(
        x=torch.tensor(np.asarray(GRAPH.x)),
        edge_index=torch.from_numpy(GRAPH.edge_index()),
        y=torch.from_numpy(GRAPH.y.copy()),
        **{k: torch.from_numpy(v) for k, v in masks.items()},
    )


def test_pyg_data_is_taken_as_it_is_and_left_as_it_was(fitted):
    data, twin = data_of(), data_of()
    clf = ReDiSC(**SMALL, random_state=0).fit(data)
    assert same(outputs(clf), outputs(fitted))
    assert np.array_equal(clf.predict(data), clf.predict())
    assert data.keys() == twin.keys()
    assert all(torch.equal(data[key], twin[key]) for key in twin.keys())  # noqa: SIM118


def test_split_picks_a_column_of_the_masks(fitted):
    data = data_of(columns=True)
    assert same(outputs(ReDiSC(**SMALL, random_state=0).fit(data, split=1)), outputs(fitted))
    rolled = ReDiSC(**SMALL, random_state=0).fit(data)
    assert np.array_equal(rolled.known_ != -1, np.roll(TRAIN, 7))
    with pytest.raises(MaskError, match="2 splits"):
        ReDiSC(**SMALL).fit(data, split=2)


def test_masks_and_node_numbers_give_the_same_bits(fitted):
    assert same(outputs(fit(train=np.flatnonzero(TRAIN), val=np.flatnonzero(VAL).tolist())), outputs(fitted))
    assert same(outputs(fit(train=torch.from_numpy(TRAIN), val=torch.from_numpy(VAL))), outputs(fitted))


# A module of the user's own


@pytest.fixture(scope="module")
def own():
    return fit(backbone=Net)


def test_a_module_of_ones_own_fits_predicts_and_repeats(own):
    assert (own.predict()[TRAIN] == GRAPH.y[TRAIN]).all()
    assert own.predict_proba(3).sum(1) == pytest.approx(np.ones(NODES))
    assert same(outputs(own), outputs(fit(backbone=Net)))
    assert not same(outputs(own), outputs(fit(backbone=Net, seed=1)))
    moved = own.sample(1, labels=np.where(TRAIN, (GRAPH.y + 1) % 3, -1))
    assert (moved[0][TRAIN] == (GRAPH.y[TRAIN] + 1) % 3).all()


def test_a_module_of_ones_own_is_saved_and_loaded_with_its_maker(own, tmp_path):
    own.save(tmp_path / "model")
    loaded = ReDiSC.load(tmp_path / "model", backbone=Net)
    assert np.array_equal(loaded.predict(GRAPH), own.predict())
    assert np.array_equal(loaded.predict_proba(2, graph=GRAPH), own.predict_proba(2))
    with pytest.raises(CheckpointError, match="backbone="):
        ReDiSC.load(tmp_path / "model")
    with pytest.raises(CheckpointError, match="do not fit"):
        ReDiSC.load(tmp_path / "model", backbone=GCNConv)


def test_a_module_of_ones_own_refuses_edge_weights_rather_than_ignoring_them():
    weighted = random_graph(1, nodes=NODES, edges=80, weighted=True)
    with pytest.raises(UnsupportedGraphError, match="edge weights"):
        fit(weighted, backbone=Net)
