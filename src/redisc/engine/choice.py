"""Which engine answers for a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from redisc.clock import Told
from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.engine import Engine
from redisc.engine.full_graph import FullGraphEngine
from redisc.engine.hop_engine import HopEngine
from redisc.engine.hop_features import hop_features
from redisc.engine.mini_batch import MiniBatchEngine
from redisc.engine.topology import Topology
from redisc.errors import ConfigError
from redisc.io.scratch import Allocate
from redisc.nn import Architecture, Features


def choose_engine(topology: Topology, features: Features, architecture: object) -> FullGraphEngine:
    """Return the compiled engine on a CPU; torch's own operations on other devices and for a user's own module."""
    if _runs_compiled(topology, architecture):
        return CompiledEngine(topology, features)
    return FullGraphEngine(topology, features)


def _runs_compiled(topology: Topology, architecture: object) -> bool:
    return torch.device(topology.device).type == "cpu" and isinstance(architecture, Architecture)


@dataclass(frozen=True)
class Scale:
    """How a large graph is handled: in mini-batches, with so many neighbours a node and layer (0: all of them).

    Chains have a fan-out of their own. Hops of features go where `allocate` puts them.
    """

    mini_batches: bool = False
    fanout: int = 0
    inference_fanout: int = 0
    allocate: Allocate = np.empty


def engine_for(
    topology: Topology,
    features: Features,
    architecture: object,
    num_classes: int,
    scale: Scale | None = None,
    told: Told | None = None,
) -> Engine:
    """Return the engine that trains and samples an architecture; `told` hears of work that is done ahead."""
    scale = scale or Scale()
    if isinstance(architecture, Architecture) and architecture.hops:
        if torch.device(topology.device).type != "cpu":
            raise ConfigError("the hop backbone runs on the CPU: pass device='cpu', or choose another backbone")
        hops = hop_features(topology, features, architecture.hops, scale.allocate, told)
        return HopEngine(topology, hops, num_classes, architecture.hops)
    if scale.mini_batches:
        if not _runs_compiled(topology, architecture):
            raise ConfigError("mini-batches run on the CPU with a built-in backbone: leave batch_size at 0")
        return MiniBatchEngine(topology, features, fanout=scale.fanout, inference_fanout=scale.inference_fanout)
    return choose_engine(topology, features, architecture)
