"""A picture of who is wrong where: the same graph once for every answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from redisc.graph import Graph
from redisc.report.canvas import sheet
from redisc.report.layout import place_nodes
from redisc.report.nodes import draw_edges, draw_nodes, mark_size, panel_size
from redisc.report.palette import MISTAKE

_SIDE, _TITLE = 5.6, 0.4  # inches


def draw_mistakes(
    graph: Graph, answers: Mapping[str, np.ndarray], mask: np.ndarray, path: str | Path, seed: int = 0
) -> None:
    """Draw one panel an answer `(N,)`: nodes in the colour of their true class, wrong nodes of `mask` as black crosses.

    Pale nodes lie outside the mask.
    """
    places = place_nodes(graph, seed)
    (width, height), size = panel_size(places, _SIDE), mark_size(places, _SIDE)
    with sheet(path, (width * len(answers), height + _TITLE), columns=len(answers)) as panels:
        for panel, (name, labels) in zip(panels[0], answers.items(), strict=True):
            wrong = mask & (labels != graph.y)
            draw_edges(panel, graph, places)
            for here, opacity in ((~mask, 0.35), (mask, 0.9)):
                draw_nodes(panel, places[here], graph.y[here], graph.num_classes, size, alpha=opacity, linewidths=0)
            panel.scatter(*places[wrong].T, s=2.4 * size, c=MISTAKE, marker="x", linewidths=1.1, zorder=3)
            panel.set_title(f"{name}: {wrong.sum():,} of {mask.sum():,} wrong", fontsize=13)
