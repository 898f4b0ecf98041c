"""Split protocols: which nodes train, which validate, which test.

Every draw is a function of the labels and a seed, and nodes without a label (-1) are in no part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redisc.datasets.parameters import fraction, integer
from redisc.errors import DatasetError
from redisc.graph import Graph, Split
from redisc.seeds import numpy_generator

PROTOCOLS = ("public", "column", "per-class", "stratified")


def public(graph: Graph) -> tuple[Split, ...]:
    """Return the splits that came with the data, all of them and in their order."""
    if not graph.splits:
        raise DatasetError(
            f"'{graph.name}' came without masks: choose split='per-class' or split='stratified' instead."
        )
    return tuple(graph.splits)


def fixed_column(graph: Graph, seed: int = 0) -> Split:
    """Return one of the splits that came with the data: column `seed` modulo their number."""
    columns = public(graph)
    return columns[integer("seed", seed, minimum=0) % len(columns)]


def per_class(y: ArrayLike, train: int = 20, val: int = 30, seed: int = 0) -> Split:
    """Draw `train` and `val` nodes of every class and test on the rest.

    With 20 and 30 this is the paper's protocol for homophilic graphs; a new seed is a new draw.
    """
    train, val = integer("train", train, minimum=1), integer("val", val, minimum=0)
    labels = np.asarray(y)
    order, rank, counts = _shuffle_within_classes(labels, seed, "per-class")
    for label in np.flatnonzero((counts > 0) & (counts < train + val)):
        raise DatasetError(
            f"class {label} has {counts[label]} nodes, fewer than the {train} + {val} that the per-class "
            "split takes from each class: ask for fewer, or choose split='stratified'."
        )
    return from_indices(
        labels.size,
        train=order[rank < train],
        val=order[(rank >= train) & (rank < train + val)],
        test=order[rank >= train + val],
    )


def stratified(y: ArrayLike, fractions: Sequence[float] = (0.5, 0.25, 0.25), seed: int = 0) -> Split:
    """Draw train, validation and test nodes in the given shares, each class in its own proportion.

    The sizes of the parts are exact (rounded down, the rest goes to the test part), and every
    class is within one node of its share of each draw.
    """
    shares = _checked_fractions(fractions)
    labels = np.asarray(y)
    order, rank, counts = _shuffle_within_classes(labels, seed, "stratified")
    sizes = [int(share * order.size + 1e-9) for share in shares[:2]]
    if sizes[0] == 0:
        raise DatasetError(
            f"{shares[0]:g} of {order.size} labelled nodes leaves no training node: give a larger share."
        )
    train = _apportion(counts, sizes[0])
    held = train + _apportion(counts - train, sizes[1])
    of_class = labels[order]
    return from_indices(
        labels.size,
        train=order[rank < train[of_class]],
        val=order[(rank >= train[of_class]) & (rank < held[of_class])],
        test=order[rank >= held[of_class]],
    )


def from_indices(num_nodes: int, *, train: ArrayLike, val: ArrayLike, test: ArrayLike) -> Split:
    """Turn three lists of node numbers, such as OGB's index files, into a split."""
    return Split(*(_mask(num_nodes, part) for part in (train, val, test)))


def draw(graph: Graph, protocol: str, seed: int) -> tuple[Split, ...]:
    """Return the splits that a protocol gives for a graph; all but `public` give exactly one."""
    seed = integer("seed", seed, minimum=0)
    if protocol == "public":
        return public(graph)
    if protocol == "column":
        return (fixed_column(graph, seed),)
    if protocol not in PROTOCOLS:
        raise DatasetError(f"split={protocol!r} is not a protocol: choose one of {', '.join(PROTOCOLS)}.")
    if not (graph.y >= 0).any():
        raise DatasetError(f"'{graph.name}' has no labels, so no {protocol} split can be drawn.")
    return (per_class(graph.y, seed=seed) if protocol == "per-class" else stratified(graph.y, seed=seed),)


def train_val_rest(train: float, val: float) -> tuple[float, float, float]:
    """Complete a generator's two fractions with the share that is left for testing."""
    train, val = fraction("train_fraction", train), fraction("val_fraction", val)
    if train + val > 1.0:
        raise DatasetError(f"train_fraction={train:g} and val_fraction={val:g} sum to more than 1.")
    return train, val, max(0.0, 1.0 - train - val)


def _checked_fractions(fractions: Sequence[float]) -> list[float]:
    shares = [fraction("fractions", share) for share in fractions]
    if len(shares) != 3 or abs(sum(shares) - 1.0) > 1e-6:
        raise DatasetError(
            f"fractions={tuple(fractions)}: expected three shares (train, validation, test) that sum to 1."
        )
    return shares


def _shuffle_within_classes(
    y: NDArray[np.integer], seed: int, protocol: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the labelled nodes grouped by class in random order, each one's rank there, class sizes."""
    rng = numpy_generator(integer("seed", seed, minimum=0), "split", protocol)
    shuffled = rng.permutation(np.flatnonzero(y >= 0))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    counts = np.bincount(y[order])
    rank = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return order, rank, counts


def _apportion(counts: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Share `total` out in proportion to `counts`; what rounding leaves goes to the largest remainders."""
    if total == 0:
        return np.zeros_like(counts)
    quota = counts * (total / counts.sum())
    share = np.floor(quota + 1e-9).astype(np.int64)
    left = total - int(share.sum())
    share[np.argsort(share - quota, kind="stable")[:left]] += 1
    return share


def _mask(num_nodes: int, nodes: ArrayLike) -> NDArray[np.bool_]:
    mask = np.zeros(num_nodes, dtype=bool)
    mask[np.asarray(nodes, dtype=np.int64)] = True
    return mask
