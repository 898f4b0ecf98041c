"""A fitted model: two networks and what is needed to ask them about a graph."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from redisc.clock import Told
from redisc.diffusion import CHAINS_AT_ONCE, ReverseProcess, Schedule, chain_rule, elbo, get_routing
from redisc.diffusion.sampler import Denoise
from redisc.em import Sampled, draw_samples, watched
from redisc.engine import Anchor, AnchoredEngine, Engine, Scale, engine_for, threads_for
from redisc.errors import CheckpointError, UnsupportedGraphError
from redisc.graph import Graph
from redisc.io.checkpoint import load_weights
from redisc.nn import (
    Architecture,
    Committee,
    Denoiser,
    FeatureReader,
    Gate,
    MeanField,
    ModuleDenoiser,
    ModuleMaker,
    ModuleMeanField,
    Nodes,
    Pooling,
)
from redisc.origin import Origin
from redisc.seeds import derive_seed


@dataclass(frozen=True)
class Blueprint:
    """What the networks look like before they have weights: enough to build them anew."""

    architecture: Architecture | ModuleMaker
    gate: Gate
    schedule: Schedule
    dtype: torch.dtype
    device: str
    scale: Scale = field(default_factory=Scale)
    mean_field: tuple[Architecture, ...] = ()  # that mean-field GNNs have in turn; none: the denoiser's
    members: int = 1  # mean-field GNNs
    pooling: Pooling = field(default_factory=Pooling)  # with a reader of features, where one has a share
    anchor: float = 0.0  # share of the mean-field GNN's log-probabilities that denoisers start from

    def build(self, num_features: int, num_classes: int) -> tuple[Denoiser, MeanField | Committee]:
        """Return a denoiser and a mean-field GNN, or a committee of them, without weights worth having."""
        steps, shape = self.schedule.steps, (num_features, num_classes)
        make: Any = self.architecture  # a user's module has the same methods as ours, but is no subclass
        denoiser: Any
        if isinstance(self.architecture, Architecture):
            denoiser = Denoiser(self.architecture, *shape, steps, self.gate)
            turns = itertools.cycle(self.mean_field or (self.architecture,))
            members = [MeanField(plan, *shape) for plan in itertools.islice(turns, self.members)]
        else:
            denoiser = ModuleDenoiser(make, *shape, steps)
            members = [cast(MeanField, ModuleMeanField(make, *shape)) for _ in range(self.members)]
        if self.pooling.reader:
            return denoiser, Committee(members, FeatureReader(*shape), self.pooling)
        return denoiser, members[0] if self.members == 1 else Committee(members)

    def anchored(self, probabilities: Tensor, nodes: Nodes) -> Anchor:
        """Return where denoisers start from, for what the mean-field GNN answers `(N, C)`."""
        return Anchor.of(probabilities, self.anchor, self.pooling.calm(nodes))

    def place(self, network: torch.nn.Module) -> None:
        """Move a network to the device and dtype of the model."""
        network.to(self.device, self.dtype)


@dataclass(frozen=True)
class JointModel:
    """Answers questions about graphs: joint samples, probabilities, the mean-field GNN's opinion."""

    blueprint: Blueprint
    denoiser: Denoiser
    mean_field: MeanField | Committee
    origin: Origin

    @classmethod
    def new(cls, blueprint: Blueprint, origin: Origin) -> JointModel:
        """Build an untrained model."""
        denoiser, mean_field = blueprint.build(origin.num_features, len(origin.classes))
        blueprint.place(denoiser)
        blueprint.place(mean_field)
        return cls(blueprint, denoiser, mean_field, origin)

    def engine(self, graph: Graph, told: Told | None = None) -> Engine:
        """Prepare a graph for training; `told` hears how far that is."""
        topology, features = self.origin.prepare(graph, self.blueprint.dtype, self.blueprint.device)
        if graph.edge_weight is not None and not isinstance(self.blueprint.architecture, Architecture):
            raise UnsupportedGraphError(
                "a backbone of your own is called as module(x, edge_index), without edge weights: "
                "use a built-in backbone, or a graph without weights"
            )
        blueprint = self.blueprint
        shape = (blueprint.architecture, len(self.origin.classes), blueprint.scale)
        return engine_for(topology, features, *shape, told)

    def fitted_engine(self, graph: Graph, told: Told | None = None) -> Engine:
        """Prepare a graph for questions to the fitted networks, whose denoiser may be anchored."""
        engine = self.engine(graph, told)
        if not self.blueprint.anchor:
            return engine
        with threads_for(graph.num_nodes):
            return AnchoredEngine(engine, self.blueprint.anchored(engine.opinion(self.mean_field), engine))

    def draw(
        self,
        engine: Engine,
        known: np.ndarray,
        n: int,
        temperature: float,
        purpose: str,
        routing: str = "labelled-first",
        told: Told | None = None,
    ) -> Sampled:
        """Run `n` chains; `purpose` names their random numbers."""
        process = self.process(engine.denoise(self.denoiser), known, temperature, purpose, routing)
        return draw_samples(process, torch.arange(n), len(self.origin.classes), told=told)

    def process(
        self, denoise: Denoise, known: np.ndarray, temperature: float, purpose: str, routing: str
    ) -> ReverseProcess:
        """Return the reverse process whose random numbers `purpose` names."""
        return ReverseProcess(
            denoise,
            self.blueprint.schedule,
            get_routing(routing),
            torch.from_numpy(known).to(self.blueprint.device),
            derive_seed(self.origin.seed, purpose),
            temperature,
        )

    def judge(
        self,
        engine: Engine,
        known: np.ndarray,
        labels: np.ndarray,
        n: int,
        purpose: str,
        method: str,
        routing: str = "labelled-first",
        told: Told | None = None,
    ) -> np.ndarray:
        """Return log-likelihoods `(n,)` of `labels (N,)`, one a chain that is made to reveal them."""
        process = self.process(engine.denoise(self.denoiser), known, 1.0, purpose, routing)
        given, judgement = torch.from_numpy(labels).to(self.blueprint.device), elbo if method == "elbo" else chain_rule
        groups = torch.arange(n).split(CHAINS_AT_ONCE)
        mine = [judgement(watched(process, told, k, len(groups)), given, group) for k, group in enumerate(groups)]
        return torch.cat(mine).cpu().numpy()

    def to_checkpoint(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return settings that JSON can hold, and tensors."""
        config, tensors = self.origin.to_checkpoint()
        parts = {"denoiser": self.denoiser, "mean_field": self.mean_field}
        weights = {f"{name}.{key}": v for name, part in parts.items() for key, v in part.state_dict().items()}
        return config, {**weights, **tensors}

    @classmethod
    def from_checkpoint(
        cls, blueprint: Blueprint, scaling: str, config: dict[str, Any], tensors: dict[str, Tensor]
    ) -> JointModel:
        """Rebuild a model; networks get their memory from the file, so a forged size allocates nothing."""
        origin = Origin.from_checkpoint(scaling, config, tensors)
        if not 0 <= origin.num_features <= sum(value.numel() for value in tensors.values()):
            raise CheckpointError(f"config.json tells of {origin.num_features} features, more than there are weights")
        weightless = "meta" if isinstance(blueprint.architecture, Architecture) else "cpu"
        with torch.device(weightless):
            networks = blueprint.build(origin.num_features, len(origin.classes))
        for name, network in zip(("denoiser", "mean_field"), networks, strict=True):
            load_weights(network, tensors, name)
            blueprint.place(network)
        return cls(blueprint, *networks, origin)
