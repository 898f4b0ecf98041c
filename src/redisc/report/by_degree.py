"""A picture of accuracy by degree: well-connected nodes have more neighbours to learn from, and to be wrong with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redisc.errors import MaskError
from redisc.graph import Graph, as_mask
from redisc.metrics import node_accuracy, subgraph_accuracy
from redisc.report.canvas import sheet
from redisc.report.palette import class_colours, class_shapes

_MOST_SINGLE = 8
"""Up to so many different degrees each has a bin of its own."""

_FEW = 10
"""Bins of fewer nodes are paler, and no line goes through them: they say little."""

_APART = 0.08
"""How far answers stand apart, so that none covers another."""


@dataclass(frozen=True)
class DegreeBin:
    """The nodes with `low <= degree <= high`, and how many of them were right, alone and with all their neighbours."""

    low: int
    high: int
    count: int
    node_accuracy: float
    subgraph_accuracy: float

    @property
    def name(self) -> str:
        """The degrees in print."""
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"


def accuracy_by_degree(
    graph: Graph, y_true: np.ndarray, y_pred: np.ndarray, mask: Any, known: Any = None
) -> list[DegreeBin]:
    """Return both accuracies over the mask's nodes, bin by bin; `known` as in `redisc.metrics.subgraph_accuracy`.

    Few different degrees have a bin each, many the bins 0, 1, 2, 3-4, 5-8, 9-16 and so on. Bins without nodes are left
    out.
    """
    chosen = as_mask(mask, graph.num_nodes)
    found = []
    for low, high in degree_bins(graph.degree[chosen]):
        here = chosen & (graph.degree >= low) & (graph.degree <= high)
        right = node_accuracy(y_true, y_pred, here), subgraph_accuracy(graph, y_true, y_pred, here, known)
        found.append(DegreeBin(low, high, int(here.sum()), *right))
    return found


def degree_bins(degrees: np.ndarray) -> list[tuple[int, int]]:
    """Return the lowest and highest degree of each bin that holds some of `degrees` `(n,)`."""
    present = np.unique(degrees)
    if not present.size:
        raise MaskError("the mask holds no node, so that there is nothing to draw: pass a mask of labelled nodes")
    if present.size <= _MOST_SINGLE:
        return [(int(degree), int(degree)) for degree in present]
    powers = np.unique(np.ceil(np.log2(present[present > 0])).astype(np.int64))
    bins = [(2 ** int(power - 1) + 1 if power else 1, 2 ** int(power)) for power in powers]
    return [(0, 0), *bins] if present[0] == 0 else bins


def draw_accuracy_by_degree(
    graph: Graph, y_true: np.ndarray, answers: Mapping[str, np.ndarray], mask: Any, known: Any, path: str | Path
) -> None:
    """Draw node and subgraph accuracy by degree, a line for each answer `(N,)`, with the numbers of nodes below.

    Bins of fewer than ten nodes are pale.
    """
    figures = {name: accuracy_by_degree(graph, y_true, labels, mask, known) for name, labels in answers.items()}
    bins, colours, shapes = (
        next(iter(figures.values())),
        class_colours(len(answers)),
        class_shapes(8 * len(answers))[::8],
    )
    few = np.array([part.count < _FEW for part in bins])
    width = float(np.clip(1.4 + 0.55 * len(bins), 3.6, 7.0))
    with sheet(path, (2 * width, 3.8), columns=2, sharey=True) as panels:
        for panel, key in zip(panels[0], ("node_accuracy", "subgraph_accuracy"), strict=True):
            for name, colour, shape in zip(figures, colours, shapes, strict=True):
                heights = np.array([getattr(part, key) for part in figures[name]])
                places = np.arange(len(bins)) + _APART * (list(figures).index(name) - (len(figures) - 1) / 2)
                panel.plot(places, np.where(few, np.nan, heights), marker=shape, color=colour, label=name)
                panel.plot(places[few], heights[few], shape, color=colour, alpha=0.3)
            panel.set_xticks(range(len(bins)), labels=[f"{part.name}\n({part.count:,})" for part in bins], fontsize=8)
            panel.set(title=key.replace("_", " "), xlabel="degree (nodes)", ylim=(-0.03, 1.03))
            panel.grid(alpha=0.3)
        panels[0, 0].set_ylabel("share right")
        panels[0, 0].legend(frameon=False)
