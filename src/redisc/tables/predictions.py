"""What is written back: one row a node, by the user's own ids and class names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from redisc.graph import Graph
from redisc.uncertainty import Drivers


def ids_of(graph: Graph) -> list[Any]:
    """The user's ids, or else the nodes' numbers."""
    return list(range(graph.num_nodes)) if graph.node_ids is None else graph.node_ids.tolist()


def set_column(
    names: Sequence[str],
    probabilities: np.ndarray,
    place: np.ndarray,
    mass: float = 0.9,
    members: np.ndarray | None = None,
) -> list[str]:
    """For each node a set of classes, most probable first, as one text.

    `members (N, C)` tells which; by default the fewest that hold `mass` of its probability, and its label, at `place`.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    if members is None:
        members = likely_members(probabilities, order, mass)
        members[np.arange(len(place)), place] = True
    inside = np.take_along_axis(members, order, axis=1)
    return [join_names([names[c] for c in row[chosen]]) for row, chosen in zip(order, inside, strict=True)]


def likely_members(probabilities: np.ndarray, order: np.ndarray, mass: float) -> np.ndarray:
    """The fewest classes that hold `mass` of each node's probability, `(N, C)`; `order` ranks them."""
    ranked = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    counts = (ranked < mass - 1e-9).sum(axis=1) + 1
    members = np.empty(probabilities.shape, dtype=bool)
    np.put_along_axis(members, order, np.arange(probabilities.shape[1]) < counts[:, None], axis=1)
    return members


def driver_column(drivers: Drivers, ids: Sequence[Any]) -> list[str]:
    """For each node the ids of the known nodes that drive it, each with its change: `u7 (+0.310)|u2 (-0.050)`."""
    return [join_names([f"{ids[known]} ({change:+.3f})" for known, change in pairs]) for pairs in drivers.lists()]


def join_names(names: Sequence[str]) -> str:
    r"""Names in one text, with `|` between them; within a name `|` is written `\|` and a backslash `\\`."""
    return "|".join(re.sub(r"([\\|])", r"\\\1", name) for name in names)


def split_names(text: str) -> list[str]:
    """The names that `join_names` joined."""
    parts = re.findall(r"(?:^|\|)((?:[^\\|]|\\.)*)", text, flags=re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in parts]
