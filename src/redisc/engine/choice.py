"""Which engine answers for a graph."""

from __future__ import annotations

import numpy as np
import torch

from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.engine import Engine
from redisc.engine.full_graph import FullGraphEngine
from redisc.engine.hop_engine import HopEngine
from redisc.engine.hop_features import Allocate, hop_features
from redisc.engine.topology import Topology
from redisc.errors import ConfigError
from redisc.nn import Architecture, Features


def choose_engine(topology: Topology, features: Features, architecture: object) -> FullGraphEngine:
    """Return the compiled engine on a CPU; torch's own operations on other devices and for a user's own module."""
    compiled = torch.device(topology.device).type == "cpu" and isinstance(architecture, Architecture)
    return CompiledEngine(topology, features) if compiled else FullGraphEngine(topology, features)


def engine_for(
    topology: Topology, features: Features, architecture: object, num_classes: int, allocate: Allocate = np.empty
) -> Engine:
    """Return the engine that trains and samples an architecture; hops of features go where `allocate` puts them."""
    if isinstance(architecture, Architecture) and architecture.hops:
        if torch.device(topology.device).type != "cpu":
            raise ConfigError("the hop backbone runs on the CPU: pass device='cpu', or choose another backbone")
        return HopEngine(topology, hop_features(topology, features, architecture.hops, allocate), num_classes)
    return choose_engine(topology, features, architecture)
