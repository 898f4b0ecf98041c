"""The data of the player, small enough to stand inside the page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from redisc.diffusion import Trace
from redisc.diffusion.masking import MASKED
from redisc.graph import Graph
from redisc.report.page.content import Content, DriverLists
from redisc.report.palette import class_colours

_TOP = 4
"""Classes of a node's posterior that are shown."""

_GRID = 10_000
"""Places are whole numbers up to this."""


def player_payload(content: Content, trace: Trace, places: np.ndarray) -> dict[str, Any]:
    """Return what the player draws: labels are places in `classes`, probabilities whole thousandths.

    Labels outside the scored nodes and the known ones are not told.
    """
    graph, answer = content.graph, content.answers[content.clf.name]
    x, y = _on_grid(places).T.tolist()
    return {
        "steps": trace.steps,
        "classes": content.class_names,
        "colours": class_colours(len(content.class_names)),
        "ids": None if graph.node_ids is None else [str(node) for node in graph.node_ids.tolist()],
        "x": x,
        "y": y,
        "edges": _edges(graph),
        "labels": answer.labels.tolist(),
        "revealed": trace.revealed_at.tolist(),
        "confidence": _thousandths(trace.confidence),
        **_posterior(answer.probabilities),
        "known": np.flatnonzero(trace.known).tolist(),
        "truth": np.where(content.exam.mask, content.exam.truth, MASKED).tolist(),
        "drivers": _flat(content.drivers),
    }


def json_block(payload: dict[str, Any]) -> str:
    """Return JSON that can stand inside a `<script>` element, whatever names it holds."""
    return json.dumps(payload, separators=(",", ":")).replace("<", "\\u003c")


def _on_grid(places: np.ndarray) -> np.ndarray:
    low = places.min(axis=0)
    extent = max(float((places - low).max()), 1e-12)
    return np.rint((places - low) / extent * _GRID).astype(int)


def _edges(graph: Graph) -> list[int]:
    """Return the ends of all edges, each edge once: source, target, source, target, ..."""
    source, target = graph.edge_index()
    once = source < target
    return np.stack([source[once], target[once]], axis=1).ravel().tolist()


def _posterior(probabilities: np.ndarray) -> dict[str, Any]:
    """Return the most probable classes, best first, `top` of them for each node, one node after the other."""
    top = min(_TOP, probabilities.shape[1])
    likely = np.argsort(-probabilities, axis=1, kind="stable")[:, :top]
    chance = np.take_along_axis(probabilities, likely, axis=1)
    return {"top": top, "likely": likely.ravel().tolist(), "chance": _thousandths(chance.ravel())}


def _flat(drivers: DriverLists | None) -> list[list[int]] | None:
    """Return node, effect in thousandths, node, effect, ... for each node."""
    if drivers is None:
        return None
    return [[part for node, effect in row for part in (int(node), round(1000 * effect))] for row in drivers]


def _thousandths(values: np.ndarray) -> list[int]:
    return np.rint(1000 * values).astype(int).tolist()
