"""Blocks and what chooses between them: how the networks of `nn` meet a graph."""

from redisc.engine.anchored import Anchor, AnchoredEngine
from redisc.engine.choice import Scale, choose_engine, engine_for
from redisc.engine.compiled_block import CompiledBlock
from redisc.engine.compiled_engine import CompiledEngine
from redisc.engine.engine import Engine
from redisc.engine.features import FeatureScaling
from redisc.engine.full_block import FullBlock
from redisc.engine.full_graph import FullGraphEngine
from redisc.engine.hop_engine import HopEngine
from redisc.engine.memory import memory_kept
from redisc.engine.threads import threads_for
from redisc.engine.topology import Topology

__all__ = [
    "Anchor",
    "AnchoredEngine",
    "CompiledBlock",
    "CompiledEngine",
    "Engine",
    "FeatureScaling",
    "FullBlock",
    "FullGraphEngine",
    "HopEngine",
    "Scale",
    "Topology",
    "choose_engine",
    "engine_for",
    "memory_kept",
    "threads_for",
]
