"""One joint labelling of a graph that no process holds as a whole."""

from __future__ import annotations

import numpy as np
import torch

from redisc.diffusion import trace_chain
from redisc.errors import ConfigError
from redisc.graph import Graph
from redisc.model import JointModel
from redisc.nn import Architecture
from redisc.scale.part import Part
from redisc.scale.part_engine import PartEngine
from redisc.world import world


def label_in_parts(model: JointModel, graph: Graph, temperature: float, routing: str) -> tuple[np.ndarray, np.ndarray]:
    """Return labels `(N,)` as places in the classes, and the confidence in them `(N,)`; the same on every rank.

    A rank holds its rows of the adjacency and the features, one layer's rows of its nodes and halo, and some 70 bytes
    for every node of the whole graph: its label, when it is revealed, its confidence. An anchor adds the own nodes'
    log-probabilities.
    """
    architecture = model.blueprint.architecture
    if not isinstance(architecture, Architecture) or torch.device(model.blueprint.device).type != "cpu":
        raise ConfigError("graphs in parts need a built-in backbone and device='cpu'")
    part = Part.of(graph, world(), model.blueprint.dtype)
    features = model.origin.scaling.apply(graph.x[part.start : part.stop], model.blueprint.dtype)
    engine, known = PartEngine(part, features, architecture.hops), model.origin.known_for(graph)
    blueprint = model.blueprint
    anchor = blueprint.anchored(engine.opinion(model.mean_field), engine) if blueprint.anchor else None
    process = model.process(engine.denoise(model.denoiser, anchor), known, temperature, "evaluation", routing)
    walked = trace_chain(process)
    return walked.labels, walked.confidence
