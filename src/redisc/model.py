"""A fitted model: two networks and what is needed to ask them about a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion import MASKED, LabelledFirst, ReverseProcess, Schedule
from redisc.em import Sampled, draw_samples
from redisc.engine import FeatureScaling, FullGraphEngine, Topology, choose_engine
from redisc.errors import CheckpointError, FeatureError, UnsupportedGraphError
from redisc.graph import Graph
from redisc.io.checkpoint import load_weights
from redisc.nn import Architecture, Denoiser, Gate, MeanField, ModuleDenoiser, ModuleMaker, ModuleMeanField
from redisc.seeds import derive_seed


@dataclass(frozen=True)
class Blueprint:
    """What the networks look like before they have weights: enough to build them anew."""

    architecture: Architecture | ModuleMaker
    gate: Gate
    schedule: Schedule
    dtype: torch.dtype
    device: str

    def build(self, num_features: int, num_classes: int) -> tuple[Denoiser, MeanField]:
        """Return a denoiser and a mean-field GNN without weights worth having."""
        steps, shape = self.schedule.steps, (num_features, num_classes)
        if isinstance(self.architecture, Architecture):
            return Denoiser(self.architecture, *shape, steps, self.gate), MeanField(self.architecture, *shape)
        make: Any = self.architecture  # a user's module has the same methods, but is no subclass
        return ModuleDenoiser(make, *shape, steps), ModuleMeanField(make, *shape)  # type: ignore[return-value]

    def place(self, network: torch.nn.Module) -> None:
        """Move a network to the device and dtype of the model."""
        network.to(self.device, self.dtype)


@dataclass
class JointModel:
    """Answers questions about graphs: joint samples, probabilities, the mean-field GNN's opinion.

    `known (N,)` holds the labels of the fitted graph that samples are conditioned on, as places in `classes`;
    `fingerprint` tells that graph from others.
    """

    blueprint: Blueprint
    denoiser: Denoiser
    mean_field: MeanField
    scaling: FeatureScaling
    classes: np.ndarray
    known: np.ndarray
    num_features: int
    fingerprint: str
    seed: int

    @classmethod
    def new(
        cls,
        blueprint: Blueprint,
        graph: Graph,
        scaling: str,
        classes: np.ndarray,
        known: np.ndarray,
        seed: int,
    ) -> JointModel:
        """Build an untrained model for a graph."""
        denoiser, mean_field = blueprint.build(graph.num_features, len(classes))
        blueprint.place(denoiser)
        blueprint.place(mean_field)
        fitted = FeatureScaling.fit(scaling, graph.x)
        shape = (graph.num_features, graph.fingerprint(), seed)
        return cls(blueprint, denoiser, mean_field, fitted, classes, known, *shape)

    def engine(self, graph: Graph) -> FullGraphEngine:
        """Prepare a graph for questions."""
        if graph.num_features != self.num_features:
            raise FeatureError(
                f"the model was fitted to {self.num_features} features; this graph has {graph.num_features}"
            )
        if graph.edge_weight is not None and not isinstance(self.blueprint.architecture, Architecture):
            raise UnsupportedGraphError(
                "a backbone of your own is called as module(x, edge_index), without edge weights: "
                "use a built-in backbone, or a graph without weights"
            )
        dtype, device = self.blueprint.dtype, self.blueprint.device
        features = self.scaling.apply(graph.x, dtype, device)
        return choose_engine(Topology(graph, dtype, device), features, self.blueprint.architecture)

    def draw(self, engine: FullGraphEngine, known: np.ndarray, n: int, temperature: float, purpose: str) -> Sampled:
        """Run `n` labelled-first chains; `purpose` names their random numbers."""
        process = ReverseProcess(
            engine.denoise(self.denoiser),
            self.blueprint.schedule,
            LabelledFirst(),
            torch.from_numpy(known).to(self.blueprint.device),
            derive_seed(self.seed, purpose),
            temperature,
        )
        return draw_samples(process, torch.arange(n), len(self.classes))

    def known_for(self, graph: Graph) -> np.ndarray:
        """Return the known labels of the fitted graph; of any other graph nothing is known."""
        if graph.fingerprint() == self.fingerprint:
            return self.known
        return np.full(graph.num_nodes, MASKED)

    def to_checkpoint(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return settings that JSON can hold, and tensors."""
        parts = {"denoiser": self.denoiser, "mean_field": self.mean_field}
        tensors = {f"{name}.{key}": v for name, part in parts.items() for key, v in part.state_dict().items()}
        tensors["known"] = torch.from_numpy(self.known)
        if self.scaling.mean is not None and self.scaling.deviation is not None:
            tensors["scaling.mean"] = torch.from_numpy(self.scaling.mean)
            tensors["scaling.deviation"] = torch.from_numpy(self.scaling.deviation)
        config = {
            "classes": self.classes.tolist(),
            "num_features": self.num_features,
            "fingerprint": self.fingerprint,
            "seed": self.seed,
        }
        return config, tensors

    @classmethod
    def from_checkpoint(
        cls, blueprint: Blueprint, scaling: str, config: dict[str, Any], tensors: dict[str, Tensor]
    ) -> JointModel:
        """Rebuild a model; networks get their memory from the file, so a forged size allocates nothing."""
        try:
            classes, num_features = np.array(config["classes"], dtype=np.int64), int(config["num_features"])
            fingerprint, seed, known = (
                str(config["fingerprint"]),
                int(config["seed"]),
                tensors["known"].numpy(),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as fault:
            raise CheckpointError(f"the checkpoint lacks or garbles {fault}") from None
        _check_labels(classes, known)
        if not 0 <= num_features <= sum(value.numel() for value in tensors.values()):
            raise CheckpointError(f"config.json tells of {num_features} features, more than there are weights")
        weightless = "meta" if isinstance(blueprint.architecture, Architecture) else "cpu"
        with torch.device(weightless):
            networks = blueprint.build(num_features, len(classes))
        for name, network in zip(("denoiser", "mean_field"), networks, strict=True):
            load_weights(network, tensors, name)
            blueprint.place(network)
        means = [tensors[f"scaling.{k}"].numpy() if f"scaling.{k}" in tensors else None for k in ("mean", "deviation")]
        if scaling == "standard" and any(m is None or m.shape != (num_features,) for m in means):
            raise CheckpointError("the checkpoint lacks the means and deviations of feature_scaling='standard'")
        return cls(
            blueprint,
            *networks,
            FeatureScaling(scaling, *means),
            classes,
            known,
            num_features,
            fingerprint,
            seed,
        )


def _check_labels(classes: np.ndarray, known: np.ndarray) -> None:
    """Raise an error where classes are not rising integers, or known labels are not places in them."""
    if classes.ndim != 1 or not len(classes) or (np.diff(classes) <= 0).any():
        raise CheckpointError("the classes of config.json are not rising integers")
    if known.ndim != 1 or known.dtype != np.int64 or ((known < MASKED) | (known >= len(classes))).any():
        raise CheckpointError("the checkpoint's known labels do not fit its classes")
