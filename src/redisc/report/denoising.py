"""A picture of denoising: one chain, from all labels masked to all revealed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from redisc.diffusion import Trace
from redisc.errors import LengthError
from redisc.graph import Graph
from redisc.report.canvas import sheet
from redisc.report.layout import place_nodes
from redisc.report.nodes import draw_edges, draw_nodes, mark_size, panel_size

_COLUMNS = 3
_SIDE, _TITLE = 3.4, 0.3  # inches
_CAPTION = "colours: labels so far; pale: still masked; ringed: known from the start"
_RING = "#222222"


def draw_denoising(graph: Graph, trace: Trace, path: str | Path, places: np.ndarray | None = None) -> None:
    """Draw six moments of a chain, as `clf.trace()` returns it: pale nodes are masked, ringed ones are known.

    Moments are chosen so that about the same number of labels appears from one panel to the next. `places` `(N, 2)` in
    [-1, 1] are those of `place_nodes` unless given.
    """
    _check_sizes(graph, trace, places)
    moments = panel_steps(trace)
    places = place_nodes(graph) if places is None else places
    classes, area = max(graph.num_classes, int(trace.labels.max()) + 1), mark_size(places, _SIDE)
    rows, (width, height) = -(-len(moments) // _COLUMNS), panel_size(places, _SIDE)
    size = (width * _COLUMNS, (height + _TITLE) * rows + _TITLE)
    with sheet(path, size, rows=rows, columns=_COLUMNS) as panels:
        panels.flat[0].figure.supxlabel(_CAPTION, fontsize=10)
        for panel in panels.flat[len(moments) :]:
            panel.set_axis_off()
        for panel, t in zip(panels.flat, moments, strict=False):
            labels = trace.at(t)
            draw_edges(panel, graph, places)
            _draw_state(panel, places, labels, trace.known, classes, area)
            panel.set_title(f"t = {t}: {(trace.revealed_at > t).mean():.0%} revealed", fontsize=11)


def panel_steps(trace: Trace, count: int = 6) -> list[int]:
    """Return the steps t to show, from T down to 0: the nearest to equal shares revealed, or else evenly spaced."""
    steps = np.arange(trace.steps, -1, -1)
    shares = np.array([(trace.revealed_at > t).mean() for t in steps])
    wanted = np.linspace(0, 1, count)
    nearest = np.unique(np.abs(shares - wanted[:, None]).argmin(axis=1))
    nearest[[0, -1]] = 0, trace.steps
    if len(np.unique(nearest)) < count:
        nearest = np.linspace(0, trace.steps, count).round().astype(np.int64)
    return [int(t) for t in steps[np.unique(nearest)]]


def _draw_state(
    panel: object, places: np.ndarray, labels: np.ndarray, known: np.ndarray, classes: int, area: float
) -> None:
    draw_nodes(panel, places[~known], labels[~known], classes, area, linewidths=0)
    width = 0.12 * np.sqrt(area)
    draw_nodes(panel, places[known], labels[known], classes, area, edgecolors=_RING, linewidths=width)


def _check_sizes(graph: Graph, trace: Trace, places: np.ndarray | None) -> None:
    for name, found in (("trace", trace.labels), ("places", places)):
        if found is not None and len(found) != graph.num_nodes:
            raise LengthError(f"the {name} is of {len(found)} nodes, but the graph has {graph.num_nodes}")
