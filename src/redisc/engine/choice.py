"""Which engine answers for a graph."""

from __future__ import annotations

import torch

from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.full_graph import FullGraphEngine
from redisc.engine.topology import Topology
from redisc.nn import Architecture, Features


def choose_engine(topology: Topology, features: Features, architecture: object) -> FullGraphEngine:
    """Return the compiled engine on a CPU; torch's own operations on other devices and for a user's own module."""
    compiled = torch.device(topology.device).type == "cpu" and isinstance(architecture, Architecture)
    return CompiledEngine(topology, features) if compiled else FullGraphEngine(topology, features)
