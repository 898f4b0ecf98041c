"""A graph on a panel: edges as pale lines, nodes as marks in the colour and shape of their class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from redisc.graph import Graph
from redisc.optional import require
from redisc.report.palette import class_shapes, node_colours

_MARGIN = 0.05


def draw_edges(panel: Any, graph: Graph, places: np.ndarray) -> None:
    """Draw every edge once, the paler the more there are, and fit the panel, without axes, to the places."""
    collections = require("matplotlib.collections", extra="plot")
    source, target = graph.edge_index()
    once = source < target
    lines = np.stack([places[source[once]], places[target[once]]], axis=1)
    opacity = float(np.clip(300 / max(len(lines), 1), 0.05, 0.35))
    panel.add_collection(collections.LineCollection(lines, colors=[(0, 0, 0, opacity)], linewidths=0.5, zorder=1))
    (left, bottom), (right, top) = places.min(0) - _MARGIN, places.max(0) + _MARGIN
    panel.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
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
    return float(np.clip(0.8 * apart * inches * 72 / (2 + 2 * _MARGIN), 2.2, 9.0) ** 2)


def panel_size(places: np.ndarray, inches: float) -> tuple[float, float]:
    """Return width and height of a panel that is as wide as `inches` and as high as the places ask, within reason."""
    width, height = np.ptp(places, axis=0) + 2 * _MARGIN
    return inches, inches * float(np.clip(height / width, 0.3, 1.5))
