"""What a run is asked about: the graph of its fit, or that of new tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from redisc.classifier import NodeClassifier
from redisc.errors import DatasetError, LabelError
from redisc.graph import Graph
from redisc.run import Run


@dataclass(frozen=True)
class Question:
    """A graph and the labels `(N,)` that are known on it, -1 elsewhere."""

    graph: Graph
    known: np.ndarray


def question(run: Run, clf: NodeClassifier, edges: Path | None, nodes: Path | None) -> Question:
    """Return the fit's own graph and what the fit knew, or new tables and the labels that they give."""
    new = new_graph(run, edges, nodes)
    if new is None:
        return Question(run.graph(), clf.known_)
    _check_classes(new, clf)
    return Question(new, new.y)


def new_graph(run: Run, edges: Path | None, nodes: Path | None) -> Graph | None:
    """Read new tables by the columns of the fit; None where none are named."""
    if edges is None and nodes is None:
        return None
    if edges is None or nodes is None:
        raise DatasetError("new tables take both --edges and --nodes")
    return run.graph_of(edges, nodes)


def _check_classes(graph: Graph, clf: NodeClassifier) -> None:
    """Raise an error where a class is known to the tables, but had no training node."""
    strange = (graph.y >= 0) & ~np.isin(graph.y, clf.classes_)
    if strange.any():
        row = int(strange.argmax())
        name = graph.names_of(graph.y[row : row + 1])[0]
        raise LabelError(f"nodes row {row}: no training node had the class {name!r}: leave it empty, or fit again")
