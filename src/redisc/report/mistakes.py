"""A picture of who is wrong where: the same graph once for every answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from redisc.graph import Graph
from redisc.io.files import draft_of
from redisc.optional import require

# Okabe and Ito's palette, which colour-blind readers can tell apart; black is kept for mistakes.
_PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"]


def draw_mistakes(
    graph: Graph, answers: Mapping[str, np.ndarray], mask: np.ndarray, path: str | Path, seed: int = 0
) -> None:
    """Draw one panel an answer `(N,)`: nodes in the colour of their true class, wrong nodes of `mask` as black crosses.

    Pale nodes lie outside the mask.
    """
    plot, target = _pyplot(), Path(path)
    places = _layout(graph, seed)
    figure, panels = plot.subplots(1, len(answers), figsize=(6 * len(answers), 5.6), squeeze=False)
    for panel, (name, labels) in zip(panels[0], answers.items(), strict=True):
        wrong = mask & (labels != graph.y)
        _draw_graph(panel, graph, places, mask)
        panel.scatter(*places[wrong].T, s=26, c="black", marker="x", linewidths=1.1, zorder=3)
        panel.set_title(f"{name}: {wrong.sum():,} of {mask.sum():,} wrong", fontsize=13)
        panel.set_axis_off()
    figure.tight_layout()
    with draft_of(target) as draft:
        figure.savefig(draft, dpi=110)
    plot.close(figure)


def _pyplot() -> Any:
    require("matplotlib", extra="plot").use("Agg")
    return require("matplotlib.pyplot", extra="plot")


def _draw_graph(panel: Any, graph: Graph, places: np.ndarray, mask: np.ndarray) -> None:
    collections = require("matplotlib.collections", extra="plot")
    source, target = graph.edge_index()
    once = source < target
    lines = np.stack([places[source[once]], places[target[once]]], axis=1)
    panel.add_collection(collections.LineCollection(lines, colors="#00000010", linewidths=0.5, zorder=1))
    colours = np.array([_PALETTE[label % len(_PALETTE)] for label in graph.y])
    for here, opacity in ((~mask, 0.35), (mask, 0.9)):
        panel.scatter(*places[here].T, s=11, c=colours[here], alpha=opacity, linewidths=0, zorder=2)
    panel.autoscale_view()


def _layout(graph: Graph, seed: int) -> np.ndarray:
    """Place nodes by a force layout of the largest component; the others stand in a row beneath it."""
    networkx = require("networkx", extra="networkx")
    drawn = networkx.from_scipy_sparse_array(graph.adjacency())
    largest = max(networkx.connected_components(drawn), key=len)
    spread = networkx.spring_layout(drawn.subgraph(largest), seed=seed, iterations=40)
    places = np.empty((graph.num_nodes, 2))
    rest = [node for node in drawn if node not in largest]
    places[rest] = np.column_stack([np.linspace(-1, 1, len(rest) + 2)[1:-1], np.full(len(rest), -1.15)])
    for node, place in spread.items():
        places[node] = place
    return places
