"""Where nodes stand, computed once a run and kept in its folder."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

from redisc.graph import Graph
from redisc.io.files import write_atomically
from redisc.report.layout import place_nodes


def cached_places(folder: Path, graph: Graph) -> np.ndarray:
    """Return `place_nodes(graph)` `(N, 2)`, from `folder/layout.json` where that was made for the same graph."""
    file, name = folder / "layout.json", graph.fingerprint()
    stored = _read(file, name, graph.num_nodes)
    if stored is not None:
        return stored
    places = place_nodes(graph).round(4)
    with suppress(OSError):  # a folder that can't be written to costs the time again, nothing else
        write_atomically(file, json.dumps({"fingerprint": name, "places": places.tolist()}).encode())
    return places


def _read(file: Path, name: str, nodes: int) -> np.ndarray | None:
    """Return stored places; nothing where they are missing, damaged or of another graph."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(file.read_bytes())
        places = np.array(stored["places"], dtype=np.float64)
        if stored["fingerprint"] == name and places.shape == (nodes, 2) and np.isfinite(places).all():
            return places
    return None
