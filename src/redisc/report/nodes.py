"""A graph on a panel: edges as pale lines, nodes as marks in the colour and shape of their class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from redisc.graph import Graph
from redisc.optional import require
from redisc.report.palette import class_shapes, node_colours


def draw_edges(panel: Any, graph: Graph, places: np.ndarray) -> None:
    """Draw every edge once, the paler the more there are, and leave the panel without axes."""
    collections = require("matplotlib.collections", extra="plot")
    source, target = graph.edge_index()
    once = source < target
    lines = np.stack([places[source[once]], places[target[once]]], axis=1)
    opacity = float(np.clip(600 / max(len(lines), 1), 0.06, 0.35))
    panel.add_collection(collections.LineCollection(lines, colors=[(0, 0, 0, opacity)], linewidths=0.5, zorder=1))
    panel.set(xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
    panel.set_axis_off()


def draw_nodes(panel: Any, places: np.ndarray, labels: np.ndarray, classes: int, size: float, **look: Any) -> None:
    """Draw nodes by their labels `(n,)`, negative where unknown; `size` is a mark's area and `look` goes to scatter."""
    colours, shapes = node_colours(labels, classes), class_shapes(classes)
    for shape in dict.fromkeys(["o", *shapes]):
        mine = np.array([(shapes[label] if label >= 0 else "o") == shape for label in labels], dtype=bool)
        if mine.any():
            panel.scatter(*places[mine].T, s=size, c=colours[mine], marker=shape, zorder=2, **look)


def mark_size(places: np.ndarray, inches: float) -> float:
    """Return the area in points of marks that leave most nodes room on a panel of so many inches."""
    if len(places) < 2:
        return 60.0
    apart = np.median(cKDTree(places).query(places, k=2)[0][:, 1])
    return float(np.clip(0.8 * apart * inches * 72 / 2.12, 2.2, 9.0) ** 2)
