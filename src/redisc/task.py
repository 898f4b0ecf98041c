"""From what a user hands in to what an estimator fits: a graph, masks, classes, and no test label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from redisc.diffusion.masking import MASKED
from redisc.errors import LabelError, LengthError, MaskError
from redisc.graph import Graph, as_mask, check_split
from redisc.seeds import numpy_generator


@dataclass(frozen=True)
class Task:
    """A graph with its training and validation masks `(N,)`.

    `labels (N,)` holds places in `classes` for those two masks and MASKED everywhere else, so nothing built on a
    task can read a test label.
    """

    graph: Graph
    train: np.ndarray
    val: np.ndarray
    classes: np.ndarray
    labels: np.ndarray
    held_out: bool = False  # the validation nodes were taken from the training nodes that the user gave

    @property
    def nothing_held_out(self) -> bool:
        """Whether there were too few training nodes to hold any out, so that they stand for validation nodes too."""
        return bool((self.train & self.val).any())

    def known(self, clamp: str) -> np.ndarray:
        """Return the labels that predictions are conditioned on: of the given training nodes, or of both masks."""
        both = clamp == "train+val" or self.held_out
        mask = self.train | self.val if both else self.train
        return np.where(mask, self.labels, MASKED)


def as_graph(graph: Any) -> Graph:
    """Take a Graph as it is and convert a PyG `Data`."""
    return graph if isinstance(graph, Graph) else Graph.from_pyg(graph)


def make_task(graph: Any, train_mask: Any, val_mask: Any, split: int, seed: int) -> Task:
    """Check masks and labels and leave out every label that is in neither mask.

    Without a training mask the graph's split number `split` is used, and without splits every labelled node trains.
    Without a validation mask a fifth of each class's training nodes is held out.
    """
    graph = as_graph(graph)
    train, val = _masks(graph, train_mask, val_mask, split)
    check_split(train, val)
    _check_labelled(graph.y, train, "train")
    held_out = val is None or not val.any()
    if val is None or held_out:
        train, val = _hold_out(graph.y, train, seed)
    _check_labelled(graph.y, val, "val")
    classes = _classes(graph, train, val)
    visible = np.where(train | val, graph.y, MASKED)
    return Task(graph, train, val, classes, encode_labels(visible, classes), held_out)


def encode_labels(labels: Any, classes: np.ndarray) -> np.ndarray:
    """Turn class values into places in `classes`; -1 stays, any other stranger is an error."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise LabelError(f"labels must be integers of shape (N,), not {labels.dtype} of shape {labels.shape}")
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    stranger = (labels != MASKED) & (classes[place] != labels)
    if stranger.any():
        node = int(stranger.argmax())
        raise LabelError(
            f"node {node} has label {labels[node]}, but the model knows {classes.tolist()} and -1 (unknown)"
        )
    return np.where(labels == MASKED, MASKED, place).astype(np.int64)


def complete_labels(y: Any, classes: np.ndarray, known: np.ndarray, graph: Graph) -> np.ndarray:
    """Turn a complete labelling `y (N,)` into places; a gap, or a contradiction to `known (N,)`, is an error."""
    places = encode_labels(y, classes)
    check_length(places, graph)
    if (places == MASKED).any():
        raise LabelError(f"node {int((places == MASKED).argmax())} has no label: y must name one for every node")
    against = (known != MASKED) & (known != places)
    if against.any():
        node = int(against.argmax())
        raise LabelError(
            f"node {node} is known to be {classes[known[node]]}, but y says {classes[places[node]]}: "
            "make them agree, or pass labels="
        )
    return places


def node_numbers(nodes: Any, num_nodes: int) -> np.ndarray:
    """Return node numbers `(K,)`, each once and within the graph; one number stands for itself."""
    numbers = np.atleast_1d(np.asarray(nodes))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise MaskError(f"nodes must be node numbers, not {numbers.dtype} of shape {numbers.shape}")
    outside = (numbers < 0) | (numbers >= num_nodes)
    if outside.any():
        raise MaskError(f"node {numbers[outside][0]} is not among the nodes 0..{num_nodes - 1}")
    if len(np.unique(numbers)) < len(numbers):
        raise MaskError("nodes names a node twice")
    return numbers.astype(np.int64)


def place_of(node: int, nodes: np.ndarray) -> int:
    """Return where a node stands among those that were asked about."""
    found = np.flatnonzero(nodes == node)
    if not len(found):
        raise MaskError(f"node {node} is not among the {len(nodes)} nodes that were asked about")
    return int(found[0])


def check_length(labels: np.ndarray, graph: Graph) -> None:
    """Raise an error where labels are not one a node."""
    if len(labels) != graph.num_nodes:
        raise LengthError(f"labels has {len(labels)} entries, but the graph has {graph.num_nodes} nodes")


def _masks(graph: Graph, train_mask: Any, val_mask: Any, split: int) -> tuple[np.ndarray, np.ndarray | None]:
    if train_mask is None and graph.splits:
        if not 0 <= split < len(graph.splits):
            raise MaskError(f"split={split}, but the graph has {len(graph.splits)} splits (0..{len(graph.splits) - 1})")
        given = graph.splits[split]
        return given.train, given.val if val_mask is None else as_mask(val_mask, graph.num_nodes, "val mask")
    val = None if val_mask is None else as_mask(val_mask, graph.num_nodes, "val mask")
    if train_mask is not None:
        return as_mask(train_mask, graph.num_nodes, "train mask"), val
    labelled = graph.y != MASKED
    return labelled if val is None else labelled & ~val, val


def _check_labelled(y: np.ndarray, mask: np.ndarray, what: str) -> None:
    missing = mask & (y == MASKED)
    if missing.any():
        raise MaskError(f"node {int(missing.argmax())} is in the {what} mask but has no label (y == -1)")


def _hold_out(y: np.ndarray, train: np.ndarray, seed: int, fraction: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Move a share of every class's training nodes to validation; a class keeps at least one."""
    generator, val = numpy_generator(seed, "hold-out"), np.zeros_like(train)
    for label in np.unique(y[train]):
        members = np.flatnonzero(train & (y == label))
        count = min(max(1, round(fraction * len(members))), len(members) - 1)
        val[generator.permutation(members)[:count]] = True
    if val.any():
        return train & ~val, val
    warnings.warn("too few training nodes to hold any out: the training nodes themselves steer stopping", stacklevel=4)
    return train, train.copy()


def _classes(graph: Graph, train: np.ndarray, val: np.ndarray) -> np.ndarray:
    """Return the classes of training and validation labels; names alone, which tests may have given, make no class."""
    classes = np.unique(graph.y[train | val])
    named = classes if graph.class_names is None else np.arange(len(graph.class_names))
    untrained = np.setdiff1d(np.union1d(classes, named), graph.y[train])
    if len(untrained):
        warnings.warn(f"no training node has class {', '.join(map(str, untrained))}", stacklevel=4)
    return classes
